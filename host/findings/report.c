/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Findings as text and as JSON. */
#include "findings/finding.h"

#include <stddef.h>
#include <string.h>

#include "base/json.h"

#define KIND_WIDTH 15 /* "ktrace_settings" */

static const char *const marks[FINDING_MARKS] = { "ok", "note", "dark", "wrong" };
static const char *const colours[FINDING_MARKS] = { "32", "36", "33", "31;1" };

const char *finding_certainty_word(enum finding_certainty certain)
{
	return certain == FINDING_CERTAIN ? "certain" : certain == FINDING_LIKELY ? "likely" : "possible";
}

void finding_put_row(struct base_output *out, const struct finding *finding, bool colour)
{
	if (colour)
		base_output_format(out, "\033[%sm%-5s\033[0m", colours[finding->mark], marks[finding->mark]);
	else
		base_output_format(out, "%-5s", marks[finding->mark]);
	base_output_format(out, "  %-*s %s\n", KIND_WIDTH, finding->kind, finding->what);
	if (finding->advice[0])
		base_output_format(out, "%*s %s: %s\n", 7 + KIND_WIDTH, "", finding->where, finding->advice);
}

static void put_members(struct base_output *out, const struct finding *finding,
			const struct finding_keys *keys)
{
	if (keys->kind)
		base_json_put(out, keys->kind, finding->kind);
	if (keys->certain)
		base_json_put(out, keys->certain, finding_certainty_word(finding->certain));
	if (keys->what)
		base_json_put(out, keys->what, finding->what);
	if (keys->evidence) {
		base_json_begin(out, keys->evidence, '[');
		for (uint32_t n = 0; n < finding->lines; n++)
			base_json_put(out, NULL, finding->evidence[n]);
		base_output_text(out, "]");
	}
	if (keys->advice)
		base_json_put(out, keys->advice, finding->advice);
}

void finding_put_json(struct base_output *out, const struct finding *finding,
		      const struct finding_keys *earlier)
{
	static const struct finding_keys common = { "kind", "certain", "what", "evidence", "advice" };

	base_json_put(out, "mark", marks[finding->mark]);
	put_members(out, finding, earlier);
	put_members(out, finding, &common);
	base_json_put(out, "where", finding->where);
}
