/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "calls/tables.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "build/gen/tables.h"
#include "ktread/ktread.h"

/* build/gen/tables.h, which host/host.mk generates, has one string for each file of share/tables. */
static const struct {
	const char *name, *text;
} built_in[] = {
	{ "linux", table_linux },
	{ "freebsd", table_freebsd },
	{ "dragonfly", table_dragonfly },
};

const char *calls_tables_text(const char *name)
{
	for (size_t n = 0; n < sizeof(built_in) / sizeof(built_in[0]); n++)
		if (strcmp(built_in[n].name, name) == 0)
			return built_in[n].text;
	return NULL;
}

void calls_table_destroy(struct calls_table *table)
{
	if (!table)
		return;
	for (unsigned n = 0; n < table->calls; n++) {
		for (struct calls_variant *variant = table->call[n]->public.variant, *after; variant;
		     variant = after) {
			after = variant->next;
			free(variant);
		}
		free(table->call[n]);
	}
	for (unsigned n = 0; n < CALLS_X32_MAX; n++)
		free(table->x32[n]);
	for (unsigned n = 0; n < table->types; n++) {
		free((void *)(uintptr_t)table->type[n]->pointer);
		free(table->type[n]);
	}
	for (unsigned n = 0; n < table->layouts; n++)
		free(table->layout[n]);
	free(table->value);
	free(table->text);
	free(table);
}

int calls_table_create(struct calls_table **table, const char *text, uint16_t elf_machine,
		       unsigned address_size)
{
	struct calls_table *made = calloc(1, sizeof(*made));
	int result = KTREAD_E_MEMORY;

	*table = NULL;
	if (!made)
		return result;
	made->machine = elf_machine;
	made->address_size = address_size;
	made->text = strndup(text, CALLS_TEXT_MAX);
	if (made->text)
		result = calls_table_parse(made);
	if (result < 0)
		calls_table_destroy(made);
	else
		*table = made;
	return result;
}

/*
 * Finds a call by name among the calls that have no number in the table. If several lines have the name,
 * returns the call of the last of these lines.
 */
static struct calls_call *find_named(struct calls_table *table, const char *name)
{
	for (unsigned n = table->calls; n-- > 0;)
		if (table->call[n]->named && strcmp(table->call[n]->public.name, name) == 0)
			return &table->call[n]->public;
	return NULL;
}

/* Adds a call that has a name but no line in the table. */
static struct calls_call *add_name(struct calls_table *table, const char *name)
{
	struct calls_table_call *call;

	if (table->calls == CALLS_CALLS_MAX)
		return NULL;
	call = calloc(1, sizeof(*call));
	if (!call)
		return NULL;
	strncpy(call->own_name, name, CALLS_NAME);
	call->public.name = call->own_name;
	table->call[table->calls++] = call;
	return &call->public;
}

/*
 * Returns a call of x32; NULL if there is none. If a call of x32 has the same number as a call of 64-bit
 * programs, it has the same arguments.
 */
static const struct calls_call *find_x32(struct calls_table *table, uint32_t number)
{
	const uint32_t bare = number & ~BASE_LINUX_X32;
	struct calls_table_call *call = table->x32[bare];
	const struct calls_call *own;
	char *name;

	if (call || !table->has_names || table->machine != EM_X86_64)
		return call ? &call->public : NULL;
	name = base_linux_call(EM_X86_64, number);
	call = name ? calloc(1, sizeof(*call)) : NULL;
	if (call) {
		own = bare < CALLS_X32_SHARED ? calls_table_call(table, bare) : NULL;
		if (own)
			call->public = *own;
		snprintf(call->own_name, sizeof(call->own_name), CALLS_X32_PREFIX "%s", name);
		call->public.name = call->own_name;
		table->x32[bare] = call;
	}
	free(name);
	return call ? &call->public : NULL;
}

const struct calls_call *calls_table_call(struct calls_table *table, uint32_t number)
{
	char *name;

	if ((number & BASE_LINUX_X32) && (number & ~BASE_LINUX_X32) < CALLS_X32_MAX)
		return find_x32(table, number);
	if (number >= CALLS_CALLS_MAX)
		return NULL;
	if (table->by_number[number] || !table->has_names || table->looked_up[number / 8] >> number % 8 & 1)
		return table->by_number[number];
	table->looked_up[number / 8] |= (uint8_t)(1u << number % 8);
	name = base_linux_call(table->machine, number);
	if (name) {
		table->by_number[number] = find_named(table, name);
		if (!table->by_number[number])
			table->by_number[number] = add_name(table, name);
		free(name);
	}
	return table->by_number[number];
}

const char *calls_table_error(const struct calls_table *table, int32_t number)
{
	return number >= 0 && (uint32_t)number < CALLS_ERRORS_MAX ? table->error[number] : NULL;
}

const char *calls_table_signal(const struct calls_table *table, uint32_t number)
{
	return number < CALLS_SIGNALS ? table->signal[number] : NULL;
}

static unsigned chain_of(const char *name)
{
	uint32_t hash = 2166136261u; /* the hash function FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash ^ hash >> 16) % CALLS_CHAINS;
}

void calls_table_chain(struct calls_table *table, unsigned place)
{
	uint16_t *first = &table->chain[chain_of(table->type[place]->name)];

	table->after[place] = *first;
	*first = (uint16_t)(place + 1);
}

unsigned calls_table_place(const struct calls_table *table, const char *name)
{
	unsigned place = table->chain[chain_of(name)];

	while (place > 0 && strcmp(table->type[place - 1]->name, name) != 0)
		place = table->after[place - 1];
	return place;
}

const struct calls_type *calls_table_type(const struct calls_table *table, const char *name)
{
	const unsigned place = calls_table_place(table, name);

	return place > 0 ? table->type[place - 1] : NULL;
}

static bool is_better(const struct calls_layout *layout, const struct calls_layout *best, uint32_t size)
{
	if (layout->own != best->own)
		return layout->own;
	if (best->size == size || layout->size == size)
		return best->size != size;
	return layout->size < size && (best->size > size || best->size < layout->size);
}

const struct calls_layout *calls_table_layout(const struct calls_table *table, const char *name,
					      uint32_t size)
{
	const struct calls_layout *best = NULL;

	for (unsigned n = 0; n < table->layouts; n++) {
		const struct calls_layout *layout = table->layout[n];

		if (strcmp(layout->name, name) == 0 && (!best || is_better(layout, best, size)))
			best = layout;
	}
	return best;
}

unsigned calls_table_address_size(const struct calls_table *table)
{
	return table->address_size;
}

uint32_t calls_table_type_size(const struct calls_table *table, const struct calls_type *type)
{
	switch (type->base) {
	case CALLS_STRUCTURE:
		return type->layout ? type->layout->size : 0;
	case CALLS_HEX:
	case CALLS_LONG:
	case CALLS_ULONG:
	case CALLS_SIZE:
	case CALLS_PTR:
		return table->address_size;
	case CALLS_OFF:
		return 8;
	case CALLS_SIGSET:
		return strcmp(type->name, "sigset32") == 0 ? 4 : 8;
	case CALLS_TEXT:
	case CALLS_SOCKOPT:
	case CALLS_DIRENTS:
	case CALLS_CONTROL:
		return 1;
	case CALLS_UID:
	case CALLS_GID:
		return strcmp(type->name + 3, "16") == 0 ? 2 : 4;
	case CALLS_STRINGS:
	case CALLS_FDSET:
		return 0;
	default:
		return 4;
	}
}

/*
 * Returns true if `wanted`, a number in a table, matches the value. A table may contain a 32-bit number as
 * signed or as unsigned.
 */
static bool is_same(uint64_t wanted, uint64_t value)
{
	uint64_t high = value >> 32;

	if (wanted == value)
		return true;
	return (uint32_t)wanted == (uint32_t)value && (high == 0 || high == UINT32_MAX) &&
	       (wanted >> 32 == 0 || wanted >> 32 == UINT32_MAX) && (int32_t)value < 0;
}

const char *calls_type_symbol(const struct calls_type *type, uint64_t value)
{
	for (unsigned n = 0; n < type->symbols; n++)
		if (is_same(type->symbol[n].value, value))
			return type->symbol[n].name;
	return NULL;
}

const struct calls_variant *calls_call_variant(const struct calls_call *call, const uint64_t *word,
					       unsigned words)
{
	const struct calls_variant *variant = call ? call->variant : NULL;

	for (; variant; variant = variant->next) {
		const struct calls_type *type = call->argument[variant->argument].type;
		const char *symbol;

		if (variant->argument >= words)
			continue;
		symbol = calls_type_symbol(type, type->mask ? word[variant->argument] & type->mask
							    : word[variant->argument]);
		if (symbol && strcmp(symbol, variant->symbol) == 0)
			break;
	}
	return variant;
}

#define LOCAL_ERRORS 256

/*
 * Returns this machine's error message for an error of the traced kernel. Looks the error up by name, because
 * each kernel has its own error numbers.
 */
static const char *local_text(const char *name)
{
	for (int number = 1; number < LOCAL_ERRORS; number++) {
		const char *here = strerrorname_np(number);

		if (here && strcmp(here, name) == 0)
			return strerrordesc_np(number);
	}
	return name;
}

const char *calls_table_error_text(struct calls_table *table, int32_t number)
{
	const char *name = calls_table_error(table, number);

	if (name && !table->error_text[number])
		table->error_text[number] = local_text(name);
	return name ? table->error_text[number] : NULL;
}

void calls_table_find_structures(struct calls_table *table)
{
	for (unsigned n = 0; n < table->types; n++) {
		struct calls_type *type = table->type[n];

		if (type->base != CALLS_HEX && type->base != CALLS_STRUCTURE)
			continue;
		type->layout = calls_table_layout(table, type->name, UINT32_MAX);
		if (type->layout)
			type->base = CALLS_STRUCTURE;
	}
}

/* ---- The arguments of a call ---- */

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
