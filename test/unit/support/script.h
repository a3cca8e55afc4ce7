/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Scripted traces. This implements the part of the reader's API that exporters use, for events that a test
 * lists. It is linked in place of the reader. Only one script exists at a time.
 */
#ifndef TEST_SCRIPT_H
#define TEST_SCRIPT_H

#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/v2.h"

#define SCRIPT_EVENTS  16384u
#define SCRIPT_RINGS   4u
#define SCRIPT_HOLDERS 32u
#define SCRIPT_FOLDS   4u

/* Starts a new script. The frequency of its clock is 1 GHz, so that timestamps are nanoseconds. */
void script_begin(uint32_t version);
void script_end(void);

struct ktread_info *script_info(void);
struct ktread_ring *script_ring(uint32_t ring);
/* Marks the trace as filtered: all events of the script count as selected by a filter. */
void script_narrow(void);
/* Gives the trace a filter that selects the events of one CPU. */
void script_select_cpu(uint32_t cpu);
/* Gives the trace a filter that selects the events of one thread. */
void script_select_thread(uint32_t thread);
void script_thread(uint32_t id, const char *name);

/*
 * script_cpu() returns the entry of a CPU in the table of CPUs. script_holder() adds an entry for a thread or
 * a CPU to the table of holders, and returns it. The caller fills the entry in.
 */
struct ktrx_cpu *script_cpu(uint32_t cpu);
struct ktrx_holder *script_holder(uint32_t id);

/*
 * Declares an event. `fields` is a list such as "u32 prev, u64 ran ns, string name", with type, name and
 * optional unit of each field.
 */
void script_type(uint16_t id, const char *group, const char *name, const char *fields);
/* Sets the member `thread_bits` of this event type. */
void script_thread_bits(uint16_t id, uint32_t bits);

/* Adds a setting and the value that it had when the trace was taken. `name` is a borrowed pointer. */
void script_setting(const char *name, uint64_t value);

/*
 * Makes the script describe a kernel that stopped all recording before the trace was taken. So all events are
 * off. The member `wanted` of each event contains the event's state before the stop.
 */
void script_stop(void);

/* Makes the script describe a kernel in which this event was off when the trace was taken. */
void script_switch_off(uint16_t id);

/*
 * Makes the script describe a kernel that was counting repetitions of an event instead of recording them when
 * the trace was taken. `first`, `last`: timestamps of the repetitions. At most SCRIPT_FOLDS calls.
 */
void script_fold(uint16_t id, uint64_t first, uint64_t last);

/*
 * Adds an event that a thread recorded on a CPU, in the CPU's ring. After the named parameters, the values of
 * the fields follow: uint64_t each, or const char * for a string. A script may have up to SCRIPT_EVENTS
 * events; one more event aborts the program. The returned event may be changed until the trace is read.
 */
struct ktread_event *script_event(uint16_t id, uint64_t stamp, uint32_t cpu, uint32_t thread, ...);

/* script_count() returns the number of events. script_at() returns an event by its number. */
unsigned script_count(void);
const struct ktread_event *script_at(unsigned n);

/* Returns an event by its number, to be changed until the trace is read. */
struct ktread_event *script_change(unsigned n);

/* Sorts the events by timestamp, for scripts that list them CPU by CPU. */
void script_sort(void);

/* Returns the script as a trace, for code that reads traces. */
struct ktread *script_trace(void);

#endif
