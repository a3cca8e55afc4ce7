/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/wellknown.h"

#include <string.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"

_Static_assert(KTRX_EVENT_MAX < sizeof(((struct wellknown_table *)0)->row) / sizeof(struct wellknown),
	       "a row for every event id");

#define NEEDS(role) (1u << (role))
#define MAX_FIELDS  6

struct meaning {
	const char *group;
	const char *name; /* NULL: every event of the group */
	enum wellknown_kind kind;
	unsigned needs; /* roles without which it means nothing */
	struct {
		enum wellknown_role role;
		const char *name;
	} field[MAX_FIELDS]; /* of two names for one role the first found counts */
};

/* Normative for kernels: doc/events.md says the same in words. Capitals: events of the first kernels. */
static const struct meaning meanings[] = {
	{ "sched",
	  "switch",
	  WELLKNOWN_SWITCH,
	  NEEDS(WELLKNOWN_PREV) | NEEDS(WELLKNOWN_NEXT),
	  { { WELLKNOWN_PREV, "prev" }, { WELLKNOWN_NEXT, "next" }, { WELLKNOWN_STATE, "state" } } },
	{ "sched",
	  "block",
	  WELLKNOWN_BLOCK,
	  0,
	  { { WELLKNOWN_THREAD, "thread" },
	    { WELLKNOWN_OBJECT, "queue" },
	    { WELLKNOWN_STATE, "state" },
	    { WELLKNOWN_NUMBER, "kind" } } },
	{ "sched", "wake", WELLKNOWN_WAKE, NEEDS(WELLKNOWN_THREAD), { { WELLKNOWN_THREAD, "thread" } } },
	{ "sched",
	  "wake_nobody",
	  WELLKNOWN_WAKE_NOBODY,
	  NEEDS(WELLKNOWN_OBJECT),
	  { { WELLKNOWN_OBJECT, "queue" }, { WELLKNOWN_PLACE, "ip" } } },
	{ "sched", "exit", WELLKNOWN_EXIT, 0, { { WELLKNOWN_THREAD, "thread" } } },
	{ "sched",
	  "create",
	  WELLKNOWN_CREATE,
	  NEEDS(WELLKNOWN_THREAD),
	  { { WELLKNOWN_THREAD, "thread" }, { WELLKNOWN_PROCESS, "process" }, { WELLKNOWN_NAME, "name" } } },
	{ "syscall",
	  "enter",
	  WELLKNOWN_SYSCALL_ENTER,
	  NEEDS(WELLKNOWN_NUMBER),
	  { { WELLKNOWN_NUMBER, "nr" } } },
	{ "syscall",
	  "exit",
	  WELLKNOWN_SYSCALL_EXIT,
	  0,
	  { { WELLKNOWN_NUMBER, "nr" }, { WELLKNOWN_RESULT, "result" } } },
	{ "irq",
	  "enter",
	  WELLKNOWN_IRQ_ENTER,
	  0,
	  { { WELLKNOWN_NUMBER, "irq" }, { WELLKNOWN_NAME, "name" }, { WELLKNOWN_PLACE, "ip" } } },
	{ "irq", "exit", WELLKNOWN_IRQ_EXIT, 0, { { WELLKNOWN_NUMBER, "irq" } } },
	{ "irq", "eoi", WELLKNOWN_IRQ_EOI, NEEDS(WELLKNOWN_NUMBER), { { WELLKNOWN_NUMBER, "irq" } } },
	{ "mm",
	  "fault_enter",
	  WELLKNOWN_FAULT_ENTER,
	  0,
	  { { WELLKNOWN_OBJECT, "address" }, { WELLKNOWN_PLACE, "ip" } } },
	{ "mm",
	  "fault_exit",
	  WELLKNOWN_FAULT_EXIT,
	  0,
	  { { WELLKNOWN_OBJECT, "address" }, { WELLKNOWN_NAME, "how" } } },
	{ "lock",
	  "contend",
	  WELLKNOWN_LOCK_CONTEND,
	  NEEDS(WELLKNOWN_OBJECT),
	  { { WELLKNOWN_OBJECT, "lock" }, { WELLKNOWN_NAME, "name" } } },
	{ "lock",
	  "acquire",
	  WELLKNOWN_LOCK_ACQUIRE,
	  NEEDS(WELLKNOWN_OBJECT),
	  { { WELLKNOWN_OBJECT, "lock" }, { WELLKNOWN_NAME, "name" }, { WELLKNOWN_PLACE, "place" } } },
	{ "lock",
	  "try",
	  WELLKNOWN_LOCK_ACQUIRE,
	  NEEDS(WELLKNOWN_OBJECT),
	  { { WELLKNOWN_OBJECT, "lock" }, { WELLKNOWN_NAME, "name" }, { WELLKNOWN_PLACE, "place" } } },
	{ "lock",
	  "release",
	  WELLKNOWN_LOCK_RELEASE,
	  NEEDS(WELLKNOWN_OBJECT),
	  { { WELLKNOWN_OBJECT, "lock" } } },
	{ "lock",
	  "fail",
	  WELLKNOWN_LOCK_FAIL,
	  NEEDS(WELLKNOWN_OBJECT),
	  { { WELLKNOWN_OBJECT, "lock" },
	    { WELLKNOWN_NAME, "name" },
	    { WELLKNOWN_OWNER, "holder" },
	    { WELLKNOWN_PLACE, "place" } } },
	{ "process",
	  "fork",
	  WELLKNOWN_PROCESS_FORK,
	  NEEDS(WELLKNOWN_CHILD),
	  { { WELLKNOWN_PROCESS, "process" }, { WELLKNOWN_CHILD, "child" } } },
	{ "process",
	  "exec",
	  WELLKNOWN_PROCESS_EXEC,
	  NEEDS(WELLKNOWN_NAME),
	  { { WELLKNOWN_PROCESS, "process" }, { WELLKNOWN_NAME, "path" } } },
	{ "process", "exit", WELLKNOWN_PROCESS_EXIT, 0, { { WELLKNOWN_PROCESS, "process" } } },
	{ "signal",
	  "send",
	  WELLKNOWN_SIGNAL_SEND,
	  NEEDS(WELLKNOWN_NUMBER) | NEEDS(WELLKNOWN_THREAD),
	  { { WELLKNOWN_NUMBER, "signal" }, { WELLKNOWN_THREAD, "thread" } } },
	{ "signal",
	  "deliver",
	  WELLKNOWN_SIGNAL_DELIVER,
	  NEEDS(WELLKNOWN_NUMBER),
	  { { WELLKNOWN_NUMBER, "signal" }, { WELLKNOWN_THREAD, "thread" } } },
	{ "net", "tx", WELLKNOWN_NET_TX, NEEDS(WELLKNOWN_OBJECT), { { WELLKNOWN_OBJECT, "packet" } } },
	{ "net", "rx", WELLKNOWN_NET_RX, NEEDS(WELLKNOWN_OBJECT), { { WELLKNOWN_OBJECT, "packet" } } },
	{ "ipi",
	  "send",
	  WELLKNOWN_IPI_SEND,
	  NEEDS(WELLKNOWN_CPU),
	  { { WELLKNOWN_CPU, "cpu" }, { WELLKNOWN_NUMBER, "what" } } },
	{ "ipi", "receive", WELLKNOWN_IPI_RECEIVE, 0, { { WELLKNOWN_NUMBER, "what" } } },
	{ "vfs",
	  "lookup",
	  WELLKNOWN_FILE_LOOKUP,
	  NEEDS(WELLKNOWN_NAME) | NEEDS(WELLKNOWN_INODE),
	  { { WELLKNOWN_NAME, "path" }, { WELLKNOWN_INODE, "inode" }, { WELLKNOWN_RESULT, "result" } } },
	{ "vfs",
	  "open",
	  WELLKNOWN_FILE_OPEN,
	  NEEDS(WELLKNOWN_NAME),
	  { { WELLKNOWN_NAME, "path" },
	    { WELLKNOWN_OBJECT, "file" },
	    { WELLKNOWN_INODE, "inode" },
	    { WELLKNOWN_RESULT, "result" } } },
	{ "vfs",
	  "read",
	  WELLKNOWN_FILE_READ,
	  0,
	  { { WELLKNOWN_OBJECT, "file" }, { WELLKNOWN_INODE, "inode" } } },
	{ "vfs",
	  "write",
	  WELLKNOWN_FILE_WRITE,
	  0,
	  { { WELLKNOWN_OBJECT, "file" }, { WELLKNOWN_INODE, "inode" } } },
	{ "vfs",
	  "close",
	  WELLKNOWN_FILE_CLOSE,
	  0,
	  { { WELLKNOWN_OBJECT, "file" }, { WELLKNOWN_INODE, "inode" } } },
	{ "sched",
	  "CTX_SWITCH",
	  WELLKNOWN_SWITCH,
	  NEEDS(WELLKNOWN_PREV) | NEEDS(WELLKNOWN_NEXT),
	  { { WELLKNOWN_PREV, "from_pid" }, { WELLKNOWN_NEXT, "to_pid" } } },
	{ "sched", "WAITQ_SLEEP", WELLKNOWN_BLOCK, 0, { { WELLKNOWN_OBJECT, "waitq" } } },
	{ "sched",
	  "WAITQ_WAKE",
	  WELLKNOWN_WAKE_QUEUE,
	  NEEDS(WELLKNOWN_OBJECT) | NEEDS(WELLKNOWN_NUMBER),
	  { { WELLKNOWN_OBJECT, "waitq" }, { WELLKNOWN_NUMBER, "woken" } } },
	{ "syscall",
	  "SYSCALL_ENTER",
	  WELLKNOWN_SYSCALL_ENTER,
	  NEEDS(WELLKNOWN_NUMBER),
	  { { WELLKNOWN_NUMBER, "nr" } } },
	{ "syscall", "SYSCALL_EXIT", WELLKNOWN_SYSCALL_EXIT, 0, { { WELLKNOWN_NUMBER, "nr" } } },
	{ "ktrace", "panic", WELLKNOWN_PANIC, 0, { { WELLKNOWN_NAME, "message" } } },
	{ "counter", NULL, WELLKNOWN_COUNTER, 0, { { 0, NULL } } },
};

static int find_field(const struct ktread_type *type, const char *name)
{
	for (int n = 0; n < type->fields; n++)
		if (strcmp(type->field[n].name, name) == 0)
			return n;
	return -1;
}

/* Where field `n` lies, if that is the same in all events and reading it needs no care. */
static void bind_place(struct wellknown *known, const struct ktread_type *type, enum wellknown_role role)
{
	uint32_t end = 0, width = 0;

	for (int n = 0; n <= known->field[role]; n++) {
		switch (type->field[n].type) {
		case KTRX_TYPE_U32:
			width = 4;
			break;
		case KTRX_TYPE_U64:
		case KTRX_TYPE_POINTER:
			width = 8;
			break;
		default:
			return;
		}
		end += width;
	}
	known->end[role] = end <= UINT8_MAX ? (uint8_t)end : 0;
	known->width[role] = (uint8_t)width;
}

/* Fills in `known`; false if a needed role stays empty. */
static bool bind_fields(struct wellknown *known, const struct ktread_type *type,
			const struct meaning *meaning)
{
	unsigned found = 0;

	for (int n = 0; n < MAX_FIELDS && meaning->field[n].name; n++) {
		enum wellknown_role role = meaning->field[n].role;

		if (known->field[role] >= 0)
			continue;
		known->field[role] = (int8_t)find_field(type, meaning->field[n].name);
		if (known->field[role] < 0)
			continue;
		found |= NEEDS(role);
		bind_place(known, type, role);
	}
	return (meaning->needs & ~found) == 0;
}

const struct wellknown *wellknown_bind(struct wellknown_table *table, const struct ktread_type *type)
{
	struct wellknown *known = &table->row[type->id & KTRX_EVENT_MAX];

	*known = (struct wellknown){ .kind = WELLKNOWN_OTHER };
	memset(known->field, -1, sizeof(known->field));
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		const struct meaning *meaning = &meanings[i];

		if (strcmp(type->group, meaning->group) != 0 ||
		    (meaning->name && strcmp(type->name, meaning->name) != 0))
			continue;
		known->thread_bits = type->thread_bits ? type->thread_bits : KTRX_THREAD_MAX;
		if (bind_fields(known, type, meaning))
			known->kind = (uint8_t)meaning->kind;
		else
			memset(known->field, -1, sizeof(known->field));
		break;
	}
	return known;
}

void wellknown_mark(const struct ktread *trace, struct wellknown_table *table, enum wellknown_kind kind,
		    uint8_t *map)
{
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && wellknown_bind(table, type)->kind == kind)
			map[id / 8] |= (uint8_t)(1u << id % 8);
	}
}

bool wellknown_declared(const struct ktread *trace, enum wellknown_kind kind)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].kind == kind && meanings[i].name &&
		    ktread_type_find(trace, meanings[i].group, meanings[i].name))
			return true;
	return false;
}

bool wellknown_number_any(const struct wellknown *known, const struct ktread_event *event,
			  enum wellknown_role role, uint64_t *number)
{
	struct ktread_value value;

	if (known->field[role] < 0)
		return false;
	if (ktread_value(event, (uint32_t)known->field[role], &value) != 0 || value.type == KTRX_TYPE_STRING)
		return false;
	*number = value.number;
	return true;
}

bool wellknown_string(const struct wellknown *known, const struct ktread_event *event,
		      enum wellknown_role role, struct ktread_value *value)
{
	return known->field[role] >= 0 && ktread_value(event, (uint32_t)known->field[role], value) == 0 &&
	       value->type == KTRX_TYPE_STRING;
}
