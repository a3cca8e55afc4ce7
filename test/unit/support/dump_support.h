/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A trace to dump, recorded by the real core on this machine, and a sink that stores the dump. */
#ifndef TEST_DUMP_SUPPORT_H
#define TEST_DUMP_SUPPORT_H

#include <stdbool.h>

#include "ktrace/dump.h"
#include "ktrace/ktrace.h"
#include "ktrx/v1.h"
#include "transport_fake/test.h"

#define DUMP_RING_SLOTS 512u
#define DUMP_FOLDS	4u

struct dump_sink {
	struct ktrace_sink sink;
	unsigned char bytes[1 << 20];
	size_t count;
	uint64_t announced;
	unsigned writes;
	unsigned fail_at;	    /* number of the write that fails (the first is 1); 0: no write fails */
	void (*during_write)(void); /* function that is called during every write, or NULL */
};

/* Starts tracing, with a ring for CPU 0. Call it once in a program. */
int dump_trace_start(void **state);

/* Records `count` switches (v1 id 5) with increasing numbers. */
void dump_trace_switches(unsigned count);
/*
 * The first function records a system call with six arguments (v1 id 0). The second one records an event that
 * has no id in version 1.
 */
void dump_trace_syscall(uint16_t number, uint64_t first, uint64_t second);
void dump_trace_text(const char *text);

/* Returns the sink, empty and with a buffer of that size. */
struct dump_sink *dump_sink_fresh(size_t buffer_size);

#endif
