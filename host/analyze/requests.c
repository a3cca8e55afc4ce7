/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/requests.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_name.h"
#include "base/grow.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- Masks of groups ---- */

static int compare(const void *left, const void *right)
{
	const struct ktread_type *a = *(const struct ktread_type *const *)left;
	const struct ktread_type *b = *(const struct ktread_type *const *)right;
	int order = strcmp(a->group, b->group);

	if (!order)
		order = strcmp(a->file, b->file);
	if (!order && a->line != b->line)
		order = a->line < b->line ? -1 : 1;
	return order ? order : (int)a->id - (int)b->id;
}

/*
 * Assigns bits to the events of a group. A bit is at most KTRX_EVENT_MAX, because a trace has no more
 * events than that.
 */
static void number_group(struct masks *masks, uint32_t first, uint32_t end)
{
	uint8_t taken[KTRX_EVENT_MAX + 1] = { 0 };
	uint32_t next = 0;

	for (uint32_t n = first; n < end; n++)
		if (masks->type[n]->mask_bit)
			taken[masks->type[n]->mask_bit - 1] = 1;
	for (uint32_t n = first; n < end; n++) {
		if (masks->type[n]->mask_bit) {
			masks->bit[n] = masks->type[n]->mask_bit - 1u;
			continue;
		}
		while (next < KTRX_EVENT_MAX && taken[next])
			next++;
		masks->bit[n] = next++;
	}
}

int masks_open(struct masks *masks, const struct ktread *trace)
{
	masks->types = 0;
	masks->type = calloc(KTRX_EVENT_MAX + 1, sizeof(*masks->type));
	masks->bit = calloc(KTRX_EVENT_MAX + 1, sizeof(*masks->bit));
	if (!masks->type || !masks->bit) {
		masks_close(masks);
		return KTREAD_E_MEMORY;
	}
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && *type->group)
			masks->type[masks->types++] = type;
	}
	qsort(masks->type, masks->types, sizeof(*masks->type), compare);
	for (uint32_t first = 0, end; first < masks->types; first = end) {
		end = masks_end(masks, first);
		number_group(masks, first, end);
	}
	return 0;
}

void masks_close(struct masks *masks)
{
	free(masks->type);
	free(masks->bit);
	masks->type = NULL;
	masks->bit = NULL;
	masks->types = 0;
}

uint32_t masks_end(const struct masks *masks, uint32_t n)
{
	const char *group = masks->type[n]->group;

	while (n < masks->types && strcmp(masks->type[n]->group, group) == 0)
		n++;
	return n;
}

uint32_t masks_group(const struct masks *masks, const char *group, size_t length)
{
	uint32_t n = 0;

	while (n < masks->types &&
	       (strlen(masks->type[n]->group) != length || memcmp(masks->type[n]->group, group, length) != 0))
		n++;
	return n;
}

/* Returns whether the group that begins with event `n` has an event with this bit. */
static int masks_have(const struct masks *masks, uint32_t n, uint32_t bit)
{
	for (uint32_t end = masks_end(masks, n); n < end; n++)
		if (masks->bit[n] == bit)
			return 1;
	return 0;
}

/*
 * Writes the mask of events of a group, as "0x…". If `name` is not NULL, the bits of the events with that
 * name are set; if it is NULL, the bits of the events that are requested to be on.
 */
static char *put_mask(const struct masks *masks, uint32_t first, const char *name, char *at)
{
	static const char hex[] = "0123456789abcdef";
	uint8_t digits[KTRX_EVENT_MAX / 4 + 1] = { 0 };
	uint32_t end = masks_end(masks, first), count = 1;

	for (uint32_t n = first; n < end; n++) {
		const struct ktread_type *type = masks->type[n];
		uint32_t digit = masks->bit[n] / 4;

		if (name ? strcmp(type->name, name) != 0 : type->wanted == KTRX_STATE_OFF)
			continue;
		if (digit >= sizeof(digits))
			continue;
		digits[digit] |= (uint8_t)(1u << masks->bit[n] % 4);
		if (count < digit + 1)
			count = digit + 1;
	}
	*at++ = '0';
	*at++ = 'x';
	while (count-- > 0)
		*at++ = hex[digits[count]];
	return at;
}

char *masks_put_enable(const struct masks *masks, uint32_t first, char *at)
{
	return put_mask(masks, first, NULL, at);
}

char *masks_put_bits(const struct masks *masks, uint32_t first, uint32_t n, char *at)
{
	return put_mask(masks, first, masks->type[n]->name, at);
}

int masks_leads_name(const struct masks *masks, uint32_t first, uint32_t n)
{
	while (first < n && strcmp(masks->type[first]->name, masks->type[n]->name) != 0)
		first++;
	return first == n;
}

/* ---- Translating text into requests ---- */

#define SEPARATORS ", \t\n"
#define PREFIX	   "debug.ktr."
#define ENABLE	   "_enable"
#define MASK	   "_mask"
#define OWN_GROUP  "ktrace"
#define FULL_NAME  256u

struct change {
	uint8_t change, state, flags;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct requests *requests, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(requests->message, sizeof(requests->message), format, arguments);
	va_end(arguments);
	return REQUESTS_E_TEXT;
}

static int refuse_memory(struct requests *requests)
{
	refuse(requests, "out of memory");
	return REQUESTS_E_MEMORY;
}

int requests_open(struct requests *requests, const struct ktread *trace)
{
	memset(requests, 0, sizeof(*requests));
	requests->trace = trace;
	return masks_open(&requests->masks, trace) < 0 ? refuse_memory(requests) : 0;
}

void requests_close(struct requests *requests)
{
	masks_close(&requests->masks);
	free(requests->request);
	requests->request = NULL;
}

static int add(struct requests *requests, struct ktrx_request request)
{
	struct ktrx_request *grown = NULL;

	if (requests->count < REQUESTS_MAX)
		grown = base_grow(requests->request, &requests->room, requests->count + 1u, sizeof(*grown));
	if (!grown)
		return refuse_memory(requests);
	requests->request = grown;
	requests->request[requests->count++] = request;
	return 0;
}

/*
 * Adds a change of the event `id`. If `joins` is set and the last request ends with the event `id` - 1,
 * extends the last request instead.
 */
static int add_event(struct requests *requests, uint16_t id, const struct change *change, int joins)
{
	struct ktrx_request request = { .op = KTRX_REQUEST_EVENTS,
					.change = change->change,
					.first = id,
					.last = id,
					.state = change->state,
					.flags = change->flags };
	struct ktrx_request *before = requests->count ? &requests->request[requests->count - 1] : NULL;

	if (joins && before->last + 1 == id) {
		before->last = id;
		return 0;
	}
	return add(requests, request);
}

/*
 * Returns whether a pattern matches an event. As in the kernel, events of the library's own group match only
 * if the pattern begins with the name of that group.
 */
static int chooses(const char *pattern, const struct ktread_type *type)
{
	char full[FULL_NAME];

	if (strcmp(type->group, OWN_GROUP) == 0 && strncmp(pattern, OWN_GROUP, strlen(OWN_GROUP)) != 0)
		return 0;
	if (!strpbrk(pattern, ".*?"))
		return strcmp(pattern, type->group) == 0;
	return snprintf(full, sizeof(full), "%s.%s", type->group, type->name) < (int)sizeof(full) &&
	       fnmatch(pattern, full, FNM_NOESCAPE) == 0;
}

static int refuse_pattern(struct requests *requests, const char *pattern)
{
	struct suggestions similar;
	char text[SUGGESTIONS_TEXT];

	suggestions_start(&similar, pattern, strlen(pattern));
	suggestions_offer_events(&similar, requests->trace);
	suggestions_text(&similar, text, sizeof(text));
	return refuse(requests, "no event '%.64s'%s", pattern, text);
}

static int change_events(struct requests *requests, const char *pattern, const struct change *change)
{
	uint32_t before = requests->count;
	int status = 0;

	for (uint32_t id = 1; id <= KTRX_EVENT_MAX && !status; id++) {
		const struct ktread_type *type = ktread_type(requests->trace, id);

		if (type && *type->group && chooses(pattern, type))
			status = add_event(requests, (uint16_t)id, change, requests->count > before);
	}
	return !status && requests->count == before ? refuse_pattern(requests, pattern) : status;
}

static int word_add(const char *word, struct change *change)
{
	static const struct {
		const char *word;
		struct change means;
	} words[] = {
#define WORD(word, change, state, flags) { word, { change, state, flags } },
		KTRX_CHANGE_WORDS(WORD)
#undef WORD
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct change *means = &words[i].means;

		if (strcmp(word, words[i].word) != 0)
			continue;
		change->change |= means->change;
		change->state |= means->state;
		change->flags = (uint8_t)((change->flags & ~(means->change >> 1)) | means->flags);
		return 1;
	}
	return 0;
}

#define LISTED(word, ...) " " word

/* Parses "word+word". */
static int read_words(struct requests *requests, char *text, struct change *change)
{
	char *rest = text, *word;

	*change = (struct change){ 0 };
	while ((word = strsep(&rest, "+")))
		if (*word && !word_add(word, change))
			return refuse(requests,
				      "'%.32s' is unknown; use one or more of:" KTRX_CHANGE_WORDS(LISTED),
				      word);
	return change->change ? 0 : refuse(requests, "a value is missing after '='");
}

/* Parses a number as the kernel does; -1 means all bits set. */
static int read_number(const char *text, uint64_t *value)
{
	int negative = *text == '-';
	const char *digits = text + negative;
	int base = strncmp(digits, "0x", 2) == 0 ? 16 : 10;
	char *end;

	if (!isxdigit((unsigned char)*digits))
		return -1;
	errno = 0;
	*value = strtoull(digits, &end, base);
	if (*end || end == digits || errno)
		return -1;
	if (negative)
		*value = 0 - *value;
	return 0;
}

static uint64_t ones(const struct ktread_setting *setting)
{
	if (setting->kind == KTRX_SETTING_U64)
		return UINT64_MAX;
	return setting->kind == KTRX_SETTING_U32 ? UINT32_MAX : 1;
}

static int set_setting(struct requests *requests, uint32_t index, const struct ktread_setting *setting,
		       const char *text)
{
	uint64_t value;

	if (setting->read_only)
		return refuse(requests, "%.48s can only be read", setting->name);
	if (read_number(text, &value))
		return refuse(requests, "%.48s: '%.32s' is not a number", setting->name, text);
	if (*text == '-')
		value &= ones(setting);
	if (value > setting->most)
		return refuse(requests, "%.48s takes 0 to %" PRIu64, setting->name, setting->most);
	return add(requests, (struct ktrx_request){
				     .op = KTRX_REQUEST_SETTING, .first = (uint16_t)index, .value = value });
}

/* Returns whether a mask has a bit. The mask is hexadecimal of any width, decimal, or negative. */
static int mask_bit(const char *text, uint64_t value, uint32_t bit)
{
	size_t digits = strlen(text);
	char digit[2] = { 0 };

	if (strncmp(text, "0x", 2) != 0)
		return bit < 64 ? (int)(value >> bit & 1) : *text == '-';
	if (bit / 4 >= digits - 2)
		return 0;
	digit[0] = text[digits - 1 - bit / 4];
	return (int)(strtoul(digit, NULL, 16) >> bit % 4 & 1);
}

static int mask_is_sound(const char *text, uint64_t *value)
{
	*value = 0;
	if (strncmp(text, "0x", 2) == 0)
		return text[2] && text[2 + strspn(text + 2, "0123456789abcdefABCDEF")] == '\0';
	return read_number(text, value) == 0;
}

/*
 * Returns whether each bit of the mask belongs to an event. A negative number always fits, because all of
 * its upper bits are set.
 */
static int mask_fits(const char *text, uint64_t value, const struct masks *masks, uint32_t first)
{
	uint32_t bits = strncmp(text, "0x", 2) == 0 ? (uint32_t)strlen(text) * 4 : 64;

	for (uint32_t bit = 0; bit < bits && *text != '-'; bit++)
		if (mask_bit(text, value, bit) && !masks_have(masks, first, bit))
			return 0;
	return 1;
}

static int set_enable(struct requests *requests, uint32_t first, const char *text)
{
	const struct masks *masks = &requests->masks;
	uint32_t end = masks_end(masks, first);
	uint64_t value;
	int status = 0;

	if (!mask_is_sound(text, &value))
		return refuse(requests, "'%.32s' is not a mask", text);
	if (!mask_fits(text, value, masks, first))
		return refuse(requests, "the mask has a bit that no event of %.48s has",
			      masks->type[first]->group);
	for (uint32_t n = first; n < end && !status; n++) {
		struct change change = { .change = KTRX_CHANGE_STATE };
		const struct ktread_type *type = masks->type[n];

		if (mask_bit(text, value, masks->bit[n]))
			change.state = type->wanted ? type->wanted : KTRX_STATE_RECORD;
		status = add_event(requests, type->id, &change, 0);
	}
	return status;
}

static size_t without_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);

	return length > tail && strcmp(name + length - tail, suffix) == 0 ? length - tail : 0;
}

/* Changes events by a mask. Returns 1 if no mask has that name. */
static int set_mask(struct requests *requests, const char *name, const char *text)
{
	size_t length = without_suffix(name, ENABLE);
	uint32_t first;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return 1;
	if (without_suffix(name, MASK) && strchr(name + strlen(PREFIX), '.'))
		return refuse(requests, "%.96s can only be read", name);
	if (length <= strlen(PREFIX))
		return 1;
	first = masks_group(&requests->masks, name + strlen(PREFIX), length - strlen(PREFIX));
	return first < requests->masks.types ? set_enable(requests, first, text) : 1;
}

static int refuse_setting(struct requests *requests, const char *name)
{
	struct ktread_setting setting;
	struct suggestions similar;
	char text[SUGGESTIONS_TEXT];

	suggestions_start(&similar, name, strlen(name));
	for (uint32_t n = 0; ktread_setting(requests->trace, n, &setting); n++)
		suggestions_offer(&similar, setting.name);
	for (uint32_t n = 0; n < requests->masks.types; n++) {
		char full[FULL_NAME];

		snprintf(full, sizeof(full), PREFIX "%s" ENABLE, requests->masks.type[n]->group);
		suggestions_offer(&similar, full);
	}
	suggestions_text(&similar, text, sizeof(text));
	return refuse(requests, "no setting '%.64s'%s", name, text);
}

static int assign(struct requests *requests, const char *name, char *value)
{
	struct ktread_setting setting;
	struct change change;
	int status;

	for (uint32_t n = 0; ktread_setting(requests->trace, n, &setting); n++)
		if (strcmp(setting.name, name) == 0)
			return set_setting(requests, n, &setting, value);
	status = set_mask(requests, name, value);
	if (status <= 0)
		return status;
	if (strncmp(name, PREFIX, strlen(PREFIX)) == 0)
		return refuse_setting(requests, name);
	if (!*name)
		return refuse(requests, "a name is missing before '='");
	status = read_words(requests, value, &change);
	return status ? status : change_events(requests, name, &change);
}

static int add_item(struct requests *requests, char *item)
{
	static const struct change on = { KTRX_CHANGE_STATE, KTRX_STATE_RECORD, 0 };
	static const struct change off = { KTRX_CHANGE_STATE, KTRX_STATE_OFF, 0 };
	char *equals = strchr(item, '=');

	if (strcmp(item, "start") == 0)
		return add(requests, (struct ktrx_request){ .op = KTRX_REQUEST_START });
	if (strcmp(item, "stop") == 0)
		return add(requests, (struct ktrx_request){ .op = KTRX_REQUEST_STOP });
	if (strcmp(item, "clear") == 0)
		return add(requests, (struct ktrx_request){ .op = KTRX_REQUEST_CLEAR });
	if (equals) {
		*equals = '\0';
		return assign(requests, item, equals + 1);
	}
	if (*item == '-')
		return item[1] ? change_events(requests, item + 1, &off)
			       : refuse(requests, "a name is missing after '-'");
	return change_events(requests, item, &on);
}

int requests_add(struct requests *requests, const char *text)
{
	char *list = strdup(text), *rest = list, *item;
	int status = 0;

	if (!list)
		return refuse_memory(requests);
	while (!status && (item = strsep(&rest, SEPARATORS)))
		if (*item)
			status = add_item(requests, item);
	free(list);
	return status;
}
