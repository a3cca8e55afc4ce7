/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Decodes the payloads of our own records, and checks whether they are possible. */
#include <stdlib.h>

#include "ktrx/hwt.h"
#include "proc_state.h"

/*
 * Copies the first `size` bytes of the payload to `to`, and sets the record's data to the other bytes.
 * Returns false if the payload has fewer than `size` bytes.
 */
static bool take(struct ktread_proc_record *record, void *to, uint32_t size)
{
	if (record->payload_size < size)
		return false;
	memcpy(to, record->payload, size);
	ktread_proc_set_data(record, size);
	return true;
}

/*
 * Returns a pointer to the arguments in the payload. If they are at an unaligned address, because of damage
 * earlier in the file, returns a pointer to a copy.
 */
static const uint64_t *take_args(struct ktread_proc *trace, const uint8_t *data, uint32_t args)
{
	if ((uintptr_t)data % sizeof(uint64_t) == 0)
		return (const uint64_t *)(const void *)data;
	memcpy(trace->arg, data, args * sizeof(uint64_t));
	return trace->arg;
}

static bool take_syscall(struct ktread_proc *trace)
{
	struct ktread_proc_record *record = &trace->record;
	struct ktrx_proc_syscall call;
	uint32_t args, here;

	if (!take(record, &call, sizeof(call)))
		return false;
	here = record->data_size / (uint32_t)sizeof(uint64_t);
	args = call.args < here ? call.args : here;
	if (args > KTREAD_PROC_ARGS_MOST)
		args = KTREAD_PROC_ARGS_MOST;
	if (args < call.args)
		record->flags |= KTRX_PROC_CUT;
	record->syscall.number = call.number;
	record->syscall.abi = call.abi;
	record->syscall.args = args;
	record->syscall.arg = take_args(trace, record->data, args);
	return true;
}

static bool take_sysret(struct ktread_proc_record *record)
{
	struct ktrx_proc_sysret ret;

	if (!take(record, &ret, sizeof(ret)))
		return false;
	record->sysret.number = ret.number;
	record->sysret.error = ret.error;
	record->sysret.result = ret.result;
	return true;
}

static bool take_genio(struct ktread_proc_record *record)
{
	struct ktrx_proc_genio io;

	if (!take(record, &io, sizeof(io)))
		return false;
	record->genio.fd = io.fd;
	record->genio.write = io.write;
	record->genio.size = io.size;
	if (record->data_size > io.size)
		record->data_size = (uint32_t)io.size;
	return true;
}

static bool take_psig(struct ktread_proc_record *record)
{
	struct ktrx_proc_psig sig;

	if (!take(record, &sig, sizeof(sig)))
		return false;
	record->psig.signal = sig.signal;
	record->psig.code = sig.code;
	record->psig.handler = sig.handler;
	record->psig.mask[0] = sig.mask[0];
	record->psig.mask[1] = sig.mask[1];
	return true;
}

static bool take_csw(struct ktread_proc_record *record)
{
	struct ktrx_proc_csw csw;

	if (!take(record, &csw, sizeof(csw)))
		return false;
	record->csw.out = csw.out != 0;
	record->csw.voluntary = csw.voluntary != 0;
	record->csw.user = csw.voluntary == 0;
	record->csw.count = csw.count;
	return true;
}

static bool take_ctor(struct ktread_proc_record *record)
{
	struct ktrx_proc_ctor ctor;

	if (!take(record, &ctor, sizeof(ctor)))
		return false;
	record->ctor.parent = ctor.parent;
	record->ctor.flags = ctor.flags;
	return true;
}

static bool take_dtor(struct ktread_proc_record *record)
{
	struct ktrx_proc_dtor dtor;

	if (!take(record, &dtor, sizeof(dtor)))
		return false;
	record->dtor.status = dtor.status;
	record->dtor.signaled = dtor.signaled != 0;
	record->dtor.known = 1;
	return true;
}

static bool take_capfail(struct ktread_proc_record *record)
{
	struct ktrx_proc_capfail fail;

	if (!take(record, &fail, sizeof(fail)))
		return false;
	record->capfail.reason = fail.reason;
	record->capfail.number = fail.number;
	record->capfail.raw_reason = -1;
	record->capfail.value = 0;
	record->capfail.needed[0] = fail.needed;
	record->capfail.held[0] = fail.held;
	record->capfail.needed[1] = record->capfail.held[1] = 0;
	return true;
}

static bool take_fault(struct ktread_proc_record *record)
{
	struct ktrx_proc_fault fault;

	if (!take(record, &fault, sizeof(fault)))
		return false;
	record->fault.address = fault.address;
	record->fault.access = fault.access;
	record->fault.user = fault.user != 0;
	return true;
}

static bool take_faultend(struct ktread_proc_record *record)
{
	struct ktrx_proc_faultend end;

	if (!take(record, &end, sizeof(end)))
		return false;
	record->faultend.result = end.result;
	return true;
}

static bool take_struct_array(struct ktread_proc_record *record)
{
	struct ktrx_proc_struct_array array;

	if (!take(record, &array, sizeof(array)) || !ktread_proc_set_structure(record, sizeof(array)))
		return false;
	ktread_proc_set_elements(record, array.element_size);
	if (record->structure.count > array.count)
		record->structure.count = array.count;
	return true;
}

static bool take_fd(struct ktread_proc_record *record)
{
	struct ktrx_proc_fd fd;

	if (!take(record, &fd, sizeof(fd)))
		return false;
	record->fd.number = fd.fd;
	return true;
}

static bool take_end(struct ktread_proc_record *record)
{
	struct ktrx_proc_end end;

	if (!take(record, &end, sizeof(end)))
		return false;
	record->end.reason = end.reason;
	record->end.error = end.error;
	record->end.records = end.records;
	record->end.lost = end.lost;
	record->end.bytes = end.bytes;
	return true;
}

bool ktread_proc_ktrx_payload(struct ktread_proc *trace)
{
	struct ktread_proc_record *record = &trace->record;

	switch (record->type) {
	case KTRX_PROC_SYSCALL:
		return take_syscall(trace);
	case KTRX_PROC_SYSRET:
		return take_sysret(record);
	case KTRX_PROC_GENIO:
		return take_genio(record);
	case KTRX_PROC_PSIG:
		return take_psig(record);
	case KTRX_PROC_CSW:
		return take_csw(record);
	case KTRX_PROC_STRUCT:
		return ktread_proc_set_structure(record, 0);
	case KTRX_PROC_PROCCTOR:
		return take_ctor(record);
	case KTRX_PROC_PROCDTOR:
		return take_dtor(record);
	case KTRX_PROC_CAPFAIL:
		return take_capfail(record);
	case KTRX_PROC_FAULT:
		return take_fault(record);
	case KTRX_PROC_FAULTEND:
		return take_faultend(record);
	case KTRX_PROC_STRUCT_ARRAY:
		return take_struct_array(record);
	case KTRX_PROC_END:
		return take_end(record);
	case KTRX_PROC_FD:
		return take_fd(record);
	case KTRX_PROC_NAMEI:
	case KTRX_PROC_USER:
	case KTRX_PROC_SYSCTL:
	case KTRX_PROC_NAME:
	case KTRX_PROC_TABLE:
		return true;
	default:
		if (record->type < KTRX_HWT_FIRST || record->type > KTRX_HWT_LAST)
			record->type = KTREAD_PROC_UNKNOWN;
		return true;
	}
}

/*
 * Checks whether a record's size can be right. A size that is too large may by chance be the size of this
 * record and of some records after it. In this case, the wrong size leads to the beginning of a later record,
 * but the records in between would be lost. Only the content of the payload shows whether the size is wrong.
 *
 * Data that a program wrote is never a reason to doubt a record: otherwise a program could make the reader
 * see records that the kernel never wrote.
 */

static bool is_padded(const uint8_t *payload, uint32_t size)
{
	return memcmp(payload + size, "\0\0\0\0\0\0\0", -size % 8u) == 0;
}

/*
 * Returns true if the payload after its first `bytes` bytes is a string: it contains no NUL, and is padded
 * with zeros.
 */
static bool is_text(const uint8_t *payload, uint32_t size, uint32_t bytes)
{
	return size >= bytes && !memchr(payload + bytes, 0, size - bytes) && is_padded(payload, size);
}

static bool is_call(const uint8_t *payload, uint32_t size)
{
	struct ktrx_proc_syscall call;

	if (size < sizeof(call))
		return false;
	memcpy(&call, payload, sizeof(call));
	return size == sizeof(call) + 8u * call.args;
}

static bool is_io(const uint8_t *payload, uint32_t size, uint16_t flags)
{
	struct ktrx_proc_genio io;

	if (size < sizeof(io))
		return false;
	memcpy(&io, payload, sizeof(io));
	return flags & KTRX_PROC_CUT ? io.size > size - sizeof(io) : io.size == size - sizeof(io);
}

bool ktread_proc_ktrx_is_doubtful(const struct ktread_proc *trace)
{
	const uint8_t *bytes = ktread_proc_bytes(&trace->input), *payload = bytes + trace->record_head;
	const struct ktread_proc_ktrx_record *head = (const struct ktread_proc_ktrx_record *)bytes;

	switch (head->is.type) {
	case KTRX_PROC_SYSCALL:
		return !is_call(payload, head->is.size);
	case KTRX_PROC_SYSRET:
		return head->is.size != sizeof(struct ktrx_proc_sysret);
	case KTRX_PROC_GENIO:
		return !is_io(payload, head->is.size, head->is.flags);
	case KTRX_PROC_PSIG:
		return head->is.size != sizeof(struct ktrx_proc_psig);
	case KTRX_PROC_PROCDTOR:
		return head->is.size != sizeof(struct ktrx_proc_dtor);
	case KTRX_PROC_FAULT:
		return head->is.size != sizeof(struct ktrx_proc_fault);
	case KTRX_PROC_FAULTEND:
		return head->is.size != sizeof(struct ktrx_proc_faultend);
	case KTRX_PROC_END:
		return head->is.size != sizeof(struct ktrx_proc_end);
	case KTRX_PROC_NAMEI:
	case KTRX_PROC_SYSCTL:
	case KTRX_PROC_NAME:
	case KTRX_PROC_TABLE:
		return !is_text(payload, head->is.size, 0);
	case KTRX_PROC_CSW:
		return !is_text(payload, head->is.size, sizeof(struct ktrx_proc_csw));
	case KTRX_PROC_FD:
		return !is_text(payload, head->is.size, sizeof(struct ktrx_proc_fd));
	case KTRX_PROC_PROCCTOR:
		return !is_text(payload, head->is.size, sizeof(struct ktrx_proc_ctor));
	case KTRX_PROC_CAPFAIL:
		return !is_text(payload, head->is.size, sizeof(struct ktrx_proc_capfail));
	case KTRX_PROC_USER:
		return head->is.size > KTRX_PROC_USER_MAX || !is_padded(payload, head->is.size);
	default:
		return !is_padded(payload, head->is.size);
	}
}

/*
 * Collects the text of a session's TABLE records. The TABLE records right after the session's head are read
 * in advance, because the other records cannot be shown without them. Later TABLE records are added when they
 * are read. At most TABLE_MOST bytes of text are kept.
 */

#define TABLE_MOST (UINT32_C(4) << 20)

void ktread_proc_table_clear(struct ktread_proc *trace)
{
	trace->info.tables += trace->table_size != 0;
	trace->table_size = 0;
	trace->tabled = 0;
}

static void append(struct ktread_proc *trace, const uint8_t *text, uint32_t size)
{
	size_t wanted = trace->table_size + size + 1;

	if (wanted > TABLE_MOST || size == 0)
		return;
	if (wanted > trace->table_room) {
		size_t room = 2 * wanted;
		char *grown = realloc(trace->table, room);

		if (!grown)
			return;
		trace->table = grown;
		trace->table_room = room;
	}
	memcpy(trace->table + trace->table_size, text, size);
	trace->table_size += size;
	trace->table[trace->table_size] = '\0';
	trace->info.tables++;
}

void ktread_proc_table_add(struct ktread_proc *trace, uint64_t offset, const uint8_t *text, uint32_t size)
{
	if (offset < trace->tabled)
		return;
	append(trace, text, size);
	trace->tabled = offset + 1;
}

void ktread_proc_table_gather(struct ktread_proc *trace)
{
	struct ktread_proc_input *input = &trace->input;
	struct ktrx_proc_record head;
	size_t at = 0;

	while (at < KTREAD_PROC_PAYLOAD_MOST && ktread_proc_want(input, at + trace->record_head)) {
		memcpy(&head, ktread_proc_bytes(input) + at, sizeof(head));
		if (head.type != KTRX_PROC_TABLE || head.mark != KTRX_PROC_MARK ||
		    head.size > KTRX_PROC_PAYLOAD_MAX ||
		    !ktread_proc_want(input, at + ktread_proc_ktrx_size(trace, head.size)))
			return;
		ktread_proc_table_add(trace, input->offset + at,
				      ktread_proc_bytes(input) + at + trace->record_head, head.size);
		at += ktread_proc_ktrx_size(trace, head.size);
	}
}
