/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "versions.h"

#include <stdio.h>
#include <string.h>

#include "ktrx/v2.h"

#define TEXT_MAX 120u /* maximum number of bytes of a string that are shown */
#define ARGS	 6u

enum {
	ENTER,
	EXIT,
	PATH,
	DATA,
	SIGNAL,
	SIGNAL_UNKNOWN, /* a signal that the program handles with an unknown handler */
	SWITCH,
	USER,
	STRUCTURE,
	ARRAY,
	SETTING,
	BEGIN,
	END,
	DENIED,
	FAULT,
	FAULT_END,
	CLOSED,
	UNKNOWN,
	TYPES
};
const uint32_t ktread_processes_types = TYPES;

/* ---- Types ------------------------------------------------------------------------------------- */

#define FIELDS(name) static const struct ktread_field name[]
#define U32(name)                       \
	{                               \
		name, "", KTRX_TYPE_U32 \
	}
#define I32(name)                       \
	{                               \
		name, "", KTRX_TYPE_I32 \
	}
#define U64(name)                       \
	{                               \
		name, "", KTRX_TYPE_U64 \
	}
#define I64(name)                       \
	{                               \
		name, "", KTRX_TYPE_I64 \
	}
#define TEXT(name)                         \
	{                                  \
		name, "", KTRX_TYPE_STRING \
	}

FIELDS(call) = { U32("nr"), U64("a1"), U64("a2"), U64("a3"), U64("a4"), U64("a5"), U64("a6") };
FIELDS(result) = { U32("nr"), I64("result") };
FIELDS(path) = { TEXT("path") };
FIELDS(data) = { I32("fd"), TEXT("how"), U64("size"), TEXT("data") };
FIELDS(signal_fields) = { U32("signal"), I32("code"), U64("handler"), U64("mask") };
FIELDS(signal_unknown) = { U32("signal"), I32("code"), U64("mask") };
FIELDS(switch_fields) = { TEXT("way"), TEXT("why"), TEXT("queue") };
FIELDS(user) = { U32("size"), TEXT("data") };
FIELDS(structure) = { TEXT("name"), U32("size") };
FIELDS(array) = { TEXT("name"), U32("count"), U32("size") };
FIELDS(setting) = { TEXT("name") };
FIELDS(begin) = { TEXT("how"), U32("parent"), TEXT("name") };
FIELDS(end) = { TEXT("how"), U32("status") };
FIELDS(denied) = { TEXT("what"), U32("reason"), U64("needed"), U64("held") };
FIELDS(fault) = { U64("address"), U32("access") };
FIELDS(fault_end) = { I32("error") };
FIELDS(unknown) = { U32("type"), U32("size") };
FIELDS(closed) = { U32("reason"), I32("error"), U64("records"), U64("lost") };

#define TYPE(group_, name_, text_, field_)                                                        \
	{                                                                                         \
		.fields = sizeof(field_) / sizeof((field_)[0]), .state = KTRX_STATE_RECORD,       \
		.wanted = KTRX_STATE_RECORD, .group = (group_), .name = (name_), .text = (text_), \
		.file = "", .field = (field_)                                                     \
	}
static const struct ktread_type types[TYPES] = {
	[ENTER] = TYPE("syscall", "enter", "%u(%#llx, %#llx, %#llx, %#llx, %#llx, %#llx)", call),
	[EXIT] = TYPE("syscall", "exit", "%u = %lld", result),
	[PATH] = TYPE("proc", "path", "\"%s\"", path),
	[DATA] = TYPE("proc", "data", "fd %d %s %llu bytes: \"%s\"", data),
	[SIGNAL] = TYPE("proc", "signal", "%u code %d handler %#llx mask %#llx", signal_fields),
	[SIGNAL_UNKNOWN] = TYPE("proc", "signal", "%u code %d handler unknown mask %#llx", signal_unknown),
	[SWITCH] = TYPE("proc", "switch", "%s, %s %s", switch_fields),
	[USER] = TYPE("proc", "user", "%u bytes: \"%s\"", user),
	[STRUCTURE] = TYPE("proc", "struct", "%s, %u bytes", structure),
	[ARRAY] = TYPE("proc", "structs", "%s[%u], %u bytes each", array),
	[SETTING] = TYPE("proc", "setting", "%s", setting),
	[BEGIN] = TYPE("proc", "begin", "%s, parent %u, name %s", begin),
	[END] = TYPE("proc", "end", "%s %u", end),
	[DENIED] = TYPE("proc", "denied", "\"%s\" reason %u, needs %#llx, has %#llx", denied),
	[FAULT] = TYPE("proc", "fault", "%#llx access %u", fault),
	[FAULT_END] = TYPE("proc", "fault_end", "error %d", fault_end),
	[UNKNOWN] = TYPE("proc", "unknown", "record of type %u, %u bytes", unknown),
	[CLOSED] = TYPE("proc", "closed", "reason %u, error %d, %llu records, %llu lost", closed),
};

/*
 * Event types for the beginning and the return of a system call, used if the process trace is shown beside
 * another trace. The other trace has events of the same calls, too. The beginning and the return of a call
 * are paired by the names of their events. So these event types have other names than the event types of a
 * process trace alone.
 */
FIELDS(named_call) = { TEXT("call"), U64("a1"), U64("a2"), U64("a3"), U64("a4"), U64("a5"), U64("a6") };
FIELDS(named_result) = { TEXT("call"), I64("result") };
static const struct ktread_type beside_types[] = {
	[ENTER] = TYPE("proc", "call", "%s(%#llx, %#llx, %#llx, %#llx, %#llx, %#llx)", named_call),
	[EXIT] = TYPE("proc", "return", "%s = %lld", named_result),
};

FIELDS(called) = {
	U32("nr"), U64("a1"), U64("a2"), U64("a3"), U64("a4"), U64("a5"), U64("a6"), TEXT("call")
};
FIELDS(called_result) = { U32("nr"), I64("result"), TEXT("call") };
const struct ktread_type ktread_processes_called[] = {
	[ENTER] = TYPE("syscall", "enter", "", called),
	[EXIT] = TYPE("syscall", "exit", "", called_result),
};

const struct ktread_type *ktread_processes_type(uint32_t n, bool beside)
{
	return beside && n <= EXIT ? &beside_types[n] : &types[n];
}

/* ---- Payloads ---------------------------------------------------------------------------------- */

static void put(struct ktread_processes_event *event, const void *bytes, uint32_t size)
{
	memcpy(event->payload + event->size, bytes, size);
	event->size += size;
}

static void put_u32(struct ktread_processes_event *event, uint32_t value)
{
	put(event, &value, sizeof(value));
}

static void put_u64(struct ktread_processes_event *event, uint64_t value)
{
	put(event, &value, sizeof(value));
}

static void put_text(struct ktread_processes_event *event, const void *text, uint64_t size)
{
	uint16_t length = size > TEXT_MAX ? TEXT_MAX | KTRX_STRING_CUT : (uint16_t)size;

	put(event, &length, sizeof(length));
	put(event, text, length & (uint16_t)~KTRX_STRING_CUT);
}

static void put_words(struct ktread_processes_event *event, const char *words)
{
	put_text(event, words, strlen(words));
}

static void put_data(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_text(event, record->data, record->data_size);
}

static void put_call(struct ktread_processes_event *event, uint32_t number, const struct ktread_names *calls)
{
	const char *name = calls ? ktread_names_get(calls, number) : NULL;
	char digits[16];

	if (!calls) {
		put_u32(event, number);
	} else if (name) {
		put_words(event, name);
	} else {
		snprintf(digits, sizeof(digits), "[%u]", (unsigned)number);
		put_words(event, digits);
	}
}

void ktread_processes_add_call(struct ktread_processes_event *event, const struct ktread_names *calls)
{
	uint32_t number;

	memcpy(&number, event->payload, sizeof(number));
	put_call(event, number, calls);
}

static uint32_t make_call(struct ktread_processes_event *event, const struct ktread_proc_record *record,
			  uint32_t abi, const struct ktread_names *calls)
{
	put_call(event, KTREAD_PROC_CALL(abi, record->syscall.number), calls);
	for (uint32_t n = 0; n < ARGS; n++)
		put_u64(event, n < record->syscall.args ? record->syscall.arg[n] : 0);
	return ENTER;
}

/*
 * Value of `error` in the BSDs' records if the call will be restarted. The special value -2 means that the
 * call does not return to its caller, for example because it returns from a signal handler.
 */
#define RESTARTED (-1)
/* a value that Linux uses internally for restarts, and never returns to programs as an error */
#define RESTARTED_AS 512

static int64_t result_of(const struct ktread_proc_record *record)
{
	int32_t error = record->sysret.error;

	if (error < 0)
		return error == RESTARTED ? -RESTARTED_AS : 0;
	return error ? -(int64_t)error : record->sysret.result;
}

static uint32_t make_return(struct ktread_processes_event *event, const struct ktread_proc_record *record,
			    uint32_t abi, const struct ktread_names *calls)
{
	put_call(event, KTREAD_PROC_CALL(abi, record->sysret.number), calls);
	put_u64(event, (uint64_t)result_of(record));
	return EXIT;
}

static uint32_t make_io(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_u32(event, (uint32_t)record->genio.fd);
	put_words(event, record->genio.write ? "wrote" : "read");
	put_u64(event, record->genio.size);
	put_data(event, record);
	return DATA;
}

static uint32_t make_signal(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_u32(event, record->psig.signal);
	put_u32(event, (uint32_t)record->psig.code);
	if (record->psig.handler != KTRX_PROC_HANDLER_UNKNOWN)
		put_u64(event, record->psig.handler);
	put_u64(event, record->psig.mask[0]);
	return record->psig.handler != KTRX_PROC_HANDLER_UNKNOWN ? SIGNAL : SIGNAL_UNKNOWN;
}

static uint32_t make_switch(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_words(event, record->csw.out ? "out" : "in");
	put_words(event, record->csw.voluntary ? "waits" : "preempted");
	put_data(event, record);
	return SWITCH;
}

static uint32_t make_begin(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	static const char *const how[] = { "made", "runs", "traced" };

	put_words(event, record->ctor.flags < 3 ? how[record->ctor.flags] : "begun");
	put_u32(event, record->ctor.parent == KTREAD_PROC_NOBODY ? 0 : record->ctor.parent);
	put_data(event, record);
	return BEGIN;
}

static uint32_t make_end(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_words(event, record->dtor.signaled ? "signal" : "status");
	put_u32(event, record->dtor.status);
	return END;
}

static uint32_t make_denied(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_data(event, record);
	put_u32(event, record->capfail.reason);
	put_u64(event, record->capfail.needed[0]);
	put_u64(event, record->capfail.held[0]);
	return DENIED;
}

static uint32_t make_structure(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_words(event, record->structure.name);
	if (record->type == KTRX_PROC_STRUCT) {
		put_u32(event, record->data_size);
		return STRUCTURE;
	}
	put_u32(event, record->structure.count);
	put_u32(event, record->structure.element_size);
	return ARRAY;
}

static uint32_t make_fault(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_u64(event, record->fault.address);
	put_u32(event, record->fault.access);
	return FAULT;
}

static uint32_t make_closed(struct ktread_processes_event *event, const struct ktread_proc_record *record)
{
	put_u32(event, record->end.reason);
	put_u32(event, (uint32_t)record->end.error);
	put_u64(event, record->end.records);
	put_u64(event, record->end.lost);
	return CLOSED;
}

static uint32_t make_text(struct ktread_processes_event *event, const struct ktread_proc_record *record,
			  uint32_t type)
{
	if (type == USER)
		put_u32(event, record->data_size);
	put_data(event, record);
	return type;
}

/* Returns the type of the event that was made. Returns TYPES if no event is made from this record. */
static uint32_t make(struct ktread_processes_event *event, const struct ktread_proc_record *record,
		     uint32_t abi, const struct ktread_names *calls)
{
	switch (record->type) {
	case KTRX_PROC_SYSCALL:
		return make_call(event, record, abi, calls);
	case KTRX_PROC_SYSRET:
		return make_return(event, record, abi, calls);
	case KTRX_PROC_NAMEI:
		return make_text(event, record, PATH);
	case KTRX_PROC_GENIO:
		return make_io(event, record);
	case KTRX_PROC_PSIG:
		return make_signal(event, record);
	case KTRX_PROC_CSW:
		return make_switch(event, record);
	case KTRX_PROC_USER:
		return make_text(event, record, USER);
	case KTRX_PROC_STRUCT:
	case KTRX_PROC_STRUCT_ARRAY:
		return make_structure(event, record);
	case KTRX_PROC_SYSCTL:
		return make_text(event, record, SETTING);
	case KTRX_PROC_PROCCTOR:
		return make_begin(event, record);
	case KTRX_PROC_PROCDTOR:
		return make_end(event, record);
	case KTRX_PROC_CAPFAIL:
		return make_denied(event, record);
	case KTRX_PROC_FAULT:
		return make_fault(event, record);
	case KTRX_PROC_FAULTEND:
		put_u32(event, (uint32_t)record->faultend.result);
		return FAULT_END;
	case KTRX_PROC_END:
		return make_closed(event, record);
	case KTREAD_PROC_UNKNOWN:
	case KTREAD_PROC_BROKEN:
		put_u32(event, record->raw);
		put_u32(event, record->payload_size);
		return UNKNOWN;
	default:
		return TYPES;
	}
}

bool ktread_processes_make(struct ktread_processes_event *event, const struct ktread_proc_record *record,
			   uint32_t abi, const struct ktread_names *calls)
{
	event->size = 0;
	event->cpu = record->cpu < KTRX_MAX_RINGS ? record->cpu : KTRX_NO_CPU;
	event->thread = ktread_processes_thread(record);
	event->type = make(event, record, abi, calls);
	return event->type < TYPES;
}
