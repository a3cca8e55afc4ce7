/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Settings by name. The settings that are made from the event table are in masks.c. */
#include "core.h"

KTRACE_SETTING_U32("debug.ktr.entries", ktrace_root.slots, KTRX_SETTING_READ_ONLY);
KTRACE_SETTING_U32("debug.ktr.version", ktrace_root.version, KTRX_SETTING_READ_ONLY);
KTRACE_SETTING_RANGE("debug.ktr.panic_goes_on", ktrace_state.panic_goes_on, 0, 1);

extern KTRACE_HIDDEN uint64_t __start_ktrace_settings[];
extern KTRACE_HIDDEN uint64_t __stop_ktrace_settings[];

static struct ktrx_setting *row_from(uint64_t *at)
{
	for (; at < __stop_ktrace_settings; at++) {
		struct ktrx_setting *row = (struct ktrx_setting *)(void *)at;

		if (row->magic == KTRX_SETTING_MAGIC)
			return row;
	}
	return KTRACE_NULL;
}

struct ktrx_setting *ktrace_setting_first(void)
{
	return row_from(__start_ktrace_settings);
}

struct ktrx_setting *ktrace_setting_next(struct ktrx_setting *row)
{
	return row_from((uint64_t *)(void *)row + row->size / 8);
}

void ktrace_settings_place(void)
{
	ktrace_section_set(KTRX_SECTION_SETTINGS, 0, __start_ktrace_settings,
			   (uintptr_t)__stop_ktrace_settings - (uintptr_t)__start_ktrace_settings);
}

static struct ktrx_setting *row_named(struct ktrace_span name)
{
	struct ktrx_setting *row = ktrace_setting_first();

	while (row && !ktrace_span_is(name, row->name))
		row = ktrace_setting_next(row);
	return row;
}

static int is_wide(const struct ktrx_setting *row)
{
	return row->kind == KTRX_SETTING_U64 || row->kind == KTRX_SETTING_BIT64;
}

static int is_bit(const struct ktrx_setting *row)
{
	return row->kind == KTRX_SETTING_BIT32 || row->kind == KTRX_SETTING_BIT64;
}

static uint64_t word_read(const struct ktrx_setting *row)
{
	uintptr_t address = (uintptr_t)row->address;

	if (!address)
		return 0;
	return is_wide(row) ? *(volatile uint64_t *)address : *(volatile uint32_t *)address;
}

static void word_write(const struct ktrx_setting *row, uint64_t value)
{
	uintptr_t address = (uintptr_t)row->address;

	if (is_wide(row))
		*(volatile uint64_t *)address = value;
	else
		*(volatile uint32_t *)address = (uint32_t)value;
}

uint64_t ktrace_setting_value(const struct ktrx_setting *row)
{
	uint64_t word = word_read(row);

	return is_bit(row) ? word >> row->bit & 1 : word;
}

int ktrace_setting_store(const struct ktrx_setting *row, uint64_t value)
{
	uint64_t bit = is_bit(row) ? KTRX_U64(1) << row->bit : 0;

	if (row->flags & KTRX_SETTING_READ_ONLY)
		return KTRACE_ERROR_READ_ONLY;
	if (value > row->most || !row->address)
		return KTRACE_ERROR_ARGUMENT;
	if (bit)
		value = (word_read(row) & ~bit) | (value ? bit : 0);
	word_write(row, value);
	return KTRACE_OK;
}

/*
 * Returns the value that the text -1 means: all bits of the word set, or 1 for a setting of a single bit.
 */
static uint64_t ones(const struct ktrx_setting *row)
{
	if (is_bit(row))
		return 1;
	return is_wide(row) ? KTRX_U64_MAX : KTRX_U32_MAX;
}

static int row_set(const struct ktrx_setting *row, struct ktrace_span text)
{
	uint64_t value;

	if (!ktrace_span_number(text, &value))
		return KTRACE_ERROR_SYNTAX;
	return ktrace_setting_store(row, text.text[0] == '-' ? value & ones(row) : value);
}

static int decimal_write(uint64_t value, char *buffer, size_t size)
{
	char digits[KTRACE_DIGITS_MAX];
	uint32_t count = ktrace_digits(digits, value, 10);

	if (size <= count)
		return KTRACE_ERROR_MEMORY;
	ktrace_copy(buffer, digits + KTRACE_DIGITS_MAX - count, count);
	buffer[count] = '\0';
	return (int)count;
}

int ktrace_setting_get(const char *name, char *buffer, size_t size)
{
	struct ktrace_span span = ktrace_span_of(name);
	const struct ktrx_setting *row;

	ktrace_attach();
	if (size)
		buffer[0] = '\0';
	row = row_named(span);
	if (row)
		return decimal_write(ktrace_setting_value(row), buffer, size);
	return ktrace_mask_get(span, buffer, size);
}

int ktrace_setting_assign(struct ktrace_span name, struct ktrace_span value)
{
	const struct ktrx_setting *row = row_named(name);

	return row ? row_set(row, value) : ktrace_mask_set(name, value);
}

int ktrace_setting_set(const char *text)
{
	struct ktrace_span whole = ktrace_span_of(text), name, value;
	int error;

	ktrace_attach();
	if (!ktrace_span_split(whole, '=', &name, &value))
		return ktrace_refuse(whole, KTRACE_ERROR_SYNTAX);
	error = ktrace_refuse(whole, ktrace_setting_assign(name, value));
	ktrace_states_update();
	return error;
}

int ktrace_setting_each(ktrace_setting_visit *visit, void *cookie)
{
	int answer = 0;

	for (struct ktrx_setting *row = ktrace_setting_first(); row && !answer;
	     row = ktrace_setting_next(row))
		answer = visit(cookie, row->name);
	return answer ? answer : ktrace_mask_each(visit, cookie);
}
