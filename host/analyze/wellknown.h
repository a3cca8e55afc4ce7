/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The events whose meaning the host knows. A kernel lights a view by declaring an event under one of the
 * names in doc/events.md; everything that gives meaning to an event goes by the one table in wellknown.c.
 *
 * Binding happens once an event type: its kind, and which of its fields plays which role. An event that lacks
 * a field its kind cannot do without is WELLKNOWN_OTHER.
 */
#ifndef ANALYZE_WELLKNOWN_H
#define ANALYZE_WELLKNOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ktread/ktread.h"

enum wellknown_kind {
	WELLKNOWN_UNBOUND, /* not looked at yet; never returned */
	WELLKNOWN_OTHER,
	WELLKNOWN_SWITCH,
	WELLKNOWN_BLOCK,
	WELLKNOWN_WAKE,	       /* a thread by its id */
	WELLKNOWN_WAKE_QUEUE,  /* the threads that sleep on a queue */
	WELLKNOWN_WAKE_NOBODY, /* nobody slept there */
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
	WELLKNOWN_STATE,   /* WELLKNOWN_STATE_* that a thread goes into */
	WELLKNOWN_THREAD,  /* the thread it is about; without it, the one that runs */
	WELLKNOWN_PROCESS, /* the process it belongs to */
	WELLKNOWN_CHILD,   /* the process that is made */
	WELLKNOWN_OBJECT,  /* queue, lock, packet, open file: told apart by value */
	WELLKNOWN_INODE,
	/* of a system call, an interrupt or a signal; bits of what an IPI asks for; kind of a wait */
	WELLKNOWN_NUMBER,
	WELLKNOWN_CPU,	  /* one that is asked */
	WELLKNOWN_NAME,	  /* string */
	WELLKNOWN_RESULT, /* below zero: an error */
	WELLKNOWN_PLACE,  /* an address of code */
	WELLKNOWN_OWNER,  /* who has a lock: as the event's `kind` says */
	WELLKNOWN_ROLES,
};

/* Values of a `state` field, as doc/events.md has them. */
#define WELLKNOWN_STATE_RUNNABLE 0u
#define WELLKNOWN_STATE_SLEEP	 1u /* until woken, or a signal comes */
#define WELLKNOWN_STATE_WAIT	 2u /* until woken, come what may */
#define WELLKNOWN_STATE_STOPPED	 3u
#define WELLKNOWN_STATE_DEAD	 4u

struct wellknown {
	uint32_t thread_bits; /* mask of a thread id: the bits that struct ktread_event has of it */
	uint8_t kind;
	int8_t field[WELLKNOWN_ROLES]; /* number of the field, -1 if none */
	/*
	 * Of a number of 4 or 8 bytes without a sign, that follows only such fields: where it ends in the
	 * payload; else 0.
	 */
	uint8_t end[WELLKNOWN_ROLES];
	uint8_t width[WELLKNOWN_ROLES];
};

/* One row an event id; zero-initialised is ready for use. A trace's types must not change meanwhile. */
struct wellknown_table {
	struct wellknown row[4096];
};

/* Whether the trace's kernel declares an event of this kind, fired or not. */
bool wellknown_declared(const struct ktread *trace, enum wellknown_kind kind);

/* Marks all events of a kind in a bit map of KTRX_EVENT_MAX + 1 bits. */
void wellknown_mark(const struct ktread *trace, struct wellknown_table *table, enum wellknown_kind kind,
		    uint8_t *map);
const struct wellknown *wellknown_bind(struct wellknown_table *table, const struct ktread_type *type);

/* What `event` is; ids beyond the table are WELLKNOWN_OTHER. */
static inline const struct wellknown *wellknown_of(struct wellknown_table *table,
						   const struct ktread_event *event)
{
	const struct wellknown *known = &table->row[event->id & 4095u];

	return known->kind != WELLKNOWN_UNBOUND ? known : wellknown_bind(table, event->type);
}

/* wellknown_number() for fields of any kind. */
bool wellknown_number_any(const struct wellknown *known, const struct ktread_event *event,
			  enum wellknown_role role, uint64_t *number);

/* True and the number that plays `role`, or false: no such field, not a number, or cut off. */
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

/* The same for a thread id, cut to what struct ktread_event has of it. */
static inline bool wellknown_thread(const struct wellknown *known, const struct ktread_event *event,
				    enum wellknown_role role, uint32_t *id)
{
	uint64_t number;

	if (!wellknown_number(known, event, role, &number))
		return false;
	*id = (uint32_t)number & known->thread_bits;
	return true;
}

/* The same for a string. */
bool wellknown_string(const struct wellknown *known, const struct ktread_event *event,
		      enum wellknown_role role, struct ktread_value *value);

#endif
