/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sizes fixed when a kernel is built. Define them on the command line, the same for every file, or in
 * ktrace_port.h.
 */
#ifndef KTRACE_CONFIG_H
#define KTRACE_CONFIG_H

/*
 * Most CPUs that can have a ring of their own; 128 bytes each in .data. 1 to 4096. CPUs with a higher number
 * record on the boot ring.
 */
#ifndef KTRACE_MAX_CPUS
#define KTRACE_MAX_CPUS 64
#endif

/*
 * Slots of the static ring that serves until ktrace_init(); 32 bytes each in .data. A power of two, at least
 * 512.
 */
#ifndef KTRACE_BOOT_SLOTS
#define KTRACE_BOOT_SLOTS 2048
#endif

/* Bytes kept of a string field; the rest is cut and marked as cut. 1 to 200. */
#ifndef KTRACE_STRING_MAX
#define KTRACE_STRING_MAX 64
#endif

/* Most physically contiguous pieces of memory that ktrace_init() can make use of. */
#ifndef KTRACE_MAX_BLOCKS
#define KTRACE_MAX_BLOCKS 16
#endif

/*
 * 1: the kernel is compiled with frame pointers (-fno-omit-frame-pointer), so that events can record their
 * callers and ktrace_backtrace() works. Entries from assembler code set the frame pointer to 0, or
 * ktrace_arch_stack_end() says where stacks end.
 */
#ifndef KTRACE_FRAME_POINTERS
#define KTRACE_FRAME_POINTERS 0
#endif

/* Bytes from one frame to the next, at most, where the port does not know the stack's end. */
#ifndef KTRACE_STACK_REACH
#define KTRACE_STACK_REACH 4096
#endif

/* 0: the hooks of ktrace/hooks.h leave no code, as where events leave none. */
#ifndef KTRACE_STATE
#if defined(KTRACE_DISABLE) && KTRACE_DISABLE
#define KTRACE_STATE 0
#else
#define KTRACE_STATE 1
#endif
#endif

/*
 * 0: the settings debug.ktr.<group>_enable and debug.ktr.<group>.<event>_mask of DragonFly's KTR are left
 * out. Events are switched by debug.ktr and by their names all the same.
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
