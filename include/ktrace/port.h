/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The port: what ktrace asks of the machine and of the kernel around it.
 *
 * Every hook is an inline function with a macro of the same name that says it exists. The kernel's own
 * ktrace_port.h comes first if the include path has one, kernel/arch/<arch>/ktrace_arch.h fills in what the
 * CPU can do, kernel/arch/generic/ the rest. So a kernel overrides any hook by defining it; none is required.
 *
 * ktrace_port.h is read by every file of ktrace and by every file with an event: it should bring few names
 * along.
 *
 * No hook is called before ktrace_init() but the clock and its frequency, the early CPU number, the barriers
 * and the atomics. All may be called in any context afterwards (interrupts, NMI, preemptible threads) on a
 * CPU whose per-CPU area is valid. A context that runs before that (a starting CPU, an entry before swapgs)
 * uses KTRACE_EARLY().
 *
 *   uint64_t ktrace_arch_clock(void)         a counter, best in step on all CPUs (else see ktrace/clock.h);
 *                                            need not be ordered against loads
 *   uint64_t ktrace_arch_frequency(void)     its ticks a second, 0 while unknown
 *   uint32_t ktrace_arch_cpu(void)           this CPU, 0 to n - 1. One that is KTRACE_MAX_CPUS or
 *                                            more records on the boot ring
 *   uint32_t ktrace_arch_early_cpu(void)     the same for KTRACE_EARLY() and before ktrace_init()
 *   uint32_t ktrace_arch_thread(void)        thread id (22 bits) | KTRX_CONTEXT_* << 22
 *   uint64_t *ktrace_arch_reserve_word(void) this CPU's reserve word: 8 zero bytes in the kernel's per-CPU
 *                                            area
 *   uint64_t ktrace_arch_reserve(uint64_t n) adds n to that word, returns it as it was; one atomic step
 *                                            against interrupts, and against other CPUs if a thread can be
 *                                            moved
 *   uint64_t ktrace_arch_reserve_read(void)  that word now
 *   struct ktrx_ring *ktrace_arch_ring(uint64_t word)   the ring that a reservation was made on. A port that
 *                                            cannot be moved between the two may know it without the word:
 *                                            rings are rows of ktrace_ring[], row 0 for a CPU that is not
 *                                            online
 *   void ktrace_arch_online(uint32_t ring)   from ktrace_cpu_online(): this CPU's row from now on
 *   unsigned long ktrace_arch_pin(void)      keeps the thread on this CPU from here …
 *   void ktrace_arch_unpin(unsigned long)    … to here; gets what pin returned
 *   uintptr_t ktrace_arch_stack_end(uintptr_t here)   where the stack ends that `here` is an address of; 0 if
 *                                            unknown. Keeps walks over frames on the stack
 *   KTRACE_PORT_TICK_CLOCK                   defined as heartbeats a second, where the machine has no
 *                                            counter: CPU 0's heartbeats are the clock
 *   KTRACE_PORT_PINNED                       defined: writers do not count in `lapped` that they were held up
 *                                            for a whole lap. For ports where that is rare, because threads
 *                                            are pinned while they record. What readers show is the same with
 *                                            and without it
 *
 * and of the CPU alone:
 *
 *   void ktrace_arch_store_barrier(void)     later stores stay behind earlier ones
 *   void ktrace_arch_clock_fence(void)       the clock is read neither before what stands in front nor after
 *                                            what stands behind; used when clocks are compared, not in
 *                                            records
 *   void ktrace_arch_publish(uint64_t *, uint64_t)   a store that is seen after all stores before it
 *   uint64_t ktrace_arch_fetch_add(uint64_t *, uint64_t)   atomic against all CPUs; works with the MMU off
 *   int ktrace_arch_compare_swap(uint64_t *, uint64_t expected, uint64_t desired)   nonzero if it swapped
 *                                            These two and reserve need no order of their own (relaxed): the
 *                                            barrier and publish stand where order matters
 *   void ktrace_arch_frame(uintptr_t frame, uintptr_t *next, uintptr_t *address)   what a function with this
 *                                            frame pointer keeps: its caller's, and where it returns to (0:
 *                                            it does not). Reads two words, KTRACE_ARCH_FRAME_OFFSET bytes
 *                                            from there
 *   KTRACE_ARCH_MACHINE                      e_machine, as the linker writes it into ELF files: the host
 *                                            refuses names from a file of another machine. 0: not compared
 *   KTRACE_ARCH_ADDRESS, KTRACE_ARCH_NUMBER  for KTRACE_TEXT in g++: doc/cplusplus.md
 *   KTRACE_ARCH_UNALIGNED                    1 if unaligned stores are safe always and cost nothing
 */
#ifndef KTRACE_PORT_H
#define KTRACE_PORT_H

#include <stdint.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "ktrace/compiler.h"

#if !defined(__has_include)
#error "ktrace needs a compiler with __has_include"
#endif

KTRACE_BEGIN_C
/*
 * Ring 0 is the boot ring, ring n CPU n - 1's; behind the last one there is one more row, whose word serves
 * CPUs beyond KTRACE_MAX_CPUS.
 */
extern KTRACE_HIDDEN struct ktrx_ring ktrace_ring[];
KTRACE_END_C

#if __has_include("ktrace_port.h")
#include "ktrace_port.h"
#endif
#include "ktrace/config.h"

KTRX_CASTS_BEGIN

/*
 * The clock of a machine without a counter: how often CPU 0 had its heartbeat. Events of one tick have one
 * stamp, and are in order within each CPU only. The port defines KTRACE_PORT_TICK_CLOCK as ticks a second.
 */
#ifdef KTRACE_PORT_TICK_CLOCK
KTRACE_BEGIN_C

/* Written by CPU 0's ktrace_heartbeat() alone. */
extern KTRACE_HIDDEN uint64_t ktrace_ticks;

#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	return *(volatile uint64_t *)&ktrace_ticks;
}

#define ktrace_arch_frequency ktrace_arch_frequency
static inline uint64_t ktrace_arch_frequency(void)
{
	return KTRACE_PORT_TICK_CLOCK;
}

KTRACE_END_C
#endif

/* KTRACE_SINGLE: all of ktrace is joined to one file (scripts/single.sh), and the CPU's header is in it. */
#if defined(KTRACE_SINGLE) || __has_include("ktrace_arch.h")
#include "ktrace_arch.h"
#else
#error "ktrace: put kernel/arch/x86_64, aarch64 or riscv64 on the include path; generic for another CPU"
#endif

KTRX_CASTS_END

#endif
