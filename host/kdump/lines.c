/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "kdump/context.h"
#include "ktread/ktread.h"

#define PATH_MOST 8000u /* maximum size of the text for a path or a name, in bytes */
/*
 * default maximum number of bytes of data that are printed of a record, if the trace is from DragonFly or is
 * KTRX; other traces have no such limit
 */
#define USUAL_DATA 64u

struct lines {
	bool loss_printed; /* true if the last printed line reported lost records */
	struct kdump_faults faults;
};

static char *put_newline(char *at)
{
	*at = '\n';
	return at + 1;
}

/* Writes a name in quotation marks. Adds "..." if the record does not contain the whole name. */
static char *put_quoted(char *at, const struct ktread_proc_record *record)
{
	*at = '"';
	at = kdump_vis_text(at + 1, record->data, record->data_size, PATH_MOST, false);
	*at++ = '"';
	return record->flags & KTRX_PROC_CUT ? base_put_literal(at, "...") : at;
}

/* ---- Records of system calls ---- */

static char *put_call(char *at, struct kdump_context *context, const struct ktread_proc_record *record)
{
	struct calls_table *calls = kdump_context_calls(context, record->pid, record->tid);
	struct calls_arguments arguments;
	struct calls_one one;
	char before = '(';

	at = kdump_put_call_name(at, context, calls, record->syscall.number);
	calls_arguments_begin(&arguments, calls, record->syscall.number, record->syscall.arg,
			      record->syscall.args, context->options->raw);
	while (calls_arguments_next(&arguments, &one)) {
		*at++ = before;
		before = ',';
		if (context->options->arguments && *one.name) {
			at = kdump_put_name(at, one.name);
			*at++ = '=';
		}
		at = kdump_put_value(at, &context->words, one.type, one.value);
	}
	if (before == ',')
		*at++ = ')';
	return put_newline(at);
}

static char *put_error(char *at, const struct kdump_context *context, int32_t error)
{
	const char *text = context->options->raw ? NULL : calls_table_error_text(context->words.table, error);

	if (error == -1 && !context->ktrx)
		return base_put_literal(at, "RESTART");
	if (error == -2 && !context->ktrx)
		return base_put_literal(at, "JUSTRETURN");
	at = base_put_signed(base_put_literal(at, "-1 errno "), error);
	if (!text)
		return at;
	*at = ' ';
	return kdump_vis_text(at + 1, text, strlen(text), PATH_MOST, false);
}

static char *put_return(char *at, struct kdump_context *context, const struct ktread_proc_record *record)
{
	int64_t result = record->sysret.result;

	at = kdump_put_call_name(at, context, kdump_context_calls(context, record->pid, record->tid),
				 record->sysret.number);
	*at++ = ' ';
	if (record->sysret.error)
		return put_newline(put_error(at, context, record->sysret.error));
	if (context->options->raw)
		return put_newline(kdump_put_word(at, &context->words, (uint64_t)result));
	at = base_put_signed(at, result);
	if (result < 0 || result > 9)
		at = base_put_hex(base_put_literal(at, "/0x"), (uint64_t)result);
	return put_newline(at);
}

/* ---- Data that was read or written ---- */

/* Returns the number of bytes to print of the record's data, as limited by -m and -s. */
static size_t shown_size(const struct kdump_context *context, const struct ktread_proc_record *record)
{
	uint64_t most = context->options->data_most;

	if (context->options->no_data)
		return 0;
	if (most == KDUMP_DATA_USUAL)
		most = context->dragonfly || context->ktrx ? USUAL_DATA : 0;
	return most && record->data_size > most ? most : record->data_size;
}

static char *put_size(char *at, uint64_t size)
{
	at = base_put_decimal(at, size);
	return size == 1 ? base_put_literal(at, " byte") : base_put_literal(at, " bytes");
}

static void write_data(const struct kdump_context *context, const struct ktread_proc_record *record, char *at)
{
	size_t size = shown_size(context, record);
	unsigned columns = context->options->columns;

	at = base_put_signed(base_put_literal(at, "fd "), record->genio.fd);
	at = record->genio.write ? base_put_literal(at, " wrote ") : base_put_literal(at, " read ");
	at = put_size(at, record->genio.size);
	if (record->genio.size != record->data_size) {
		at = base_put_decimal(base_put_literal(at, " ("), record->data_size);
		at = base_put_literal(at, " recorded)");
	}
	base_output_done(context->out, put_newline(at));
	if (context->options->no_data)
		return;
	if (!context->dragonfly && kdump_data_is_binary(record->data, size))
		kdump_data_hex(context->out, record->data, size, columns);
	else
		kdump_data_text(context->out, record->data, size, columns);
}

/* Writes a record of unknown type: the size of its payload, then its bytes in hexadecimal. */
static void write_unknown(const struct kdump_context *context, const struct ktread_proc_record *record,
			  char *at)
{
	base_output_done(context->out, put_newline(put_size(at, record->data_size)));
	kdump_data_hex(context->out, record->data, shown_size(context, record), context->options->columns);
}

/* ---- Signals, context switches, and starts and ends of processes ---- */

/* Writes the reason for which a signal was sent. */
static char *put_code(char *at, const struct kdump_context *context, uint32_t signal, int32_t code)
{
	const char *name = kdump_code_name(context->words.table, signal, code);

	if (name && !context->options->raw)
		return kdump_put_name(at, name);
	return kdump_put_word(at, &context->words, (uint32_t)code);
}

static bool is_unknown_handler(const struct kdump_context *context, uint64_t handler)
{
	return context->ktrx && handler == KTRX_PROC_HANDLER_UNKNOWN;
}

static char *put_signal(char *at, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	uint64_t handler = record->psig.handler;

	at = kdump_put_signal(at, &context->words, record->psig.signal);
	if (handler == 0) {
		at = base_put_literal(at, " SIG_DFL");
		if (context->dragonfly)
			return put_newline(at);
	} else if (handler == 1 && context->ktrx) {
		at = base_put_literal(at, " SIG_IGN");
	} else {
		at = base_put_literal(at, " caught handler=");
		at = is_unknown_handler(context, handler) ? base_put_literal(at, "unknown")
							  : base_put_hex(base_put_literal(at, "0x"), handler);
		at = base_put_hex(base_put_literal(at, " mask=0x"),
				  context->ktrx ? record->psig.mask[0] : (uint32_t)record->psig.mask[0]);
	}
	at = base_put_literal(at, " code=");
	if (context->dragonfly)
		return put_newline(base_put_hex(base_put_literal(at, "0x"), (uint32_t)record->psig.code));
	return put_newline(put_code(at, context, record->psig.signal, record->psig.code));
}

static char *put_switch(char *at, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	at = record->csw.out ? base_put_literal(at, "stop") : base_put_literal(at, "resume");
	if (!context->ktrx)
		at = record->csw.user ? base_put_literal(at, " user") : base_put_literal(at, " kernel");
	else if (record->csw.out)
		at = record->csw.voluntary ? base_put_literal(at, " voluntary")
					   : base_put_literal(at, " preempted");
	if (record->data_size) {
		*at = ' ';
		at = put_quoted(at + 1, record);
	}
	if (record->csw.count)
		at = base_put_literal(base_put_decimal(base_put_literal(at, ", "), record->csw.count),
				      " times");
	return put_newline(at);
}

static char *put_start(char *at, const struct ktread_proc_record *record)
{
	if (record->ctor.parent != KTREAD_PROC_NOBODY)
		at = base_put_literal(
			base_put_signed(base_put_literal(at, "parent "), (int32_t)record->ctor.parent), " ");
	return put_newline(put_quoted(at, record));
}

static char *put_exit(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
{
	if (!record->dtor.known)
		return put_newline(at);
	if (record->dtor.signaled)
		return put_newline(kdump_put_signal(at, &context->words, record->dtor.status));
	return put_newline(base_put_decimal(base_put_literal(at, "status "), record->dtor.status));
}

/* ---- The end of a file ---- */

static char *put_end(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
{
	const char *error = calls_table_error_text(context->words.table, record->end.error);

	switch (record->end.reason) {
	case KTRX_PROC_ENDED_CLOSED:
		at = base_put_literal(at, "closed");
		break;
	case KTRX_PROC_ENDED_LIMIT:
		at = base_put_literal(at, "limit reached");
		break;
	default:
		at = base_put_signed(base_put_literal(at, "error "), record->end.error);
		if (error) {
			*at = ' ';
			at = kdump_vis_text(at + 1, error, strlen(error), PATH_MOST, false);
		}
	}
	at = base_put_literal(base_put_decimal(base_put_literal(at, ": "), record->end.records),
			      " records, ");
	at = base_put_literal(base_put_decimal(at, record->end.bytes), " bytes, ");
	return put_newline(base_put_literal(base_put_decimal(at, record->end.lost), " lost"));
}

/*
 * Reports lost records, unless the last line was such a report. KTRX traces contain the number of lost
 * records. FreeBSD's traces show only that records were lost.
 */
static void print_loss(struct lines *lines, struct kdump_context *context,
		       const struct ktread_proc_record *record)
{
	char *at;

	if (record->lost == 0 || lines->loss_printed)
		return;
	at = base_put_literal(kdump_put_process(base_output_line(context->out), context, record),
			      "Events dropped");
	if (context->ktrx)
		at = base_put_decimal(base_put_literal(at, ": "), record->lost);
	base_output_done(context->out, base_put_literal(at, ".\n"));
	lines->loss_printed = true;
}

/* ---- Printing a record ---- */

static char *put_fd(char *at, const struct ktread_proc_record *record)
{
	return record->fd.number == KTRX_PROC_FD_CWD ? base_put_literal(at, "AT_FDCWD")
						     : base_put_signed(at, record->fd.number);
}

/* Writes the payload of a record whose output is a single line, including the newline. */
static char *put_payload(char *at, struct lines *lines, struct kdump_context *context,
			 const struct ktread_proc_record *record)
{
	switch (record->type) {
	case KTRX_PROC_SYSCALL:
		return put_call(at, context, record);
	case KTRX_PROC_SYSRET:
		return put_return(at, context, record);
	case KTRX_PROC_NAMEI:
	case KTRX_PROC_SYSCTL:
		return put_newline(put_quoted(at, record));
	case KTRX_PROC_FD:
		at = base_put_literal(put_fd(at, record), " ");
		return put_newline(record->data_size > 0 ? put_quoted(at, record)
							 : base_put_literal(at, "unknown"));
	case KTRX_PROC_PSIG:
		return put_signal(at, context, record);
	case KTRX_PROC_CSW:
		return put_switch(at, context, record);
	case KTRX_PROC_PROCCTOR:
		return put_start(at, record);
	case KTRX_PROC_PROCDTOR:
		return put_exit(at, context, record);
	case KTRX_PROC_CAPFAIL:
		return put_newline(kdump_put_denied(at, context, record));
	case KTRX_PROC_FAULT:
		return put_newline(kdump_put_fault(at, context, record));
	case KTRX_PROC_FAULTEND:
		return put_newline(kdump_put_fault_end(at, &lines->faults, context, record));
	case KTRX_PROC_END:
		return put_end(at, context, record);
	case KTREAD_PROC_BROKEN:
		return base_put_literal(at, "invalid record\n");
	default:
		return put_newline(kdump_hardware_word(record->type) ? kdump_put_hardware(at, record) : at);
	}
}

/*
 * Writes a record whose output may have several lines. Returns false if the record's type has no such output.
 */
static bool write_long(const struct kdump_context *context, const struct ktread_proc_record *record)
{
	switch (record->type) {
	case KTRX_PROC_GENIO:
		write_data(context, record, base_output_line(context->out));
		return true;
	case KTREAD_PROC_UNKNOWN:
		write_unknown(context, record, base_output_line(context->out));
		return true;
	case KTRX_PROC_USER:
		kdump_write_user(context, record);
		return true;
	case KTRX_PROC_STRUCT:
	case KTRX_PROC_STRUCT_ARRAY:
		kdump_write_structure(context, record);
		return true;
	default:
		return false;
	}
}

static int lines_open(void **state, struct kdump_context *context)
{
	(void)context;
	*state = calloc(1, sizeof(struct lines));
	return *state ? 0 : KTREAD_E_MEMORY;
}

static void lines_close(void *state, struct kdump_context *context)
{
	(void)context;
	free(state);
}

static int lines_record(void *state, struct kdump_context *context, const struct ktread_proc_record *record,
			bool wanted)
{
	struct lines *lines = state;
	char *at;

	print_loss(lines, context, record);
	kdump_faults_note(&lines->faults, record);
	if (!wanted || kdump_head_hides(context, record))
		return 0;
	lines->loss_printed = false;
	at = kdump_put_head(base_output_line(context->out), context, record);
	base_output_done(context->out, at);
	if (!write_long(context, record))
		base_output_done(context->out, put_payload(at, lines, context, record));
	return 0;
}

const struct kdump_form kdump_form_lines = {
	.style = KDUMP_STYLE_BSD,
	.open = lines_open,
	.record = lines_record,
	.close = lines_close,
};
