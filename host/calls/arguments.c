/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "calls/tables.h"

#include <string.h>

#define SMALL 4096u /* smallest value that is shown as an address */

static bool has(uint64_t value, uint64_t flag)
{
	return flag && (value & flag) == flag;
}

/*
 * Returns true if the argument is the mode of open() and the call does not use the mode. It does not use the
 * mode if its flags, which are the previous argument, do not create a file.
 */
static bool is_unused(const struct calls_arguments *arguments, const struct calls_type *type)
{
	const struct calls_type *flags = arguments->before;

	return type && type->base == CALLS_MODE && flags && flags->creates[0] &&
	       !has(arguments->value_before, flags->creates[0]) &&
	       !has(arguments->value_before, flags->creates[1]);
}

/*
 * Returns the type that replaces a type whose name ends in "^". Example: if an earlier argument has the value
 * SOL_SOCKET, "so_SOL_SOCKET" replaces "so^". If there is no such type, the value is shown as a number or an
 * address.
 */
static const struct calls_type *resolve(const struct calls_table *table, const struct calls_type *type,
					const char *key, uint64_t value)
{
	static const struct calls_type number = { .base = CALLS_INT };
	char name[2 * CALLS_NAME + 2], *at;

	if (!type || !type->keyed)
		return type;
	at = stpcpy(name, type->name);
	at[-1] = '_'; /* the string that replaces "^" */
	stpcpy(at, key ? key : "");
	type = calls_table_type(table, name);
	return type || value >= SMALL ? type : &number;
}

void calls_arguments_begin(struct calls_arguments *arguments, struct calls_table *table, uint32_t number,
			   const uint64_t *word, unsigned words, bool all)
{
	const struct calls_call *call = calls_table_call(table, number);
	const struct calls_variant *variant = calls_call_variant(call, word, words);

	*arguments = (struct calls_arguments){
		.most = variant ? variant->arguments
			: call	? call->arguments
				: 0,
		.table = table,
		.call = call,
		.variant = variant,
		.typed = call && call->typed && !all,
		.word = word,
		.words = words,
		.narrow = calls_table_address_size(table) == 4,
	};
}

/* Returns the value of the next argument. In a 32-bit program, a file offset takes two machine words. */
static uint64_t take_word(struct calls_arguments *arguments, const struct calls_type *type)
{
	uint64_t value = arguments->word[arguments->next_word++];

	if (arguments->narrow && type && type->base == CALLS_OFF && arguments->next_word < arguments->words)
		value = (uint32_t)value | arguments->word[arguments->next_word++] << 32;
	if (arguments->narrow && type && type->base == CALLS_LONG)
		value = (uint64_t)(int32_t)value;
	return value;
}

/*
 * Returns true if an argument of this type is one machine word, does not depend on earlier arguments, and
 * does not affect later arguments.
 */
static bool is_independent(const struct calls_type *type)
{
	return !type || (type->symbols == 0 && !type->keyed && type->base != CALLS_MODE &&
			 type->base != CALLS_OFF && type->base != CALLS_LONG);
}

static void set_type(struct calls_one *one, const struct calls_type *type,
		     const struct calls_argument *pointer)
{
	static const struct calls_type address = { .name = "ptr", .base = CALLS_PTR };

	one->pointer = pointer ? pointer : type ? type->pointer : NULL;
	one->type = one->pointer ? &address : type;
}

/*
 * Sets one->value. one->type is the argument's type in the table. Returns false if the call does not use the
 * argument.
 */
static bool take_argument(struct calls_arguments *arguments, struct calls_one *one)
{
	const struct calls_type *type = one->type;

	one->value = take_word(arguments, type);
	type = resolve(arguments->table, type, arguments->key, one->value);
	set_type(one, type, NULL);
	if (type && type->symbols && !type->flags && !type->mask)
		arguments->key = calls_type_symbol(type, one->value);
	return !is_unused(arguments, type);
}

static void take_description(const struct calls_argument *argument, struct calls_one *one)
{
	set_type(one, argument->type, argument->access ? argument : NULL);
	one->name = argument->name;
}

static bool is_without(const struct calls_variant *variant, unsigned argument)
{
	return variant && variant->unused >> argument & 1;
}

static const struct calls_argument *describe(const struct calls_arguments *arguments)
{
	const struct calls_variant *variant = arguments->variant;

	return variant && variant->is[arguments->next].type ? &variant->is[arguments->next]
							    : &arguments->call->argument[arguments->next];
}

bool calls_arguments_next(struct calls_arguments *arguments, struct calls_one *one)
{
	while (arguments->next_word < arguments->words) {
		*one = (struct calls_one){ .name = "", .number = arguments->next_word };
		if (arguments->typed && arguments->next == arguments->most)
			return false;
		if (arguments->typed && is_without(arguments->variant, arguments->next)) {
			arguments->next++;
			arguments->next_word++;
			continue;
		}
		if (arguments->typed)
			take_description(describe(arguments), one);
		arguments->next++;
		if (is_independent(one->type))
			one->value = arguments->word[arguments->next_word++];
		else if (!take_argument(arguments, one))
			continue;
		arguments->before = one->type;
		arguments->value_before = one->value;
		return true;
	}
	return false;
}
