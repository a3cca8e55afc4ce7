/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Records of page faults, of operations that were denied, and of hardware trace. */

#include <string.h>

#include "base/put.h"
#include "kdump/context.h"
#include "ktrx/hwt.h"

#define PATH_MOST 4000u
/*
 * the lower 57 bits of a word of FreeBSD's capability rights; the bits above them are the index of the word
 */
#define RIGHTS_BITS ((UINT64_C(1) << 57) - 1)

/* ---- Page faults ---- */

static unsigned entry_of(const struct ktread_proc_record *record)
{
	return (record->tid * 31u + record->pid) % KDUMP_FAULTS;
}

void kdump_faults_note(struct kdump_faults *faults, const struct ktread_proc_record *record)
{
	unsigned n = entry_of(record);

	if (record->type != KTRX_PROC_FAULT)
		return;
	faults->of[n].stamp = record->stamp;
	faults->of[n].pid = record->pid;
	faults->of[n].tid = record->tid;
	faults->of[n].begun = true;
}

static char *put_access(char *at, uint32_t access)
{
	static const char *const words[] = { "read", "write", "execute" };
	bool any = false;

	for (unsigned n = 0; n < 3; n++) {
		if (!(access >> n & 1))
			continue;
		*at = '|';
		at = kdump_put_name(at + any, words[n]);
		any = true;
	}
	return any ? at : base_put_literal(at, "access");
}

char *kdump_put_fault(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
{
	at = base_put_literal(base_put_hex(base_put_literal(at, "0x"), record->fault.address), " ");
	if (!context->ktrx)
		return kdump_put_value(at, &context->words, calls_table_type(context->words.table, "vmprot"),
				       record->fault.access);
	at = put_access(at, record->fault.access);
	if (record->fault.user == 0xff)
		return at;
	return record->fault.user ? base_put_literal(at, " by user") : base_put_literal(at, " by kernel");
}

char *kdump_put_fault_end(char *at, struct kdump_faults *faults, const struct kdump_context *context,
			  const struct ktread_proc_record *record)
{
	unsigned n = entry_of(record);
	bool begun =
		faults->of[n].begun && faults->of[n].pid == record->pid && faults->of[n].tid == record->tid;
	int32_t result = record->faultend.result;
	const char *error = calls_table_error(context->words.table, result);

	faults->of[n].begun = faults->of[n].begun && !begun;
	if (!context->ktrx)
		return kdump_put_value(at, &context->words,
				       calls_table_type(context->words.table, "vmresult"),
				       (uint64_t)(int64_t)result);
	if (result == 0)
		at = base_put_literal(at, "resolved");
	else if (error && !context->words.raw)
		at = kdump_put_name(at, error);
	else
		at = base_put_signed(base_put_literal(at, "error "), result);
	if (!begun || record->stamp < faults->of[n].stamp)
		return at;
	at = kdump_put_duration(base_put_literal(at, " in "), context, record->stamp - faults->of[n].stamp);
	return base_put_literal(at, " s");
}

/* ---- Denied operations ---- */

static char *put_rights(char *at, const struct kdump_context *context, const uint64_t rights[2])
{
	const struct calls_type *first = calls_table_type(context->words.table, "rights");
	const struct calls_type *second = calls_table_type(context->words.table, "rights1");
	uint64_t low = context->ktrx ? rights[0] : rights[0] & RIGHTS_BITS;
	uint64_t high = context->ktrx ? rights[1] : rights[1] & RIGHTS_BITS;

	if (!first || context->words.raw)
		at = kdump_put_word(at, &context->words, low);
	else if (low || !high)
		at = kdump_put_flags(at, first, low);
	if (high) {
		if (low)
			*at++ = '|';
		at = second ? kdump_put_flags(at, second, high) : kdump_put_word(at, &context->words, high);
	}
	return at;
}

static char *put_path(char *at, const struct ktread_proc_record *record)
{
	at = base_put_literal(at, " \"");
	at = kdump_vis_text(at, record->data, record->data_size, PATH_MOST, false);
	return base_put_literal(at, "\"");
}

/* Writes a denied operation in the same words as FreeBSD's kdump. */
static char *put_denied_freebsd(char *at, const struct kdump_context *context,
				const struct ktread_proc_record *record)
{
	const struct kdump_words *words = &context->words;

	switch (record->capfail.raw_reason) {
	case KTREAD_PROC_DENIED_NOTCAPABLE:
		at = put_rights(base_put_literal(at, "operation requires "), context, record->capfail.needed);
		return put_rights(base_put_literal(at, ", descriptor holds "), context, record->capfail.held);
	case KTREAD_PROC_DENIED_INCREASE:
		at = put_rights(base_put_literal(at, "attempt to increase capabilities from "), context,
				record->capfail.held);
		return put_rights(base_put_literal(at, " to "), context, record->capfail.needed);
	case KTREAD_PROC_DENIED_SYSCALL:
		return base_put_literal(at, "disallowed system call");
	case KTREAD_PROC_DENIED_SIGNAL:
		at = base_put_literal(at, "disallowed signal: ");
		return kdump_put_signal(at, words, (uint32_t)record->capfail.value);
	case KTREAD_PROC_DENIED_PROTOCOL:
		return base_put_signed(base_put_literal(at, "disallowed protocol: "), record->capfail.value);
	case KTREAD_PROC_DENIED_SOCKADDR:
		at = base_put_literal(at, "disallowed address: struct sockaddr ");
		return kdump_put_structure(at, context, "sockaddr", record->data, record->data_size);
	case KTREAD_PROC_DENIED_NAMEI:
		at = base_put_literal(at, "restricted VFS lookup");
		return record->data_size ? put_path(base_put_literal(at, ":"), record) : at;
	case KTREAD_PROC_DENIED_CPUSET:
		return base_put_literal(at, "disallowed cpuset operation");
	default:
		at = put_rights(base_put_literal(at, "unknown capability failure: "), context,
				record->capfail.needed);
		return put_rights(base_put_literal(at, " "), context, record->capfail.held);
	}
}

static char *put_reason(char *at, uint32_t reason)
{
	switch (reason) {
	case KTRX_PROC_DENIED_RIGHTS:
		return base_put_literal(at, "permission denied");
	case KTRX_PROC_DENIED_OWNER:
		return base_put_literal(at, "not the owner");
	case KTRX_PROC_DENIED_PRIVILEGE:
		return base_put_literal(at, "not privileged");
	case KTRX_PROC_DENIED_SYSCALL:
		return base_put_literal(at, "disallowed system call");
	case KTRX_PROC_DENIED_DESCRIPTOR:
		return base_put_literal(at, "descriptor opened for something else");
	default:
		return base_put_literal(at, "denied");
	}
}

char *kdump_put_denied(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
{
	if (!context->ktrx)
		return put_denied_freebsd(at, context, record);
	at = put_reason(at, record->capfail.reason);
	if (record->capfail.number != KTREAD_PROC_NOBODY)
		at = kdump_put_call_name(base_put_literal(at, " in "), context, context->words.table,
					 record->capfail.number);
	if (record->capfail.needed[0] || record->capfail.held[0]) {
		at = put_rights(base_put_literal(at, ": needs "), context, record->capfail.needed);
		at = put_rights(base_put_literal(at, ", has "), context, record->capfail.held);
	}
	return record->data_size ? put_path(at, record) : at;
}

/* ---- Hardware trace ---- */

#define FILE_PATH_MOST 1024u

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
	at = kdump_vis_text(at, record->payload + from, record->payload_size - from, FILE_PATH_MOST, true);
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
