/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The port: the functions that ktrace needs from the machine and from the kernel.
 *
 * Each hook is an inline function and a macro of the same name, which marks it as defined. The kernel's own
 * ktrace_port.h is included first, if it is on the include path. Then kernel/arch/<arch>/ktrace_arch.h adds
 * what the CPU provides, and kernel/arch/generic/ defines the rest. A kernel overrides a hook by defining it
 * in ktrace_port.h; none is required.
 *
 * Every file of ktrace and every file with an event includes ktrace_port.h: it should define few names.
 *
 * Before ktrace_init() ktrace calls only these hooks: clock, frequency, early CPU number, pin, unpin,
 * barriers and atomics. Afterwards all hooks may be called in any context (interrupts, NMI, preemptible
 * threads) on a CPU whose per-CPU area is valid. Code that runs while that area is not valid (a starting
 * CPU, an entry before swapgs) must use KTRACE_EARLY().
 *
 *   uint64_t ktrace_arch_clock(void)
 *         Returns a counter. It should be synchronised between CPUs; if it is not, see ktrace/clock.h. It
 *         need not be ordered against loads.
 *   uint64_t ktrace_arch_frequency(void)
 *         Returns the ticks per second of that counter, 0 while unknown.
 *   uint32_t ktrace_arch_cpu(void)
 *         Returns the number of this CPU, 0 to n - 1. A CPU with a number of KTRACE_MAX_CPUS or more records
 *         into the boot ring.
 *   uint32_t ktrace_arch_early_cpu(void)
 *         Does the same for KTRACE_EARLY() and before ktrace_init().
 *   uint32_t ktrace_arch_thread(void)
 *         Returns the thread id (22 bits) | KTRX_CONTEXT_* << 22.
 *   uint64_t *ktrace_arch_reserve_word(void)
 *         Returns this CPU's reserve word: 8 bytes in the kernel's per-CPU area, zero at boot.
 *   uint64_t ktrace_arch_reserve(uint64_t n)
 *         Adds n to that word and returns its previous value. Must be atomic against interrupts, and against
 *         other CPUs if the thread can migrate during the addition.
 *   uint64_t ktrace_arch_reserve_read(void)
 *         Returns the current value of that word.
 *   struct ktrx_ring *ktrace_arch_ring(uint64_t word)
 *         Returns the ring in which ktrace_arch_reserve() reserved; `word` is what that call returned. A port
 *         on which the thread cannot migrate between the two calls may ignore `word`. Rings are entries of
 *         ktrace_ring[]; entry 0 is for a CPU that is not online.
 *   void ktrace_arch_online(uint32_t ring)
 *         Called by ktrace_cpu_online(): this CPU uses that entry of ktrace_ring[] from now on.
 *   unsigned long ktrace_arch_pin(void)
 *         Keeps the thread on this CPU until ktrace_arch_unpin().
 *   void ktrace_arch_unpin(unsigned long)
 *         Allows the thread to migrate again. The argument is the result of ktrace_arch_pin().
 *   uintptr_t ktrace_arch_stack_end(uintptr_t here)
 *         Returns the end of the stack that contains the address `here`; 0 if unknown. It keeps backtraces on
 *         the stack.
 *   KTRACE_PORT_TICK_CLOCK
 *         For a machine without a counter: define it as the heartbeats per second. Then the number of
 *         heartbeats of CPU 0 is the clock.
 *   KTRACE_PORT_PINNED
 *         If defined, writers do not count in `lapped` that they were delayed by a whole lap. For ports on
 *         which that is rare, because threads are pinned while they record. Readers show the same records
 *         with and without this macro.
 *
 * These depend on the CPU only:
 *
 *   void ktrace_arch_store_barrier(void)
 *         Orders stores: earlier ones become visible before later ones.
 *   void ktrace_arch_clock_fence(void)
 *         Orders reads of the clock against the instructions before and after. Used to compare clocks, not in
 *         the record path.
 *   void ktrace_arch_publish(uint64_t *, uint64_t)
 *         Stores with release semantics: the store becomes visible after all earlier stores.
 *   uint64_t ktrace_arch_fetch_add(uint64_t *, uint64_t)
 *         Adds atomically against all CPUs. Must work with the MMU off.
 *   int ktrace_arch_compare_swap(uint64_t *, uint64_t expected, uint64_t desired)
 *         Compares and swaps; returns nonzero if it swapped. fetch_add, compare_swap and reserve need no
 *         memory order (relaxed): ktrace uses the barrier and publish where order matters.
 *   void ktrace_arch_frame(uintptr_t frame, uintptr_t *next, uintptr_t *address)
 *         Reads the stack frame at this frame pointer: the caller's frame pointer and the return address (0:
 *         none). Reads two machine words, KTRACE_ARCH_FRAME_OFFSET bytes from `frame`.
 *   KTRACE_ARCH_MACHINE
 *         e_machine of the kernel's ELF file. The host rejects symbols from a file of another machine. 0: not
 *         compared.
 *   KTRACE_ARCH_ADDRESS, KTRACE_ARCH_NUMBER
 *         For KTRACE_TEXT in g++: doc/cplusplus.md.
 *   KTRACE_ARCH_UNALIGNED
 *         1 if unaligned stores are always safe and cost nothing.
 */
#ifndef KTRACE_INCLUDE_PORT_H
#define KTRACE_INCLUDE_PORT_H

#include <stdint.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "ktrace/compiler.h"

KTRACE_BEGIN_C
/*
 * The rings: entry 0 is the boot ring, entry n the ring of CPU n - 1. One spare entry follows the entry of
 * the last CPU: CPUs with a number of KTRACE_MAX_CPUS or more use its reserve word.
 */
extern KTRACE_HIDDEN struct ktrx_ring ktrace_ring[] KTRACE_PORT_NAME(ktrace_ring);
KTRACE_END_C

#if __has_include("ktrace_port.h")
#include "ktrace_port.h"
#endif
#include "ktrace/config.h"

KTRX_CASTS_BEGIN

/*
 * The clock of a machine without a counter: the number of heartbeats of CPU 0. Events within one tick have
 * the same timestamp, and are ordered only within each CPU. The port defines KTRACE_PORT_TICK_CLOCK as ticks
 * per second.
 */
#ifdef KTRACE_PORT_TICK_CLOCK
KTRACE_BEGIN_C

/* Number of heartbeats of CPU 0. Only CPU 0 writes it, in ktrace_heartbeat(). */
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

/*
 * scripts/single.sh joins all of ktrace into one file, and defines KTRACE_SINGLE there. That file already
 * contains the header of the CPU.
 */
#if defined(KTRACE_SINGLE) || __has_include("ktrace_arch.h")
#include "ktrace_arch.h"
#else
#error "ktrace: put kernel/arch/x86_64, aarch64 or riscv64 on the include path; generic for another CPU"
#endif

KTRX_CASTS_END

#endif
