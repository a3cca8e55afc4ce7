/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The trace unit in software (ktrx/hwt_unit.h): a plugin of QEMU that tells which branches a guest's CPUs take, to the guest
 * itself or into a file.
 */
#ifndef CAPTURE_TRACE_UNIT_H
#define CAPTURE_TRACE_UNIT_H

#include <limits.h>

#include "qemu_line.h"
#include "transport.h"

struct capture_trace_unit {
	char plugin[PATH_MAX]; /* "": there is to be none */
	char out[PATH_MAX];    /* the branches of all CPUs; "": only what the guest asks for */
	uint64_t ring_bytes;   /* that a CPU has in it; 0: the unit's own choice */
	uint64_t begin, end;   /* only code of [begin, end); both 0: all */
};

/*
 * Looks for the plugin beside the program `self`, absolute. `out` is made absolute; what lay there is from before and goes.
 * NULL: no file. 0, CAPTURE_E_USAGE: there is no plugin, or CAPTURE_E_SYSTEM.
 */
int capture_trace_unit_find(struct capture_trace_unit *unit, const char *self, const char *out);

/*
 * What the command line needs for it. `ram` is the file behind the guest's RAM, "" if there is none: then the guest cannot
 * drive the unit. 0 or CAPTURE_E_USAGE: not with this architecture.
 */
int capture_trace_unit_add(const struct capture_trace_unit *unit, struct capture_words *words,
			   const char *architecture, const char *ram);

/* 0, or CAPTURE_E_USAGE: that accelerator runs guests without QEMU seeing their code. "": QEMU's default. */
int capture_trace_unit_check(const char *accelerator);

#endif
