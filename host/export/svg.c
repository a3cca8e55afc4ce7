/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/svg.h"

#include <string.h>

#include "base/escape.h"

#define LETTER	    6.6 /* pixels, of 11-pixel monospace */
#define TEXT_MAX    256u
#define LETTERS_MIN 3u /* less of a longer word says nothing */

static const char style[] =
	"<style>"
	"svg{background:#fff;font:11px ui-monospace,monospace}"
	"text{fill:#222}.dim{fill:#777}.head{font-size:13px;font-weight:bold}"
	".grid{stroke:#ddd;stroke-width:1}.lane{fill:#f4f4f4}.idle{fill:#e4e4e4}.gap{fill:#c00;opacity:.35}"
	".tick{fill:#444}text.in{fill:#fff}"
	".c0{fill:#4878a8}.c1{fill:#4f8f4f}.c2{fill:#a8642a}.c3{fill:#7d5ba6}"
	".c4{fill:#b0485e}.c5{fill:#3c8c8c}.c6{fill:#8a7a2a}.c7{fill:#66707a}"
	"@media(prefers-color-scheme:dark){svg{background:#181818}text{fill:#ddd}.dim{fill:#999}"
	".grid{stroke:#3a3a3a}.lane{fill:#222}.idle{fill:#303030}.tick{fill:#bbb}}"
	"</style>\n";

/* For the inside of an element: control characters are replaced, bytes that are no UTF-8 too. */
static void escape(struct base_output *out, const char *bytes, size_t length)
{
	char plain[TEXT_MAX * 4], *end = base_escape_text(plain, bytes, length, sizeof(plain));

	for (const char *at = plain; at < end; at++) {
		if (*at == '<')
			base_output_text(out, "&lt;");
		else if (*at == '>')
			base_output_text(out, "&gt;");
		else if (*at == '&')
			base_output_text(out, "&amp;");
		else if (*at == '"')
			base_output_text(out, "&quot;");
		else
			base_output_bytes(out, at, 1);
	}
}

void svg_begin(struct base_output *out, unsigned width, unsigned height, const char *title)
{
	base_output_format(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
		"role=\"img\">\n<title>",
		width, height, width, height);
	escape(out, title, strnlen(title, TEXT_MAX));
	base_output_text(out, "</title>\n");
	base_output_text(out, style);
}

void svg_end(struct base_output *out)
{
	base_output_text(out, "</svg>\n");
}

void svg_box(struct base_output *out, const char *class, double x, double y, double width, double height,
	     const char *tip)
{
	base_output_format(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"",
			   class, x, y, width > 0.5 ? width : 0.5, height);
	if (!tip) {
		base_output_text(out, "/>\n");
		return;
	}
	base_output_text(out, "><title>");
	escape(out, tip, strnlen(tip, TEXT_MAX));
	base_output_text(out, "</title></rect>\n");
}

void svg_text(struct base_output *out, const char *class, double x, double y, const char *anchor, double room,
	      const char *text)
{
	size_t length = strnlen(text, TEXT_MAX), fits = room < LETTER ? 0 : (size_t)(room / LETTER);

	if (fits < length && fits < LETTERS_MIN)
		return;
	base_output_format(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
			   anchor);
	escape(out, text, length < fits ? length : fits);
	base_output_text(out, "</text>\n");
}

void svg_line(struct base_output *out, const char *class, double x1, double y1, double x2, double y2)
{
	base_output_format(out, "<line class=\"%s\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\"/>\n",
			   class, x1, y1, x2, y2);
}
