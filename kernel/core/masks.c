/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Settings that exist for each group and each event of the event table. "debug.ktr.<group>_enable" is the
 * mask of a group. It has a bit for each event: the bit with which the event was declared, or a free bit, in
 * the order of declaration. "debug.ktr.<group>.<event>_mask" is the bit of one event, or several bits if the
 * event has several declarations.
 *
 * A group's mask has as many bits as the group has events. So it is never stored as a number, but written and
 * read digit by digit. Compilers and linkers may reorder event descriptors. Bits follow the order of
 * declaration, by file and line, except those that ktr.h declares with a number.
 */
#include "core.h"

#if KTRACE_MASKS

#define KTRACE_PREFIX "debug.ktr."
#define KTRACE_ENABLE "_enable"
#define KTRACE_MASK   "_mask"

static int is_wanted(const struct ktrx_event *event)
{
	return *(const volatile uint8_t *)&event->wanted != KTRX_STATE_OFF;
}

static int is_before(const struct ktrx_event *event, const struct ktrx_event *other)
{
	const char *file = ktrace_event_string(event, 3), *of_other = ktrace_event_string(other, 3);

	for (; *file && *file == *of_other; file++)
		of_other++;
	if (*file != *of_other)
		return *file < *of_other;
	return event->line != other->line ? event->line < other->line : event < other;
}

/*
 * Returns nonzero if ktr.h declared the event with a bit number. A bit number that is too large for a mask
 * counts as no number.
 */
static int is_numbered(const struct ktrx_event *event)
{
	return event->mask_bit != 0 && event->mask_bit <= KTRX_EVENT_MAX;
}

static int bit_is_numbered(struct ktrace_span group, uint32_t bit)
{
	struct ktrx_event *event = ktrace_group_next(group, KTRACE_NULL);

	while (event && !(is_numbered(event) && event->mask_bit == bit + 1))
		event = ktrace_group_next(group, event);
	return event != KTRACE_NULL;
}

/*
 * Returns the event's bit. An event that was declared without a bit number gets a bit with which no event of
 * the group was declared.
 */
static uint32_t bit_of(const struct ktrx_event *event)
{
	struct ktrace_span group = ktrace_span_of(ktrace_event_group(event));
	uint32_t before = 0, bit = 0;
	int numbered = 0;

	if (is_numbered(event))
		return event->mask_bit - 1;
	for (struct ktrx_event *other = ktrace_group_next(group, KTRACE_NULL); other;
	     other = ktrace_group_next(group, other)) {
		if (is_numbered(other))
			numbered = 1;
		else
			before += (uint32_t)is_before(other, event);
	}
	if (!numbered)
		return before;
	while (bit_is_numbered(group, bit) || before-- > 0)
		bit++;
	return bit;
}

/*
 * Returns the number of events in a group. *digits receives the number of hexadecimal digits of the group's
 * mask, up to the highest bit that is set.
 */
static uint32_t members_count(struct ktrace_span group, uint32_t *digits)
{
	uint32_t count = 0;

	*digits = 1;
	for (struct ktrx_event *event = ktrace_group_next(group, KTRACE_NULL); event;
	     event = ktrace_group_next(group, event)) {
		uint32_t needed = is_wanted(event) ? bit_of(event) / 4 + 1 : 1;

		if (*digits < needed)
			*digits = needed;
		count++;
	}
	return count;
}

/* Writes "0x" and `digits` zeros. Returns the length, or MEMORY. */
static int zeros_write(char *buffer, size_t size, uint32_t digits)
{
	if (size < (size_t)digits + 3)
		return KTRACE_ERROR_MEMORY;
	for (uint32_t at = 0; at < digits + 2; at++)
		((volatile char *)buffer)[at] = '0';
	buffer[1] = 'x';
	buffer[digits + 2] = '\0';
	return (int)digits + 2;
}

/* Sets a bit in a text that zeros_write() made. */
static void bit_write(char *buffer, int length, uint32_t bit)
{
	char *digit = &buffer[length - 1 - (int)(bit / 4)];

	*digit = ktrace_hex[ktrace_digit(*digit) | KTRX_U32(1) << bit % 4];
}

static int enable_get(struct ktrace_span group, char *buffer, size_t size)
{
	uint32_t digits;
	int length;

	if (members_count(group, &digits) == 0)
		return KTRACE_ERROR_NO_SETTING;
	length = zeros_write(buffer, size, digits);
	if (length < 0)
		return length;
	for (struct ktrx_event *event = ktrace_group_next(group, KTRACE_NULL); event;
	     event = ktrace_group_next(group, event)) {
		uint32_t bit = bit_of(event);

		if (is_wanted(event) && bit / 4 < digits)
			bit_write(buffer, length, bit);
	}
	return length;
}

/*
 * Returns the next descriptor of the event "<group>.<event>" after `event`, or the first such descriptor if
 * `event` is NULL. Returns NULL if there are no more.
 */
static struct ktrx_event *event_named(struct ktrace_span full, struct ktrx_event *event)
{
	struct ktrace_span group, name;

	if (!ktrace_span_split(full, '.', &group, &name))
		return KTRACE_NULL;
	event = ktrace_group_next(group, event);
	while (event && !ktrace_span_is(name, ktrace_event_name(event)))
		event = ktrace_group_next(group, event);
	return event;
}

static int bit_get(struct ktrace_span full, char *buffer, size_t size)
{
	uint32_t digits = 0;
	int length;

	for (struct ktrx_event *event = event_named(full, KTRACE_NULL); event;
	     event = event_named(full, event)) {
		uint32_t needed = bit_of(event) / 4 + 1;

		if (digits < needed)
			digits = needed;
	}
	if (digits == 0)
		return KTRACE_ERROR_NO_SETTING;
	length = zeros_write(buffer, size, digits);
	if (length < 0)
		return length;
	for (struct ktrx_event *event = event_named(full, KTRACE_NULL); event;
	     event = event_named(full, event))
		bit_write(buffer, length, bit_of(event));
	return length;
}

int ktrace_mask_get(struct ktrace_span name, char *buffer, size_t size)
{
	if (!ktrace_span_skip(&name, KTRACE_PREFIX))
		return KTRACE_ERROR_NO_SETTING;
	if (ktrace_span_cut(&name, KTRACE_ENABLE))
		return enable_get(name, buffer, size);
	return ktrace_span_cut(&name, KTRACE_MASK) ? bit_get(name, buffer, size) : KTRACE_ERROR_NO_SETTING;
}

/*
 * A mask as the caller wrote it: any number of hexadecimal digits after 0x, or an integer. A negative integer
 * has all higher bits set.
 */
struct mask {
	struct ktrace_span digits; /* hexadecimal digits of the mask; empty: the mask is `value` */
	uint64_t value;
	int negative;
};

static int mask_read(struct ktrace_span text, struct mask *mask)
{
	mask->digits = text;
	mask->value = 0;
	mask->negative = text.length > 0 && text.text[0] == '-';
	if (!ktrace_span_skip(&mask->digits, "0x")) {
		mask->digits.length = 0;
		return ktrace_span_number(text, &mask->value);
	}
	for (uint32_t at = 0; at < mask->digits.length; at++)
		if (ktrace_digit(mask->digits.text[at]) == 16)
			return 0;
	return mask->digits.length > 0;
}

static int mask_bit(const struct mask *mask, uint32_t bit)
{
	uint32_t digit = bit / 4;

	if (mask->digits.length == 0)
		return bit < 64 ? (int)(mask->value >> bit & 1) : mask->negative;
	if (digit >= mask->digits.length)
		return 0;
	return (int)(ktrace_digit(mask->digits.text[mask->digits.length - 1 - digit]) >> bit % 4 & 1);
}

static int has_numbers(struct ktrace_span group)
{
	struct ktrx_event *event = ktrace_group_next(group, KTRACE_NULL);

	while (event && !is_numbered(event))
		event = ktrace_group_next(group, event);
	return event != KTRACE_NULL;
}

static int bit_is_used(struct ktrace_span group, uint32_t bit)
{
	struct ktrx_event *event = ktrace_group_next(group, KTRACE_NULL);

	while (event && bit_of(event) != bit)
		event = ktrace_group_next(group, event);
	return event != KTRACE_NULL;
}

/* Returns 0 if the mask has a bit for which there is no event. A negative number is always accepted. */
static int mask_fits(const struct mask *mask, struct ktrace_span group, uint32_t events)
{
	int numbers = has_numbers(group);
	uint32_t bits = mask->digits.length ? mask->digits.length * 4 : 64;

	for (uint32_t bit = 0; bit < bits && !mask->negative; bit++)
		if (mask_bit(mask, bit) && (numbers ? !bit_is_used(group, bit) : bit >= events))
			return 0;
	return 1;
}

static int enable_set(struct ktrace_span group, struct ktrace_span value)
{
	struct mask mask;
	uint32_t digits, events = members_count(group, &digits);

	if (events == 0)
		return KTRACE_ERROR_NO_SETTING;
	if (!mask_read(value, &mask))
		return KTRACE_ERROR_SYNTAX;
	if (!mask_fits(&mask, group, events))
		return KTRACE_ERROR_ARGUMENT;
	for (struct ktrx_event *event = ktrace_group_next(group, KTRACE_NULL); event;
	     event = ktrace_group_next(group, event)) {
		if (!mask_bit(&mask, bit_of(event)))
			*(volatile uint8_t *)&event->wanted = KTRX_STATE_OFF;
		else if (!is_wanted(event))
			*(volatile uint8_t *)&event->wanted = KTRX_STATE_RECORD;
	}
	return KTRACE_OK;
}

int ktrace_mask_set(struct ktrace_span name, struct ktrace_span value)
{
	if (!ktrace_span_skip(&name, KTRACE_PREFIX))
		return KTRACE_ERROR_NO_SETTING;
	if (ktrace_span_cut(&name, KTRACE_ENABLE))
		return enable_set(name, value);
	return ktrace_span_cut(&name, KTRACE_MASK) && event_named(name, KTRACE_NULL)
		       ? KTRACE_ERROR_READ_ONLY
		       : KTRACE_ERROR_NO_SETTING;
}

static int visit_name(const struct ktrace_name *name, ktrace_setting_visit *visit, void *cookie)
{
	return ktrace_name_fits(name) ? visit(cookie, name->text) : 0;
}

/* Returns nonzero if this is the first descriptor of its event. */
static int leads_event(struct ktrace_span group, const struct ktrx_event *event)
{
	struct ktrace_span name = ktrace_span_of(ktrace_event_name(event));
	struct ktrx_event *first = ktrace_group_next(group, KTRACE_NULL);

	while (first != event && !ktrace_span_is(name, ktrace_event_name(first)))
		first = ktrace_group_next(group, first);
	return first == event;
}

static int visit_group(struct ktrx_event *first, ktrace_setting_visit *visit, void *cookie)
{
	struct ktrace_span group = ktrace_span_of(ktrace_event_group(first));
	struct ktrace_name name;
	int answer;

	name.length = 0;
	ktrace_name_add(&name, KTRACE_PREFIX);
	ktrace_name_add(&name, group.text);
	ktrace_name_add(&name, KTRACE_ENABLE);
	answer = visit_name(&name, visit, cookie);
	for (struct ktrx_event *event = first; event && !answer; event = ktrace_group_next(group, event)) {
		if (!leads_event(group, event))
			continue;
		name.length = 0;
		ktrace_name_add(&name, KTRACE_PREFIX);
		ktrace_name_add(&name, group.text);
		ktrace_name_add(&name, ".");
		ktrace_name_add(&name, ktrace_event_name(event));
		ktrace_name_add(&name, KTRACE_MASK);
		answer = visit_name(&name, visit, cookie);
	}
	return answer;
}

int ktrace_mask_each(ktrace_setting_visit *visit, void *cookie)
{
	int answer = 0;

	for (struct ktrx_event *event = ktrace_event_first(); event && !answer;
	     event = ktrace_event_next(event))
		if (ktrace_event_leads_group(event))
			answer = visit_group(event, visit, cookie);
	return answer;
}

#endif
