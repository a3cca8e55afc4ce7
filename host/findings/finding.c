/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "findings/finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"

void finding_say(char text[FINDING_LINE], const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(text, FINDING_LINE, format, values);
	va_end(values);
}

void finding_evidence(struct finding *finding, const char *format, ...)
{
	va_list values;

	finding->cut = finding->lines == FINDING_LINES;
	if (finding->cut)
		return;
	va_start(values, format);
	vsnprintf(finding->evidence[finding->lines++], FINDING_LINE, format, values);
	va_end(values);
}

void finding_refer(struct finding *finding, uint64_t stamp, uint32_t actor, uint64_t object)
{
	if (finding->lines && !finding->cut && stamp)
		finding->event[finding->lines - 1] = (struct finding_event){
			.asked = true, .stamp = stamp, .actor = actor, .object = object
		};
}

void findings_add(struct findings *findings, enum finding_mark mark, const char *kind, const char *format,
		  ...)
{
	struct finding *grown =
		base_grow(findings->finding, &findings->room, (size_t)findings->count + 1, sizeof(*grown));
	va_list values;

	if (!grown) {
		findings->failed = true;
		return;
	}
	findings->finding = grown;
	grown += findings->count++;
	*grown = (struct finding){ .kind = kind, .mark = mark };
	grown->certain = mark == FINDING_OK	? FINDING_CERTAIN
			 : mark == FINDING_NOTE ? FINDING_POSSIBLE
						: FINDING_LIKELY;
	findings->marks[mark]++;
	va_start(values, format);
	vsnprintf(grown->what, FINDING_LINE, format, values);
	va_end(values);
}

/* Returns the newest finding. Returns NULL if there is none, or if memory ran out. */
static struct finding *last_of(const struct findings *findings)
{
	return findings->count && !findings->failed ? &findings->finding[findings->count - 1] : NULL;
}

void findings_advise(struct findings *findings, const char *where, const char *format, ...)
{
	struct finding *finding = last_of(findings);
	va_list values;

	if (!finding)
		return;
	finding_say(finding->where, "%s", where);
	va_start(values, format);
	vsnprintf(finding->advice, FINDING_LINE, format, values);
	va_end(values);
}

void findings_set_certain(struct findings *findings, enum finding_certainty certain)
{
	struct finding *finding = last_of(findings);

	if (finding)
		finding->certain = certain;
}

void findings_free(struct findings *findings)
{
	free(findings->finding);
	memset(findings, 0, sizeof(*findings));
}

/* ---- Reports as text and as JSON ---- */

#define KIND_WIDTH 15 /* length of "ktrace_settings" */

static const char *const marks[FINDING_MARKS] = { "ok", "note", "dark", "wrong" };

const char *finding_certainty_word(enum finding_certainty certain)
{
	return certain == FINDING_CERTAIN ? "certain" : certain == FINDING_LIKELY ? "likely" : "possible";
}

void finding_put_row(struct base_output *out, const struct finding *finding)
{
	base_output_format(out, "%-5s  %-*s %s\n", marks[finding->mark], KIND_WIDTH, finding->kind,
			   finding->what);
	if (finding->advice[0])
		base_output_format(out, "%*s %s: %s\n", 7 + KIND_WIDTH, "", finding->where, finding->advice);
}

void finding_put_wrapped(struct base_output *out, unsigned width, unsigned indent, const char *text)
{
	unsigned further = 0;
	size_t left, room, take;

	while (*text == ' ') {
		text++;
		indent++;
	}
	left = strlen(text);
	do {
		room = width ? width - indent - further : left;
		take = left;
		if (left > room) {
			take = room;
			while (take > room / 2 && text[take] != ' ')
				take--;
			if (text[take] != ' ') /* this word is longer than a line */
				take = room;
		}
		base_output_format(out, "%*s%.*s\n", (int)(indent + further), "", (int)take, text);
		text += take;
		left -= take;
		if (*text == ' ') {
			text++;
			left--;
		}
		further = 4;
	} while (left);
}

/*
 * Writes how certain a finding is, such as " (likely, partial)". "unknown" concludes nothing: it has no
 * certainty.
 */
static const char *put_certainty(const struct finding *finding, char text[32])
{
	const bool concludes = strcmp(finding->kind, "unknown") != 0;
	const char *word = concludes ? finding_certainty_word(finding->certain) : "";

	if (concludes || finding->partial)
		snprintf(text, 32, " (%s%s%s)", word, concludes && finding->partial ? ", " : "",
			 finding->partial ? "partial" : "");
	else
		text[0] = '\0';
	return text;
}

void finding_put_text(struct base_output *out, const struct finding *finding,
		      const struct finding_style *style)
{
	char text[FINDING_LINE + 64], certainty[32];

	snprintf(text, sizeof(text), "%s%s: %s", finding->kind,
		 style->certain ? put_certainty(finding, certainty) : "", finding->what);
	finding_put_wrapped(out, style->width, 0, text);
	if (style->brief)
		return;
	if (style->certain && finding->partial)
		finding_put_wrapped(out, style->width, 2,
				    "partial: the trace lacks records that could change this finding");
	for (uint32_t n = 0; n < finding->lines; n++) {
		const struct finding_event *event = &finding->event[n];
		char id[48] = "";

		if (style->ids && event->known)
			snprintf(id, sizeof(id), " [%" PRIu32 ".%" PRIu64 "]", event->ring, event->slot);
		snprintf(text, sizeof(text), "%s%s", finding->evidence[n], id);
		finding_put_wrapped(out, style->width, 2, text);
	}
	if (finding->advice[0]) {
		snprintf(text, sizeof(text), "to be more certain: %s", finding->advice);
		finding_put_wrapped(out, style->width, 2, text);
	}
	if (style->trace && finding->shows.known)
		base_output_format(out, "  to go there: ktrace goto %" PRIu32 ".%" PRIu64 " %s\n",
				   finding->shows.ring, finding->shows.slot, style->trace);
}

static void put_id(struct base_output *out, const char *key, const struct finding_event *event)
{
	base_json_key(out, key);
	if (event->known)
		base_output_format(out, "\"%" PRIu32 ".%" PRIu64 "\"", event->ring, event->slot);
	else
		base_output_text(out, "null");
}

void finding_put_ids_json(struct base_output *out, const struct finding *finding)
{
	base_json_begin(out, "events", '[');
	for (uint32_t n = 0; n < finding->lines; n++)
		put_id(out, NULL, &finding->event[n]);
	base_output_text(out, "]");
	put_id(out, "event", &finding->shows);
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
	if (earlier)
		put_members(out, finding, earlier);
	put_members(out, finding, &common);
	base_json_put(out, "where", finding->where);
	base_json_put_bool(out, "partial", finding->partial);
}
