/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Who called whom up to here. By frame pointers: a kernel that is compiled with them
 * (-fno-omit-frame-pointer) says so with KTRACE_FRAME_POINTERS, see config.h. The same walk finds the callers
 * that events record.
 */
#ifndef KTRACE_BACKTRACE_H
#define KTRACE_BACKTRACE_H

#include <stdint.h>

#include "ktrace/compiler.h"

KTRACE_BEGIN_C

/* Was it compiled in? */
int ktrace_has_backtrace(void);

/*
 * Return addresses, nearest first, at most `most`: the first one lies in the function that calls this, the
 * next in its caller. Returns how many; 0 where it was not compiled in. Any context; nothing but the current
 * stack is read.
 */
uint32_t ktrace_backtrace(uintptr_t *addresses, uint32_t most);

KTRACE_END_C

#endif
