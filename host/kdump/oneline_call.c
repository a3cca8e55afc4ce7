/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/oneline_call.h"

#include <string.h>

#include "base/put.h"
#include "kdump/call.h"
#include "kdump/structure.h"
#include "kdump/vis.h"

#define USUAL_DATA 32u /* bytes */
#define TEXT_MOST  4000u

/* ---- in front of a line ---- */

char *kdump_oneline_who(char *at, struct kdump_context *context, uint32_t pid, uint32_t tid, uint64_t stamp)
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

char *kdump_oneline_name(char *at, struct kdump_context *context, uint32_t pid, uint32_t number)
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

char *kdump_oneline_arguments(char *at, struct kdump_context *context, struct kdump_pending *pending,
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

char *kdump_oneline_result(char *at, struct kdump_context *context, const struct ktread_proc_record *record)
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

char *kdump_oneline_text(char *at, const uint8_t *bytes, size_t size, size_t limit, bool cut)
{
	const char *end = at + limit - sizeof("\"...");

	*at++ = '"';
	at = kdump_vis_text(at, bytes, size, (size_t)(end - at), true);
	*at++ = '"';
	return cut || at >= end - KDUMP_VIS_GROWTH ? base_put_literal(at, "...") : at;
}

void kdump_oneline_fill(const struct kdump_context *context, struct kdump_pending *pending,
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
