/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The arguments and the result of a call in one line. The text of an argument includes what other records of
 * the call state about the argument.
 */
#include "kdump/views.h"

#include <string.h>

#include "base/put.h"
#include "kdump/context.h"

#define USUAL_DATA 32u /* default maximum number of bytes of data that are printed of an argument */
#define TEXT_MOST  4000u
/* maximum size, in bytes, of the text of a descriptor and the file or socket to which it refers */
#define DESCRIPTOR_MOST 1200
/* minimum number of free bytes that are needed to begin another text */
#define TEXT_LEAST 100

/* ---- What is known about an argument ---- */

static bool is_of_kind(const struct kdump_filling *filling, const struct calls_type *type)
{
	switch (type->base) {
	case CALLS_PATH:
		return filling->kind == KDUMP_FILLING_PATH;
	case CALLS_DATA:
	case CALLS_BUFFER:
		return filling->kind == KDUMP_FILLING_DATA;
	case CALLS_STRUCTURE:
		return filling->kind == KDUMP_FILLING_STRUCT && strcmp(filling->name, type->name) == 0;
	default:
		return false;
	}
}

/*
 * Finds a filling (stored text) for an argument. Searches from index `from` on, and skips fillings in the set
 * *taken. Adds the result to this set. A filling without an argument number is used for any argument of the
 * filling's kind. Returns NULL if there is no such filling.
 */
static const struct kdump_filling *find_filling(const struct kdump_pending *pending,
						const struct calls_one *one, unsigned from, unsigned *taken)
{
	for (unsigned n = from; n < pending->fillings; n++) {
		const struct kdump_filling *filling = &pending->filling[n];
		const struct calls_type *type = one->pointer ? one->pointer->type : one->type;

		if (*taken >> n & 1 || filling->kind == KDUMP_FILLING_NONE ||
		    (filling->argument ? filling->argument != one->number + 1
				       : !type || from > 0 || !is_of_kind(filling, type)))
			continue;
		*taken |= 1u << n;
		return filling;
	}
	return NULL;
}

static char *put_filling(char *at, const struct kdump_pending *pending, const struct kdump_filling *filling)
{
	memcpy(at, pending->text + filling->offset, filling->length);
	return at + filling->length;
}

static bool has_name(const struct kdump_filling *filling, unsigned argument, const char *name)
{
	return filling->argument == argument && strcmp(filling->name, name) == 0;
}

/*
 * Writes a message whose parts (address, data, control messages) are in several fillings. `head` is the text
 * of a struct with the other members.
 */
static char *put_message(char *at, const struct kdump_pending *pending, unsigned argument, const char *head,
			 size_t size)
{
	*at++ = '{';
	for (unsigned n = 0; n < pending->fillings; n++) {
		const struct kdump_filling *filling = &pending->filling[n];

		if (filling->argument != argument || filling->kind == KDUMP_FILLING_NONE ||
		    has_name(filling, argument, "msghdr") || has_name(filling, argument, "mmsghdr"))
			continue;
		at = strcmp(filling->name, "sockaddr") == 0  ? base_put_literal(at, "name=")
		     : strcmp(filling->name, "control") == 0 ? base_put_literal(at, "control=")
							     : base_put_literal(at, "iov=");
		at = base_put_literal(put_filling(at, pending, filling), ", ");
	}
	/* Copies `head` without its opening brace. */
	memcpy(at, head + 1, size - 1);
	return at + size - 1;
}

/*
 * Returns whether the filling is a complete list of messages, as the program passed it: the text of such a
 * list begins with a bracket.
 */
static bool is_list(const struct kdump_pending *pending, const struct kdump_filling *filling)
{
	return pending->text[filling->offset] == '[';
}

/* Writes messages that were sent or received. */
static char *put_messages(char *at, const struct kdump_pending *pending, unsigned argument)
{
	bool any = false;

	*at++ = '[';
	for (unsigned n = 0; n < pending->fillings; n++) {
		if (!has_name(&pending->filling[n], argument, "mmsghdr"))
			continue;
		at = put_filling(any ? base_put_literal(at, ", ") : at, pending, &pending->filling[n]);
		any = true;
	}
	if (pending->cut)
		at = any ? base_put_literal(at, ", ...") : base_put_literal(at, "...");
	*at = ']';
	return at + 1;
}

/*
 * Writes what is known about an argument's contents before and after the call: "[128] => [16]". Returns NULL
 * if nothing is known.
 */
static char *put_known(char *at, const struct kdump_pending *pending, const struct calls_one *one,
		       unsigned *taken)
{
	const struct kdump_filling *first = find_filling(pending, one, 0, taken), *filling = first;

	if (!first)
		return NULL;
	for (unsigned n = 0; n < pending->fillings; n++) {
		filling = &pending->filling[n];
		if (has_name(filling, one->number + 1, "msghdr"))
			return put_message(at, pending, one->number + 1, pending->text + filling->offset,
					   filling->length);
		if (has_name(filling, one->number + 1, "mmsghdr") && !is_list(pending, filling))
			return put_messages(at, pending, one->number + 1);
	}
	at = put_filling(at, pending, first);
	while (first->argument && (filling = find_filling(pending, one, 1, taken)) != NULL)
		if (filling->length != first->length ||
		    memcmp(pending->text + filling->offset, pending->text + first->offset, first->length) !=
			    0)
			at = put_filling(base_put_literal(at, " => "), pending, filling);
	return at;
}

/* Returns whether the argument is an address whose contents may be recorded later. */
static bool may_be_filled(const struct calls_one *one)
{
	return one->type && one->value &&
	       (one->pointer || one->type->base == CALLS_PATH || one->type->base == CALLS_DATA ||
		one->type->base == CALLS_BUFFER || one->type->base == CALLS_STRUCTURE);
}

/* Returns whether the call should have filled this buffer, but returned 0 bytes. */
static bool is_empty(const struct calls_one *one, const struct ktread_proc_record *record)
{
	return record && record->sysret.error == 0 && record->sysret.result == 0 && one->type &&
	       one->type->base == CALLS_BUFFER && one->value;
}

/* ---- Arguments -------------------------- */

char *kdump_oneline_arguments(char *at, struct kdump_context *context, struct kdump_pending *pending,
			      const struct ktread_proc_record *record, bool unfinished)
{
	struct calls_arguments arguments;
	struct calls_one one;
	unsigned taken = 0, n = 0;
	bool more = false;

	calls_arguments_begin(&arguments, kdump_context_calls(context, pending->pid, pending->tid),
			      pending->number, pending->word, pending->words, context->options->raw);
	for (; calls_arguments_next(&arguments, &one); n++) {
		char known[KDUMP_FILLING_TEXTS + 64 * KDUMP_FILLINGS];
		const char *end = put_known(known, pending, &one, &taken);

		if (n < pending->shown)
			continue;
		more = unfinished && !end && may_be_filled(&one);
		if (more)
			break;
		if (n > 0 && (n > pending->shown || !pending->shown_unfinished))
			at = base_put_literal(at, ", ");
		if (context->options->arguments && *one.name)
			at = base_put_literal(kdump_put_name(at, one.name), "=");
		if (end) {
			memcpy(at, known, (size_t)(end - known));
			at += end - known;
			continue;
		}
		if (is_empty(&one, record)) {
			at = base_put_literal(at, "\"\"");
			continue;
		}
		at = kdump_put_value(at, &context->words, one.type, one.value);
	}
	if (!unfinished)
		return n == 0 && pending->fillings > 0 ? put_filling(at, pending, &pending->filling[0]) : at;
	pending->shown = n;
	return more && n > 0 ? base_put_literal(at, ",") : at;
}

/* ---- Results ---------------------------- */

/* Returns whether the error is one of Linux's internal errors, which a program never sees. */
static bool is_restart(const char *name)
{
	return name && strncmp(name, "ERESTART", sizeof("ERESTART") - 1) == 0 &&
	       name[sizeof("ERESTART") - 1] != '\0';
}

/* Writes an error result, such as "-1 ENOENT (No such file or directory)". */
static char *put_error(char *at, struct kdump_context *context, int32_t error)
{
	const char *name = calls_table_error(context->words.table, error);
	const char *text = name ? calls_table_error_text(context->words.table, error) : NULL;

	if (is_restart(name) && !context->options->raw)
		return base_put_literal(kdump_put_name(base_put_literal(at, "? "), name),
					" (To be restarted)");
	at = base_put_literal(at, "-1 ");
	if (!name || context->options->raw)
		return base_put_signed(base_put_literal(at, "errno "), error);
	at = kdump_put_name(at, name);
	if (text == name)
		return at;
	at = kdump_vis_text(base_put_literal(at, " ("), text, strlen(text), TEXT_MOST, false);
	return base_put_literal(at, ")");
}

/* Returns whether the call waits for descriptors and returns 0 after a timeout. */
static bool is_waiting_call(const struct calls_call *call)
{
	static const char *const names[] = { "poll",	 "ppoll",      "ppoll_time64",	 "select",
					     "pselect6", "_newselect", "pselect6_time64" };

	for (size_t n = 0; call && n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(call->name, names[n]) == 0)
			return true;
	return false;
}

char *kdump_oneline_result(char *at, struct kdump_context *context,
			   const struct kdump_descriptors *descriptors, const struct kdump_pending *pending,
			   const struct ktread_proc_record *record)
{
	static const struct calls_type number = { .base = CALLS_LONG };
	const struct calls_call *call = calls_table_call(
		kdump_context_calls(context, record->pid, record->tid), record->sysret.number);
	const struct calls_variant *variant =
		pending ? calls_call_variant(call, pending->word, pending->words) : NULL;
	const struct calls_type *type = variant && variant->result ? variant->result
					: call && call->typed	   ? call->result
								   : &number;
	int32_t error = record->sysret.error;

	if (error < 0 && !context->ktrx)
		return error == -1 ? base_put_literal(at, "? ERESTART")
				   : base_put_literal(at, "? EJUSTRETURN");
	if (error)
		return put_error(at, context, error);
	if (type->base == CALLS_VOID)
		return base_put_literal(at, "?");
	/* The result of a call may be negative even if its type is a size. */
	at = kdump_put_value(at, &context->words, type->base == CALLS_SIZE ? &number : type,
			     (uint64_t)record->sysret.result);
	if (record->sysret.result == 0 && is_waiting_call(call))
		return base_put_literal(at, " (Timeout)");
	return type->base == CALLS_FD
		       ? kdump_put_descriptor(at, descriptors, record->pid, (int32_t)record->sysret.result)
		       : at;
}

/* ---- Data and messages of a call -------- */

char *kdump_oneline_text(char *at, const uint8_t *bytes, size_t size, size_t limit, bool cut)
{
	const char *end = at + limit - sizeof("\"...");

	*at++ = '"';
	at = kdump_vis_text(at, bytes, size, (size_t)(end - at), true);
	*at++ = '"';
	return cut || at >= end - KDUMP_VIS_GROWTH ? base_put_literal(at, "...") : at;
}

/*
 * Writes the data that a call transferred, divided as the call's struct iovec array specifies: "[{base="one",
 * len=3}, …]".
 */
static char *put_pieces(char *at, char *limit, const struct kdump_pending *pending,
			const struct ktread_proc_record *record, uint64_t most)
{
	size_t from = 0;

	*at++ = '[';
	for (unsigned n = 0; n < pending->pieces && limit - at > TEXT_LEAST; n++) {
		const uint64_t rest = record->data_size - from,
			       piece = pending->piece[n] < rest ? pending->piece[n] : rest;
		const size_t shown = most && piece > most ? (size_t)most : (size_t)piece;

		at = n > 0 ? base_put_literal(at, ", {base=") : base_put_literal(at, "{base=");
		at = kdump_oneline_text(at, record->data + from, shown, (size_t)(limit - at) - 40,
					shown < piece);
		at = base_put_literal(base_put_decimal(base_put_literal(at, ", len="), pending->piece[n]),
				      "}");
		from += (size_t)piece;
	}
	*at = ']';
	return at + 1;
}

static void fill_data(const struct kdump_context *context, struct kdump_pending *pending,
		      const struct ktread_proc_record *record, unsigned argument, char *at, size_t limit)
{
	uint64_t most =
		context->options->data_most == KDUMP_DATA_USUAL ? USUAL_DATA : context->options->data_most;
	size_t size = record->data_size;

	if (context->options->no_data)
		return;
	if (pending->pieces > 0 && argument > 0) {
		for (unsigned n = 0; n < pending->fillings; n++)
			if (pending->filling[n].argument == argument &&
			    strcmp(pending->filling[n].name, "iovec") == 0)
				pending->filling[n].kind = KDUMP_FILLING_NONE;
		at = put_pieces(at, at + limit - TEXT_LEAST, pending, record, most);
	} else {
		if (most && size > most)
			size = (size_t)most;
		at = kdump_oneline_text(at, record->data, size, limit, size < record->genio.size);
	}
	kdump_pending_filled(pending, KDUMP_FILLING_DATA, argument, "", at);
}

static void note_pieces(struct kdump_pending *pending, const struct ktread_proc_record *record)
{
	const uint32_t size = record->structure.element_size;

	pending->pieces = 0;
	for (uint32_t n = 0; (size == 16 || size == 8) && n < record->structure.count && n < KDUMP_PIECES;
	     n++)
		pending->piece[pending->pieces++] =
			kdump_read_number(record->data + (size_t)n * size + size / 2, size / 2);
}

/* Writes the list, or the one struct, that the argument points to. */
static char *put_argument(char *at, size_t limit, const struct kdump_context *context,
			  const struct ktread_proc_record *record)
{
	const struct calls_type *type = calls_table_type(context->words.table, record->structure.name);
	const bool array = record->type == KTRX_PROC_STRUCT_ARRAY;
	const struct kdump_bytes bytes = { .first = record->data,
					   .size = record->data_size,
					   .element =
						   array ? record->structure.element_size : record->data_size,
					   .cut = record->flags & KTRX_PROC_CUT };

	if (!type || (type->base == CALLS_STRUCTURE && !array))
		return kdump_put_structure(at, context, record->structure.name, record->data,
					   record->data_size);
	return kdump_put_memory(at, limit, context, type, &bytes);
}

/*
 * Removes the fillings that contain parts of a message. Called when the complete message has been added to a
 * list.
 */
static void drop_parts(struct kdump_pending *pending, unsigned argument)
{
	for (unsigned n = pending->fillings; n-- > 0;)
		if (pending->filling[n].argument == argument &&
		    !has_name(&pending->filling[n], argument, "mmsghdr"))
			kdump_pending_drop(pending, n);
	pending->pieces = 0;
}

/*
 * Adds a complete message to a list. The parts of the message were recorded before. `head` is the text of the
 * struct that was recorded last.
 */
static void fill_message(struct kdump_pending *pending, const struct ktread_proc_record *record,
			 unsigned argument, const char *head, size_t size)
{
	char text[2 * KDUMP_FILLING_TEXTS + KDUMP_MEMORY_MOST + 64 * KDUMP_FILLINGS], *to;
	const size_t length = (size_t)(put_message(text, pending, argument, head, size) - text);
	size_t limit;

	drop_parts(pending, argument);
	to = kdump_pending_fill(pending, &limit);
	if (pending->cut || !to || length > limit) {
		pending->cut = true;
		return;
	}
	memcpy(to, text, length);
	kdump_pending_filled(pending, KDUMP_FILLING_STRUCT, argument, "mmsghdr", to + length);
	pending->cut = record->flags & KTRX_PROC_CUT;
}

/*
 * Removes the list of messages that the program passed: the messages that were sent or received replace it.
 */
static void drop_list(struct kdump_pending *pending, unsigned argument)
{
	for (unsigned n = pending->fillings; n-- > 0;)
		if (has_name(&pending->filling[n], argument, "mmsghdr") &&
		    is_list(pending, &pending->filling[n]))
			kdump_pending_drop(pending, n);
}

static void fill_structure(const struct kdump_context *context, struct kdump_pending *pending,
			   const struct ktread_proc_record *record, unsigned argument, char *at, size_t limit)
{
	char text[KDUMP_FILLING_TEXTS + KDUMP_MEMORY_MOST];
	size_t size;
	char *end;

	if (strcmp(record->structure.name, "iovec") == 0)
		note_pieces(pending, record);
	end = argument ? put_argument(text, limit, context, record)
		       : kdump_put_structure(text, context, record->structure.name, record->data,
					     record->data_size);
	size = (size_t)(end - text);
	if (argument && record->type == KTRX_PROC_STRUCT && strcmp(record->structure.name, "mmsghdr") == 0) {
		fill_message(pending, record, argument, text, size);
		return;
	}
	if (size > limit) {
		pending->cut = true;
		return;
	}
	memcpy(at, text, size);
	kdump_pending_filled(pending, KDUMP_FILLING_STRUCT, argument, record->structure.name, at + size);
}

void kdump_oneline_fill_descriptors(struct kdump_context *context,
				    const struct kdump_descriptors *descriptors,
				    struct kdump_pending *pending)
{
	struct calls_arguments arguments;
	struct calls_one one;
	size_t limit;

	if (!kdump_descriptors_any(descriptors))
		return;
	calls_arguments_begin(&arguments, kdump_context_calls(context, pending->pid, pending->tid),
			      pending->number, pending->word, pending->words, context->options->raw);
	while (calls_arguments_next(&arguments, &one)) {
		char *at = kdump_pending_fill(pending, &limit), *end;

		if (!one.type || one.type->base != CALLS_FD || !at || limit < DESCRIPTOR_MOST)
			continue;
		end = kdump_put_value(at, &context->words, one.type, one.value);
		at = kdump_put_descriptor(end, descriptors, pending->pid, (int32_t)one.value);
		if (at > end)
			kdump_pending_filled(pending, KDUMP_FILLING_STRUCT, one.number + 1, "fd", at);
	}
}

void kdump_oneline_fill(const struct kdump_context *context, struct kdump_pending *pending,
			const struct ktread_proc_record *record)
{
	const unsigned argument = context->ktrx ? KTRX_PROC_ARGUMENT(record->flags) : 0;
	size_t limit;
	char *at;

	if (argument)
		drop_list(pending, argument);
	at = kdump_pending_fill(pending, &limit);
	if (!at || limit < 2 * TEXT_LEAST) {
		pending->cut = true;
		return;
	}
	if (record->type == KTRX_PROC_NAMEI) {
		at = kdump_oneline_text(at, record->data, record->data_size, limit,
					record->flags & KTRX_PROC_CUT);
		kdump_pending_filled(pending, KDUMP_FILLING_PATH, argument, "", at);
	} else if (record->type == KTRX_PROC_GENIO) {
		fill_data(context, pending, record, argument, at, limit);
	} else if (record->type == KTRX_PROC_STRUCT || argument) {
		fill_structure(context, pending, record, argument, at, limit);
	}
}
