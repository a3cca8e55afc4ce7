/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/views.h"

#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/put.h"
#include "kdump/context.h"

#define USUAL_DATA 64u
#define TEXT_MOST  2000u /* maximum size of a path in bytes */
#define PIECE	   2000u /* number of bytes of data that are written at a time */

static char *put_time(char *at, const struct kdump_context *context, uint64_t stamp)
{
	uint64_t nanoseconds = kdump_absolute(context, stamp);

	if (context->scale.frequency == 0)
		return base_put_decimal(base_put_literal(at, "{\"ticks\":"), stamp);
	at = base_put_decimal(base_put_literal(at, "{\"time\":"), nanoseconds / 1000000000u);
	*at = '.';
	at = base_put_three(at + 1, (uint32_t)(nanoseconds % 1000000000u / 1000000u));
	return base_put_six(at, (uint32_t)(nanoseconds % 1000000u));
}

/* Writes the name of the record's type, without the blank that pads some names in text output. */
static char *put_type(char *at, const struct ktread_proc_record *record)
{
	uint16_t type = record->type == KTREAD_PROC_BROKEN ? record->raw : record->type;
	const char *word = kdump_record_word(type, type == record->type ? record->ctor.flags : 0);

	if (!word)
		return base_put_decimal(base_put_literal(at, ",\"unknown\":"), record->raw);
	return base_json_string(base_put_literal(at, ",\"type\":"), word, strcspn(word, " "));
}

static char *put_call_name(char *at, struct calls_table *calls, uint32_t number)
{
	const struct calls_call *call = calls_table_call(calls, number);

	if (call)
		at = base_json_name(base_put_literal(at, ",\"call\":"), call->name);
	return base_put_decimal(base_put_literal(at, ",\"number\":"), number);
}

/*
 * Writes a call and its arguments. The key of an argument is its name or, if it has none, its index, from 0.
 */
static char *put_call(char *at, struct kdump_context *context, const struct ktread_proc_record *record)
{
	struct calls_table *calls = kdump_context_calls(context, record->pid, record->tid);
	struct calls_arguments arguments;
	struct calls_one one;

	at = base_put_literal(put_call_name(at, calls, record->syscall.number), ",\"args\":{");
	calls_arguments_begin(&arguments, calls, record->syscall.number, record->syscall.arg,
			      record->syscall.args, context->options->raw);
	for (unsigned n = 0; calls_arguments_next(&arguments, &one); n++) {
		if (n > 0)
			*at++ = ',';
		*at++ = '"';
		at = *one.name ? kdump_put_name(at, one.name) : base_put_decimal(at, n);
		at = kdump_put_value(base_put_literal(at, "\":"), &context->words, one.type, one.value);
	}
	*at = '}';
	return at + 1;
}

static char *put_result(char *at, struct kdump_context *context, const struct ktread_proc_record *record)
{
	const char *error = calls_table_error(context->words.table, record->sysret.error);

	at = put_call_name(at, kdump_context_calls(context, record->pid, record->tid), record->sysret.number);
	if (record->sysret.error == 0)
		return base_put_signed(base_put_literal(at, ",\"result\":"), record->sysret.result);
	at = base_put_signed(base_put_literal(at, ",\"errno\":"), record->sysret.error);
	return error ? base_json_name(base_put_literal(at, ",\"error\":"), error) : at;
}

static char *put_text(char *at, const struct ktread_proc_record *record)
{
	size_t size = record->data_size < TEXT_MOST ? record->data_size : TEXT_MOST;

	at = base_json_string(at, (const char *)record->data, size);
	return record->flags & KTRX_PROC_CUT || size < record->data_size
		       ? base_put_literal(at, ",\"cut\":true")
		       : at;
}

static char *put_signal_name(char *at, const struct kdump_context *context, uint32_t signal)
{
	const char *name = calls_table_signal(context->words.table, signal);

	at = base_put_decimal(base_put_literal(at, ",\"signal\":"), signal);
	return name ? base_json_name(base_put_literal(at, ",\"signal_name\":"), name) : at;
}

static char *put_signal(char *at, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	const char *code = kdump_code_name(context->words.table, record->psig.signal, record->psig.code);

	at = put_signal_name(at, context, record->psig.signal);
	at = base_put_signed(base_put_literal(at, ",\"code\":"), record->psig.code);
	if (code)
		at = base_json_name(base_put_literal(at, ",\"code_name\":"), code);
	if (context->ktrx && record->psig.handler == KTRX_PROC_HANDLER_UNKNOWN)
		at = base_put_literal(at, ",\"handler\":null");
	else
		at = base_put_literal(
			base_put_hex(base_put_literal(at, ",\"handler\":\"0x"), record->psig.handler), "\"");
	at = base_put_hex(base_put_literal(at, ",\"mask\":[\"0x"), record->psig.mask[0]);
	at = base_put_hex(base_put_literal(at, "\",\"0x"), record->psig.mask[1]);
	return base_put_literal(at, "\"]");
}

static char *put_switch(char *at, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	at = record->csw.out ? base_put_literal(at, ",\"out\":true") : base_put_literal(at, ",\"out\":false");
	if (context->ktrx)
		at = record->csw.voluntary ? base_put_literal(at, ",\"voluntary\":true")
					   : base_put_literal(at, ",\"voluntary\":false");
	else
		at = record->csw.user ? base_put_literal(at, ",\"user\":true")
				      : base_put_literal(at, ",\"user\":false");
	if (record->data_size)
		at = put_text(base_put_literal(at, ",\"wait\":"), record);
	return record->csw.count ? base_put_decimal(base_put_literal(at, ",\"count\":"), record->csw.count)
				 : at;
}

static char *put_start_or_exit(char *at, const struct kdump_context *context,
			       const struct ktread_proc_record *record)
{
	if (record->type == KTRX_PROC_PROCCTOR) {
		if (record->ctor.parent != KTREAD_PROC_NOBODY)
			at = base_put_decimal(base_put_literal(at, ",\"parent\":"), record->ctor.parent);
		return put_text(base_put_literal(at, ",\"program\":"), record);
	}
	if (!record->dtor.known)
		return at;
	if (record->dtor.signaled)
		return put_signal_name(at, context, record->dtor.status);
	return base_put_decimal(base_put_literal(at, ",\"status\":"), record->dtor.status);
}

/*
 * Writes a denied operation as one string, which is the text that kdump prints in a line. The operation is
 * not split into members because such operations have many different details.
 */
static char *put_denied(char *at, const struct kdump_context *context,
			const struct ktread_proc_record *record)
{
	struct kdump_context plain = *context;
	char text[BASE_OUTPUT_LINE];
	size_t length;

	plain.words.style = KDUMP_STYLE_PLAIN;
	length = (size_t)(kdump_put_denied(text, &plain, record) - text);
	return base_json_string(base_put_literal(at, ",\"denied\":"), text,
				length < TEXT_MOST ? length : TEXT_MOST);
}

static char *put_fault(char *at, const struct ktread_proc_record *record)
{
	if (record->type == KTRX_PROC_FAULTEND)
		return base_put_signed(base_put_literal(at, ",\"result\":"), record->faultend.result);
	at = base_put_hex(base_put_literal(at, ",\"address\":\"0x"), record->fault.address);
	at = base_put_decimal(base_put_literal(at, "\",\"access\":"), record->fault.access);
	if (record->fault.user == 0xff)
		return at;
	return record->fault.user ? base_put_literal(at, ",\"user\":true")
				  : base_put_literal(at, ",\"user\":false");
}

static char *put_end(char *at, const struct ktread_proc_record *record)
{
	at = base_put_decimal(base_put_literal(at, ",\"reason\":"), record->end.reason);
	at = base_put_signed(base_put_literal(at, ",\"errno\":"), record->end.error);
	at = base_put_decimal(base_put_literal(at, ",\"records\":"), record->end.records);
	at = base_put_decimal(base_put_literal(at, ",\"bytes\":"), record->end.bytes);
	return base_put_decimal(base_put_literal(at, ",\"lost_in_all\":"), record->end.lost);
}

static char *put_payload(char *at, struct kdump_context *context, const struct ktread_proc_record *record)
{
	switch (record->type) {
	case KTRX_PROC_SYSCALL:
		return put_call(at, context, record);
	case KTRX_PROC_SYSRET:
		return put_result(at, context, record);
	case KTRX_PROC_NAMEI:
		return put_text(base_put_literal(at, ",\"path\":"), record);
	case KTRX_PROC_FD:
		at = base_put_signed(base_put_literal(at, ",\"fd\":"), record->fd.number);
		if (record->data_size == 0)
			return base_put_literal(at, ",\"path\":null");
		return put_text(base_put_literal(at, ",\"path\":"), record);
	case KTRX_PROC_SYSCTL:
		return put_text(base_put_literal(at, ",\"setting\":"), record);
	case KTRX_PROC_PSIG:
		return put_signal(at, context, record);
	case KTRX_PROC_CSW:
		return put_switch(at, context, record);
	case KTRX_PROC_PROCCTOR:
	case KTRX_PROC_PROCDTOR:
		return put_start_or_exit(at, context, record);
	case KTRX_PROC_CAPFAIL:
		return put_denied(at, context, record);
	case KTRX_PROC_FAULT:
	case KTRX_PROC_FAULTEND:
		return put_fault(at, record);
	case KTRX_PROC_END:
		return put_end(at, record);
	case KTREAD_PROC_BROKEN:
		return base_put_literal(at, ",\"invalid\":true");
	default:
		return at;
	}
}

/* Writes data in pieces, because it may be longer than a line buffer. */
static char *write_bytes(struct base_output *out, char *at, const uint8_t *bytes, size_t size)
{
	*at++ = '"';
	for (size_t n = 0, piece; n < size; n += piece) {
		piece = base_utf8_cut((const char *)bytes + n, size - n, PIECE);
		base_output_done(out, base_escape_json(at, (const char *)bytes + n, piece));
		at = base_output_line(out);
	}
	*at = '"';
	return at + 1;
}

/* Returns the number of bytes to print of the record's data, as limited by -m. */
static size_t shown_size(const struct kdump_context *context, const struct ktread_proc_record *record)
{
	uint64_t most =
		context->options->data_most == KDUMP_DATA_USUAL ? USUAL_DATA : context->options->data_most;

	return most && record->data_size > most ? most : record->data_size;
}

/* Writes a record of unknown type: the size of its payload, then its bytes in hexadecimal. */
static char *write_unknown(const struct kdump_context *context, char *at,
			   const struct ktread_proc_record *record)
{
	size_t size = shown_size(context, record);

	at = base_put_decimal(base_put_literal(at, ",\"size\":"), record->data_size);
	if (context->options->no_data)
		return at;
	at = base_put_literal(at, ",\"bytes\":\"");
	for (size_t n = 0; n < size; n++) {
		at = kdump_put_byte(at, record->data[n]);
		if (n % PIECE == 0) {
			base_output_done(context->out, at);
			at = base_output_line(context->out);
		}
	}
	at = base_put_literal(at, "\"");
	return size < record->data_size ? base_put_literal(at, ",\"cut\":true") : at;
}

static char *write_data(const struct kdump_context *context, char *at,
			const struct ktread_proc_record *record)
{
	size_t size = shown_size(context, record);

	if (record->type == KTRX_PROC_GENIO) {
		at = base_put_signed(base_put_literal(at, ",\"fd\":"), record->genio.fd);
		at = record->genio.write ? base_put_literal(at, ",\"wrote\":")
					 : base_put_literal(at, ",\"read\":");
		at = base_put_decimal(at, record->genio.size);
		if (context->options->no_data)
			return at;
	}
	at = write_bytes(context->out, base_put_literal(at, ",\"data\":"), record->data, size);
	return size < record->data_size ? base_put_literal(at, ",\"cut\":true") : at;
}

static char *write_structures(const struct kdump_context *context, char *at,
			      const struct ktread_proc_record *record)
{
	uint32_t size = record->type == KTRX_PROC_STRUCT ? record->data_size : record->structure.element_size;

	at = base_json_name(base_put_literal(at, ",\"struct\":"), record->structure.name);
	at = base_put_literal(at, ",\"values\":[");
	for (uint32_t n = 0; size > 0 && n < record->structure.count; n++) {
		*at = ',';
		at = kdump_put_structure(at + (n > 0), context, record->structure.name,
					 record->data + (size_t)n * size, size);
		base_output_done(context->out, at);
		at = base_output_line(context->out);
	}
	*at = ']';
	return at + 1;
}

static int json_open(void **state, struct kdump_context *context)
{
	(void)context;
	*state = NULL;
	return 0;
}

static int json_record(void *state, struct kdump_context *context, const struct ktread_proc_record *record,
		       bool wanted)
{
	struct base_output *out = context->out;
	char *at;

	(void)state;
	if (record->lost)
		base_output_done(
			out, base_put_literal(
				     base_put_decimal(base_put_literal(base_output_line(out), "{\"lost\":"),
						      record->lost),
				     "}\n"));
	if (!wanted || record->type == KTRX_PROC_NAME || record->type == KTRX_PROC_TABLE)
		return 0;
	at = put_time(base_output_line(out), context, record->stamp);
	at = base_put_decimal(base_put_literal(at, ",\"pid\":"), record->pid);
	at = base_put_decimal(base_put_literal(at, ",\"tid\":"), record->tid);
	if (record->cpu != KTREAD_PROC_NOBODY)
		at = base_put_decimal(base_put_literal(at, ",\"cpu\":"), record->cpu);
	at = put_type(base_json_name(base_put_literal(at, ",\"name\":"), record->name), record);
	if (record->type == KTRX_PROC_GENIO || record->type == KTRX_PROC_USER)
		at = write_data(context, at, record);
	else if (record->type == KTREAD_PROC_UNKNOWN)
		at = write_unknown(context, at, record);
	else if (record->type == KTRX_PROC_STRUCT || record->type == KTRX_PROC_STRUCT_ARRAY)
		at = write_structures(context, at, record);
	else
		at = put_payload(at, context, record);
	base_output_done(out, base_put_literal(at, "}\n"));
	return 0;
}

static void json_close(void *state, struct kdump_context *context)
{
	(void)state;
	(void)context;
}

const struct kdump_form kdump_form_json = {
	.style = KDUMP_STYLE_JSON,
	.open = json_open,
	.record = json_record,
	.close = json_close,
};
