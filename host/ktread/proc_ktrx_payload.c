/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What is in the payload of our own records. */
#include "ktrx/hwt.h"
#include "proc_state.h"

/* Copies what a payload begins with, and has what follows be the data. False: it is shorter than that. */
static bool take(struct ktread_proc_record *record, void *to, uint32_t size)
{
	if (record->payload_size < size)
		return false;
	memcpy(to, record->payload, size);
	ktread_proc_set_data(record, size);
	return true;
}

/* Where they are, unless damage before them has put everything at an odd place. */
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
