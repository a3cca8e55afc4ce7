/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "kdump/context.h"
#include "ktread/ktread.h"

/* ---- Calls that have not returned ---- */

#define PROBES 16u /* maximum number of entries that are searched for a thread's entry */

static unsigned entry_number(uint32_t pid, uint32_t tid, unsigned probe)
{
	return ((pid * 2654435761u ^ tid * 40503u) + probe) % KDUMP_PENDINGS;
}

/*
 * Returns the entry that a thread used last, even if the thread makes no call now. Returns NULL if the thread
 * has no entry. A thread has at most one entry.
 */
static struct kdump_pending *last_entry(struct kdump_pending_table *table, uint32_t pid, uint32_t tid)
{
	for (unsigned probe = 0; probe < PROBES; probe++) {
		struct kdump_pending *pending = &table->of[entry_number(pid, tid, probe)];

		if (pending->pid == pid && pending->tid == tid)
			return pending;
	}
	return NULL;
}

struct kdump_pending *kdump_pending_find(struct kdump_pending_table *table, uint32_t pid, uint32_t tid)
{
	struct kdump_pending *pending = last_entry(table, pid, tid);

	return pending && pending->used ? pending : NULL;
}

struct kdump_pending *kdump_pending_entry(struct kdump_pending_table *table, uint32_t pid, uint32_t tid)
{
	struct kdump_pending *last = last_entry(table, pid, tid);
	struct kdump_pending *oldest = &table->of[entry_number(pid, tid, 0)];

	if (last)
		return last;
	for (unsigned probe = 0; probe < PROBES; probe++) {
		struct kdump_pending *pending = &table->of[entry_number(pid, tid, probe)];

		if (!pending->used)
			return pending;
		if (pending->stamp < oldest->stamp)
			oldest = pending;
	}
	return oldest;
}

void kdump_pending_mark(struct kdump_pending *pending, const struct ktread_proc_record *record)
{
	pending->used = true;
	pending->doubtful = pending->shown_unfinished = pending->cut = false;
	pending->pid = record->pid;
	pending->tid = record->tid;
	pending->number = record->syscall.number;
	pending->stamp = record->stamp;
}

void kdump_pending_begin(struct kdump_pending *pending, const struct ktread_proc_record *record)
{
	kdump_pending_mark(pending, record);
	pending->words = record->syscall.args < CALLS_ARGUMENTS ? record->syscall.args : CALLS_ARGUMENTS;
	memcpy(pending->word, record->syscall.arg, pending->words * sizeof(pending->word[0]));
	pending->shown = pending->fillings = pending->pieces = pending->length = 0;
}

void kdump_pending_doubt(struct kdump_pending_table *table)
{
	for (unsigned n = 0; n < KDUMP_PENDINGS; n++)
		table->of[n].doubtful = true;
}

char *kdump_pending_fill(struct kdump_pending *pending, size_t *limit)
{
	*limit = sizeof(pending->text) - pending->length;
	return pending->fillings < KDUMP_FILLINGS ? pending->text + pending->length : NULL;
}

void kdump_pending_filled(struct kdump_pending *pending, enum kdump_filling_kind kind, unsigned argument,
			  const char *name, char *end)
{
	struct kdump_filling *filling = &pending->filling[pending->fillings++];

	filling->kind = kind;
	filling->argument = (uint8_t)argument;
	filling->name[0] = '\0';
	if (*name)
		strncat(filling->name, name, sizeof(filling->name) - 1);
	filling->offset = (uint16_t)pending->length;
	filling->length = (uint16_t)(end - pending->text - filling->offset);
	pending->length += filling->length;
}

void kdump_pending_drop(struct kdump_pending *pending, unsigned n)
{
	const struct kdump_filling gone = pending->filling[n];
	const unsigned end = gone.offset + gone.length;

	memmove(pending->text + gone.offset, pending->text + end, pending->length - end);
	pending->length -= gone.length;
	pending->fillings--;
	memmove(&pending->filling[n], &pending->filling[n + 1],
		(pending->fillings - n) * sizeof(pending->filling[0]));
	for (unsigned m = 0; m < pending->fillings; m++)
		if (pending->filling[m].offset > gone.offset)
			pending->filling[m].offset = (uint16_t)(pending->filling[m].offset - gone.length);
}

/* ---- The beginning of a line ---- */

/* Writes the beginning of a line. A thread's number is added if it differs from the process's number. */
static char *put_process(char *at, struct kdump_context *context, uint32_t pid, uint32_t tid, uint64_t stamp)
{
	const char *from = at;
	int width = 5;

	at = base_put_signed(at, (int32_t)pid);
	if (tid != 0 && tid != pid) {
		*at++ = ':';
		at = base_put_signed(at, (int32_t)tid);
		width = 11;
	}
	while (at - from < width)
		*at++ = ' ';
	*at = ' ';
	return kdump_put_times(at + 1, context, stamp);
}

static char *put_call_name(char *at, struct kdump_context *context, uint32_t pid, uint32_t tid,
			   uint32_t number)
{
	return kdump_put_call_name(at, context, kdump_context_calls(context, pid, tid), number);
}

/* column in which a result such as "= 0" begins, unless the text of the call is longer */
#define RESULT_COLUMN 40
#define TEXT_MOST     4000u

struct oneline {
	struct kdump_pending_table pending;
	struct kdump_descriptors *descriptors;
	/*
	 * Origin of the next signal of the thread `origin_tid`, from the STRUCT record that precedes the PSIG
	 * record.
	 */
	char origin[KDUMP_STRUCTURE_MOST + 1];
	size_t origin_size;
	uint32_t origin_tid;
	/* the call that began last, if nothing was printed after it; NULL: none */
	struct kdump_pending *open;
};

/* ---- Lines of calls ---- */

static void print_unfinished(struct oneline *oneline, struct kdump_context *context)
{
	struct kdump_pending *pending = oneline->open;
	char *at;

	oneline->open = NULL;
	if (!pending || !pending->used || pending->shown_unfinished)
		return;
	at = put_process(base_output_line(context->out), context, pending->pid, pending->tid, pending->stamp);
	at = base_put_literal(put_call_name(at, context, pending->pid, pending->tid, pending->number), "(");
	at = kdump_oneline_arguments(at, context, pending, NULL, true);
	base_output_done(context->out, base_put_literal(at, " <unfinished ...>\n"));
	pending->shown_unfinished = true;
}

/* Writes blanks up to the column of the result, at least one. */
static char *pad(char *at, const char *from)
{
	do
		*at++ = ' ';
	while (at - from < RESULT_COLUMN);
	return at;
}

/*
 * Prints the line of a call that has returned. If the beginning of the line was printed before, prints only
 * the rest. `record` is NULL if the call never returns.
 */
static void print_finished(struct oneline *oneline, struct kdump_context *context,
			   struct kdump_pending *pending, const struct ktread_proc_record *record)
{
	uint64_t stamp = record && pending->shown_unfinished ? record->stamp : pending->stamp;
	char *from, *at;

	if (oneline->open != pending)
		print_unfinished(oneline, context);
	oneline->open = NULL;
	from = base_output_line(context->out);
	at = put_process(from, context, pending->pid, pending->tid, stamp);
	if (pending->shown_unfinished)
		at = base_put_literal(at, "<... ");
	at = put_call_name(at, context, pending->pid, pending->tid, pending->number);
	at = pending->shown_unfinished ? base_put_literal(at, " resumed>") : base_put_literal(at, "(");
	at = kdump_oneline_arguments(at, context, pending, record, false);
	at = base_put_literal(pad(base_put_literal(at, ")"), from), "= ");
	at = record ? kdump_oneline_result(at, context, oneline->descriptors, pending, record)
		    : base_put_literal(at, "?");
	if (record && !pending->doubtful && record->stamp >= pending->stamp) {
		at = kdump_put_duration(base_put_literal(at, " <"), context, record->stamp - pending->stamp);
		at = base_put_literal(at, ">");
	}
	base_output_done(context->out, base_put_literal(at, "\n"));
	pending->used = false;
}

/* Prints a return whose call was not recorded. */
static void print_return(struct oneline *oneline, struct kdump_context *context,
			 const struct ktread_proc_record *record)
{
	char *from, *at;

	print_unfinished(oneline, context);
	from = base_output_line(context->out);
	at = put_process(from, context, record->pid, record->tid, record->stamp);
	at = put_call_name(base_put_literal(at, "<... "), context, record->pid, record->tid,
			   record->sysret.number);
	at = base_put_literal(pad(base_put_literal(at, " resumed>)"), from), "= ");
	base_output_done(
		context->out,
		base_put_literal(kdump_oneline_result(at, context, oneline->descriptors, NULL, record),
				 "\n"));
}

/* ---- Beginning and return of calls ---- */

static void begin_call(struct oneline *oneline, struct kdump_context *context,
		       const struct ktread_proc_record *record)
{
	struct kdump_pending *pending = kdump_pending_entry(&oneline->pending, record->pid, record->tid);

	if (pending->used) /* the thread's previous call never returned, or its return was lost */
		print_finished(oneline, context, pending, NULL);
	print_unfinished(oneline, context);
	kdump_pending_begin(pending, record);
	kdump_oneline_fill_descriptors(context, oneline->descriptors, pending);
	oneline->open = pending;
}

static void end_call(struct oneline *oneline, struct kdump_context *context,
		     const struct ktread_proc_record *record)
{
	struct kdump_pending *pending = kdump_pending_find(&oneline->pending, record->pid, record->tid);

	if (pending && pending->number == record->sysret.number)
		print_finished(oneline, context, pending, record);
	else
		print_return(oneline, context, record);
}

/* ---- Records between the beginning and the return of a call ---- */

static bool is_origin(const struct kdump_context *context, const struct ktread_proc_record *record)
{
	static const char prefix[] = "signal_";

	return context->ktrx && record->type == KTRX_PROC_STRUCT &&
	       strncmp(record->structure.name, prefix, sizeof(prefix) - 1) == 0;
}

static void note_origin(struct oneline *oneline, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	oneline->origin_tid = record->tid;
	oneline->origin_size = (size_t)(kdump_put_structure(oneline->origin, context, record->structure.name,
							    record->data, record->data_size) -
					oneline->origin);
}

/* Writes the fields of the signal's origin, without the braces. */
static char *put_origin(char *at, struct oneline *oneline, const struct ktread_proc_record *record)
{
	const size_t size = oneline->origin_tid == record->tid ? oneline->origin_size : 0;

	oneline->origin_size = 0;
	if (size <= 2)
		return at;
	at = base_put_literal(at, ", ");
	memcpy(at, oneline->origin + 1, size - 2);
	return at + size - 2;
}

static char *put_signal(char *at, struct oneline *oneline, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	const char *code = kdump_code_name(context->words.table, record->psig.signal, record->psig.code);

	at = kdump_put_signal(base_put_literal(at, "--- "), &context->words, record->psig.signal);
	at = kdump_put_signal(base_put_literal(at, " {si_signo="), &context->words, record->psig.signal);
	at = base_put_literal(at, ", si_code=");
	at = code && !context->options->raw ? kdump_put_name(at, code)
					    : base_put_signed(at, record->psig.code);
	at = put_origin(at, oneline, record);
	if (record->psig.handler == 0)
		at = base_put_literal(at, ", SIG_DFL");
	else if (record->psig.handler == 1 && context->ktrx)
		at = base_put_literal(at, ", SIG_IGN");
	else if (record->psig.handler == KTRX_PROC_HANDLER_UNKNOWN && context->ktrx)
		at = base_put_literal(at, ", handler unknown");
	else
		at = base_put_hex(base_put_literal(at, ", handler=0x"), record->psig.handler);
	return base_put_literal(at, "} ---");
}

static char *put_exit(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
{
	if (!record->dtor.known)
		return base_put_literal(at, "+++ exited +++");
	if (record->dtor.signaled)
		at = kdump_put_signal(base_put_literal(at, "+++ killed by "), &context->words,
				      record->dtor.status);
	else
		at = base_put_decimal(base_put_literal(at, "+++ exited with "), record->dtor.status);
	return base_put_literal(at, " +++");
}

static char *put_user(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
{
	char *known;

	at = base_put_literal(at, "+++ utrace ");
	known = kdump_put_user(at, context, record);
	at = known ? known : kdump_oneline_text(at, record->data, record->data_size, TEXT_MOST, false);
	return base_put_literal(at, " +++");
}

/*
 * Prints a record that has a line of its own. Records of types that have no line in this output format are
 * not printed.
 */
static void print_other(struct oneline *oneline, struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	struct kdump_pending *pending;
	char *at;

	switch (record->type) {
	case KTRX_PROC_PROCDTOR:
		pending = kdump_pending_find(&oneline->pending, record->pid, record->tid);
		if (pending) /* a call such as exit(), which never returns */
			print_finished(oneline, context, pending, NULL);
		break;
	case KTRX_PROC_PSIG:
	case KTRX_PROC_USER:
	case KTRX_PROC_CAPFAIL:
		break;
	default:
		return;
	}
	print_unfinished(oneline, context);
	at = put_process(base_output_line(context->out), context, record->pid, record->tid, record->stamp);
	if (record->type == KTRX_PROC_PROCDTOR)
		at = put_exit(at, context, record);
	else if (record->type == KTRX_PROC_PSIG)
		at = put_signal(at, oneline, context, record);
	else if (record->type == KTRX_PROC_USER)
		at = put_user(at, context, record);
	else
		at = base_put_literal(kdump_put_denied(base_put_literal(at, "+++ "), context, record),
				      " +++");
	base_output_done(context->out, base_put_literal(at, "\n"));
}

static void print_loss(struct oneline *oneline, struct kdump_context *context,
		       const struct ktread_proc_record *record)
{
	char *at;

	if (record->lost == 0)
		return;
	kdump_pending_doubt(&oneline->pending);
	print_unfinished(oneline, context);
	at = base_put_literal(base_output_line(context->out), "*** ");
	if (context->ktrx)
		at = base_put_literal(base_put_decimal(at, record->lost), " ");
	base_output_done(context->out, base_put_literal(at, "records lost ***\n"));
}

/* ---- The output format ----- */

static int oneline_open(void **state, struct kdump_context *context)
{
	struct oneline *oneline = *state = calloc(1, sizeof(*oneline));

	if (oneline)
		context->descriptors = oneline->descriptors = kdump_descriptors_create();
	return oneline && oneline->descriptors ? 0 : KTREAD_E_MEMORY;
}

/* At the end of the trace, prints the calls that never return, such as exit(). */
static void oneline_close(void *state, struct kdump_context *context)
{
	struct oneline *oneline = state;

	for (unsigned n = 0; n < KDUMP_PENDINGS; n++) {
		struct kdump_pending *pending = &oneline->pending.of[n];
		const struct calls_call *call = calls_table_call(
			kdump_context_calls(context, pending->pid, pending->tid), pending->number);

		if (pending->used && call && call->typed && call->result->base == CALLS_VOID)
			print_finished(oneline, context, pending, NULL);
	}
	print_unfinished(oneline, context);
	context->descriptors = NULL;
	kdump_descriptors_destroy(oneline->descriptors);
	free(oneline);
}

static int oneline_record(void *state, struct kdump_context *context, const struct ktread_proc_record *record,
			  bool wanted)
{
	struct oneline *oneline = state;
	struct kdump_pending *pending;

	print_loss(oneline, context, record);
	switch (record->type) {
	case KTRX_PROC_SYSCALL:
		if (wanted)
			begin_call(oneline, context, record);
		break;
	case KTRX_PROC_SYSRET:
		if (wanted)
			end_call(oneline, context, record);
		break;
	case KTRX_PROC_NAMEI:
	case KTRX_PROC_GENIO:
	case KTRX_PROC_STRUCT:
	case KTRX_PROC_STRUCT_ARRAY:
		pending = kdump_pending_find(&oneline->pending, record->pid, record->tid);
		if (is_origin(context, record))
			note_origin(oneline, context, record);
		else if (pending)
			kdump_oneline_fill(context, pending, record);
		break;
	case KTRX_PROC_FD:
		kdump_descriptors_note(oneline->descriptors, record);
		break;
	default:
		if (wanted)
			print_other(oneline, context, record);
	}
	return 0;
}

const struct kdump_form kdump_form_oneline = {
	.style = KDUMP_STYLE_PLAIN,
	.open = oneline_open,
	.record = oneline_record,
	.close = oneline_close,
};
