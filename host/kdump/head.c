/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/context.h"

#include <string.h>

#include "base/put.h"

#define NAME_WIDTH 8 /* width of the column for names; shorter names are padded with blanks */
#define NAME_MOST  124u

_Static_assert(sizeof(((struct kdump_process_text *)0)->text) >= NAME_MOST + 3 * BASE_PUT_SCRATCH,
	       "room for all of it");
_Static_assert(sizeof(((struct kdump_process_text *)0)->text) <= UINT8_MAX, "its length fits");

static char *put_right(char *at, int32_t number, int width)
{
	char text[BASE_PUT_SCRATCH];
	int length = (int)(base_put_signed(text, number) - text);

	for (int n = length; n < width; n++)
		*at++ = ' ';
	memcpy(at, text, (size_t)length);
	return at + length;
}

static char *pad(char *at, const char *from, int width)
{
	while (at - from < width)
		*at++ = ' ';
	return at;
}

static char *put_name(char *at, const struct ktread_proc_record *record)
{
	const char *from = at;

	at = kdump_vis_text(at, record->name, strlen(record->name), NAME_MOST, false);
	at = pad(at, from, NAME_WIDTH);
	*at = ' ';
	return at + 1;
}

/*
 * Writes DragonFly's form: the number of the process, a colon, and the number of the thread. The number of
 * the thread is left out if it is 0, unless -j or -H is given.
 */
static char *put_pid_tid(char *at, const struct kdump_context *context,
			 const struct ktread_proc_record *record)
{
	const struct kdump_options *options = context->options;
	const char *from;

	at = put_right(at, (int32_t)record->pid, 5);
	if (record->tid || options->fixed || options->threads) {
		*at++ = ':';
		from = at;
		at = pad(base_put_signed(at, (int32_t)record->tid), from, 4);
	}
	*at = ' ';
	return at + 1;
}

static char *put_process(char *at, const struct kdump_context *context,
			 const struct ktread_proc_record *record)
{
	if (context->dragonfly || context->options->fixed)
		return put_name(put_pid_tid(at, context, record), record);
	at = put_right(at, (int32_t)record->pid, 6);
	*at++ = ' ';
	/*
	 * print 0 instead of a negative number, which is a pointer that old kernels record in place of a
	 * thread's number
	 */
	if (context->options->threads) {
		at = put_right(at, (int32_t)record->tid > 0 ? (int32_t)record->tid : 0, 6);
		*at++ = ' ';
	}
	return put_name(at, record);
}

static bool is_same(const struct kdump_process_text *last, const struct kdump_context *context,
		    const struct ktread_proc_record *record)
{
	return last->length && last->pid == record->pid && last->tid == record->tid &&
	       last->dragonfly == context->dragonfly &&
	       memcmp(last->name, record->name, sizeof(last->name)) == 0;
}

char *kdump_put_process(char *at, struct kdump_context *context, const struct ktread_proc_record *record)
{
	struct kdump_process_text *last = &context->process_text;

	if (!is_same(last, context, record)) {
		last->pid = record->pid;
		last->tid = record->tid;
		last->dragonfly = context->dragonfly;
		memcpy(last->name, record->name, sizeof(last->name));
		last->length = (uint8_t)(put_process(last->text, context, record) - last->text);
	}
	for (size_t done = 0; done < last->length; done += KDUMP_PROCESS_PIECE)
		memcpy(at + done, last->text + done, KDUMP_PROCESS_PIECE);
	return at + last->length;
}

const char *kdump_record_word(uint16_t type, uint32_t ctor_flags)
{
	static const char *const words[] = {
		[KTRX_PROC_SYSCALL] = "CALL",  [KTRX_PROC_SYSRET] = "RET ",	  [KTRX_PROC_NAMEI] = "NAMI",
		[KTRX_PROC_GENIO] = "GIO ",    [KTRX_PROC_PSIG] = "PSIG",	  [KTRX_PROC_CSW] = "CSW ",
		[KTRX_PROC_USER] = "USER",     [KTRX_PROC_STRUCT] = "STRU",	  [KTRX_PROC_SYSCTL] = "SCTL",
		[KTRX_PROC_PROCDTOR] = "EXIT", [KTRX_PROC_CAPFAIL] = "CAP ",	  [KTRX_PROC_FAULT] = "PFLT",
		[KTRX_PROC_FAULTEND] = "PRET", [KTRX_PROC_STRUCT_ARRAY] = "STRU", [KTRX_PROC_END] = "END ",
		[KTRX_PROC_FD] = "FD  ",
	};
	static const char *const lives[] = { "FORK", "EXEC", "SET " };

	if (type == KTRX_PROC_PROCCTOR)
		return ctor_flags < sizeof(lives) / sizeof(lives[0]) ? lives[ctor_flags] : "PROC";
	return type < sizeof(words) / sizeof(words[0]) ? words[type] : kdump_hardware_word(type);
}

static char *put_word(char *at, const struct kdump_context *context, const struct ktread_proc_record *record)
{
	uint16_t type = record->type == KTREAD_PROC_BROKEN ? record->raw : record->type;
	const char *word = kdump_record_word(type, type == record->type ? record->ctor.flags : 0);

	if (word && context->dragonfly && type == KTRX_PROC_CSW)
		return base_put_literal(at, "CSW  ");
	if (word) {
		memcpy(at, word, 4);
		at += 4;
	} else {
		at = base_put_literal(base_put_decimal(base_put_literal(at, "UNKNOWN("), record->raw), ")");
	}
	return base_put_literal(at, "  ");
}

/* ---- The ABI of a process ---- */

/*
 * Writes a name for the ABI of a process, such as "F64", which consists of the system and the width of its
 * machine words.
 */
static void abi_name(char name[4], const struct kdump_context *context,
		     const struct ktread_proc_record *record)
{
	uint32_t flags = kdump_context_abi(context, record->pid, record->tid);
	bool wide = context->info->address_size != 4;

	memcpy(name, "U00", 4);
	if (context->ktrx && kdump_context_foreign(context, record->pid, record->tid) == KDUMP_LINUX32) {
		memcpy(name, "L32", 4);
		return;
	}
	if (context->ktrx || context->dragonfly) {
		name[0] = flags ? 'U' : context->dragonfly ? 'D' : context->own_table ? 'K' : 'L';
		memcpy(name + 1, wide ? "64" : "32", 2);
		return;
	}
	if ((flags & KDUMP_SV_ABI) == KDUMP_SV_LINUX)
		name[0] = 'L';
	if ((flags & KDUMP_SV_ABI) == KDUMP_SV_FREEBSD)
		name[0] = 'F';
	if (flags & (KDUMP_SV_LP64 | KDUMP_SV_ILP32))
		memcpy(name + 1, flags & KDUMP_SV_LP64 ? "64" : "32", 2);
}

char *kdump_put_head(char *at, struct kdump_context *context, const struct ktread_proc_record *record)
{
	char name[4];

	at = kdump_put_process(at, context, record);
	if (context->options->absolute || context->options->elapsed || context->options->relative)
		at = kdump_put_times(at, context, record->stamp);
	if (context->options->cpus && record->cpu != KTREAD_PROC_NOBODY) {
		at = put_right(at, (int32_t)record->cpu, 3);
		*at++ = ' ';
	}
	at = put_word(at, context, record);
	if (!context->options->abi)
		return at;
	abi_name(name, context, record);
	memcpy(at, name, 3);
	return base_put_literal(at + 3, "  ");
}

bool kdump_head_hides(const struct kdump_context *context, const struct ktread_proc_record *record)
{
	if (record->type == KTRX_PROC_NAME || record->type == KTRX_PROC_TABLE)
		return true;
	return !context->ktrx && (record->type == KTRX_PROC_PROCCTOR || record->type == KTRX_PROC_PROCDTOR);
}
