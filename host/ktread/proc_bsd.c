/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the ktrace files of the BSDs. A file is a sequence of records, each of them a header and a payload.
 * A header has no magic, so the first impossible header ends the trace. A payload that is too long, such as
 * the data of a large read or write, is truncated, and the reader steps over the rest.
 */
#include <elf.h>
#include <inttypes.h>

#include "proc_state.h"

/* ---- Payloads ---- */

/*
 * Decodes the payloads of the BSDs' records. Structures have the layout of the kernel's C ABI: a word is
 * aligned to its size, and the size of a structure is a multiple of its largest member's size.
 */

#define RIGHTS_WORDS 2u

/*
 * Before version 14 of FreeBSD, reason 3 means that a path lookup was denied. In later versions, 3 is another
 * reason.
 */
#define EARLIER_LOOKUP 3

/*
 * Sets the record's data to the bytes of the payload after the first `size` bytes. Returns false if the
 * payload has fewer than `size` bytes.
 */
static bool take(struct ktread_proc_record *record, uint32_t size)
{
	if (record->payload_size < size)
		return false;
	ktread_proc_set_data(record, size);
	return true;
}

/*
 * Decodes a system call. The payload contains the call's number and its number of arguments, 16 bits each,
 * and then the arguments, each as large as a register.
 */
static bool take_syscall(struct ktread_proc *trace, const struct ktread_proc_layout *layout)
{
	struct ktread_proc_record *record = &trace->record;
	uint32_t args, here;
	int16_t claimed;

	if (!take(record, layout->word))
		return false;
	claimed = (int16_t)ktread_bsd_16(record->payload + 2);
	if (claimed < 0)
		return false;
	here = record->data_size / layout->word;
	args = (uint32_t)claimed < here ? (uint32_t)claimed : here;
	if (args > KTREAD_PROC_ARGS_MOST)
		args = KTREAD_PROC_ARGS_MOST;
	if (args < (uint32_t)claimed)
		record->flags |= KTRX_PROC_CUT;
	for (uint32_t i = 0; i < args; i++)
		trace->arg[i] = ktread_bsd_word(layout, record->data + (size_t)i * layout->word);
	record->syscall.number = ktread_bsd_16(record->payload);
	record->syscall.args = args;
	record->syscall.arg = trace->arg;
	return true;
}

static bool take_sysret(struct ktread_proc_record *record, const struct ktread_proc_layout *layout)
{
	if (!take(record, 8u + layout->word))
		return false;
	record->sysret.number = ktread_bsd_16(record->payload);
	record->sysret.error = (int32_t)ktread_bsd_32(record->payload + 4);
	record->sysret.result = ktread_bsd_signed_word(layout, record->payload + 8);
	return true;
}

static bool take_genio(struct ktread_proc_record *record)
{
	if (!take(record, 8))
		return false;
	record->genio.fd = (int32_t)ktread_bsd_32(record->payload);
	record->genio.write = ktread_bsd_32(record->payload + 4);
	record->genio.size = record->data_size;
	return true;
}

/*
 * Decodes a signal. The payload contains the signal's number and handler, each as large as a register, the
 * signal's code (32 bits) and the signal mask (128 bits).
 */
static bool take_psig(struct ktread_proc_record *record, const struct ktread_proc_layout *layout)
{
	const uint8_t *code;

	if (!take(record, 2u * layout->word + 4 + 16))
		return false;
	code = record->payload + 2u * layout->word;
	record->psig.signal = ktread_bsd_32(record->payload);
	record->psig.handler = ktread_bsd_word(layout, record->payload + layout->word);
	record->psig.code = (int32_t)ktread_bsd_32(code);
	record->psig.mask[0] = ktread_bsd_64(code + 4);
	record->psig.mask[1] = ktread_bsd_64(code + 12);
	return true;
}

/* Decodes a context switch. Later versions add eight bytes that state what the thread waits for. */
static bool take_csw(struct ktread_proc_record *record)
{
	if (!take(record, 8))
		return false;
	record->csw.out = ktread_bsd_32(record->payload) != 0;
	record->csw.user = ktread_bsd_32(record->payload + 4) != 0;
	record->csw.voluntary = !record->csw.user;
	record->csw.count = 0;
	record->data_size = (uint32_t)strnlen((const char *)record->data, record->data_size);
	return true;
}

static bool take_ctor(struct ktread_proc_record *record)
{
	if (!take(record, 4))
		return false;
	record->ctor.parent = KTREAD_PROC_NOBODY;
	record->ctor.flags = ktread_bsd_32(record->payload);
	record->data_size = 0;
	return true;
}

static bool take_dtor(struct ktread_proc_record *record)
{
	record->dtor.status = record->dtor.signaled = 0;
	record->dtor.known = 0;
	return true;
}

static void take_rights(struct ktread_proc_record *record, uint32_t at)
{
	for (uint32_t i = 0; i < RIGHTS_WORDS; i++) {
		record->capfail.needed[i] = ktread_bsd_64(record->payload + at + 8u * i);
		record->capfail.held[i] = ktread_bsd_64(record->payload + at + 8u * (RIGHTS_WORDS + i));
	}
}

static uint32_t reason_of(int32_t raw)
{
	switch (raw) {
	case KTREAD_PROC_DENIED_NOTCAPABLE:
	case KTREAD_PROC_DENIED_INCREASE:
		return KTRX_PROC_DENIED_DESCRIPTOR;
	case KTREAD_PROC_DENIED_SYSCALL:
		return KTRX_PROC_DENIED_SYSCALL;
	case KTREAD_PROC_DENIED_SIGNAL:
		return KTRX_PROC_DENIED_OWNER;
	default:
		return KTRX_PROC_DENIED_OTHER;
	}
}

/*
 * Decodes the denied rights or object at offset `at` of the payload. The data are a set of rights, a number,
 * an address or a file path, depending on the reason.
 */
static void take_denied(struct ktread_proc_record *record, uint32_t at)
{
	const uint8_t *denied = record->payload + at;

	ktread_proc_set_data(record, at);
	switch (record->capfail.raw_reason) {
	case KTREAD_PROC_DENIED_NOTCAPABLE:
	case KTREAD_PROC_DENIED_INCREASE:
		take_rights(record, at);
		record->data_size = 0;
		break;
	case KTREAD_PROC_DENIED_SOCKADDR: /* the first byte of a socket address is the size of this address */
		if (record->data_size > denied[0])
			record->data_size = denied[0];
		break;
	case KTREAD_PROC_DENIED_NAMEI:
		record->data_size = (uint32_t)strnlen((const char *)denied, record->data_size);
		break;
	default:
		record->capfail.value = (int32_t)ktread_bsd_32(denied);
		record->data_size = 0;
	}
}

/*
 * Decodes a record of a denied access. Before version 14 of FreeBSD, the payload is a reason and two sets of
 * rights. Since version 14, it is the reason, the number of the call, the process's ABI, and a field for a
 * path.
 */
static bool take_capfail(struct ktread_proc_record *record, const struct ktread_proc_layout *layout)
{
	const uint32_t rights = 2 * RIGHTS_WORDS * 8;
	const uint32_t earlier = layout->word + rights, later = layout->word == 8 ? 16 : 12;

	if (!take(record, earlier))
		return false;
	memset(&record->capfail, 0, sizeof(record->capfail));
	record->capfail.number = KTREAD_PROC_NOBODY;
	record->capfail.raw_reason = (int32_t)ktread_bsd_32(record->payload);
	if (record->payload_size == earlier) {
		if (record->capfail.raw_reason == EARLIER_LOOKUP)
			record->capfail.raw_reason = KTREAD_PROC_DENIED_NAMEI;
		take_rights(record, layout->word);
	} else if (record->payload_size >= later + rights) {
		record->capfail.number = ktread_bsd_16(record->payload + 4);
		take_denied(record, later);
	} else {
		return false;
	}
	record->capfail.reason = reason_of(record->capfail.raw_reason);
	return true;
}

static bool take_fault(struct ktread_proc_record *record, const struct ktread_proc_layout *layout)
{
	if (!take(record, layout->word + 4u))
		return false;
	record->fault.address = ktread_bsd_word(layout, record->payload);
	record->fault.access = ktread_bsd_32(record->payload + layout->word);
	record->fault.user = 0xff;
	return true;
}

static bool take_faultend(struct ktread_proc_record *record)
{
	if (!take(record, 4))
		return false;
	record->faultend.result = (int32_t)ktread_bsd_32(record->payload);
	return true;
}

static bool take_struct_array(struct ktread_proc_record *record, const struct ktread_proc_layout *layout)
{
	if (!take(record, layout->word) || !ktread_proc_set_structure(record, layout->word))
		return false;
	ktread_proc_set_elements(record, ktread_bsd_word(layout, record->payload));
	return true;
}

/* Removes the NUL at the end of the data, which FreeBSD includes in the record. */
static bool take_sysctl(struct ktread_proc_record *record)
{
	if (record->data_size && record->data[record->data_size - 1] == '\0')
		record->data_size--;
	return true;
}

/* Decodes the payload of trace->record by its type. Returns false if the payload cannot be of that type. */
static bool ktread_proc_bsd_payload(struct ktread_proc *trace, const struct ktread_proc_layout *layout)
{
	struct ktread_proc_record *record = &trace->record;

	switch (record->type) {
	case KTRX_PROC_SYSCALL:
		return take_syscall(trace, layout);
	case KTRX_PROC_SYSRET:
		return take_sysret(record, layout);
	case KTRX_PROC_GENIO:
		return take_genio(record);
	case KTRX_PROC_PSIG:
		return take_psig(record, layout);
	case KTRX_PROC_CSW:
		return take_csw(record);
	case KTRX_PROC_STRUCT:
		return ktread_proc_set_structure(record, 0);
	case KTRX_PROC_SYSCTL:
		return take_sysctl(record);
	case KTRX_PROC_PROCCTOR:
		return take_ctor(record);
	case KTRX_PROC_PROCDTOR:
		return take_dtor(record);
	case KTRX_PROC_CAPFAIL:
		return take_capfail(record, layout);
	case KTRX_PROC_FAULT:
		return take_fault(record, layout);
	case KTRX_PROC_FAULTEND:
		return take_faultend(record);
	case KTRX_PROC_STRUCT_ARRAY:
		return take_struct_array(record, layout);
	default: /* in all other types, such as NAMEI and USER, the whole payload is data */
		return true;
	}
}

bool ktread_proc_bsd_fits(const struct ktread_proc_layout *layout, const struct ktread_proc_bsd_head *head,
			  const uint8_t *payload, size_t left)
{
	const uint32_t word = layout->word, size = (uint32_t)head->size;

	switch (head->type) {
	case KTRX_PROC_SYSCALL:
		return size >= word && (left < 4 || size == word * (1u + ktread_bsd_16(payload + 2)));
	case KTRX_PROC_SYSRET:
		return size == 8 + word;
	case KTRX_PROC_NAMEI:
		return size <= 4096;
	case KTRX_PROC_GENIO:
		return size >= 8;
	case KTRX_PROC_PSIG:
		return size == (word == 8 ? 40 : 28);
	case KTRX_PROC_CSW:
		return size == 8 || size == 16;
	case KTRX_PROC_USER:
		return size <= KTRX_PROC_USER_MAX;
	case KTRX_PROC_SYSCTL:
		return size <= 1024;
	case KTRX_PROC_PROCCTOR:
	case KTRX_PROC_FAULTEND:
		return size == 4;
	case KTRX_PROC_PROCDTOR:
		return size == 0;
	case KTRX_PROC_FAULT:
		return size == 2 * word;
	case KTRX_PROC_CAPFAIL:
		return size == word + 32 || size == 1024 + (word == 8 ? 16u : 12u);
	default: /* STRUCT and STRUCT_ARRAY */
		return size > 1 && size <= 1u << 20;
	}
}

/* ---- Records ---- */

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
