/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the ktrace files of the BSDs. A file is a sequence of records, each of them a header and a payload.
 * A header has no magic, so the first impossible header ends the trace. A payload that is too long, such as
 * the data of a large read or write, is truncated, and the reader steps over the rest.
 */
#include <elf.h>
#include <inttypes.h>

#include "proc_state.h"

/* set of DragonFly's record types, as bits: types 1 to 7 and type 9 */
#define TYPES_OF_DRAGONFLY 0x02feu
#define TYPES_OF_FREEBSD   0xfffeu /* set of FreeBSD's record types, as bits: types 1 to 15 */

static const struct ktread_proc_layout dragonfly = {
	.head = 64,
	.word = 8,
	.flags = 6,
	.pid = 8,
	.tid = 12,
	.tid_size = 4,
	.comm = 16,
	.comm_size = 17,
	.time = 40,
	.types = TYPES_OF_DRAGONFLY,
};

static const struct ktread_proc_layout freebsd0 = {
	.head = 56,
	.word = 8,
	.pid = 8,
	.comm = 12,
	.comm_size = 20,
	.time = 32,
	.tid = 48,
	.tid_size = 8,
	.type_flags = KTREAD_BSD_LOST,
	.types = TYPES_OF_FREEBSD,
};

static const struct ktread_proc_layout freebsd0_i386 = {
	.head = 44,
	.word = 4,
	.pid = 8,
	.comm = 12,
	.comm_size = 20,
	.time = 32,
	.tid = 40,
	.tid_size = 4,
	.type_flags = KTREAD_BSD_LOST,
	.types = TYPES_OF_FREEBSD,
};

static const struct ktread_proc_layout freebsd1 = {
	.head = 64,
	.word = 8,
	.pid = 8,
	.comm = 12,
	.comm_size = 20,
	.time = 32,
	.nanoseconds = true,
	.tid = 48,
	.tid_size = 8,
	.cpu = 56,
	.type_flags = KTREAD_BSD_LOST | KTREAD_BSD_VERSIONED,
	.types = TYPES_OF_FREEBSD,
};

const struct ktread_proc_layout *ktread_proc_bsd_layout(const struct ktread_proc_reader *reader,
							const uint8_t *bytes)
{
	bool versioned = ktread_bsd_16(bytes + 4) & KTREAD_BSD_VERSIONED;

	return versioned && reader->versioned ? reader->versioned : reader->layout;
}

void ktread_proc_bsd_take_head(const struct ktread_proc_layout *layout, const uint8_t *bytes,
			       struct ktread_proc_bsd_head *head)
{
	uint16_t type = ktread_bsd_16(bytes + 4);
	int64_t tid = layout->tid_size == 8 ? (int64_t)ktread_bsd_64(bytes + layout->tid)
					    : (int32_t)ktread_bsd_32(bytes + layout->tid);

	head->size = (int32_t)ktread_bsd_32(bytes);
	head->type = type & (uint16_t)~layout->type_flags;
	head->lost = type & layout->type_flags & KTREAD_BSD_LOST;
	head->pid = ktread_bsd_32(bytes + layout->pid);
	/* older versions of FreeBSD store the address of a kernel structure instead of the thread number */
	head->tid = tid < 0 || tid > INT32_MAX ? 0 : (uint32_t)tid;
	head->cpu = KTREAD_PROC_NOBODY;
	if (layout->cpu)
		head->cpu = ktread_bsd_32(bytes + layout->cpu);
	else if (layout->flags)
		head->cpu = ktread_bsd_16(bytes + layout->flags) >> 8;
	head->seconds = ktread_bsd_signed_word(layout, bytes + layout->time);
	head->part = ktread_bsd_word(layout, bytes + layout->time + layout->word);
}

/*
 * FreeBSD records the ABI of a process once, for all later calls of the process. If the current record states
 * the ABI, stores it for the process. If the record is a call, sets its ABI to the stored ABI.
 */
static void know_process(struct ktread_proc *trace)
{
	struct ktread_proc_record *record = &trace->record;
	const struct ktread_proc_process *known;
	struct ktread_proc_process *process;

	if (record->type == KTRX_PROC_PROCCTOR) {
		process = ktread_proc_process_enter(&trace->processes, record->pid);
		if (process)
			process->abi = record->ctor.flags;
	} else if (record->type == KTRX_PROC_SYSCALL) {
		known = ktread_proc_process_find(&trace->processes, record->pid);
		record->syscall.abi = known ? known->abi : 0;
	}
}

/* Fills in trace->record. `size` is the number of buffered bytes of the payload. */
static void present(struct ktread_proc *trace, const struct ktread_proc_layout *layout,
		    const struct ktread_proc_bsd_head *head, uint32_t size)
{
	struct ktread_proc_record *record = &trace->record;
	const uint8_t *bytes = ktread_proc_bytes(&trace->input);

	record->offset = trace->input.offset;
	record->stamp = (uint64_t)head->seconds * UINT64_C(1000000000) +
			head->part * (layout->nanoseconds ? 1u : 1000u);
	record->lost = head->lost;
	record->pid = head->pid;
	record->tid = head->tid;
	record->cpu = head->cpu;
	record->type = record->raw = head->type;
	record->flags = size < (uint32_t)head->size ? KTRX_PROC_CUT : 0;
	ktread_proc_set_name(record->name, bytes + layout->comm, layout->comm_size);
	ktread_proc_set_payload(record, bytes + layout->head, size);
	if (head->type >= 32 || !(layout->types >> head->type & 1)) {
		record->type = KTREAD_PROC_UNKNOWN;
	} else if (!ktread_proc_bsd_payload(trace, layout)) {
		record->type = KTREAD_PROC_BROKEN;
		ktread_proc_set_data(record, 0);
	}
	if (record->type == KTRX_PROC_GENIO)
		record->genio.size += (uint32_t)head->size - size;
	know_process(trace);
}

/*
 * Called if the input ends where a head could begin. Returns 0, or an error if the input ends within a
 * record.
 */
static int end(struct ktread_proc *trace, uint64_t wanted)
{
	struct ktread_proc_input *input = &trace->input;

	if (input->to_skip && !input->failed && !ktread_proc_may_grow(input))
		return ktread_proc_stop(trace, trace->record.offset,
					"cut short: %" PRIu64 " bytes of the payload are missing",
					input->to_skip);
	return ktread_proc_at_hand(input) ? ktread_proc_cut_short(trace, wanted) : 0;
}

static int next_record(struct ktread_proc *trace, const struct ktread_proc_reader *reader)
{
	struct ktread_proc_input *input = &trace->input;
	const struct ktread_proc_layout *layout;
	struct ktread_proc_bsd_head head;
	uint64_t whole;
	uint32_t size;

	if (!ktread_proc_want(input, reader->layout->head))
		return end(trace, reader->layout->head);
	layout = ktread_proc_bsd_layout(reader, ktread_proc_bytes(input));
	if (!ktread_proc_want(input, layout->head))
		return end(trace, layout->head);
	ktread_proc_bsd_take_head(layout, ktread_proc_bytes(input), &head);
	if (head.size < 0)
		return ktread_proc_stop(
			trace, input->offset,
			"impossible record of %" PRId32 " bytes: nothing after it can be read", head.size);
	size = (uint32_t)head.size;
	whole = (uint64_t)layout->head + size;
	if (size > KTREAD_PROC_PAYLOAD_MOST)
		size = KTREAD_PROC_PAYLOAD_MOST;
	if (!ktread_proc_want(input, layout->head + size))
		return ktread_proc_cut_short(trace, whole);
	present(trace, layout, &head, size);
	trace->used = whole;
	return 1;
}

static int begin(struct ktread_proc *trace)
{
	trace->info.frequency = UINT64_C(1000000000);
	trace->info.heads = 1;
	return 0;
}

#define READER(of, called, elf, bytes, ...)                                                          \
	{                                                                                            \
		.format = of, .name = called, .machine = elf, .address_size = bytes, .begin = begin, \
		.next = next_record, __VA_ARGS__                                                     \
	}

const struct ktread_proc_reader ktread_proc_bsd[] = {
	READER(KTREAD_PROC_DRAGONFLY, "dragonfly", EM_X86_64, 8, .layout = &dragonfly),
	READER(KTREAD_PROC_FREEBSD1, "freebsd1", EM_X86_64, 8, .layout = &freebsd0, .versioned = &freebsd1),
	READER(KTREAD_PROC_FREEBSD0, "freebsd0", EM_X86_64, 8, .layout = &freebsd0),
	READER(KTREAD_PROC_FREEBSD0_I386, "freebsd0-i386", EM_386, 4, .layout = &freebsd0_i386),
	{ .format = KTREAD_PROC_AUTO },
};
