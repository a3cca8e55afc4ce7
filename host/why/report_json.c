/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The findings and the evidence as one JSON object; man/ktrace-why.1 says what is in it. */
#include <inttypes.h>
#include <string.h>

#include "export/escape.h"
#include "why/report.h"

static void put_string(struct output *out, const char *key, const char *text)
{
	size_t length = strlen(text);
	char *at;

	output_format(out, "\"%s\":\"", key);
	if (length > OUTPUT_LINE / ESCAPE_JSON_GROWTH)
		length = OUTPUT_LINE / ESCAPE_JSON_GROWTH;
	at = output_line(out);
	output_done(out, escape_json(at, text, length));
	output_text(out, "\"");
}

static void put_finding(struct output *out, const struct why_evidence *evidence,
			const struct why_finding *finding)
{
	char words[WHY_WORDS];

	output_text(out, "{");
	put_string(out, "verdict", why_verdict_word(finding->verdict));
	output_text(out, ",");
	put_string(out, "sure", why_sure_word(finding->sure));
	output_format(out, ",\"partial\":%s,", finding->partial ? "true" : "false");
	put_string(out, "head", finding->head);
	output_text(out, ",\"lines\":[");
	for (uint32_t n = 0; n < finding->lines; n++) {
		size_t length = strlen(finding->line[n]);
		char *at = output_line(out);

		at = (char *)memcpy(at, n ? ",\"" : "\"", n ? 2 : 1) + (n ? 2 : 1);
		at = escape_json(at, finding->line[n], length);
		*at++ = '"';
		output_done(out, at);
	}
	output_text(out, "],");
	put_string(out, "missing", finding->missing);
	output_text(out, ",\"actors\":[");
	for (uint32_t n = 0; n < finding->actors; n++) {
		const struct why_actor *actor = &finding->actor[n];

		output_text(out, n ? ",{" : "{");
		put_string(out, "actor", why_say_actor(evidence, actor->id, words, sizeof(words)));
		output_format(out, ",\"%s\":%" PRIu32, actor->id & KTRX_HOLDER_CPU ? "cpu" : "thread",
			      actor->id & KTRX_HOLDER_CPU ? actor->id & ~KTRX_HOLDER_CPU : actor->id - 1);
		output_format(out, ",\"ticks\":%" PRIu64, actor->ticks);
		output_text(out, "}");
	}
	output_text(out, "]}");
}

void why_report_json(struct output *out, const struct why_evidence *evidence,
		     const struct why_findings *findings)
{
	output_text(out, "{\"findings\":[");
	for (uint32_t n = 0; n < why_findings_count(findings); n++) {
		if (n)
			output_text(out, ",");
		put_finding(out, evidence, why_findings_at(findings, n));
	}
	output_text(out, "]}\n");
}
