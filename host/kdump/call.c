/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/call.h"

#include <stdio.h>
#include <string.h>

#include "base/put.h"

#define SMALL 4096u /* no address */

static bool has(uint64_t value, uint64_t flag)
{
	return flag && (value & flag) == flag;
}

/* The mode of open() means nothing unless the flags before it say so. */
static bool is_unused(const struct kdump_arguments *arguments, const struct kdump_type *type)
{
	const struct kdump_type *flags = arguments->before;

	return type && type->base == KDUMP_MODE && flags && flags->creates[0] &&
	       !has(arguments->value_before, flags->creates[0]) &&
	       !has(arguments->value_before, flags->creates[1]);
}

/* "so^" behind a level SOL_SOCKET is "so_SOL_SOCKET"; where there is none, a number or an address. */
static const struct kdump_type *resolve(const struct kdump_table *table, const struct kdump_type *type,
					const char *key, uint64_t value)
{
	static const struct kdump_type number = { .base = KDUMP_INT };
	char name[2 * KDUMP_NAME + 2];

	if (!type || !type->keyed)
		return type;
	snprintf(name, sizeof(name), "%.*s_%s", (int)strlen(type->name) - 1, type->name, key ? key : "");
	type = kdump_table_type(table, name);
	return type || value >= SMALL ? type : &number;
}

void kdump_arguments_begin(struct kdump_arguments *arguments, struct kdump_table *table, uint32_t number,
			   const uint64_t *word, unsigned words, bool all)
{
	const struct kdump_call *call = kdump_table_call(table, number);

	*arguments = (struct kdump_arguments){
		.table = table,
		.call = call,
		.typed = call && call->typed && !all,
		.word = word,
		.words = words,
		.narrow = kdump_table_address_size(table) == 4,
	};
}

static uint64_t take_word(struct kdump_arguments *arguments, const struct kdump_type *type)
{
	uint64_t value = arguments->word[arguments->next_word++];

	if (arguments->narrow && type && type->base == KDUMP_OFF && arguments->next_word < arguments->words)
		value = (uint32_t)value | arguments->word[arguments->next_word++] << 32;
	return value;
}

/* How it reads, and whether it is shown at all, depends on nothing before it, nor does what follows on it. */
static bool stands_alone(const struct kdump_type *type)
{
	return !type ||
	       (type->symbols == 0 && !type->keyed && type->base != KDUMP_MODE && type->base != KDUMP_OFF);
}

/* The value of the argument that `one` has the type of by the table; false if it means nothing. */
static bool take_argument(struct kdump_arguments *arguments, struct kdump_one *one)
{
	const struct kdump_type *type = one->type;

	one->value = take_word(arguments, type);
	one->type = type = resolve(arguments->table, type, arguments->key, one->value);
	if (type && type->symbols && !type->flags && !type->mask)
		arguments->key = kdump_type_symbol(type, one->value);
	return !is_unused(arguments, type);
}

bool kdump_arguments_next(struct kdump_arguments *arguments, struct kdump_one *one)
{
	const struct kdump_call *call = arguments->call;

	while (arguments->next_word < arguments->words) {
		*one = (struct kdump_one){ .name = "" };
		if (arguments->typed && arguments->next == call->arguments)
			return false;
		if (arguments->typed) {
			one->type = call->argument[arguments->next].type;
			one->name = call->argument[arguments->next].name;
		}
		arguments->next++;
		if (stands_alone(one->type))
			one->value = arguments->word[arguments->next_word++];
		else if (!take_argument(arguments, one))
			continue;
		arguments->before = one->type;
		arguments->value_before = one->value;
		return true;
	}
	return false;
}

char *kdump_put_call_name(char *at, const struct kdump_context *context, struct kdump_table *calls,
			  uint32_t number)
{
	const struct kdump_call *call = kdump_table_call(calls, number);

	if (call)
		at = kdump_put_name(at, call->name);
	if (call && !context->options->numbers)
		return at;
	*at = '[';
	at = base_put_signed(at + 1, (int32_t)number);
	*at = ']';
	return at + 1;
}
