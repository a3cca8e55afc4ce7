/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/linux_calls.h"
#include "build/gen/tables.h"
#include "ktread/ktread.h"

/* build/gen/tables.h has one array of text for each file of share/tables; host/host.mk makes it. */
static const struct {
	const char *name, *text;
} built_in[] = {
	{ "linux", table_linux },
	{ "freebsd", table_freebsd },
	{ "dragonfly", table_dragonfly },
};

const char *kdump_tables_text(const char *name)
{
	for (size_t n = 0; n < sizeof(built_in) / sizeof(built_in[0]); n++)
		if (strcmp(built_in[n].name, name) == 0)
			return built_in[n].text;
	return NULL;
}

static const char *name_of(enum ktread_proc_format format)
{
	switch (format) {
	case KTREAD_PROC_DRAGONFLY:
		return "dragonfly";
	case KTREAD_PROC_FREEBSD0:
	case KTREAD_PROC_FREEBSD0_I386:
	case KTREAD_PROC_FREEBSD1:
		return "freebsd";
	default:
		return "linux";
	}
}

const char *kdump_tables_choose(const struct ktread_proc *trace, const char *given)
{
	const char *own = ktread_proc_table(trace);

	return given ? given : *own ? own : kdump_tables_text(name_of(ktread_proc_info(trace)->format));
}

void kdump_table_destroy(struct kdump_table *table)
{
	if (!table)
		return;
	for (unsigned n = 0; n < table->calls; n++) {
		for (struct kdump_variant *variant = table->call[n]->public.variant, *after; variant;
		     variant = after) {
			after = variant->next;
			free(variant);
		}
		free(table->call[n]);
	}
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

int kdump_table_create(struct kdump_table **table, const char *text, uint16_t elf_machine,
		       unsigned address_size)
{
	struct kdump_table *made = calloc(1, sizeof(*made));
	int result = KTREAD_E_MEMORY;

	*table = NULL;
	if (!made)
		return result;
	made->machine = elf_machine;
	made->address_size = address_size;
	made->text = strndup(text, KDUMP_TEXT_MAX);
	if (made->text)
		result = kdump_table_parse(made);
	if (result < 0)
		kdump_table_destroy(made);
	else
		*table = made;
	return result;
}

/* Those that the table has by name get their number when it is first asked for. */
static struct kdump_call *find_named(struct kdump_table *table, const char *name)
{
	for (unsigned n = 0; n < table->calls; n++)
		if (table->call[n]->named && strcmp(table->call[n]->public.name, name) == 0)
			return &table->call[n]->public;
	return NULL;
}

/* A call without a line, for which there is a name nevertheless. */
static struct kdump_call *keep_name(struct kdump_table *table, const char *name)
{
	struct kdump_table_call *call;

	if (table->calls == KDUMP_CALLS_MAX)
		return NULL;
	call = calloc(1, sizeof(*call));
	if (!call)
		return NULL;
	strncpy(call->own_name, name, KDUMP_NAME);
	call->public.name = call->own_name;
	table->call[table->calls++] = call;
	return &call->public;
}

const struct kdump_call *kdump_table_call(struct kdump_table *table, uint32_t number)
{
	char *name;

	if (number >= KDUMP_CALLS_MAX)
		return NULL;
	if (table->by_number[number] || !table->has_names || table->asked[number / 8] >> number % 8 & 1)
		return table->by_number[number];
	table->asked[number / 8] |= (uint8_t)(1u << number % 8);
	name = base_linux_call(table->machine, number);
	if (name) {
		table->by_number[number] = find_named(table, name);
		if (!table->by_number[number])
			table->by_number[number] = keep_name(table, name);
		free(name);
	}
	return table->by_number[number];
}

const char *kdump_table_error(const struct kdump_table *table, int32_t number)
{
	return number >= 0 && (uint32_t)number < KDUMP_ERRORS_MAX ? table->error[number] : NULL;
}

const char *kdump_table_signal(const struct kdump_table *table, uint32_t number)
{
	return number < KDUMP_SIGNALS ? table->signal[number] : NULL;
}

const struct kdump_type *kdump_table_type(const struct kdump_table *table, const char *name)
{
	for (unsigned n = 0; n < table->types; n++)
		if (strcmp(table->type[n]->name, name) == 0)
			return table->type[n];
	return NULL;
}

const struct kdump_layout *kdump_table_layout(const struct kdump_table *table, const char *name,
					      uint32_t size)
{
	const struct kdump_layout *best = NULL;

	for (unsigned n = 0; n < table->layouts; n++) {
		const struct kdump_layout *layout = table->layout[n];

		if (strcmp(layout->name, name) != 0)
			continue;
		if (layout->size == size)
			return layout;
		if (!best || (layout->size < size && (best->size > size || best->size < layout->size)))
			best = layout;
	}
	return best;
}

unsigned kdump_table_address_size(const struct kdump_table *table)
{
	return table->address_size;
}

uint32_t kdump_table_type_size(const struct kdump_table *table, const struct kdump_type *type)
{
	const struct kdump_layout *layout;

	switch (type->base) {
	case KDUMP_STRUCTURE:
		layout = kdump_table_layout(table, type->name, UINT32_MAX);
		return layout ? layout->size : 0;
	case KDUMP_HEX:
	case KDUMP_LONG:
	case KDUMP_ULONG:
	case KDUMP_SIZE:
	case KDUMP_PTR:
		return table->address_size;
	case KDUMP_OFF:
	case KDUMP_SIGSET:
		return 8;
	case KDUMP_TEXT:
	case KDUMP_SOCKOPT:
	case KDUMP_DIRENTS:
		return 1;
	case KDUMP_STRINGS:
	case KDUMP_FDSET:
		return 0;
	default:
		return 4;
	}
}

/* Numbers in a table are written with sign or without; those of 32 bits stand for both. */
static bool is_same(uint64_t wanted, uint64_t value)
{
	uint64_t high = value >> 32;

	if (wanted == value)
		return true;
	return (uint32_t)wanted == (uint32_t)value && (high == 0 || high == UINT32_MAX) &&
	       (wanted >> 32 == 0 || wanted >> 32 == UINT32_MAX) && (int32_t)value < 0;
}

const char *kdump_type_symbol(const struct kdump_type *type, uint64_t value)
{
	for (unsigned n = 0; n < type->symbols; n++)
		if (is_same(type->symbol[n].value, value))
			return type->symbol[n].name;
	return NULL;
}

const struct kdump_variant *kdump_call_variant(const struct kdump_call *call, const uint64_t *word,
					       unsigned words)
{
	const struct kdump_variant *variant = call ? call->variant : NULL;

	for (; variant; variant = variant->next) {
		const struct kdump_type *type = call->argument[variant->argument].type;
		const char *symbol;

		if (variant->argument >= words)
			continue;
		symbol = kdump_type_symbol(type, type->mask ? word[variant->argument] & type->mask
							    : word[variant->argument]);
		if (symbol && strcmp(symbol, variant->symbol) == 0)
			break;
	}
	return variant;
}
