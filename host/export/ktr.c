/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "ktrx/v2.h"

#define HEADER_EVERY 20u
#define CALLER_WIDTH 25 /* width of the column of a symbol, in characters */
#define HEX_WIDTH    18 /* width of the column of an address, in characters */
#define FILE_WIDTH   34
#define ID_WIDTH     20
/* maximum number of bytes of a payload's text; it is so small that a row fits into BASE_OUTPUT_LINE */
#define TEXT_LIMIT ((size_t)4096)

void ktr_frequency(struct ktr_table *table, const struct ktread_info *info)
{
	table->frequency = info->frequency;
	if (table->quiet)
		return;
	if (info->frequency)
		base_output_format(table->out, "TSC frequency is %6.3f MHz\n", (double)info->frequency / 1e6);
	else
		base_output_text(table->out, "TSC frequency is unknown\n");
}

static int caller_width(const struct ktr_table *table)
{
	return table->symbols ? CALLER_WIDTH : HEX_WIDTH;
}

static void put_header(struct ktr_table *table)
{
	const unsigned columns = table->columns;
	const int caller = caller_width(table);

	base_output_format(table->out, "%-7s ", "index");
	if (columns & KTR_CPU)
		base_output_format(table->out, "%-3s ", "cpu");
	if (columns & (KTR_ABSOLUTE | KTR_RELATIVE))
		base_output_format(table->out, "%-16s ", "timestamp");
	if (columns & KTR_CALLERS)
		base_output_format(table->out, "%-*s %-*s ", caller, "caller2", caller, "caller1");
	if (columns & KTR_ID)
		base_output_format(table->out, "%-*s ", ID_WIDTH, "ID");
	if (columns & KTR_FILE)
		base_output_format(table->out, "%10s%-29s ", "", "file and line");
	if (columns & KTR_PAYLOAD)
		base_output_text(table->out, "trace");
	base_output_text(table->out, "\n");
}

static char *pad(char *at, const char *start, int width)
{
	while (at - start < width)
		*at++ = ' ';
	*at++ = ' ';
	return at;
}

static char *put_time(struct ktr_table *table, char *at, const struct ktread_info *info,
		      const struct ktread_event *event, uint64_t *previous)
{
	const int64_t delta = *previous ? (int64_t)(event->stamp - *previous) : 0;
	const double cost = *previous ? table->correction : 0;

	if (!(table->columns & KTR_RELATIVE))
		at += sprintf(at, "%-16" PRIu64 " ", event->stamp);
	else if (table->raw || info->frequency == 0)
		at += sprintf(at, "%-16" PRId64 " ", delta);
	else
		at += sprintf(at, "%13.3f uS ", (double)delta * 1e6 / (double)info->frequency - cost);
	*previous = event->stamp;
	return at;
}

static char *put_caller(const struct ktr_table *table, char *at, uint64_t address)
{
	struct symbol symbol;
	char *start = at;

	if (table->symbols && address && symbols_find_call(table->symbols, address, &symbol) == 0) {
		at = base_escape_text(at, symbol.function, strlen(symbol.function), TEXT_LIMIT / 4);
		at += sprintf(at, "+%" PRIu64 "%s", symbol.offset,
			      symbols_doubtful(table->symbols) ? "?" : "");
	} else if (address) {
		at += sprintf(at, "0x%" PRIx64, address);
	} else {
		*at++ = '-';
	}
	return pad(at, start, caller_width(table));
}

static char *put_id(char *at, const struct ktread_type *type)
{
	char *start = at;

	at = base_escape_text(at, type->group, strlen(type->group), TEXT_LIMIT / 4);
	if (*type->group)
		*at++ = '_';
	at = base_escape_text(at, type->name, strlen(type->name), TEXT_LIMIT / 4);
	return pad(at, start, ID_WIDTH);
}

/*
 * Writes the source line at which the event was recorded, from the trace or from the kernel's file. If
 * neither contains this line, writes the line that declares the event.
 */
static char *put_file(const struct ktr_table *table, char *at, const struct ktread_event *event)
{
	const char *file = event->file ? event->file : event->type->file;
	uint32_t line = event->file ? event->line : event->type->line;
	struct symbol symbol;
	size_t length;

	if (table->symbols && event->site && symbols_find_call(table->symbols, event->site, &symbol) == 0 &&
	    symbol.file) {
		file = symbol.file;
		line = symbol.line;
	}
	length = strlen(file);
	if (length > FILE_WIDTH) {
		file += length - FILE_WIDTH;
		length = FILE_WIDTH;
	}
	for (size_t left = FILE_WIDTH - length; left > 0; left--)
		*at++ = ' ';
	at = base_escape_text(at, file, length, 4 * FILE_WIDTH);
	return at + sprintf(at, ":%-4" PRIu32 " ", line);
}

static char *put_row(struct ktr_table *table, char *at, const struct ktread_info *info,
		     const struct ktread_event *event, uint64_t *previous)
{
	const unsigned columns = table->columns;

	if ((columns & KTR_CPU) && event->cpu == KTRX_NO_CPU)
		at += sprintf(at, "%-3s ", "-");
	else if (columns & KTR_CPU)
		at += sprintf(at, "%-3" PRIu32 " ", event->cpu);
	if (columns & (KTR_ABSOLUTE | KTR_RELATIVE))
		at = put_time(table, at, info, event, previous);
	if (columns & KTR_CALLERS) {
		at = put_caller(table, at, event->callers > 1 ? event->caller[1] : 0);
		at = put_caller(table, at, event->callers > 0 ? event->caller[0] : 0);
	}
	if (columns & KTR_ID)
		at = put_id(at, event->type);
	if (columns & KTR_FILE)
		at = put_file(table, at, event);
	if (columns & KTR_PAYLOAD)
		at += ktread_format(event, at, TEXT_LIMIT);
	return at;
}

void ktr_row(struct ktr_table *table, const struct ktread_info *info, const struct ktread_event *event,
	     bool late)
{
	uint64_t *previous = &table->previous[event->cpu < KTR_CPUS - 1 ? event->cpu : KTR_CPUS - 1];
	char *at;

	if (info->frequency != table->frequency)
		ktr_frequency(table, info);
	if (table->by_ring && event->ring != table->ring)
		table->row = 0;
	table->ring = event->ring;
	if (!table->quiet && table->row % HEADER_EVERY == 0)
		put_header(table);
	at = base_output_line(table->out);
	at += sprintf(at, "%c%06" PRIx64 " ", late ? '*' : ' ', table->row & 0xffffff);
	at = put_row(table, at, info, event, previous);
	*at++ = '\n';
	base_output_done(table->out, at);
	table->row++;
}

void ktr_lost(struct ktr_table *table, uint32_t ring, uint32_t cpu, uint64_t slots)
{
	char name[24];

	if (cpu == KTRX_NO_CPU)
		sprintf(name, "%s ring", ktread_shared_ring(ring));
	else
		sprintf(name, "cpu %" PRIu32, cpu);
	base_output_format(table->out, "--- %s: lost %" PRIu64 " slot%s ---\n", name, slots,
			   slots == 1 ? "" : "s");
}

void ktr_restart(struct ktr_table *table)
{
	memset(table->previous, 0, sizeof(table->previous));
}
