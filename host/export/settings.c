/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/event_name.h"
#include "analyze/requests.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/put.h"
#include "export/timeline.h"
#include "ktrx/v2.h"

#define NAME_MOST 200u
#define STATES	  (KTRX_STATE_RECORD | KTRX_STATE_COUNT | KTRX_STATE_STOP)

void settings_state_text(uint8_t state, uint8_t flags, char text[SETTINGS_STATE])
{
	static const char *const states[] = {
		"off", "on", "count", "both", "off", "stop", "count", "both+stop",
	};
	static const char *const callers[] = { "", "+callers1", "+callers2", "+callers2" };

	snprintf(text, SETTINGS_STATE, "%s%s%s%s%s", states[state & STATES],
		 callers[flags & KTRX_EVENT_CALLERS], flags & KTRX_EVENT_SITE ? "+site" : "",
		 flags & KTRX_EVENT_FOLD ? "+fold" : "", flags & KTRX_EVENT_RARE ? "+rare" : "");
}

static char *put_escaped(char *at, const char *text)
{
	return base_escape_text(at, text, strnlen(text, NAME_MOST), 4 * NAME_MOST);
}

static void write_event(const struct ktread_type *type, struct base_output *out)
{
	char now[SETTINGS_STATE], wanted[SETTINGS_STATE], name[ANALYZE_EVENT_NAME_MOST + 1];

	settings_state_text(type->state, type->flags, now);
	settings_state_text(type->wanted, type->flags, wanted);
	*analyze_event_name_put(name, type) = '\0';
	base_output_format(out, "%5u  %-28s %-18s %-18s %12" PRIu64 "\n", type->id, name, now, wanted,
			   type->count);
}

static void write_events(const struct ktread *trace, struct base_output *out)
{
	const struct ktread_info *info = ktread_info(trace);

	base_output_format(out, "recording %s, %" PRIu32 " events\n", info->stopped ? "stopped" : "started",
			   info->types);
	base_output_format(out, "%5s  %-28s %-18s %-18s %12s\n", "id", "event", "now", "wanted", "counted");
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type)
			write_event(type, out);
	}
	base_output_text(out, "\n");
}

static void write_rows(const struct ktread *trace, struct base_output *out)
{
	struct ktread_setting setting;

	for (uint32_t n = 0; ktread_setting(trace, n, &setting); n++) {
		char *at = put_escaped(base_output_line(out), setting.name);

		at = base_put_literal(at, ": ");
		at = base_put_decimal(at, setting.value);
		*at++ = '\n';
		base_output_done(out, at);
	}
}

static void write_group(const struct masks *masks, uint32_t first, uint32_t end, struct base_output *out)
{
	char *at =
		put_escaped(base_put_literal(base_output_line(out), "debug.ktr."), masks->type[first]->group);

	at = masks_put_enable(masks, first, base_put_literal(at, "_enable: "));
	*at++ = '\n';
	base_output_done(out, at);
	for (uint32_t n = first; n < end; n++) {
		if (!masks_leads_name(masks, first, n))
			continue;
		at = put_escaped(base_put_literal(base_output_line(out), "debug.ktr."),
				 masks->type[n]->group);
		*at++ = '.';
		at = put_escaped(at, masks->type[n]->name);
		at = masks_put_bits(masks, first, n, base_put_literal(at, "_mask: "));
		*at++ = '\n';
		base_output_done(out, at);
	}
}

static void write_masks(const struct masks *masks, struct base_output *out)
{
	for (uint32_t first = 0, end; first < masks->types; first = end) {
		end = masks_end(masks, first);
		write_group(masks, first, end, out);
	}
}

static void write_event_json(const struct ktread_type *type, struct base_output *out)
{
	char now[SETTINGS_STATE], wanted[SETTINGS_STATE];

	settings_state_text(type->state, 0, now);
	settings_state_text(type->wanted, 0, wanted);
	base_json_put_number(out, "id", type->id);
	base_json_key(out, "event");
	base_output_done(out, json_put_event_name(base_output_line(out), type));
	base_json_put_text(out, "now", now);
	base_json_put_text(out, "wanted", wanted);
	base_json_put_number(out, "callers", type->flags & KTRX_EVENT_CALLERS);
	base_json_put_bool(out, "site", type->flags & KTRX_EVENT_SITE);
	base_json_put_bool(out, "fold", type->flags & KTRX_EVENT_FOLD);
	base_json_put_bool(out, "rare", type->flags & KTRX_EVENT_RARE);
	base_json_put_number(out, "counted", type->count);
}

static void write_events_json(const struct ktread *trace, struct base_output *out)
{
	const char *before = "{";

	base_json_put_bool(out, "recording", !ktread_info(trace)->stopped);
	base_json_begin(out, "events", '[');
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (!type)
			continue;
		base_output_text(out, before);
		write_event_json(type, out);
		base_output_text(out, "}");
		before = ",\n{";
	}
	base_output_text(out, "]");
}

/* Writes settings as JSON numbers, and masks as strings, because a mask may be wider than a JSON number. */
static void write_settings_json(const struct ktread *trace, const struct masks *masks,
				struct base_output *out)
{
	struct ktread_setting setting;
	const char *before = "";
	char *at;

	base_json_begin(out, "settings", '{');
	for (uint32_t n = 0; ktread_setting(trace, n, &setting); n++) {
		base_output_text(out, before);
		at = base_json_name(base_output_line(out), setting.name);
		*at++ = ':';
		base_output_done(out, base_put_decimal(at, setting.value));
		before = ",\n";
	}
	for (uint32_t n = 0; n < masks->types; n = masks_end(masks, n)) {
		char name[NAME_MOST + 32];

		snprintf(name, sizeof(name), "debug.ktr.%.200s_enable", masks->type[n]->group);
		base_output_text(out, before);
		at = base_json_string(base_output_line(out), name, strlen(name));
		at = base_put_literal(at, ":\"");
		at = masks_put_enable(masks, n, at);
		*at++ = '"';
		base_output_done(out, at);
		before = ",\n";
	}
	base_output_text(out, "}");
}

int settings_write(const struct ktread *trace, struct base_output *out, int json)
{
	struct masks masks;

	if (masks_open(&masks, trace) < 0)
		return KTREAD_E_MEMORY;
	if (json) {
		base_output_text(out, "{");
		write_events_json(trace, out);
		write_settings_json(trace, &masks, out);
		base_output_text(out, "}\n");
	} else {
		write_events(trace, out);
		write_rows(trace, out);
		write_masks(&masks, out);
	}
	masks_close(&masks);
	return 0;
}
