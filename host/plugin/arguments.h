/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What stands behind -plugin ktrace-pt.so: NAME=VALUE, one string each. */
#ifndef PLUGIN_ARGUMENTS_H
#define PLUGIN_ARGUMENTS_H

#include <stdint.h>

#include "trace.h"

struct arguments {
	const char *ram, *out; /* NULL: not given */
	uint64_t base;
	uint8_t has_base;
	uint64_t ring_size, code_size;
	uint8_t exact, time, returns;
	uint8_t user, kernel; /* levels */
	uint64_t user_start, user_end;
	unsigned ranges;
	struct {
		uint64_t start, end;
	} range[TRACE_RANGES];
};

/*
 * 0; or -1 and *message, kept until the next call, says what is wrong. `ram` and `out` lie in argv, which
 * QEMU frees.
 */
int arguments_read(struct arguments *arguments, int argc, char **argv, const char **message);

#endif
