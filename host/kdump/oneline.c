/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "kdump/context.h"
#include "kdump/parts.h"
#include "ktread/ktread.h"

#define USUAL_DATA 32u /* bytes */
#define TEXT_MOST  4000u

/* ---- in front of a line ---- */

/* What stands in front. Threads that are not their process's only one have a number of their own. */
static char *kdump_oneline_who(char *at, struct kdump_context *context, uint32_t pid, uint32_t tid,
			       uint64_t stamp)
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

static char *kdump_oneline_name(char *at, struct kdump_context *context, uint32_t pid, uint32_t number)
{
	return kdump_put_call_name(at, context, kdump_context_calls(context, pid), number);
}

/* ---- arguments ---- */

/* What the call's records say of an argument of this type; each is for one argument. NULL: nothing. */
static const struct kdump_filling *find_filling(const struct kdump_pending *pending,
						const struct kdump_type *type, unsigned *taken)
{
	enum kdump_filling_kind kind;

	if (!type)
		return NULL;
	if (type->base == KDUMP_PATH)
		kind = KDUMP_FILLING_PATH;
	else if (type->base == KDUMP_DATA || type->base == KDUMP_BUFFER)
		kind = KDUMP_FILLING_DATA;
	else if (type->base == KDUMP_STRUCTURE)
		kind = KDUMP_FILLING_STRUCT;
	else
		return NULL;
	for (unsigned n = 0; n < pending->fillings; n++) {
		const struct kdump_filling *filling = &pending->filling[n];

		if (*taken >> n & 1 || filling->kind != kind ||
		    (kind == KDUMP_FILLING_STRUCT && strcmp(filling->name, type->name) != 0))
			continue;
		*taken |= 1u << n;
		return filling;
	}
	return NULL;
}

/* Is it an address whose bytes may still come? */
static bool may_be_filled(const struct kdump_one *one)
{
	return one->type && one->value &&
	       (one->type->base == KDUMP_PATH || one->type->base == KDUMP_DATA ||
		one->type->base == KDUMP_BUFFER || one->type->base == KDUMP_STRUCTURE);
}

/*
 * The arguments behind the first `pending->shown`; of an `unfinished` call up to the first of which more may
 * come to be known:
 * `pending->shown` is then where that is.
 */
static char *kdump_oneline_arguments(char *at, struct kdump_context *context, struct kdump_pending *pending,
				     bool unfinished)
{
	struct kdump_arguments arguments;
	struct kdump_one one;
	unsigned taken = 0, n = 0;
	bool more = false;

	kdump_arguments_begin(&arguments, kdump_context_calls(context, pending->pid), pending->number,
			      pending->word, pending->words, context->options->raw);
	for (; kdump_arguments_next(&arguments, &one); n++) {
		const struct kdump_filling *filling = find_filling(pending, one.type, &taken);

		if (n < pending->shown)
			continue;
		more = unfinished && !filling && may_be_filled(&one);
		if (more)
			break;
		if (n > 0 && (n > pending->shown || !pending->told))
			at = base_put_literal(at, ", ");
		if (context->options->arguments && *one.name)
			at = base_put_literal(kdump_put_name(at, one.name), "=");
		if (filling) {
			memcpy(at, pending->text + filling->offset, filling->length);
			at += filling->length;
		} else {
			at = kdump_put_value(at, &context->words, one.type, one.value);
		}
	}
	if (!unfinished)
		return at;
	pending->shown = n;
	return more && n > 0 ? base_put_literal(at, ",") : at;
}

/* ---- results ---- */

/* "3", "0x7f0000001000", "-1 ENOENT (No such file or directory)", "?". */
static char *kdump_oneline_result(char *at, struct kdump_context *context,
				  const struct ktread_proc_record *record)
{
	static const struct kdump_type number = { .base = KDUMP_LONG };
	const struct kdump_call *call =
		kdump_table_call(kdump_context_calls(context, record->pid), record->sysret.number);
	const struct kdump_type *type = call && call->typed ? call->result : &number;
	int32_t error = record->sysret.error;
	const char *name = kdump_table_error(context->words.table, error);
	const char *text = name ? kdump_table_error_text(context->words.table, error) : NULL;

	if (error && !context->ktrx && error < 0)
		return error == -1 ? base_put_literal(at, "? ERESTART")
				   : base_put_literal(at, "? EJUSTRETURN");
	if (error) {
		at = base_put_literal(at, "-1 ");
		if (!name || context->options->raw)
			return base_put_signed(base_put_literal(at, "errno "), error);
		at = kdump_put_name(at, name);
		if (text == name)
			return at;
		at = kdump_vis_text(base_put_literal(at, " ("), text, strlen(text), TEXT_MOST, false);
		return base_put_literal(at, ")");
	}
	if (type->base == KDUMP_VOID)
		return base_put_literal(at, "?");
	/* A size may be below zero as a result. */
	return kdump_put_value(at, &context->words, type->base == KDUMP_SIZE ? &number : type,
			       (uint64_t)record->sysret.result);
}

/* ---- what a call is about ---- */

/* Text in quotation marks, which says whether it is all of it; at most `limit` bytes. */
static char *kdump_oneline_text(char *at, const uint8_t *bytes, size_t size, size_t limit, bool cut)
{
	const char *end = at + limit - sizeof("\"...");

	*at++ = '"';
	at = kdump_vis_text(at, bytes, size, (size_t)(end - at), true);
	*at++ = '"';
	return cut || at >= end - KDUMP_VIS_GROWTH ? base_put_literal(at, "...") : at;
}

/* Keeps what a record of a call's own, NAMEI, GENIO or STRUCT, says of its arguments. */
static void kdump_oneline_fill(const struct kdump_context *context, struct kdump_pending *pending,
			       const struct ktread_proc_record *record)
{
	uint64_t most =
		context->options->data_most == KDUMP_DATA_USUAL ? USUAL_DATA : context->options->data_most;
	size_t limit, size = record->data_size;
	char *at = kdump_pending_fill(pending, &limit);
	char text[KDUMP_STRUCTURE_MOST + 64];

	if (!at || limit < 64)
		return;
	if (record->type == KTRX_PROC_NAMEI) {
		at = kdump_oneline_text(at, record->data, size, limit, record->flags & KTRX_PROC_CUT);
		kdump_pending_filled(pending, KDUMP_FILLING_PATH, "", at);
	} else if (record->type == KTRX_PROC_GENIO) {
		if (context->options->no_data)
			return;
		if (most && size > most)
			size = most;
		at = kdump_oneline_text(at, record->data, size, limit, size < record->genio.size);
		kdump_pending_filled(pending, KDUMP_FILLING_DATA, "", at);
	} else {
		size = (size_t)(kdump_put_structure(text, context, record->structure.name, record->data,
						    record->data_size) -
				text);
		if (size > limit)
			return;
		memcpy(at, text, size);
		kdump_pending_filled(pending, KDUMP_FILLING_STRUCT, record->structure.name, at + size);
	}
}

#define RESULT_COLUMN 40 /* where "= 0" stands behind a shorter call */
#define TEXT_MOST     4000u

struct oneline {
	struct kdump_pending_table pending;
	struct kdump_pending *open; /* its call began last, and nothing has been shown since; NULL: none */
};

/* ---- lines ---- */

static void tell_unfinished(struct oneline *oneline, struct kdump_context *context)
{
	struct kdump_pending *pending = oneline->open;
	char *at;

	oneline->open = NULL;
	if (!pending || !pending->used || pending->told)
		return;
	at = kdump_oneline_who(base_output_line(context->out), context, pending->pid, pending->tid,
			       pending->stamp);
	at = base_put_literal(kdump_oneline_name(at, context, pending->pid, pending->number), "(");
	at = kdump_oneline_arguments(at, context, pending, true);
	base_output_done(context->out, base_put_literal(at, " <unfinished ...>\n"));
	pending->told = true;
}

/* At least one blank. */
static char *pad(char *at, const char *from)
{
	do
		*at++ = ' ';
	while (at - from < RESULT_COLUMN);
	return at;
}

/* The whole line, or what was left of it. `record` NULL: it never returns. */
static void tell_finished(struct oneline *oneline, struct kdump_context *context,
			  struct kdump_pending *pending, const struct ktread_proc_record *record)
{
	uint64_t stamp = record && pending->told ? record->stamp : pending->stamp;
	char *from, *at;

	if (oneline->open != pending)
		tell_unfinished(oneline, context);
	oneline->open = NULL;
	from = base_output_line(context->out);
	at = kdump_oneline_who(from, context, pending->pid, pending->tid, stamp);
	if (pending->told)
		at = base_put_literal(at, "<... ");
	at = kdump_oneline_name(at, context, pending->pid, pending->number);
	at = pending->told ? base_put_literal(at, " resumed>") : base_put_literal(at, "(");
	at = kdump_oneline_arguments(at, context, pending, false);
	at = base_put_literal(pad(base_put_literal(at, ")"), from), "= ");
	at = record ? kdump_oneline_result(at, context, record) : base_put_literal(at, "?");
	if (record && !pending->doubtful && record->stamp >= pending->stamp) {
		at = kdump_put_duration(base_put_literal(at, " <"), context, record->stamp - pending->stamp);
		at = base_put_literal(at, ">");
	}
	base_output_done(context->out, base_put_literal(at, "\n"));
	pending->used = false;
}

/* A return whose call was not seen. */
static void tell_return(struct oneline *oneline, struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	char *from, *at;

	tell_unfinished(oneline, context);
	from = base_output_line(context->out);
	at = kdump_oneline_who(from, context, record->pid, record->tid, record->stamp);
	at = kdump_oneline_name(base_put_literal(at, "<... "), context, record->pid, record->sysret.number);
	at = base_put_literal(pad(base_put_literal(at, " resumed>)"), from), "= ");
	base_output_done(context->out, base_put_literal(kdump_oneline_result(at, context, record), "\n"));
}

/* ---- what calls are about ---- */

static void begin_call(struct oneline *oneline, struct kdump_context *context,
		       const struct ktread_proc_record *record)
{
	struct kdump_pending *pending = kdump_pending_place(&oneline->pending, record->pid, record->tid);

	if (pending->used) /* it never came back, or its return was lost */
		tell_finished(oneline, context, pending, NULL);
	tell_unfinished(oneline, context);
	kdump_pending_begin(pending, record);
	oneline->open = pending;
}

static void end_call(struct oneline *oneline, struct kdump_context *context,
		     const struct ktread_proc_record *record)
{
	struct kdump_pending *pending = kdump_pending_find(&oneline->pending, record->pid, record->tid);

	if (pending && pending->number == record->sysret.number)
		tell_finished(oneline, context, pending, record);
	else
		tell_return(oneline, context, record);
}

/* ---- what comes between calls ---- */

static char *put_signal(char *at, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	const char *code = kdump_code_name(context->words.table, record->psig.signal, record->psig.code);

	at = kdump_put_signal(base_put_literal(at, "--- "), &context->words, record->psig.signal);
	at = kdump_put_signal(base_put_literal(at, " {si_signo="), &context->words, record->psig.signal);
	at = base_put_literal(at, ", si_code=");
	at = code && !context->options->raw ? kdump_put_name(at, code)
					    : base_put_signed(at, record->psig.code);
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

static char *put_death(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
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

/* A line of its own; what has none is left to the other forms. */
static void tell_other(struct oneline *oneline, struct kdump_context *context,
		       const struct ktread_proc_record *record)
{
	struct kdump_pending *pending;
	char *at;

	switch (record->type) {
	case KTRX_PROC_PROCDTOR:
		pending = kdump_pending_find(&oneline->pending, record->pid, record->tid);
		if (pending) /* exit() */
			tell_finished(oneline, context, pending, NULL);
		break;
	case KTRX_PROC_PSIG:
	case KTRX_PROC_USER:
	case KTRX_PROC_CAPFAIL:
		break;
	default:
		return;
	}
	tell_unfinished(oneline, context);
	at = kdump_oneline_who(base_output_line(context->out), context, record->pid, record->tid,
			       record->stamp);
	if (record->type == KTRX_PROC_PROCDTOR)
		at = put_death(at, context, record);
	else if (record->type == KTRX_PROC_PSIG)
		at = put_signal(at, context, record);
	else if (record->type == KTRX_PROC_USER)
		at = put_user(at, context, record);
	else
		at = base_put_literal(kdump_put_denied(base_put_literal(at, "+++ "), context, record),
				      " +++");
	base_output_done(context->out, base_put_literal(at, "\n"));
}

static void tell_loss(struct oneline *oneline, struct kdump_context *context,
		      const struct ktread_proc_record *record)
{
	char *at;

	if (record->lost == 0)
		return;
	kdump_pending_doubt(&oneline->pending);
	tell_unfinished(oneline, context);
	at = base_put_literal(base_output_line(context->out), "*** ");
	if (context->ktrx)
		at = base_put_literal(base_put_decimal(at, record->lost), " ");
	base_output_done(context->out, base_put_literal(at, "records lost ***\n"));
}

/* ---- the form ---- */

static int oneline_open(void **state, struct kdump_context *context)
{
	(void)context;
	*state = calloc(1, sizeof(struct oneline));
	return *state ? 0 : KTREAD_E_MEMORY;
}

/* Calls in which the trace ends; of exit() that is all there is. */
static void oneline_close(void *state, struct kdump_context *context)
{
	struct oneline *oneline = state;

	for (unsigned n = 0; n < KDUMP_PENDINGS; n++) {
		struct kdump_pending *pending = &oneline->pending.of[n];
		const struct kdump_call *call =
			kdump_table_call(kdump_context_calls(context, pending->pid), pending->number);

		if (pending->used && call && call->typed && call->result->base == KDUMP_VOID)
			tell_finished(oneline, context, pending, NULL);
	}
	tell_unfinished(oneline, context);
	free(oneline);
}

static int oneline_record(void *state, struct kdump_context *context, const struct ktread_proc_record *record,
			  bool wanted)
{
	struct oneline *oneline = state;
	struct kdump_pending *pending;

	tell_loss(oneline, context, record);
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
		pending = kdump_pending_find(&oneline->pending, record->pid, record->tid);
		if (pending)
			kdump_oneline_fill(context, pending, record);
		break;
	default:
		if (wanted)
			tell_other(oneline, context, record);
	}
	return 0;
}

const struct kdump_form kdump_form_oneline = {
	.style = KDUMP_STYLE_PLAIN,
	.open = oneline_open,
	.record = oneline_record,
	.close = oneline_close,
};
