/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Prints the contents of memory at an address that was passed to a call, as strace(1) does. */
#include "kdump/context.h"

#include <string.h>

#include "base/put.h"

#define TEXT_USUAL  32u
#define END_MOST    8	 /* maximum size, in bytes, of the text after the last value */
#define BESIDE_TEXT 160u /* number of bytes that put_text() leaves free for the other fields of an entry */
#define DIRENT_NAME 19u	 /* offset of the name in struct linux_dirent64 */

/*
 * True for a set that contains more than half of the signals. Such a set is printed as a list of the signals
 * that it does not contain.
 */
#define MOST_SIGNALS(set) (__builtin_popcountll(set) > 32)

/* A list of values that is being written. */
struct list {
	const struct kdump_context *context;
	struct kdump_words words;
	char *at, *limit;
	char *last; /* beginning of the last value's text, including the comma before the value */
	unsigned count;
	bool cut;
};

/* Begins the next value. Returns false if the value does not fit. */
static bool next(struct list *list)
{
	list->cut = list->at >= list->limit;
	if (list->cut)
		return false;
	list->last = list->at;
	if (list->count++ > 0)
		list->at = base_put_literal(list->at, ", ");
	return true;
}

static char *put_text(const struct kdump_context *context, char *at, const void *bytes, size_t size, bool cut)
{
	uint64_t most =
		context->options->data_most == KDUMP_DATA_USUAL ? TEXT_USUAL : context->options->data_most;
	const size_t room = KDUMP_MEMORY_MOST - BESIDE_TEXT;

	if (most && size > most) {
		size = (size_t)most;
		cut = true;
	}
	*at++ = '"';
	at = kdump_vis_text(at, bytes, size, room, true);
	*at++ = '"';
	return cut ? base_put_literal(at, "...") : at;
}

static void put_strings(struct list *list, const uint8_t *bytes, size_t size)
{
	for (size_t n = 0, length; n < size && next(list); n += length + 1) {
		length = strnlen((const char *)bytes + n, size - n);
		list->at = put_text(list->context, list->at, bytes + n, length, false);
	}
}

static void put_path_of(struct list *list, int32_t fd)
{
	if (list->context->descriptors)
		list->at = kdump_put_descriptor(list->at, list->context->descriptors, list->context->pid, fd);
}

static void put_bits(struct list *list, const uint8_t *bytes, size_t size, bool descriptors)
{
	for (size_t n = 0; n < 8 * size; n++) {
		if (!(bytes[n / 8] >> n % 8 & 1) || !next(list))
			continue;
		list->at = base_put_decimal(list->at, n);
		if (descriptors)
			put_path_of(list, (int32_t)n);
	}
}

static char *put_signals(struct list *list, uint64_t set)
{
	const bool most = MOST_SIGNALS(set);

	for (unsigned n = 1; n <= 64; n++) {
		const char *name = calls_table_signal(list->words.table, n);

		if (((set >> (n - 1) & 1) != 0) == most || !next(list))
			continue;
		list->at = name ? kdump_put_name(list->at, strncmp(name, "SIG", 3) == 0 ? name + 3 : name)
				: base_put_decimal(list->at, n);
	}
	return list->at;
}

static char *put_status(char *at, const struct kdump_words *words, uint32_t status)
{
	const uint32_t signal = status & 0x7f;

	if (signal == 0) {
		at = base_put_literal(at, "{WIFEXITED(s) && WEXITSTATUS(s) == ");
		return base_put_literal(base_put_decimal(at, status >> 8 & 0xff), "}");
	}
	if (status == 0xffff)
		return base_put_literal(at, "{WIFCONTINUED(s)}");
	if (signal == 0x7f) {
		at = base_put_literal(at, "{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		return base_put_literal(kdump_put_signal(at, words, status >> 8 & 0xff), "}");
	}
	at = kdump_put_signal(base_put_literal(at, "{WIFSIGNALED(s) && WTERMSIG(s) == "), words, signal);
	return status & 0x80 ? base_put_literal(at, " && WCOREDUMP(s)}") : base_put_literal(at, "}");
}

/*
 * Writes directory entries. Each entry contains its own size, and the next entry begins directly after it. An
 * entry with an invalid size is the last one.
 */
static void put_entries(struct list *list, const uint8_t *bytes, size_t size)
{
	for (size_t n = 0, length; n + DIRENT_NAME < size && next(list); n += length) {
		const uint8_t *name = bytes + n + DIRENT_NAME;

		length = (size_t)kdump_read_number(bytes + n + 16, 2);
		if (length <= DIRENT_NAME || length > size - n)
			length = size - n;
		list->at = base_put_decimal(base_put_literal(list->at, "{ino="),
					    kdump_read_number(bytes + n, 8));
		list->at = base_put_decimal(base_put_literal(list->at, ", off="),
					    kdump_read_number(bytes + n + 8, 8));
		list->at = base_put_decimal(base_put_literal(list->at, ", reclen="), length);
		list->at = base_put_decimal(base_put_literal(list->at, ", type="), bytes[n + 18]);
		list->at = put_text(list->context, base_put_literal(list->at, ", name="), name,
				    strnlen((const char *)name, length - DIRENT_NAME), false);
		list->at = base_put_literal(list->at, "}");
	}
}

static void put_rights(struct list *list, const uint8_t *bytes, size_t size)
{
	*list->at++ = '[';
	for (size_t n = 0; n + 4 <= size && list->at < list->limit; n += 4) {
		const int32_t fd = (int32_t)kdump_read_number(bytes + n, 4);

		list->at = base_put_signed(n > 0 ? base_put_literal(list->at, ", ") : list->at, fd);
		put_path_of(list, fd);
	}
	*list->at++ = ']';
}

/* Returns the name of a value; NULL if the value has no name. */
static const char *symbol_of(const struct list *list, const char *type, uint64_t value)
{
	const struct calls_type *of = calls_table_type(list->words.table, type);

	return of ? calls_type_symbol(of, value) : NULL;
}

static void put_name_or_number(struct list *list, const char *name, uint64_t value)
{
	list->at = name ? kdump_put_name(list->at, name) : base_put_signed(list->at, (int32_t)value);
}

/* Writes level, type and data of a control message. */
static void put_message(struct list *list, const uint8_t *bytes, size_t size)
{
	const uint64_t level = kdump_read_number(bytes, 4), kind = kdump_read_number(bytes + 4, 4);
	const char *level_name = symbol_of(list, "sol", level), *kind_name = NULL;

	if (level_name && strcmp(level_name, "SOL_SOCKET") == 0)
		kind_name = symbol_of(list, "scm", kind);
	list->at = base_put_literal(list->at, ", level=");
	put_name_or_number(list, level_name, level);
	list->at = base_put_literal(list->at, ", type=");
	put_name_or_number(list, kind_name, kind);
	list->at = base_put_literal(list->at, ", data=");
	if (kind_name && strcmp(kind_name, "SCM_RIGHTS") == 0)
		put_rights(list, bytes + 8, size - 8);
	else
		list->at = put_text(list->context, list->at, bytes + 8, size - 8, false);
}

/*
 * Writes control messages. Each message begins with its size, and the next message begins at the next
 * multiple of the size of a machine word.
 */
static void put_control(struct list *list, const uint8_t *bytes, size_t size)
{
	const size_t width = calls_table_address_size(list->words.table), head = width + 8;

	for (size_t n = 0, length; n + head <= size && next(list);
	     n += (length + width - 1) / width * width) {
		length = (size_t)kdump_read_number(bytes + n, (unsigned)width);
		if (length < head || length > size - n)
			length = size - n;
		list->at = base_put_decimal(base_put_literal(list->at, "{len="), length);
		put_message(list, bytes + n + width, length - width);
		list->at = base_put_literal(list->at, "}");
	}
}

static void put_values(struct list *list, const struct calls_type *type, const struct kdump_bytes *bytes)
{
	const size_t element = bytes->element;

	for (size_t n = 0; element > 0 && n + element <= bytes->size && next(list); n += element) {
		uint64_t value = kdump_read_number(bytes->first + n, element > 8 ? 8 : (unsigned)element);

		if (type->base == CALLS_STRUCTURE)
			list->at = kdump_put_structure(list->at, list->context, type->name, bytes->first + n,
						       (uint32_t)element);
		else
			list->at = kdump_put_value(list->at, &list->words, type, value);
		if (type->base == CALLS_FD)
			put_path_of(list, (int32_t)value);
	}
}

static void put_list(struct list *list, const struct calls_type *type, const struct kdump_bytes *all)
{
	const uint8_t *bytes = all->first;
	const size_t size = all->size;

	switch (type->base) {
	case CALLS_STRINGS:
		put_strings(list, bytes, size);
		break;
	case CALLS_FDSET:
		put_bits(list, bytes, size, strcmp(type->name, "fdset") == 0);
		break;
	case CALLS_SIGSET:
		list->at = put_signals(list, kdump_read_number(bytes, size < 8 ? (unsigned)size : 8));
		break;
	case CALLS_CONTROL:
		put_control(list, bytes, size);
		break;
	case CALLS_DIRENTS:
		put_entries(list, bytes, size);
		break;
	case CALLS_WSTATUS:
		if (size >= 4 && next(list))
			list->at = put_status(list->at, &list->words, (uint32_t)kdump_read_number(bytes, 4));
		break;
	default:
		put_values(list, type, all);
		break;
	}
}

static bool is_text(const struct calls_type *type, size_t size)
{
	return type->base == CALLS_TEXT || type->base == CALLS_STR ||
	       (type->base == CALLS_SOCKOPT && size != 4);
}

char *kdump_put_memory(char *at, size_t limit, const struct kdump_context *context,
		       const struct calls_type *type, const struct kdump_bytes *bytes)
{
	struct list list = { .context = context, .words = context->words, .limit = at + limit - END_MOST };

	if (list.words.style == KDUMP_STYLE_JSON)
		list.words.style = KDUMP_STYLE_PLAIN;
	if (is_text(type, bytes->size))
		return put_text(context, at, bytes->first, bytes->size, bytes->cut);
	if (type->base == CALLS_SIGSET && bytes->size >= 8 &&
	    MOST_SIGNALS(kdump_read_number(bytes->first, 8)))
		*at++ = '~';
	list.at = list.last = base_put_literal(at, "[");
	put_list(&list, type, bytes);
	if (list.at > list.limit) {
		list.at = list.last;
		list.cut = true;
		list.count--;
	}
	if (list.cut || (bytes->cut && type->base != CALLS_STRUCTURE))
		list.at = list.count ? base_put_literal(list.at, ", ...") : base_put_literal(list.at, "...");
	*list.at = ']';
	return list.at + 1;
}
