/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/wellknown.h"

#include <string.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"

_Static_assert(KTRX_EVENT_MAX < sizeof(((struct wellknown_table *)0)->row) / sizeof(struct wellknown),
	       "a row for every event id");

#define MAX_FIELDS 6

struct meaning {
	const char *group;
	const char *name; /* name of the event; NULL means every event of the group */
	enum wellknown_kind kind;
	/*
	 * bit map of the required roles: without a field for each of them, the event counts as
	 * WELLKNOWN_OTHER
	 */
	unsigned needs;
	struct {
		enum wellknown_role role;
		const char *name;
		/*
		 * roles, each with the name of its field; if a role has several names, the field is the first
		 * of them that the event has
		 */
	} field[MAX_FIELDS];
};

#define NEEDS(role) (1u << WELLKNOWN_##role)
#define AS(role, name)                 \
	{                              \
		WELLKNOWN_##role, name \
	}
#define ROW(group, name, kind, needs, ...)            \
	{                                             \
		group, name, WELLKNOWN_##kind, needs, \
		{                                     \
			__VA_ARGS__                   \
		}                                     \
	}

/* The names that kernels must use; doc/events.md describes them. Names in capitals are those of version 1. */
static const struct meaning meanings[] = {
	ROW("sched", "switch", SWITCH, NEEDS(PREV) | NEEDS(NEXT), AS(PREV, "prev"), AS(NEXT, "next"),
	    AS(STATE, "state")),
	ROW("sched", "block", BLOCK, 0, AS(THREAD, "thread"), AS(OBJECT, "queue"), AS(STATE, "state"),
	    AS(NUMBER, "kind")),
	ROW("sched", "wake", WAKE, NEEDS(THREAD), AS(THREAD, "thread")),
	ROW("sched", "wake_nobody", WAKE_NOBODY, NEEDS(OBJECT), AS(OBJECT, "queue"), AS(PLACE, "ip")),
	ROW("sched", "exit", EXIT, 0, AS(THREAD, "thread")),
	ROW("sched", "create", CREATE, NEEDS(THREAD), AS(THREAD, "thread"), AS(PROCESS, "process"),
	    AS(NAME, "name")),
	ROW("syscall", "enter", SYSCALL_ENTER, NEEDS(NUMBER), AS(NUMBER, "nr")),
	ROW("syscall", "exit", SYSCALL_EXIT, 0, AS(NUMBER, "nr"), AS(RESULT, "result")),
	ROW("irq", "enter", IRQ_ENTER, 0, AS(NUMBER, "irq"), AS(NAME, "name"), AS(PLACE, "ip")),
	ROW("irq", "exit", IRQ_EXIT, 0, AS(NUMBER, "irq")),
	ROW("irq", "eoi", IRQ_EOI, NEEDS(NUMBER), AS(NUMBER, "irq")),
	ROW("mm", "fault_enter", FAULT_ENTER, 0, AS(OBJECT, "address"), AS(PLACE, "ip")),
	ROW("mm", "fault_exit", FAULT_EXIT, 0, AS(OBJECT, "address"), AS(NAME, "how")),
	ROW("lock", "contend", LOCK_CONTEND, NEEDS(OBJECT), AS(OBJECT, "lock"), AS(NAME, "name")),
	ROW("lock", "acquire", LOCK_ACQUIRE, NEEDS(OBJECT), AS(OBJECT, "lock"), AS(NAME, "name"),
	    AS(PLACE, "place")),
	ROW("lock", "try", LOCK_ACQUIRE, NEEDS(OBJECT), AS(OBJECT, "lock"), AS(NAME, "name"),
	    AS(PLACE, "place")),
	ROW("lock", "release", LOCK_RELEASE, NEEDS(OBJECT), AS(OBJECT, "lock")),
	ROW("lock", "fail", LOCK_FAIL, NEEDS(OBJECT), AS(OBJECT, "lock"), AS(NAME, "name"),
	    AS(OWNER, "holder"), AS(PLACE, "place")),
	ROW("process", "fork", PROCESS_FORK, NEEDS(CHILD), AS(PROCESS, "process"), AS(CHILD, "child")),
	ROW("process", "exec", PROCESS_EXEC, NEEDS(NAME), AS(PROCESS, "process"), AS(NAME, "path")),
	ROW("process", "exit", PROCESS_EXIT, 0, AS(PROCESS, "process")),
	ROW("signal", "send", SIGNAL_SEND, NEEDS(NUMBER) | NEEDS(THREAD), AS(NUMBER, "signal"),
	    AS(THREAD, "thread")),
	ROW("signal", "deliver", SIGNAL_DELIVER, NEEDS(NUMBER), AS(NUMBER, "signal"), AS(THREAD, "thread")),
	ROW("net", "tx", NET_TX, NEEDS(OBJECT), AS(OBJECT, "packet")),
	ROW("net", "rx", NET_RX, NEEDS(OBJECT), AS(OBJECT, "packet")),
	ROW("ipi", "send", IPI_SEND, NEEDS(CPU), AS(CPU, "cpu"), AS(NUMBER, "what")),
	ROW("ipi", "receive", IPI_RECEIVE, 0, AS(NUMBER, "what")),
	ROW("vfs", "lookup", FILE_LOOKUP, NEEDS(NAME) | NEEDS(INODE), AS(NAME, "path"), AS(INODE, "inode"),
	    AS(RESULT, "result")),
	ROW("vfs", "open", FILE_OPEN, NEEDS(NAME), AS(NAME, "path"), AS(OBJECT, "file"), AS(INODE, "inode"),
	    AS(RESULT, "result")),
	ROW("vfs", "read", FILE_READ, 0, AS(OBJECT, "file"), AS(INODE, "inode")),
	ROW("vfs", "write", FILE_WRITE, 0, AS(OBJECT, "file"), AS(INODE, "inode")),
	ROW("vfs", "close", FILE_CLOSE, 0, AS(OBJECT, "file"), AS(INODE, "inode")),
	ROW("sched", "CTX_SWITCH", SWITCH, NEEDS(PREV) | NEEDS(NEXT), AS(PREV, "from_pid"),
	    AS(NEXT, "to_pid")),
	ROW("sched", "WAITQ_SLEEP", BLOCK, 0, AS(OBJECT, "waitq")),
	ROW("sched", "WAITQ_WAKE", WAKE_QUEUE, NEEDS(OBJECT) | NEEDS(NUMBER), AS(OBJECT, "waitq"),
	    AS(NUMBER, "woken")),
	ROW("syscall", "SYSCALL_ENTER", SYSCALL_ENTER, NEEDS(NUMBER), AS(NUMBER, "nr")),
	ROW("syscall", "SYSCALL_EXIT", SYSCALL_EXIT, 0, AS(NUMBER, "nr")),
	ROW("ktrace", "panic", PANIC, 0, AS(NAME, "message")),
	ROW("counter", NULL, COUNTER, 0, { 0, NULL }),
};

static int find_field(const struct ktread_type *type, const char *name)
{
	for (int n = 0; n < type->fields; n++)
		if (strcmp(type->field[n].name, name) == 0)
			return n;
	return -1;
}

/*
 * Stores the position of the role's field, if this position is the same in all events and the field is an
 * unsigned number.
 */
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

/* Fills in `known` for an event type. Returns false if the type has no field for a required role. */
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
		found |= 1u << role;
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
	static const char null[] = "(null)"; /* string that kernels record instead of NULL */

	if (known->field[role] < 0 || ktread_value(event, (uint32_t)known->field[role], value) != 0 ||
	    value->type != KTRX_TYPE_STRING)
		return false;
	return value->length != sizeof(null) - 1 || memcmp(value->string, null, sizeof(null) - 1) != 0;
}
