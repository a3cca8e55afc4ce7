/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/context.h"

#include <string.h>

#include "base/put.h"
#include "kdump/views.h"

#define NAME_MOST 8000 /* maximum size of the text for a name, in bytes */
#define PIECE	  1024u
#define TEXT_MOST 9000u

/* bits of dlopen()'s argument `mode` */
#define MODE_LAZY   1u
#define MODE_NOW    2u
#define MODE_MASK   3u
#define MODE_GLOBAL 0x100u
#define MODE_TRACE  0x200u

/* Events of the runtime linker, by their numbers. */
enum event {
	DLOPEN_START = 1,
	DLOPEN_STOP,
	DLCLOSE_START,
	DLCLOSE_STOP,
	LOAD_OBJECT,
	UNLOAD_OBJECT,
	ADD_RUNDEP,
	PRELOAD_FINISHED,
	INIT_CALL,
	FINI_CALL,
	DLSYM_START,
	DLSYM_STOP,
	RTLD_ERROR,
};

struct linker {
	uint32_t event;
	uint64_t handle, base, size;
	int32_t references;
	const char *name; /* a name of `length` bytes, without a NUL at the end */
	size_t length;
};

/*
 * Reads a record of the runtime linker: sig[4]; an event; a handle, a base and a size, each as wide as a
 * pointer; a count; and a name up to the end. Returns false if the record is too short.
 */
static bool read_linker(struct linker *linker, const uint8_t *bytes, size_t size, unsigned width)
{
	size_t name = 8 + 3 * width + 4;

	*linker = (struct linker){ .event = (uint32_t)kdump_read_number(bytes + 4, 4) };
	if (size < name)
		return false;
	linker->handle = kdump_read_number(bytes + 8, width);
	linker->base = kdump_read_number(bytes + 8 + width, width);
	linker->size = kdump_read_number(bytes + 8 + 2 * width, width);
	linker->references = (int32_t)kdump_read_number(bytes + 8 + 3 * width, 4);
	linker->name = (const char *)bytes + name;
	linker->length = strnlen(linker->name, size - name);
	return true;
}

static char *put_pointer(char *at, uint64_t value)
{
	return base_put_hex(base_put_literal(at, "0x"), value);
}

static char *put_linked_name(char *at, const struct linker *linker)
{
	return kdump_vis_text(at, linker->name, linker->length, NAME_MOST, false);
}

static char *put_mode(char *at, uint32_t mode)
{
	uint32_t rest = mode & ~(MODE_MASK | MODE_GLOBAL | MODE_TRACE);

	if ((mode & MODE_MASK) == MODE_NOW)
		at = base_put_literal(at, "RTLD_NOW");
	else if ((mode & MODE_MASK) == MODE_LAZY)
		at = base_put_literal(at, "RTLD_LAZY");
	else
		at = mode & MODE_MASK ? base_put_literal(at, "0x3") : base_put_literal(at, "0");
	if (mode & MODE_GLOBAL)
		at = base_put_literal(at, " | RTLD_GLOBAL");
	if (mode & MODE_TRACE)
		at = base_put_literal(at, " | RTLD_TRACE");
	return rest ? base_put_hex(base_put_literal(at, " | 0x"), rest) : at;
}

/* Writes an object as "HANDLE @ FIRST - LAST (NAME)", with its first and last address. */
static char *put_object(char *at, const struct linker *linker)
{
	at = base_put_literal(put_pointer(at, linker->handle), " @ ");
	at = base_put_literal(put_pointer(at, linker->base), " - ");
	at = base_put_literal(put_pointer(at, linker->base + linker->size - 1), " (");
	return base_put_literal(put_linked_name(at, linker), ")");
}

/* Writes an initialization or finalization function as "BASE for HANDLE (NAME)". */
static char *put_function(char *at, const struct linker *linker)
{
	at = base_put_literal(put_pointer(at, linker->base), " for ");
	at = base_put_literal(put_pointer(at, linker->handle), " (");
	return base_put_literal(put_linked_name(at, linker), ")");
}

static char *put_named_count(char *at, const struct linker *linker)
{
	at = base_put_literal(put_linked_name(base_put_literal(at, "("), linker), ", ");
	return base_put_literal(base_put_signed(at, linker->references), ")");
}

static char *put_loading(char *at, const struct linker *linker)
{
	switch (linker->event) {
	case DLOPEN_START:
		at = base_put_literal(put_linked_name(base_put_literal(at, "dlopen("), linker), ", ");
		return base_put_literal(put_mode(at, (uint32_t)linker->references), ")");
	case DLOPEN_STOP:
		at = base_put_literal(put_pointer(at, linker->handle), " = dlopen(");
		at = base_put_literal(put_linked_name(at, linker), ") ref ");
		return base_put_signed(at, linker->references);
	case DLCLOSE_START:
		at = base_put_literal(put_pointer(base_put_literal(at, "dlclose("), linker->handle), ") ");
		return put_named_count(at, linker);
	case DLCLOSE_STOP:
		at = put_pointer(base_put_literal(at, "dlclose("), linker->handle);
		return base_put_literal(at, ") finished");
	case LOAD_OBJECT:
		return put_object(base_put_literal(at, "RTLD: loaded   "), linker);
	case UNLOAD_OBJECT:
		return put_object(base_put_literal(at, "RTLD: unloaded "), linker);
	default:
		return NULL;
	}
}

static char *put_linker(char *at, const struct linker *linker)
{
	switch (linker->event) {
	case ADD_RUNDEP:
		at = put_pointer(base_put_literal(at, "RTLD: "), linker->base);
		at = put_pointer(base_put_literal(at, " now depends on "), linker->handle);
		return put_named_count(base_put_literal(at, " "), linker);
	case PRELOAD_FINISHED:
		return base_put_literal(at, "RTLD: LD_PRELOAD finished");
	case INIT_CALL:
		return put_function(base_put_literal(at, "RTLD: init "), linker);
	case FINI_CALL:
		return put_function(base_put_literal(at, "RTLD: fini "), linker);
	case DLSYM_START:
		at = put_pointer(base_put_literal(at, "RTLD: dlsym("), linker->handle);
		return base_put_literal(put_linked_name(base_put_literal(at, ", "), linker), ")");
	case DLSYM_STOP:
		at = put_pointer(base_put_literal(at, "RTLD: "), linker->base);
		at = put_pointer(base_put_literal(at, " = dlsym("), linker->handle);
		return base_put_literal(put_linked_name(base_put_literal(at, ", "), linker), ")");
	case RTLD_ERROR:
		return put_linked_name(base_put_literal(at, "RTLD: error: "), linker);
	default:
		return put_loading(at, linker);
	}
}

/*
 * Writes a record of malloc: pointer, size, result. The record of malloc's initialization is (0, 0, 0) in
 * DragonFly and (-1, …) in FreeBSD. In FreeBSD, (0, 0, 0) is the record of free(NULL).
 */
static char *put_malloc(char *at, const struct kdump_context *context, const uint8_t *bytes, unsigned width)
{
	uint64_t pointer = kdump_read_number(bytes, width), size = kdump_read_number(bytes + width, width);
	uint64_t result = kdump_read_number(bytes + 2 * width, width);
	uint64_t all_ones = width == 4 ? UINT32_MAX : UINT64_MAX;
	bool nothing = pointer == 0 && size == 0 && result == 0;

	if (context->dragonfly ? nothing : pointer == all_ones)
		return base_put_literal(at, "malloc_init()");
	if (size == 0 && (pointer || !context->dragonfly))
		return base_put_literal(put_pointer(base_put_literal(at, "free("), pointer), ")");
	at = base_put_literal(put_pointer(at, result), " = ");
	if (pointer == 0)
		at = base_put_literal(at, "malloc(");
	else
		at = base_put_literal(put_pointer(base_put_literal(at, "realloc("), pointer), ", ");
	return base_put_literal(base_put_decimal(at, size), ")");
}

/*
 * Returns whether all bytes are printable ASCII, tabs and newlines. The three numbers of a malloc record
 * always contain other bytes.
 */
static bool is_text(const uint8_t *bytes, size_t size)
{
	for (size_t n = 0; n < size; n++)
		if ((bytes[n] < ' ' || bytes[n] > '~') && bytes[n] != '\t' && bytes[n] != '\n')
			return false;
	return size > 0;
}

static bool is_linker(const struct ktread_proc_record *record)
{
	return record->data_size >= 8 && memcmp(record->data, "RTLD", 4) == 0;
}

char *kdump_put_user(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
{
	unsigned width = context->info->address_size == 4 ? 4 : 8;
	struct linker linker;

	if (is_linker(record))
		return read_linker(&linker, record->data, record->data_size, width) ? put_linker(at, &linker)
										    : NULL;
	if (record->data_size == 3 * width && !is_text(record->data, record->data_size))
		return put_malloc(at, context, record->data, width);
	return NULL;
}

void kdump_write_user(const struct kdump_context *context, const struct ktread_proc_record *record)
{
	const uint8_t *bytes = record->data;
	size_t size = record->data_size;
	char *at = base_output_line(context->out), *known = kdump_put_user(at, context, record);

	if (known) {
		base_output_done(context->out, base_put_literal(known, "\n"));
		return;
	}
	if (is_linker(record)) {
		at = base_put_literal(at, "RTLD: ");
		bytes += 4;
		size -= 4;
	}
	if (context->ktrx && is_text(bytes, size)) {
		at = kdump_oneline_text(at, bytes, size, TEXT_MOST, false);
		base_output_done(context->out, base_put_literal(at, "\n"));
		return;
	}
	at = base_put_literal(base_put_decimal(at, size), " ");
	for (size_t n = 0; n < size; n++) {
		*at++ = ' ';
		at = context->options->decimal ? base_put_decimal(at, bytes[n])
					       : kdump_put_byte(at, bytes[n]);
		if (n % PIECE == PIECE - 1) {
			base_output_done(context->out, at);
			at = base_output_line(context->out);
		}
	}
	base_output_done(context->out, base_put_literal(at, "\n"));
}
