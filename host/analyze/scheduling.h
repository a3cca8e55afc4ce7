/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Facts that are collected in one reading of a trace, before other readings draw conclusions: when events
 * were switched off or folded, which events describe threads, and where slots are missing. Also what one
 * reading finds out as it goes: whether events are recorded now, and whether the states of switches are
 * wrong.
 */
#ifndef ANALYZE_SCHEDULING_H
#define ANALYZE_SCHEDULING_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* ---- When events were switched off or folded ---- */

#define SWITCHED_MAP ((KTRX_EVENT_MAX + 1) / 8) /* size of a bit map of events, in bytes */

struct switched;

/* Content of the library's own events ktrace.switched and ktrace.stopped. */
struct switched_change {
	uint32_t first, last; /* ids */
	bool records;	      /* true if recording of these events starts, false if it stops */
	bool stopped;	      /* true if all recording had stopped at an earlier time (ktrace.stopped) */
	/* if `stopped` is set: the time up to which the events were recorded, and the CPU of that clock */
	uint64_t until;
	uint32_t cpu;
};
/* Slow path of switched_change_of(), for an event whose group may be "ktrace". */
bool switched_change_read(const struct ktread_event *event, struct switched_change *change);

/* Returns false if the event is neither ktrace.switched nor ktrace.stopped. */
static inline bool switched_change_of(const struct ktread_event *event, struct switched_change *change)
{
	/* this function is called for each event of a trace, so most calls must return here */
	return event->type->group[0] == 'k' && switched_change_read(event, change);
}

/*
 * Returns the timestamp of the change that the event records. It is earlier than that of the event if all
 * recording had stopped.
 */
uint64_t switched_change_stamp(const struct switched_change *change, const struct ktread *trace,
			       const struct ktread_event *event);

/* ---- What the trace records about threads ---- */

/*
 * Finds in one reading which events about threads were recorded and when, and whether the field `state` of
 * sched.switch is filled in. All commands use this result.
 *
 * State 0 means runnable. But if all states are 0, the kernel most likely does not fill in the field.
 */

struct scheduling;

/*
 * Reads the whole trace, without its filter, and rewinds it. A trace of records_only contains no such facts
 * and is not read. Returns 0 or a negative KTREAD_E_*. The caller frees `*scheduling` in either case.
 */
int scheduling_read(struct scheduling **scheduling, struct ktread *trace);
void scheduling_free(struct scheduling *scheduling);

/*
 * Does the same as scheduling_read(), for a caller that reads the trace itself. The caller calls
 * scheduling_open(), then scheduling_event() for each event, then scheduling_end(). Events may come ring by
 * ring, instead of in order of time. If scheduling_needs_order() returns true after the last event, the
 * caller must use scheduling_read() instead. Each function returns 0 or KTREAD_E_MEMORY.
 */
int scheduling_open(struct scheduling **scheduling, struct ktread *trace);
int scheduling_event(struct scheduling *scheduling, const struct ktread_event *event);
int scheduling_end(struct scheduling *scheduling);
bool scheduling_needs_order(const struct scheduling *scheduling);

/*
 * scheduling_states_are_doubtful() returns whether the states of sched.switch may be wrong, because a kernel
 * passes a constant or its own numbers. If so, scheduling_judge() finds out whether they are wrong. It reads
 * the whole trace, without its filter, and rewinds the trace. It returns 0 or a negative KTREAD_E_*.
 */
bool scheduling_states_are_doubtful(const struct scheduling *scheduling);
int scheduling_judge(struct scheduling *scheduling, struct ktread *trace);
/* Returns whether scheduling_judge() has found that the states are wrong. */
bool scheduling_states_are_wrong(const struct scheduling *scheduling);

/*
 * Returns whether the states of sched.switch can be used: some switch had a state other than 0, and the
 * states are not known to be wrong.
 */
bool scheduling_states(const struct scheduling *scheduling);

/*
 * Returns whether some sched.switch records that its thread is dead. If so, a thread that is switched away
 * from with the state of a live thread has not ended, even if it has recorded sched.exit: that was not its
 * last switch.
 */
bool scheduling_has_deads(const struct scheduling *scheduling);

/*
 * Returns whether sched.switch has a field `state` that is always 0. The state of a thread after a switch
 * away from it is then unknown. Sets `announced` if sched.block events show which threads sleep.
 */
bool scheduling_states_are_empty(const struct scheduling *scheduling, bool *announced);

/*
 * Returns whether recording of this kind of event was on at some time that the trace covers, even if no
 * such event occurred. A stop of all recording ends that time.
 */
bool scheduling_recorded(const struct scheduling *scheduling, enum wellknown_kind kind);

/*
 * Returns whether recording of this kind of event was on all the time between two timestamps, so that, if
 * there is no such event, it did not happen.
 */
bool scheduling_covers(const struct scheduling *scheduling, enum wellknown_kind kind, uint64_t from,
		       uint64_t to);

/*
 * Returns whether the kernel declares events of this kind and they were off at some time between two
 * timestamps.
 */
bool scheduling_off(const struct scheduling *scheduling, enum wellknown_kind kind, uint64_t from,
		    uint64_t to);

/*
 * Returns the id of an event of the bit map that was off at some time between the two timestamps; 0 if there
 * is none.
 */
uint32_t scheduling_switched(const struct scheduling *scheduling, const uint8_t *events, uint64_t from,
			     uint64_t to);

/*
 * Returns whether repetitions of the event were counted instead of recorded at some time. While they were,
 * the functions above take the event for one that was off.
 */
bool scheduling_folded(const struct scheduling *scheduling, uint32_t id);

/*
 * Returns whether thread 0 stands for several threads, so that an event that it records cannot be paired with
 * a later one: its system calls overlap, or the kernel has no thread ids but records several threads or
 * processes, or calls on several CPUs. If a kernel without thread ids shows none of these signs, it counts as
 * one with one thread. In a kernel with thread ids, thread 0 stands for the idle thread of each CPU.
 */
bool scheduling_mixes_threads(const struct scheduling *scheduling);

/* Does the same as threads_is_idle(), in the trace that was read. */
bool scheduling_is_idle(const struct scheduling *scheduling, uint32_t thread);

/* ---- Whether thread 0 stands for several threads (mixture.c) ---- */

/* maximum number of CPUs whose calls are followed */
#define MIXTURE_CPUS 256u
/* maximum number of overlaps of calls that are stored */
#define MIXTURE_OVERLAPS 64u

/*
 * Two beginnings of a call without an end between them, or two ends without a beginning: their timestamps. If
 * events about calls were off or folded between them, the calls may not overlap.
 */
struct mixture_overlap {
	uint64_t from, to;
};

struct mixture {
	bool has_ids; /* true if an event of a thread other than 0 was seen */
	/* true if several threads or processes are recorded, or thread 0 makes calls on several CPUs */
	bool several;
	bool names_process;	      /* true if `process` is valid */
	uint64_t process;	      /* the process that an exec or exit named */
	uint32_t call_cpu;	      /* CPU of the newest call of thread 0; KTRX_NO_CPU: none yet */
	uint8_t call[MIXTURE_CPUS];   /* indexed by CPU: what is known about a call of thread 0 */
	uint64_t stamp[MIXTURE_CPUS]; /* indexed by CPU: timestamp of the newest call event of thread 0 */
	struct mixture_overlap overlap[MIXTURE_OVERLAPS]; /* the newest overlaps of calls of thread 0 */
	uint64_t overlaps;				  /* number of overlaps so far */
};
/* Processes an event of the trace. `known`: its meaning; NULL: it has no known meaning. */
void mixture_event(struct mixture *mixture, const struct ktread_event *event, const struct wellknown *known);
/*
 * Forgets the call of thread 0 on a CPU, or on all CPUs (KTRX_NO_CPU), because its end, and the beginning of
 * the next call, may have no record.
 */
void mixture_forget(struct mixture *mixture, uint32_t cpu);
/* Returns whether thread 0 stands for several threads. Call it after the last event. */
bool mixture_is_found(const struct mixture *mixture, const struct scheduling *scheduling);

/* Marks the events that change the states of threads in a bit map of KTRX_EVENT_MAX + 1 bits. */
void scheduling_mark(const struct ktread *trace, struct wellknown_table *table, uint8_t *map);

/* ---- Gaps in the trace ---- */

/*
 * A gap is a time for which slots of a ring are missing in a trace. A reader notices a gap only at the first
 * event after the gap. By then it has read events of other rings that are later than the gap's beginning. So
 * the trace is first read to find the gaps. A second reading, which pairs events, then knows all gaps in
 * advance.
 *
 * The first reading is made without the filter, so that events which the filter leaves out are not taken for
 * a gap.
 *
 * A gap reaches from the last event of its ring before the missing slots to the first event after them. There
 * are five special cases:
 * - Slots of the boot ring may be from any CPU that has no ring of its own yet. So a gap of the boot ring
 *   counts for every CPU, and missing slots at its end are a gap up to the first event in the CPU's own ring.
 * - A gap of the ring of rare events counts for every CPU, too. Events that begin or end something may be
 *   rare, and so is ktrace.switched.
 * - If slots after the last event of a ring cannot be read, or are not in the file, the gap at the end of
 *   that ring has no end. A record that was not finished when the trace was captured is such a gap, because
 *   its event may have ended something.
 * - The same holds for a ring that was full and refused later records. The boot ring is an exception, because
 *   CPUs leave it when they have rings of their own.
 * - A ring that was cleared lacks its beginning.
 */

/* maximum number of gaps; if there are more, a ring's next gap is merged with its previous gap */
#define GAPS_MAX 4096u
/* all CPUs with this number or a higher one count as one CPU */
#define GAPS_CPUS_MAX 4096u
#define GAPS_ANYWHERE UINT32_MAX

struct gaps;

/*
 * Reads the trace to its end and rewinds it. Returns 0, KTREAD_E_MEMORY, or the error of ktread_next(). The
 * caller frees `*gaps` in any case.
 */
int gaps_read(struct gaps **gaps, struct ktread *trace);
/*
 * Does the same as gaps_read(), but reads only the events that the trace's filter selects, and adds no gaps
 * after the last event of a ring.
 */
int gaps_read_part(struct gaps **gaps, struct ktread *trace);
void gaps_free(struct gaps *gaps);

/*
 * Processes an event of the second reading. A running guest may have overwritten more slots since the first
 * reading.
 */
void gaps_event(struct gaps *gaps, const struct ktread_event *event);

/*
 * Returns whether slots of a CPU, or of any CPU (GAPS_ANYWHERE), are missing between the timestamps `from`
 * and `to`. Gaps of a ring without a CPU count for every CPU. Requires: `to` never decreases from call to
 * call.
 */
bool gaps_between(struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to);

/* Prepares for another reading: gaps_between() may then be called with earlier timestamps again. */
void gaps_restart(struct gaps *gaps);

/*
 * Returns the first timestamp of the earliest gap that overlaps the time from `from` to `to`, on a CPU or on
 * any CPU (GAPS_ANYWHERE); UINT64_MAX if there is none. Unlike gaps_between(), timestamps may come in any
 * order.
 */
uint64_t gaps_first(const struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to);
struct gaps_where {
	uint32_t ring; /* number of the ring whose slots are missing */
	uint64_t to;   /* timestamp of the first event after the gap; UINT64_MAX if there is none */
};
/* Does the same as gaps_first(), and describes the gap. */
uint64_t gaps_find(const struct gaps *gaps, uint32_t cpu, uint64_t from, uint64_t to,
		   struct gaps_where *where);

/* Returns the facts about threads that gaps_read() has found. Valid until gaps_free(). */
const struct scheduling *gaps_scheduling(const struct gaps *gaps);

/*
 * Returns the id of an event of the bit map that was off at some time between the two timestamps; 0 if there
 * is none.
 */
uint32_t gaps_switched(const struct gaps *gaps, const uint8_t *events, uint64_t from, uint64_t to);

/*
 * Returns whether a thread certainly stayed in a state between two timestamps. While slots are missing or
 * events were off, the thread may have been in other states. Only the CPU of a running thread can switch away
 * from the thread, so for a running thread, missing slots of other CPUs do not matter. `events`: bit map of
 * scheduling_mark(). Requires: `to` never decreases from call to call, including calls of gaps_between().
 */
bool gaps_state_lasts(struct gaps *gaps, const uint8_t *events, bool running, uint32_t cpu, uint64_t from,
		      uint64_t to);

/* ---- Whether the events of spans are recorded (recorded.c) ---- */

/*
 * While the trace is read, tracks whether the events that begin and end spans are recorded. Uses the
 * library's own records of events that were switched on or off (`ktrace.switched`, spec/ktrx.md section 7). A
 * family is the set of all events that belong to one kind of span.
 */

enum recorded_family {
	RECORDED_CALLS,
	RECORDED_INTERRUPTS,
	RECORDED_FAULTS,
	RECORDED_LOCKS,
	/* number of families; in recorded.family: the event belongs to no family */
	RECORDED_FAMILIES,
};

struct recorded {
	uint32_t change;		    /* id of ktrace.switched */
	uint32_t stop;			    /* id of ktrace.stopped; UINT32_MAX: the trace has none */
	uint32_t of_spans_off;		    /* number of events that are off, in all families together */
	uint8_t family[KTRX_EVENT_MAX + 1]; /* for each event: the family to which it belongs */
	bool off[KTRX_EVENT_MAX + 1];
	uint32_t events_off[RECORDED_FAMILIES]; /* indexed by family: number of events that are off */
	/* number of gaps before the newest record of ktrace.switched */
	uint32_t gaps;
};

/* Returns the family of a kind of event; RECORDED_FAMILIES: none. */
enum recorded_family recorded_family_of(enum wellknown_kind kind);

/* Returns the argument if repetitions of some event were counted instead of recorded; otherwise NULL. */
const struct scheduling *recorded_folding(const struct scheduling *scheduling);

/* Returns whether an event of the family of this kind was off or folded between two timestamps. */
bool recorded_was_off(const struct scheduling *scheduling, enum wellknown_kind kind, uint64_t from,
		      uint64_t to);

/*
 * Returns 0 or KTREAD_E_MEMORY. The caller frees `*recorded`, which is NULL if the trace does not declare
 * ktrace.switched. All events then count as recorded.
 */
int recorded_create(struct recorded **recorded, const struct ktread *trace);

/* Returns whether recorded_event() must be called for an event. */
static inline bool recorded_is_due(const struct recorded *r, const struct ktread_event *event)
{
	return r && (event->id == r->change || event->id == r->stop || r->of_spans_off != 0);
}

/*
 * Processes an event of the trace. Called for each event, in the order of the trace. `gaps`: number of gaps
 * before the event; a record of ktrace.switched may be lost in a gap. If the event switches other events on
 * or off, returns a bit map of the families to which these belong, and sets *late: true if these events may
 * have been off for some time before this event, false if they are switched off now.
 */
unsigned recorded_event(struct recorded *r, const struct ktread_event *event, uint32_t gaps, bool *late);

/*
 * Returns whether all events of the family to which this kind of event belongs are recorded, as far as the
 * trace shows so far.
 */
static inline bool recorded_now(const struct recorded *r, enum wellknown_kind kind)
{
	enum recorded_family family;

	if (!r || r->of_spans_off == 0)
		return true;
	family = recorded_family_of(kind);
	return family == RECORDED_FAMILIES || r->events_off[family] == 0;
}

/* ---- Wrong states in sched.switch (switch_states.c) ---- */

/*
 * Finds out whether the states in sched.switch are certainly wrong: a kernel may pass a constant, or its own
 * numbers instead of those of ktrace (doc/events.md). A fault is reported only with positive evidence, such
 * as a thread that runs again although its last state was dead.
 */

enum switch_states_fault {
	SWITCH_STATES_RANGE,   /* states are greater than 4, which ktrace does not define */
	SWITCH_STATES_DEAD,    /* threads ran again after a switch with the state dead */
	SWITCH_STATES_STOPPED, /* threads ran again without a wakeup after a switch with the state stopped */
	SWITCH_STATES_SAME,    /* the state is always 1 or always 2, although some threads were preempted */
	SWITCH_STATES_FAULTS,
};

struct switch_states;

/* Returns 0 or KTREAD_E_MEMORY. The caller frees `*states` in either case. */
int switch_states_open(struct switch_states **states, const struct ktread *trace);
void switch_states_free(struct switch_states *states);
/* Call this for each event of the trace, in order of time. `known`: the meaning of the event. */
void switch_states_event(struct switch_states *states, const struct ktread_event *event,
			 const struct wellknown *known);

/* The first event that shows a fault, and how often the fault occurred. */
struct switch_states_found {
	uint64_t count, stamp;
	uint32_t cpu;
	uint64_t state;
};
/*
 * Call this after the last event. Returns whether the states have this fault, and fills in *found if they do.
 */
bool switch_states_have(const struct switch_states *states, enum switch_states_fault fault,
			struct switch_states_found *found);
/* Returns whether the states have any fault. */
bool switch_states_are_wrong(const struct switch_states *states);

#endif
