/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/parts.h"

#include <string.h>

#include "base/put.h"
#include "ktrx/hwt.h"

#define PATH_MOST 1024u

const char *kdump_hardware_word(uint16_t type)
{
	static const char *const words[] = {
		"HMAP", "HUNM", "HEXE", "HKRN", "HTHR", "HNAM", "HBUF", "HCTX", "HDAT", "HCOD", "HCLK",
	};

	return type >= KTRX_HWT_FIRST && type <= KTRX_HWT_LAST ? words[type - KTRX_HWT_FIRST] : NULL;
}

/* Copies the first `size` bytes of the payload. Returns 0, or -1 if the payload has fewer bytes. */
static int take(const struct ktread_proc_record *record, void *to, size_t size)
{
	if (record->payload_size < size)
		return -1;
	memcpy(to, record->payload, size);
	return 0;
}

static char *put_invalid(char *at)
{
	return base_put_literal(at, "invalid record");
}

/* Writes the text that follows the first `from` bytes of the payload. */
static char *put_text(char *at, const struct ktread_proc_record *record, size_t from)
{
	*at++ = '"';
	at = kdump_vis_text(at, record->payload + from, record->payload_size - from, PATH_MOST, true);
	*at++ = '"';
	return at;
}

static char *put_image(char *at, const struct ktread_proc_record *record)
{
	struct ktrx_hwt_image image;

	if (take(record, &image, sizeof(image)) != 0)
		return put_invalid(at);
	at = put_text(at, record, sizeof(image));
	at = base_put_hex(base_put_literal(at, " at 0x"), image.address);
	if (record->type == KTRX_HWT_MMAP) {
		at = base_put_decimal(base_put_literal(at, ", "), image.size);
		at = base_put_hex(base_put_literal(at, " bytes from 0x"), image.offset);
	}
	return at;
}

static char *put_unmap(char *at, const struct ktread_proc_record *record)
{
	struct ktrx_hwt_unmap unmap;

	if (take(record, &unmap, sizeof(unmap)) != 0)
		return put_invalid(at);
	at = base_put_hex(base_put_literal(at, "0x"), unmap.address);
	return base_put_literal(base_put_decimal(base_put_literal(at, ", "), unmap.size), " bytes");
}

static char *put_thread(char *at, const struct ktread_proc_record *record)
{
	struct ktrx_hwt_thread thread;

	if (take(record, &thread, sizeof(thread)) != 0)
		return put_invalid(at);
	at = base_put_decimal(base_put_literal(at, "unit "), thread.index);
	at = base_put_decimal(base_put_literal(at, " of context "), thread.context);
	if (record->payload_size == sizeof(thread))
		return at;
	*at++ = ' ';
	return put_text(at, record, sizeof(thread));
}

static char *put_fill(char *at, const struct ktread_proc_record *record)
{
	struct ktrx_hwt_fill fill;

	if (take(record, &fill, sizeof(fill)) != 0)
		return put_invalid(at);
	at = base_put_decimal(base_put_literal(at, "unit "), fill.unit);
	at = base_put_decimal(base_put_literal(at, " of context "), fill.context);
	at = base_put_decimal(base_put_literal(at, ": "), fill.position);
	at = base_put_decimal(base_put_literal(at, " bytes written, wrapped "), fill.wraps);
	return base_put_literal(at, " times");
}

static char *put_context(char *at, const struct ktread_proc_record *record)
{
	static const char *const backends[] = { "mock", "pt", "coresight", "spe", "qemu" };
	static const char *const encodings[] = { "unknown", "pt", "etm4", "spe" };
	struct ktrx_hwt_context context;

	if (take(record, &context, sizeof(context)) != 0)
		return put_invalid(at);
	at = base_put_decimal(base_put_literal(at, "context "), context.ident);
	at = base_put_literal(at, ": ");
	at = stpcpy(at, context.backend < sizeof(backends) / sizeof(backends[0]) ? backends[context.backend]
										 : "unknown backend");
	at = base_put_literal(at, ", ");
	at = stpcpy(at, encodings[context.encoding < 4 ? context.encoding : 0]);
	if (context.mode != KTRX_HWT_MODE_THREAD)
		return base_put_literal(at, " of a CPU");
	return base_put_decimal(base_put_literal(at, " of process "), context.target);
}

static char *put_data(char *at, const struct ktread_proc_record *record)
{
	struct ktrx_hwt_data data;

	if (take(record, &data, sizeof(data)) != 0)
		return put_invalid(at);
	at = base_put_decimal(base_put_literal(at, "unit "), data.unit);
	at = base_put_decimal(base_put_literal(at, " of context "), data.context);
	at = base_put_decimal(base_put_literal(at, ": "), record->payload_size - sizeof(data));
	at = base_put_decimal(base_put_literal(at, " bytes at "), data.position);
	return record->flags & KTRX_HWT_FLAG_TORN ? base_put_literal(at, ", torn") : at;
}

static char *put_code(char *at, const struct ktread_proc_record *record)
{
	struct ktrx_hwt_code code;

	if (take(record, &code, sizeof(code)) != 0)
		return put_invalid(at);
	at = base_put_hex(base_put_literal(at, "0x"), code.address);
	at = base_put_decimal(base_put_literal(at, ", "), record->payload_size - sizeof(code));
	at = base_put_literal(at, " bytes");
	return code.space ? base_put_hex(base_put_literal(at, " of space 0x"), code.space) : at;
}

static char *put_clock(char *at, const struct ktread_proc_record *record)
{
	struct ktrx_hwt_clock clock;

	if (take(record, &clock, sizeof(clock)) != 0)
		return put_invalid(at);
	at = base_put_decimal(base_put_literal(at, "unit's time "), clock.unit_time);
	at = base_put_decimal(base_put_literal(at, " at stamp "), clock.stamp);
	return base_put_literal(base_put_decimal(base_put_literal(at, ", "), clock.unit_frequency),
				" a second");
}

char *kdump_put_hardware(char *at, const struct ktread_proc_record *record)
{
	switch (record->type) {
	case KTRX_HWT_MUNMAP:
		return put_unmap(at, record);
	case KTRX_HWT_THREAD_CREATE:
	case KTRX_HWT_THREAD_NAME:
		return put_thread(at, record);
	case KTRX_HWT_BUFFER:
		return put_fill(at, record);
	case KTRX_HWT_CONTEXT:
		return put_context(at, record);
	case KTRX_HWT_DATA:
		return put_data(at, record);
	case KTRX_HWT_CODE:
		return put_code(at, record);
	case KTRX_HWT_CLOCK:
		return put_clock(at, record);
	default:
		return put_image(at, record);
	}
}
