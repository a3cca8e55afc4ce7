/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Makes the head of a page, which describes the kind of trace, its event types, and its summary. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/order.h"
#include "analyze/wellknown.h"
#include "base/json.h"
#include "base/machine.h"
#include "base/open.h"
#include "export/timeline.h"
#include "export/summary.h"
#include "ktrx/v2.h"
#include "page/pass.h"
#include "why/evidence.h"
#include "why/finding.h"
#include "why/ids.h"
#include "why/report.h"

/* ---- Notes that a reader of the page needs about its data: damage, missing parts, and clocks ---- */

/*
 * Writes a warning of the reader, without the path at its beginning. A redacted page has no warning that
 * contains another path.
 */
static void put_warning(const struct page *page, struct base_output *out, const char *warning)
{
	const char *path = page->options.path;
	const size_t length = path ? strlen(path) : 0;

	if (length && strncmp(warning, path, length) == 0 && strncmp(warning + length, ": ", 2) == 0)
		warning += length + 2;
	if (!page->options.redact || !strchr(warning, '/'))
		base_json_put_text(out, NULL, warning);
}

/*
 * Writes the member `notes` of the head. `events`: number of events that are listed. Requires: the trace has
 * been read to its end.
 */
static void page_notes_write(const struct page *page, struct base_output *out, uint64_t events)
{
	const struct ktread_info *info = ktread_info(page->trace);
	const char *warning;
	char order[ORDER_TEXT];

	base_json_begin(out, "notes", '[');
	if (events == 0)
		base_json_put_text(out, NULL, "the page has no events");
	if (page->narrowed)
		base_json_put_text(out, NULL,
				   "only events that the filter selects are listed; states, calls, locks "
				   "and arrows are those of all events");
	for (uint32_t n = 0; (warning = ktread_warning_at(page->trace, n)); n++)
		put_warning(page, out, warning);
	if (info->unusable)
		base_json_put_format(
			out, NULL,
			"\"all records of %u of the %u rings are missing: their descriptors were "
			"overwritten\"",
			info->unusable, info->rings);
	if (ktread_is_coarse(info))
		base_json_put_format(
			out, NULL,
			"\"coarse clock, %" PRIu64
			" ticks per second: events within a tick are in order only within a CPU\"",
			info->frequency);
	if (order_say(page->trace, order) > 0)
		base_json_put_text(out, NULL, order);
	base_output_text(out, "]");
}

/* ---- The head ---- */

static const char *kind_of(const struct ktread_field *field)
{
	switch (field->type) {
	case KTRX_TYPE_STRING:
		return "text";
	case KTRX_TYPE_POINTER:
		return "hex";
	case KTRX_TYPE_BOOL:
		return "bool";
	case KTRX_TYPE_CHAR:
		return "char";
	case KTRX_TYPE_I8:
	case KTRX_TYPE_I16:
	case KTRX_TYPE_I32:
	case KTRX_TYPE_I64:
		return "signed";
	default:
		return "unsigned";
	}
}

static void write_type(struct base_output *out, const struct ktread_type *type)
{
	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "id", type->id);
	base_json_key(out, "name");
	base_output_done(out, json_put_event_name(base_output_line(out), type));
	base_json_put_text(out, "category", type->group);
	base_json_begin(out, "fields", '[');
	for (uint32_t n = 0; n < type->fields; n++) {
		base_json_begin(out, NULL, '{');
		base_json_put_text(out, "name", type->field[n].name);
		base_json_put_text(out, "kind", kind_of(&type->field[n]));
		base_json_put_text(out, "unit", type->field[n].unit);
		base_output_text(out, "}");
	}
	base_output_text(out, "]}\n");
}

static void write_types(struct base_output *out, const struct ktread *trace)
{
	base_json_begin(out, "types", '[');
	for (uint32_t id = 0, count = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && count++)
			base_output_text(out, ",\n");
		if (type)
			write_type(out, type);
	}
	base_output_text(out, "]");
}

/*
 * Begins a JSON member whose value is a document that the code of another command writes. First writes the
 * text that is still buffered in `out`.
 */
static int begin_document(struct base_output *out, struct base_output *inner, const char *key,
			  const char *schema)
{
	base_json_key(out, key);
	base_output_flush(out);
	if (base_output_open(inner, out->fd) < 0)
		return KTREAD_E_MEMORY;
	base_output_schema(inner, schema);
	return 0;
}

static int end_document(struct base_output *out, struct base_output *inner)
{
	const int error = base_output_close(inner);

	if (!out->error)
		out->error = error;
	base_output_text(out, ",\n");
	return 0;
}

static uint64_t count_lost(const struct ktread *trace)
{
	uint64_t lost = 0;

	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		lost += ring->overwritten + ring->invalid + ring->dropped;
	}
	return lost;
}

static int write_summary(const struct page *page, struct base_output *out, const struct tally *tally)
{
	struct base_output inner;
	struct summary summary;
	int status = begin_document(out, &inner, "summary", "ktrace-summary/1");

	if (status)
		return status;
	status = summary_init(&summary, page->trace, tally);
	summary.redact = page->options.redact;
	if (status == 0)
		summary_write_json(&inner, &summary);
	summary_free(&summary);
	end_document(out, &inner);
	return status;
}

/* Writes a text as a JSON string; "" if it is NULL. */
static void put_text(struct base_output *out, const char *key, const char *text)
{
	base_json_put(out, key, text ? text : "");
}

/* Writes the members that describe the trace as a whole. */
static void write_trace(const struct page *page, struct base_output *out, const struct tally *tally)
{
	const struct ktread_info *info = ktread_info(page->trace);
	char base[24]; /* stored as a string, because numbers in JavaScript are exact only up to 53 bits */

	base_json_put(out, "kernel", info->kernel);
	put_text(out, "machine", base_machine_name(info->machine));
	put_text(out, "file", page->options.redact ? NULL : page->options.file);
	base_json_put_bool(out, "redacted", page->options.redact);
	base_json_put_text(out, "unit", info->frequency ? "ns" : "ticks");
	base_json_put_bool(out, "live", page->options.live);
	snprintf(base, sizeof(base), "%" PRIu64, page->base);
	base_json_put_text(out, "base", base);
	base_json_put_bool(out, "whole", !page->options.partial);
	base_json_put_number(out, "begin", page_time(page, page->first));
	base_json_put_number(out, "end", page_time(page, page->last));
	base_json_put_number(out, "events", tally->events);
	base_json_put_known(out, "lost", !info->records_only, count_lost(page->trace));
	base_json_put_bool(out, "lost_at_least", ktread_is_cut(info) || info->unusable);
	page_notes_write(page, out, tally->events);
}

/*
 * Writes only the name of the verdict, because the texts of findings may contain paths and texts of events.
 */
static void write_word(struct base_output *out, const struct why_findings *findings)
{
	base_output_text(out, "{");
	base_json_put_number(out, "version", WHY_JSON_VERSION);
	base_json_put_text(out, "verdict", why_verdict_word(why_findings_at(findings, 0)->verdict));
	base_json_begin(out, "findings", '[');
	base_output_text(out, "]}\n");
}

/*
 * Writes the time at which the trace was taken, if heartbeats, the kernel's tables or the note show that time
 * passed after the last event. If the page ends earlier because of its filter, no such time is written.
 */
static void write_taken(const struct page *page, struct base_output *out, const struct why_evidence *evidence)
{
	base_json_put_known(out, "taken",
			    evidence->end > evidence->newest_event && page->last >= evidence->newest_event,
			    page_time(page, evidence->end));
}

/* Writes the verdict. Reads the whole trace for it, without the filter. */
static int write_verdict(const struct page *page, struct base_output *out)
{
	struct why_evidence *evidence = NULL;
	struct why_findings *findings = NULL;
	struct base_output inner;
	int status, again;

	ktread_apply_filter(page->trace, 0);
	status = ktread_rewind(page->trace);
	if (status == 0)
		status = why_evidence_read(&evidence, page->trace, page->options.symbols);
	if (status == 0)
		write_taken(page, out, evidence);
	if (status == 0)
		status = why_find(&findings, evidence);
	if (status == 0)
		status = why_ids_find(findings, evidence);
	if (status == 0)
		status = begin_document(out, &inner, "why", "ktrace-why/1");
	if (status == 0) {
		if (page->options.redact)
			write_word(&inner, findings);
		else
			why_report_json(&inner, evidence, findings);
		end_document(out, &inner);
	}
	why_findings_free(findings);
	why_evidence_free(evidence);
	ktread_apply_filter(page->trace, 1);
	again = ktread_rewind(page->trace);
	return status < 0 ? status : again;
}

int page_write_verdict(struct page *page, struct base_output *out)
{
	int status;

	page->last = UINT64_MAX; /* the page is not limited to a range of time */
	base_output_text(out, "{");
	base_json_put_text(out, "schema", "ktrace-page-verdict/1");
	base_json_put_text(out, "strings", "untrusted");
	status = write_verdict(page, out);
	put_text(out, "version", page->options.version);
	base_output_text(out, "}\n");
	return status;
}

/*
 * Sets page->first and page->last. The range also contains times at which states are shown but no event is
 * listed.
 */
static int find_extent(struct page *page, const struct tally *listed)
{
	struct tally *all = NULL;
	const struct tally *tally = listed;
	uint64_t since = 0, until = UINT64_MAX;
	int status = 0;

	if (page->narrowed) {
		ktread_filter_window(page->trace, &since, &until);
		ktread_apply_filter(page->trace, 0);
		status = ktread_rewind(page->trace);
		if (status == 0)
			status = tally_trace(&all, page->trace);
		ktread_apply_filter(page->trace, 1);
		tally = all ? all : listed;
	}
	page->first = tally->events ? tally->first : page->base;
	page->last = tally->events ? tally->last : page->base;
	page->first = page->first < since ? since : page->first;
	page->last = page->last > until ? until : page->last;
	tally_free(all);
	return status;
}

static int write_head(struct page *page, struct base_output *out)
{
	struct tally *own = NULL;
	int status = page->options.tally ? 0 : tally_trace(&own, page->trace);
	const struct tally *tally = own ? own : page->options.tally;

	if (status == 0) {
		base_output_text(out, "{");
		base_json_put_text(out, "schema", "ktrace-page/1");
		base_json_put_text(out, "strings", "untrusted");
		status = find_extent(page, tally);
	}
	if (status == 0) {
		status = write_summary(page, out, tally);
	}
	if (status == 0) {
		write_trace(page, out, tally);
		write_types(out, page->trace);
		base_output_text(out, ",\n");
	}
	tally_free(own);
	if (status == 0)
		status = ktread_rewind(page->trace);
	if (status == 0 && page->options.verdict)
		status = write_verdict(page, out);
	else
		base_json_put_known(out, "taken", false, 0);
	put_text(out, "version", page->options.version);
	base_output_text(out, "}\n");
	return status;
}

/* Reads a file as a string. Returns 0 or KTREAD_E_SYSTEM or KTREAD_E_MEMORY. */
static int read_back(int fd, char **text, size_t *size)
{
	const off_t end = lseek(fd, 0, SEEK_END);
	size_t at = 0;

	if (end < 0)
		return KTREAD_E_SYSTEM;
	*text = malloc((size_t)end + 1);
	if (!*text)
		return KTREAD_E_MEMORY;
	while (at < (size_t)end) {
		const ssize_t count = pread(fd, *text + at, (size_t)end - at, (off_t)at);

		if (count <= 0)
			return KTREAD_E_SYSTEM;
		at += (size_t)count;
	}
	(*text)[at] = '\0';
	*size = at;
	return 0;
}

int page_head_make(struct page *page)
{
	const int fd = base_temporary_open();
	struct base_output out;
	int status;

	if (fd < 0)
		return KTREAD_E_SYSTEM;
	status = base_output_open(&out, fd) < 0 ? KTREAD_E_MEMORY : write_head(page, &out);
	if (base_output_close(&out) && status == 0)
		status = KTREAD_E_SYSTEM;
	if (status == 0)
		status = read_back(fd, &page->head, &page->head_size);
	close(fd);
	return status;
}
