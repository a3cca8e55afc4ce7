/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sizes and options that are fixed when a kernel is built. Define them in ktrace_port.h or on the command
 * line, with the same value for every file.
 */
#ifndef KTRACE_CONFIG_H
#define KTRACE_CONFIG_H

/*
 * The maximum number of CPUs that can have their own ring: 1 to 4096. Each CPU costs 128 bytes in .data. CPUs
 * with a higher number record into the boot ring.
 */
#ifndef KTRACE_MAX_CPUS
#define KTRACE_MAX_CPUS 64
#endif

/*
 * Number of slots of the static boot ring, which is used until ktrace_init(): a power of two, at least 512.
 * Each slot is 32 bytes in .data.
 */
#ifndef KTRACE_BOOT_SLOTS
#define KTRACE_BOOT_SLOTS 2048
#endif

/*
 * The maximum number of bytes of a string field in a record: 1 to 200. A longer string is cut, and a bit in
 * the record shows this.
 */
#ifndef KTRACE_STRING_MAX
#define KTRACE_STRING_MAX 64
#endif

/* The maximum number of physically contiguous pieces of memory that ktrace_init() can use. */
#ifndef KTRACE_MAX_BLOCKS
#define KTRACE_MAX_BLOCKS 16
#endif

/*
 * 1 if the kernel is compiled with frame pointers (-fno-omit-frame-pointer). Then events can record their
 * callers, and ktrace_backtrace() works.
 * Requires: assembler entry code sets the frame pointer to 0, or the port defines ktrace_arch_stack_end().
 */
#ifndef KTRACE_FRAME_POINTERS
#define KTRACE_FRAME_POINTERS 0
#endif

/*
 * The maximum distance in bytes from one stack frame to the next. ktrace_backtrace() stops at a longer
 * distance if the port does not know the end of the stack.
 */
#ifndef KTRACE_STACK_REACH
#define KTRACE_STACK_REACH 4096
#endif

/* 0: the hooks of ktrace/hooks.h generate no code. That is the default if KTRACE_DISABLE is set. */
#ifndef KTRACE_STATE
#if defined(KTRACE_DISABLE) && KTRACE_DISABLE
#define KTRACE_STATE 0
#else
#define KTRACE_STATE 1
#endif
#endif

/*
 * 0: leaves out the settings debug.ktr.<group>_enable and debug.ktr.<group>.<event>_mask of DragonFly's KTR.
 * Events can still be enabled and disabled by name, with ktrace_control() or from the host.
 */
#ifndef KTRACE_MASKS
#define KTRACE_MASKS 1
#endif

#if KTRACE_MAX_CPUS < 1 || KTRACE_MAX_CPUS > 4096
#error "KTRACE_MAX_CPUS must be 1 to 4096"
#endif
#if KTRACE_BOOT_SLOTS < 512 || (KTRACE_BOOT_SLOTS & (KTRACE_BOOT_SLOTS - 1)) != 0
#error "KTRACE_BOOT_SLOTS must be a power of two and at least 512"
#endif
#if KTRACE_STRING_MAX < 1 || KTRACE_STRING_MAX > 200
#error "KTRACE_STRING_MAX must be 1 to 200"
#endif

#endif
