/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/order.h"

#define WIDTH 116u /* columns */

void why_put_wrapped(struct base_output *out, unsigned indent, const char *text)
{
	size_t left, room, take;

	while (*text == ' ') {
		text++;
		indent++;
	}
	left = strlen(text);

	for (unsigned first = 1;; first = 0) {
		room = WIDTH - indent - (first ? 0 : 4);
		take = left;
		if (left > room) {
			take = room;
			while (take > room / 2 && text[take] != ' ')
				take--;
		}
		base_output_format(out, "%*s%.*s\n", (int)(indent + (first ? 0 : 4)), "", (int)take, text);
		text += take;
		left -= take;
		if (left == 0)
			return;
		if (*text == ' ') {
			text++;
			left--;
		}
	}
}

static void put_finding(struct base_output *out, const struct why_finding *finding, bool lines)
{
	char text[WHY_LINE + 64];

	why_say(text, sizeof(text), "%s (%s%s): %s", why_verdict_word(finding->verdict),
		why_sure_word(finding->sure), finding->partial ? ", partial" : "", finding->head);
	why_put_wrapped(out, 0, text);
	for (uint32_t n = 0; lines && n < finding->lines; n++)
		why_put_wrapped(out, 2, finding->line[n]);
	if (!lines || !finding->missing[0])
		return;
	why_say(text, sizeof(text), "to be surer: %s", finding->missing);
	why_put_wrapped(out, 2, text);
}

void why_report_verdict(struct base_output *out, const struct why_findings *findings)
{
	put_finding(out, why_findings_at(findings, 0), true);
}

/* Is it what makes it only possible that all is well? Then it matters as much as the verdict. */
static bool opens(const struct why_findings *findings, uint32_t n)
{
	const struct why_finding *first = why_findings_at(findings, 0);

	return first->open && why_leaves_open(first->verdict, why_findings_at(findings, n)->verdict);
}

void why_report(struct base_output *out, const struct why_evidence *evidence,
		const struct why_findings *findings, bool all)
{
	char order[ORDER_TEXT];

	why_report_verdict(out, findings);
	for (uint32_t n = 1; n < why_findings_count(findings); n++) {
		if (n == 1)
			base_output_text(out, "\nalso:\n");
		put_finding(out, why_findings_at(findings, n), all || opens(findings, n));
	}
	why_report_evidence(out, evidence, all);
	if (order_say(evidence->trace, order) > 0)
		base_output_format(out, "\n%s\n", order);
	if (!evidence->symbols)
		base_output_text(out, "\nno names of functions: --elf KERNEL gives them\n");
}
