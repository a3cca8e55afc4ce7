/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A trace that the kernel library records on this machine, and a sink that stores a dump of it. */
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
	unsigned fail_at;	    /* number of the write that fails, from 1; 0: no write fails */
	void (*during_write)(void); /* function that is called during every write, or NULL */
};

/* Starts tracing, with a ring for CPU 0. A program must call it once. */
int dump_trace_start(void **state);

/* Records `count` switches (id 5 in version 1) with increasing numbers. */
void dump_trace_switches(unsigned count);
/*
 * dump_trace_syscall() records a system call with six arguments (id 0 in version 1). dump_trace_text()
 * records an event that has no id in version 1.
 */
void dump_trace_syscall(uint16_t number, uint64_t first, uint64_t second);
void dump_trace_text(const char *text);

/* Empties the sink, and gives it a buffer of this size. Returns the sink. */
struct dump_sink *dump_sink_fresh(size_t buffer_size);

#endif
