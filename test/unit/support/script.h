/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Scripted traces: the part of the reader's API that exporters use, over events that a test lists by hand.
 * Linked in place of the reader. One script at a time.
 */
#ifndef TEST_SCRIPT_H
#define TEST_SCRIPT_H

#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/v2.h"

#define SCRIPT_EVENTS  16384u
#define SCRIPT_RINGS   4u
#define SCRIPT_HOLDERS 32u

/* Starts a new script; the counter runs at 1 GHz, so that stamps are nanoseconds. */
void script_begin(uint32_t version);
void script_end(void);

struct ktread_info *script_info(void);
struct ktread_ring *script_ring(uint32_t ring);
/* A filter is set that holds some events back; those listed are what it lets through. */
void script_narrow(void);
void script_thread(uint32_t id, const char *name);

/* A row of the kernel's tables, to be filled in: of that CPU, and a new one for a thread or a CPU. */
struct ktrx_cpu *script_cpu(uint32_t cpu);
struct ktrx_holder *script_holder(uint32_t id);

/* Declares an event. `fields` like "u32 prev, u64 ran ns, string name": type, name and perhaps unit. */
void script_type(uint16_t id, const char *group, const char *name, const char *fields);
/* Sets thread_bits of a type. */
void script_thread_bits(uint16_t id, uint32_t bits);

/* A setting as it was when the trace was taken: `name` is borrowed. */
void script_setting(const char *name, uint64_t value);

/* All recording was stopped before the trace was taken: events are as they were wanted. */
void script_stop(void);

/* The event is off when the trace is taken. */
void script_switch_off(uint16_t id);

/*
 * Adds an event by a thread on a CPU; the ring is the CPU's. A script has SCRIPT_EVENTS at most: one more aborts. Values of the fields follow: uint64_t each, or
 * const char * for a string. The result may be changed until the trace is read.
 */
struct ktread_event *script_event(uint16_t id, uint64_t stamp, uint32_t cpu, uint32_t thread, ...);

/* Its number of events, and the event by number. */
unsigned script_count(void);
const struct ktread_event *script_at(unsigned n);

/* Puts the events in order of their stamps, for scripts that list them CPU by CPU. */
void script_sort(void);

/* To be handed to whatever reads a trace. */
struct ktread *script_trace(void);

#endif
