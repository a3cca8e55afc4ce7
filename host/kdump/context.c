/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/context.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/put.h"
#include "calls/tables.h"

#define NANO 1000000000u
/*
 * maximum number of times that a session's table is built again because its text has grown; needed because
 * the text in a hostile trace may grow by single bytes
 */
#define GROWTHS_MOST 64u

static const char *default_table(enum ktread_proc_format format)
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

static const char *choose_table(const struct ktread_proc *trace, const char *given)
{
	const char *own = ktread_proc_table(trace);

	return given ? given : *own ? own : calls_tables_text(default_table(ktread_proc_info(trace)->format));
}

/*
 * Makes the table of the session's calls. Uses the current table again if it was made from the same text, and
 * this text does not come from the trace.
 */
static int take_table(struct kdump_context *context)
{
	const struct ktread_proc_info *info = context->info;
	const char *text = choose_table(context->trace, context->options->table);
	const char *shared = text == ktread_proc_table(context->trace) ? NULL : text;
	struct calls_table *table;
	int result;

	if (shared && shared == context->text && info->machine == context->machine &&
	    info->address_size == context->address_size)
		return 0;
	result = calls_table_create(&table, text, info->machine, info->address_size == 4 ? 4 : 8);
	if (result < 0)
		return result;
	calls_table_destroy(context->table);
	context->table = context->words.table = table;
	context->text = shared;
	context->machine = info->machine;
	context->address_size = info->address_size;
	return 0;
}

int kdump_context_take_session(struct kdump_context *context)
{
	const struct ktread_proc_info *info = context->info;
	bool grown = context->heads == info->heads && context->format == info->format;
	int result = 0;

	context->growths = grown ? context->growths + 1 : 0;
	if (context->growths <= GROWTHS_MOST)
		result = take_table(context);
	if (result < 0)
		return result;
	context->heads = info->heads;
	context->tables = info->tables;
	context->format = info->format;
	context->dragonfly = info->format == KTREAD_PROC_DRAGONFLY;
	context->ktrx = info->format == KTREAD_PROC_KTRX;
	context->own_table = *ktread_proc_table(context->trace) != '\0';
	base_ticks_scale_init(&context->scale, info->frequency);
	return 0;
}

int kdump_context_open(struct kdump_context *context, const struct kdump_options *options,
		       struct ktread_proc *trace, struct base_output *out, enum kdump_style style)
{
	*context = (struct kdump_context){
		.options = options,
		.out = out,
		.trace = trace,
		.info = ktread_proc_info(trace),
		.words = { .style = style, .decimal = options->decimal, .raw = options->raw },
	};
	return kdump_context_take_session(context);
}

void kdump_context_close(struct kdump_context *context)
{
	calls_table_destroy(context->table);
	context->table = context->words.table = NULL;
	for (unsigned n = 0; n < KDUMP_NATIVE; n++)
		calls_table_destroy(context->foreign[n]);
}

/*
 * Returns the key of an entry in context->abi. In KTRX, each call has an ABI, and threads of a process may
 * have different ABIs, so the key is the thread. In other formats, the key is the process.
 */
static uint32_t abi_id(const struct kdump_context *context, uint32_t pid, uint32_t tid)
{
	return context->ktrx ? tid : pid;
}

uint32_t kdump_context_abi(const struct kdump_context *context, uint32_t pid, uint32_t tid)
{
	const uint32_t id = abi_id(context, pid, tid);
	const struct kdump_abi *abi = &context->abi[id % KDUMP_ABIS];

	return abi->id == id ? abi->flags : 0;
}

void kdump_context_take_abi(struct kdump_context *context, const struct ktread_proc_record *record)
{
	const uint32_t id = abi_id(context, record->pid, record->tid);
	struct kdump_abi *abi = &context->abi[id % KDUMP_ABIS];

	if (record->type == KTRX_PROC_SYSCALL) {
		*abi = (struct kdump_abi){ id, record->syscall.abi };
		context->mixed |= context->ktrx && record->syscall.abi != 0;
	} else if (record->type == KTRX_PROC_PROCCTOR && !context->ktrx) {
		*abi = (struct kdump_abi){ id, record->ctor.flags };
	}
	/* the layouts of structs depend on the ABI, so the table of the thread's ABI is used */
	if (context->mixed)
		context->words.table =
			kdump_context_foreign(context, record->pid, record->tid) == KDUMP_LINUX32
				? kdump_context_table(context, KDUMP_LINUX32)
				: context->table;
}

enum kdump_foreign kdump_context_foreign(const struct kdump_context *context, uint32_t pid, uint32_t tid)
{
	uint32_t flags = kdump_context_abi(context, pid, tid);

	if (context->dragonfly || context->options->table)
		return KDUMP_NATIVE;
	/*
	 * In KTRX, `flags` is an ELF machine. If the trace has its own table, the meaning of `flags` is
	 * unknown.
	 */
	if (context->ktrx)
		return flags == 0 || context->own_table ? KDUMP_NATIVE
		       : flags == EM_386		? KDUMP_LINUX32
							: KDUMP_UNKNOWN;
	if ((flags & KDUMP_SV_ABI) == KDUMP_SV_LINUX)
		return flags & KDUMP_SV_LP64 ? KDUMP_LINUX64 : KDUMP_LINUX32;
	if ((flags & KDUMP_SV_ABI) == KDUMP_SV_FREEBSD && flags & KDUMP_SV_ILP32 &&
	    context->info->address_size == 8)
		return KDUMP_FREEBSD32;
	return KDUMP_NATIVE;
}

struct calls_table *kdump_context_table(struct kdump_context *context, enum kdump_foreign whose)
{
	static const struct {
		const char *table;
		uint16_t machine;
		uint8_t address_size;
	} of[] = {
		[KDUMP_FREEBSD32] = { "freebsd", EM_386, 4 },
		[KDUMP_LINUX32] = { "linux", EM_386, 4 },
		[KDUMP_LINUX64] = { "linux", EM_X86_64, 8 },
		[KDUMP_UNKNOWN] = { NULL, EM_NONE, 8 },
	};
	const char *text;

	if (whose == KDUMP_NATIVE)
		return context->table;
	text = of[whose].table ? calls_tables_text(of[whose].table) : "";
	if (!context->foreign[whose] &&
	    calls_table_create(&context->foreign[whose], text, of[whose].machine, of[whose].address_size) < 0)
		return context->table;
	return context->foreign[whose];
}

struct calls_table *kdump_context_calls(struct kdump_context *context, uint32_t pid, uint32_t tid)
{
	return kdump_context_table(context, kdump_context_foreign(context, pid, tid));
}

uint64_t kdump_nanoseconds(const struct kdump_context *context, uint64_t ticks)
{
	return context->scale.frequency ? base_ticks_nanoseconds(&context->scale, ticks) : ticks;
}

uint64_t kdump_absolute(const struct kdump_context *context, uint64_t stamp)
{
	const struct ktread_proc_info *info = context->info;

	if (info->wall_ns == 0 || context->scale.frequency == 0)
		return kdump_nanoseconds(context, stamp);
	if (stamp >= info->wall_stamp)
		return info->wall_ns + kdump_nanoseconds(context, stamp - info->wall_stamp);
	return info->wall_ns - kdump_nanoseconds(context, info->wall_stamp - stamp);
}

static char *put_seconds(char *at, const struct kdump_context *context, uint64_t nanoseconds)
{
	if (context->scale.frequency == 0)
		return base_put_decimal(at, nanoseconds);
	at = base_put_decimal(at, nanoseconds / NANO);
	*at++ = '.';
	if (context->ktrx || context->info->format == KTREAD_PROC_FREEBSD1)
		return base_put_six(base_put_three(at, (uint32_t)(nanoseconds % NANO / 1000000)),
				    (uint32_t)(nanoseconds % 1000000));
	return base_put_six(at, (uint32_t)(nanoseconds % NANO / 1000));
}

char *kdump_put_duration(char *at, const struct kdump_context *context, uint64_t ticks)
{
	return put_seconds(at, context, kdump_nanoseconds(context, ticks));
}

/*
 * Writes the time since another timestamp. This time may be negative, because timestamps of several CPUs need
 * not be in order.
 */
static char *put_since(char *at, const struct kdump_context *context, uint64_t stamp, uint64_t since)
{
	bool back = stamp < since;

	*at = '-';
	at = kdump_put_duration(at + back, context, back ? since - stamp : stamp - since);
	*at = ' ';
	return at + 1;
}

char *kdump_put_times(char *at, struct kdump_context *context, uint64_t stamp)
{
	const struct kdump_options *options = context->options;

	if (!context->any) {
		context->any = true;
		context->first = context->previous = stamp;
	}
	if (options->absolute) {
		at = put_seconds(at, context, kdump_absolute(context, stamp));
		*at++ = ' ';
	}
	if (options->elapsed)
		at = put_since(at, context, stamp, context->first);
	if (options->relative)
		at = put_since(at, context, stamp, context->previous);
	context->previous = stamp;
	return at;
}

char *kdump_put_call_name(char *at, const struct kdump_context *context, struct calls_table *calls,
			  uint32_t number)
{
	const struct calls_call *call = calls_table_call(calls, number);

	if (call)
		at = kdump_put_name(at, call->name);
	if (call && !context->options->numbers)
		return at;
	*at = '[';
	at = base_put_signed(at + 1, (int32_t)number);
	*at = ']';
	return at + 1;
}

/* ---- Descriptors ---- */

#define DESCRIPTORS 16384u
#define PROBES	    8u
#define PATH_MOST   255u /* maximum number of bytes of a path that are stored and printed */

struct kdump_descriptors {
	bool any;
	struct {
		uint32_t pid;
		int32_t fd;
		uint16_t size;
		/* file or socket to which the descriptor refers; NULL: this element is unused */
		char *path;
	} of[DESCRIPTORS];
};

struct kdump_descriptors *kdump_descriptors_create(void)
{
	return calloc(1, sizeof(struct kdump_descriptors));
}

void kdump_descriptors_destroy(struct kdump_descriptors *descriptors)
{
	for (unsigned n = 0; descriptors && n < DESCRIPTORS; n++)
		free(descriptors->of[n].path);
	free(descriptors);
}

bool kdump_descriptors_any(const struct kdump_descriptors *descriptors)
{
	return descriptors->any;
}

/*
 * Returns the entry of a descriptor, and sets *found to true. If the descriptor has no entry, sets *found to
 * false, and returns the entry to write: an unused entry, or the entry of another descriptor, which is
 * overwritten.
 */
static unsigned find_entry(const struct kdump_descriptors *descriptors, uint32_t pid, int32_t fd, bool *found)
{
	const unsigned first = (pid * 2654435761u + (uint32_t)fd * 40503u) % DESCRIPTORS;
	unsigned unused = first;

	*found = true;
	for (unsigned probe = PROBES; probe-- > 0;) {
		const unsigned n = (first + probe) % DESCRIPTORS;

		if (!descriptors->of[n].path)
			unused = n;
		else if (descriptors->of[n].pid == pid && descriptors->of[n].fd == fd)
			return n;
	}
	*found = false;
	return unused;
}

void kdump_descriptors_note(struct kdump_descriptors *descriptors, const struct ktread_proc_record *record)
{
	bool found;
	unsigned n = find_entry(descriptors, record->pid, record->fd.number, &found);
	size_t size = record->data_size < PATH_MOST ? record->data_size : PATH_MOST;
	char *path = size > 0 ? malloc(size + 1) : NULL;

	if (size == 0 && !found)
		return;
	if (path)
		memcpy(path, record->data, size);
	free(descriptors->of[n].path);
	descriptors->any = true;
	descriptors->of[n].pid = record->pid;
	descriptors->of[n].fd = record->fd.number;
	descriptors->of[n].size = (uint16_t)size;
	descriptors->of[n].path = path;
}

char *kdump_put_descriptor(char *at, const struct kdump_descriptors *descriptors, uint32_t pid, int32_t fd)
{
	bool found;
	unsigned n = find_entry(descriptors, pid, fd, &found);

	if (!found)
		return at;
	*at = '<';
	at = kdump_vis_text(at + 1, descriptors->of[n].path, descriptors->of[n].size,
			    KDUMP_VIS_GROWTH * PATH_MOST, false);
	*at = '>';
	return at + 1;
}
