/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/views.h"

#include <stdio.h>
#include <stdlib.h>

#include "kdump/context.h"
#include "ktread/ktread.h"

#define BIT(type) (UINT64_C(1) << (type))
#define UNKNOWN	  BIT(63)
#define USUAL	  "cnistupy"

static uint64_t types_of(char letter)
{
	switch (letter) {
	case 'c':
		return BIT(KTRX_PROC_SYSCALL) | BIT(KTRX_PROC_SYSRET);
	case 'f':
		return BIT(KTRX_PROC_FAULT) | BIT(KTRX_PROC_FAULTEND);
	case 'i':
		return BIT(KTRX_PROC_GENIO);
	case 'l':
		return BIT(KTRX_PROC_PROCCTOR) | BIT(KTRX_PROC_PROCDTOR);
	case 'n':
		return BIT(KTRX_PROC_NAMEI) | BIT(KTRX_PROC_FD);
	case 'p':
		return BIT(KTRX_PROC_CAPFAIL);
	case 's':
		return BIT(KTRX_PROC_PSIG);
	case 't':
		return BIT(KTRX_PROC_STRUCT) | BIT(KTRX_PROC_STRUCT_ARRAY);
	case 'u':
		return BIT(KTRX_PROC_USER);
	case 'w':
		return BIT(KTRX_PROC_CSW);
	case 'y':
		return BIT(KTRX_PROC_SYSCTL);
	default:
		return 0;
	}
}

bool kdump_select_letters(struct kdump_select *select, const char *letters)
{
	select->types = 0;
	for (; *letters; letters++) {
		if (*letters == '+') {
			for (const char *usual = USUAL; *usual; usual++)
				select->types |= types_of(*usual);
		} else if (types_of(*letters) == 0) {
			return false;
		}
		select->types |= types_of(*letters);
	}
	return select->types != 0;
}

bool kdump_select_wants(const struct kdump_select *select, const struct ktread_proc_record *record,
			bool freebsd)
{
	uint16_t type = record->type == KTREAD_PROC_BROKEN ? record->raw : record->type;

	if (!(select->types & (type < 63 ? BIT(type) : UNKNOWN)))
		return false;
	return !select->one || record->pid == select->pid || (freebsd && record->tid == select->pid);
}

/* index of the row for all call numbers that are too large for a row of their own */
#define OTHER	CALLS_CALLS_MAX
#define NUMBERS (CALLS_CALLS_MAX + 1)
/* the rows: one for each call number of each ABI */
#define ROWS	((KDUMP_NATIVE + 1) * NUMBERS)
#define RULER	"------ ----------- ----------- --------- --------- ----------------\n"
#define HEADING "% time     seconds  usecs/call     calls    errors syscall\n" RULER

struct row {
	uint32_t number;
	enum kdump_foreign whose;
	uint64_t calls, errors, returned;
	uint64_t nanoseconds; /* total duration of the calls that have returned */
};

struct counts {
	struct kdump_pending_table pending;
	struct row row[ROWS];
};

static struct row *row_of(struct counts *counts, const struct kdump_context *context,
			  const struct ktread_proc_record *record, uint32_t number)
{
	uint32_t within = number < OTHER ? number : OTHER;

	return &counts->row[kdump_context_foreign(context, record->pid, record->tid) * NUMBERS + within];
}

static void begin_call(struct counts *counts, struct kdump_context *context,
		       const struct ktread_proc_record *record)
{
	kdump_pending_mark(kdump_pending_entry(&counts->pending, record->pid, record->tid), record);
	row_of(counts, context, record, record->syscall.number)->calls++;
}

static void end_call(struct counts *counts, struct kdump_context *context,
		     const struct ktread_proc_record *record)
{
	struct kdump_pending *pending = kdump_pending_find(&counts->pending, record->pid, record->tid);
	struct row *row = row_of(counts, context, record, record->sysret.number);

	if (record->sysret.error)
		row->errors++;
	if (!pending)
		return;
	if (pending->number == record->sysret.number && !pending->doubtful &&
	    record->stamp >= pending->stamp) {
		row->nanoseconds += kdump_nanoseconds(context, record->stamp - pending->stamp);
		row->returned++;
	}
	pending->used = false;
}

static int counts_open(void **state, struct kdump_context *context)
{
	struct counts *counts = calloc(1, sizeof(*counts));

	(void)context;
	*state = counts;
	for (uint32_t n = 0; counts && n < ROWS; n++)
		counts->row[n] = (struct row){ .number = n % NUMBERS, .whose = n / NUMBERS };
	return counts ? 0 : KTREAD_E_MEMORY;
}

static int counts_record(void *state, struct kdump_context *context, const struct ktread_proc_record *record,
			 bool wanted)
{
	struct counts *counts = state;

	if (record->lost)
		kdump_pending_doubt(&counts->pending);
	if (wanted && record->type == KTRX_PROC_SYSCALL)
		begin_call(counts, context, record);
	else if (wanted && record->type == KTRX_PROC_SYSRET)
		end_call(counts, context, record);
	return 0;
}

/* Sorts by time, longest first; then by number of calls, largest first; then by call number and ABI. */
static int by_time(const void *first, const void *second)
{
	const struct row *a = first, *b = second;

	if (a->nanoseconds != b->nanoseconds)
		return a->nanoseconds > b->nanoseconds ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->whose < b->whose ? -1 : a->whose > b->whose;
}

static void write_row(struct base_output *out, const struct row *row, uint64_t all, const char *name)
{
	char errors[24] = "";

	if (row->errors)
		snprintf(errors, sizeof(errors), "%llu", (unsigned long long)row->errors);
	base_output_format(
		out, "%6.2f %11.6f %11llu %9llu %9s %s\n",
		all ? 100.0 * (double)row->nanoseconds / (double)all : 0.0, (double)row->nanoseconds / 1e9,
		row->returned ? (unsigned long long)(row->nanoseconds / row->returned / 1000) : 0ull,
		(unsigned long long)row->calls, errors, name);
}

/*
 * Moves the rows with calls or errors to the beginning of the table, and adds them up in *total. Returns the
 * number of these rows.
 */
static uint32_t gather(struct counts *counts, struct row *total)
{
	uint32_t rows = 0;

	for (uint32_t n = 0; n < ROWS; n++) {
		const struct row *row = &counts->row[n];

		if (row->calls == 0 && row->errors == 0)
			continue;
		total->calls += row->calls;
		total->errors += row->errors;
		total->returned += row->returned;
		total->nanoseconds += row->nanoseconds;
		counts->row[rows++] = *row;
	}
	return rows;
}

static void counts_close(void *state, struct kdump_context *context)
{
	struct counts *counts = state;
	struct row total = { .number = 0 };
	uint32_t rows = gather(counts, &total);
	char name[CALLS_NAME + 32];

	qsort(counts->row, rows, sizeof(counts->row[0]), by_time);
	base_output_text(context->out, HEADING);
	for (uint32_t n = 0; n < rows; n++) {
		const struct row *row = &counts->row[n];

		*kdump_put_call_name(name, context, kdump_context_table(context, row->whose), row->number) =
			'\0';
		write_row(context->out, row, total.nanoseconds, row->number == OTHER ? "(other)" : name);
	}
	base_output_text(context->out, RULER);
	write_row(context->out, &total, total.nanoseconds, "total");
	free(counts);
}

const struct kdump_form kdump_form_counts = {
	.style = KDUMP_STYLE_PLAIN,
	.open = counts_open,
	.record = counts_record,
	.close = counts_close,
};
