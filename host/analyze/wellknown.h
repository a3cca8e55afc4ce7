/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The events whose meaning the host knows. A view can show an event if the kernel declares the event under
 * one of the names in doc/events.md. The meaning of all events is defined in one place, the table in
 * wellknown.c.
 *
 * Binding happens once for each event type: it determines the kind of the event and the role of each field.
 * An event that lacks a field that its kind needs is WELLKNOWN_OTHER.
 */
#ifndef ANALYZE_WELLKNOWN_H
#define ANALYZE_WELLKNOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ktread/ktread.h"

enum wellknown_kind {
	/* value of an element that is not filled in; wellknown_of() never returns this value */
	WELLKNOWN_UNBOUND,
	WELLKNOWN_OTHER,
	WELLKNOWN_SWITCH,
	WELLKNOWN_BLOCK,
	WELLKNOWN_WAKE,	       /* wakeup of a thread, named by its id */
	WELLKNOWN_WAKE_QUEUE,  /* wakeup of the threads that sleep on a queue */
	WELLKNOWN_WAKE_NOBODY, /* wakeup of a queue on which no thread slept */
	WELLKNOWN_EXIT,
	WELLKNOWN_CREATE,
	WELLKNOWN_SYSCALL_ENTER,
	WELLKNOWN_SYSCALL_EXIT,
	WELLKNOWN_IRQ_ENTER,
	WELLKNOWN_IRQ_EXIT,
	WELLKNOWN_IRQ_EOI,
	WELLKNOWN_FAULT_ENTER,
	WELLKNOWN_FAULT_EXIT,
	WELLKNOWN_LOCK_CONTEND,
	WELLKNOWN_LOCK_ACQUIRE,
	WELLKNOWN_LOCK_RELEASE,
	WELLKNOWN_LOCK_FAIL,
	WELLKNOWN_PROCESS_FORK,
	WELLKNOWN_PROCESS_EXEC,
	WELLKNOWN_PROCESS_EXIT,
	WELLKNOWN_SIGNAL_SEND,
	WELLKNOWN_SIGNAL_DELIVER,
	WELLKNOWN_NET_TX,
	WELLKNOWN_NET_RX,
	WELLKNOWN_IPI_SEND,
	WELLKNOWN_IPI_RECEIVE,
	WELLKNOWN_FILE_LOOKUP,
	WELLKNOWN_FILE_OPEN,
	WELLKNOWN_FILE_READ,
	WELLKNOWN_FILE_WRITE,
	WELLKNOWN_FILE_CLOSE,
	WELLKNOWN_PANIC,
	WELLKNOWN_COUNTER, /* any event of group "counter" */
};

enum wellknown_role {
	WELLKNOWN_PREV,
	WELLKNOWN_NEXT,
	WELLKNOWN_STATE, /* WELLKNOWN_STATE_* after the switch */
	/* the thread to which the event applies; an event without this field applies to the running thread */
	WELLKNOWN_THREAD,
	WELLKNOWN_PROCESS, /* the process to which the event applies */
	WELLKNOWN_CHILD,   /* the process that the event creates */
	WELLKNOWN_OBJECT,  /* number that identifies a queue, lock, packet or open file */
	WELLKNOWN_INODE,
	/*
	 * number of a system call, interrupt or signal. For an IPI, bits of the requested actions. For a
	 * wait, its kind.
	 */
	WELLKNOWN_NUMBER,
	WELLKNOWN_CPU,	  /* target CPU of an IPI */
	WELLKNOWN_NAME,	  /* name in the event, a string */
	WELLKNOWN_RESULT, /* result of an operation; an error if below zero */
	WELLKNOWN_PLACE,  /* address of code, such as the code that takes a lock */
	WELLKNOWN_OWNER,  /* holder of a lock: a CPU if the event's `kind` is "CPU", otherwise a thread */
	WELLKNOWN_ROLES,
};

/* Values of a `state` field, as doc/events.md defines them. */
#define WELLKNOWN_STATE_RUNNABLE 0u
#define WELLKNOWN_STATE_SLEEP	 1u /* the thread sleeps until a wakeup or a signal */
#define WELLKNOWN_STATE_WAIT	 2u /* the thread sleeps until a wakeup; signals do not end the sleep */
#define WELLKNOWN_STATE_STOPPED	 3u
#define WELLKNOWN_STATE_DEAD	 4u

struct wellknown {
	uint32_t thread_bits; /* mask of the bits of a thread id that struct ktread_event contains */
	uint8_t kind;
	/* indexed by role: index of the field; -1 if the event has no such field */
	int8_t field[WELLKNOWN_ROLES];
	/*
	 * for fast access, indexed by role: offset in the payload at which the field ends. 0 if this field,
	 * or a field before it, is not an unsigned number of 4 or 8 bytes
	 */
	uint8_t end[WELLKNOWN_ROLES];
	uint8_t width[WELLKNOWN_ROLES];
};

/*
 * One entry for each event id. A zero-initialised table is ready for use. Requires: the trace's types do not
 * change while it is used.
 */
struct wellknown_table {
	struct wellknown row[4096];
};

/* Returns whether the trace's kernel declares an event of this kind, recorded or not. */
bool wellknown_declared(const struct ktread *trace, enum wellknown_kind kind);

/* Marks all events of a kind in a bit map of KTRX_EVENT_MAX + 1 bits. */
void wellknown_mark(const struct ktread *trace, struct wellknown_table *table, enum wellknown_kind kind,
		    uint8_t *map);
const struct wellknown *wellknown_bind(struct wellknown_table *table, const struct ktread_type *type);

/* Returns the meaning of an event; WELLKNOWN_OTHER for ids that are not in the table. */
static inline const struct wellknown *wellknown_of(struct wellknown_table *table,
						   const struct ktread_event *event)
{
	const struct wellknown *known = &table->row[event->id & 4095u];

	return known->kind != WELLKNOWN_UNBOUND ? known : wellknown_bind(table, event->type);
}

/* Implements wellknown_number() for fields of any kind. */
bool wellknown_number_any(const struct wellknown *known, const struct ktread_event *event,
			  enum wellknown_role role, uint64_t *number);

/*
 * Reads the number in the field that has this role. Returns false if there is no such field, it is not a
 * number, or it is cut off.
 */
static inline bool wellknown_number(const struct wellknown *known, const struct ktread_event *event,
				    enum wellknown_role role, uint64_t *number)
{
	const uint32_t end = known->end[role];
	uint32_t half;

	if (known->field[role] < 0)
		return false;
	if (end == 0 || end > event->payload_size)
		return wellknown_number_any(known, event, role, number);
	memcpy(&half, event->payload + end - 4, sizeof(half));
	*number = half;
	if (known->width[role] == 8)
		memcpy(number, event->payload + end - 8, sizeof(*number));
	return true;
}

/* Reads the thread id in the field that has this role, cut to the bits that struct ktread_event contains. */
static inline bool wellknown_thread(const struct wellknown *known, const struct ktread_event *event,
				    enum wellknown_role role, uint32_t *id)
{
	uint64_t number;

	if (!wellknown_number(known, event, role, &number))
		return false;
	*id = (uint32_t)number & known->thread_bits;
	return true;
}

/* Reads the string in the field that has this role. */
bool wellknown_string(const struct wellknown *known, const struct ktread_event *event,
		      enum wellknown_role role, struct ktread_value *value);

#endif
