/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The complete interface between the portable kernel and an architecture.
 *
 * demo/arch/<arch>/ implements everything in the first part and calls everything in the second. Inline
 * functions are in its arch_cpu.h, the rest in its .c and .S files. demo/kern uses nothing else of an
 * architecture.
 *
 * Every architecture guarantees:
 *   - kernel memory is mapped at its physical address, so a page has one address for both;
 *   - the boot CPU is cpus[0];
 *   - arch_this_cpu() is valid in all C code on a CPU, also in exception handlers, but perhaps not in the
 *     CPU's own start-up code;
 *   - interrupt handlers run with interrupts off, on the stack of the interrupted thread (non-maskable ones
 *     on a stack of their own).
 */
#ifndef DEMO_ARCH_H
#define DEMO_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktrace/hooks.h>

#define TICK_HZ	  100
#define PAGE_SIZE 4096

struct cpu;
struct thread;
struct ktrace_transport;

/*
 * arch_cpu.h defines, as static inline functions or macros:
 *
 *   struct cpu *arch_this_cpu(void)     this CPU's entry of cpus[]; may be stale as soon as interrupts are on
 *   uint64_t arch_clock(void)           a counter, the same on all CPUs; arch_clock_hz() is its frequency
 *   bool arch_irq_enabled(void)         true if this CPU has interrupts on
 *   void arch_irq_unmask(void)          turns interrupts on without a report to the tracer; arch_irq_enable()
 *                                       makes a report
 *   void arch_irq_mask(void)            turns interrupts off without a report; arch_irq_disable() makes one
 *   void arch_relax(void)               to be called in the body of a busy wait
 *
 *   ARCH_WINDOW_BASE, ARCH_WINDOW_SIZE  a page-aligned address range, at least 1 MiB, with nothing mapped at
 *                                       boot; the portable kernel maps its pages on page faults
 */
#include "arch_cpu.h"

static inline void arch_irq_enable(void)
{
	ktrace_interrupts(1);
	arch_irq_unmask();
}

static inline void arch_irq_disable(void)
{
	arch_irq_mask();
	ktrace_interrupts(0);
}

/*
 * Turns interrupts off. Returns true if they were on; pass the result to arch_irq_restore. `place` is
 * reported to the tracer as the code that turned them off.
 */
static inline bool arch_irq_save_at(uintptr_t place)
{
	bool on = arch_irq_enabled();

	arch_irq_mask();
	if (on)
		ktrace_interrupts_at(0, place);
	return on;
}

static inline bool arch_irq_save(void)
{
	bool on = arch_irq_enabled();

	arch_irq_mask();
	if (on)
		ktrace_interrupts(0);
	return on;
}

static inline void arch_irq_restore(bool on)
{
	if (on)
		arch_irq_enable();
}

/* ---- Supplied by the architecture -------------------------------------------------------------- */

/* A range of unused RAM. It does not contain the kernel image, the boot stack or firmware tables. */
struct memory_range {
	uintptr_t base; /* address of the range, page-aligned */
	size_t size;	/* size in bytes, a multiple of PAGE_SIZE */
};

/*
 * Initializes console, traps, interrupt controller and clock frequency. Interrupts remain off. Called only on
 * the boot CPU, by kmain, as its first call.
 */
void arch_init(void);

/*
 * Returns the boot loader's command line, NUL-terminated, never NULL. May be called from the first
 * instruction of kmain on; the string remains valid.
 */
const char *arch_boot_args(void);

/* Stores ranges of free RAM, at most `max`, and returns their number. Their total size is at least 16 MiB. */
size_t arch_memory_map(struct memory_range *ranges, size_t max);

/*
 * Console, without interrupts. Usable in any context after arch_init, but the caller must serialize the
 * calls. getc returns -1 if no character is waiting.
 */
void arch_console_putc(char c);
int arch_console_getc(void);

/* Returns the number of CPUs of the machine, including the boot CPU. May exceed CPU_MAX. */
unsigned arch_cpu_count(void);

/*
 * Starts a CPU: fills in cpu->hardware_id and makes the CPU run its entry code. The entry code initializes
 * the CPU, as arch_init does for the boot CPU, and calls cpu_main on the stack of cpu->idle with interrupts
 * off. Returns true without waiting for that, or false if the machine refuses to start the CPU. The caller
 * waits for cpu->online before it starts another CPU, so the implementation may use static variables to pass
 * the CPU's area and stack to the entry code.
 */
bool arch_cpu_start(struct cpu *cpu);

/* Starts this CPU's periodic timer, which calls interrupt(IRQ_TIMER, …) TICK_HZ times per second. */
void arch_timer_start(void);

/* Stops this CPU's timer, until arch_timer_start. */
void arch_timer_stop(void);

/* Returns the frequency of arch_clock(), never 0. Requires: arch_init has returned. */
uint64_t arch_clock_hz(void);

/*
 * Interrupts a CPU, which may be this one: interrupt(IRQ_IPI, …) runs there. The caller has set the reasons
 * in cpu->ipi_pending.
 */
void arch_ipi_send(const struct cpu *cpu);

/*
 * Interrupts a CPU, which may be this one, with a second vector: interrupt(IRQ_DOORBELL, …) runs there.
 * Unlike the timer and IPIs, this interrupt stays active in the controller until that CPU calls
 * arch_doorbell_end(). Until then that CPU gets no interrupt of the same or a lower priority. On RISC-V,
 * arch_doorbell_end() does nothing, and interrupts are not held back.
 */
void arch_doorbell_ring(const struct cpu *cpu);
void arch_doorbell_end(void);

/*
 * Sends a non-maskable interrupt to a CPU: nmi() runs there. Returns false if the architecture has no such
 * interrupt.
 */
bool arch_nmi_send(const struct cpu *cpu);

/*
 * Waits for an interrupt, handles it, and returns with interrupts off. Does not wait if an interrupt is
 * already pending. Requires: interrupts off, and no thread is runnable on this CPU.
 */
void arch_idle(void);

/* Stops this CPU for ever, with interrupts off. */
_Noreturn void arch_halt(void);

/* Ends the machine. Passes the exit status (0 to 127) to the host if the machine can do this. */
_Noreturn void arch_exit(int status);

/*
 * Resets the machine: by a triple fault on x86, by the machine's reset device or firmware on other
 * architectures.
 */
_Noreturn void arch_reset(void);

/*
 * Saves the callee-saved registers on the current stack, and the stack pointer in *save. Then continues on
 * the stack of another thread. `next` is that thread's stack pointer: the value that arch_switch saved for
 * it, or that arch_thread_frame returned. Requires: interrupts off.
 */
void arch_switch(uintptr_t *save, uintptr_t next);

/*
 * Prepares a thread's stack and returns its stack pointer. An arch_switch to this stack pointer calls
 * `entry`, which must not return.
 */
uintptr_t arch_thread_frame(void *stack_top, void (*entry)(void));

/*
 * arch_map maps a page of the window to a page of RAM, for all CPUs, and returns false if there is no memory.
 * arch_unmap removes the mapping and returns the page that was mapped, or 0. Neither function flushes the
 * TLBs of other CPUs: the caller must run arch_tlb_flush on each CPU. Page tables come from page_alloc
 * (page.h) and are never freed. The caller serializes the calls.
 */
bool arch_is_mapped(uintptr_t address);
bool arch_map(uintptr_t address, uintptr_t page);
uintptr_t arch_unmap(uintptr_t address);
void arch_tlb_flush(uintptr_t address);

/*
 * Returns ktrace's transport with that name (ktrace/transport.h), using a device of this machine, or NULL if
 * there is none. `path` is for transports that write a file of the host.
 */
struct ktrace_transport *arch_transport(const char *name, const char *path);

/*
 * Creates the nth driver for hardware that traces branches in this type of CPU. ktrace_hwt_add() then checks
 * whether the hardware exists. Returns NULL if ktrace has no more drivers. The interrupt of the hardware goes
 * to ktrace_hwt_interrupt() and then to interrupt(IRQ_TRACE_UNIT, …). May be called once for each n.
 */
#define ARCH_TRACE_UNITS_MAX 2
struct ktrace_hwt_backend *arch_trace_unit(unsigned n);

/* From the linker script: the ELF note with the build id. If there is no note, both addresses are equal. */
extern const char build_id_note[], build_id_note_end[];

/* ---- Called by the architecture ---------------------------------------------------------------- */

/*
 * The first function of the portable kernel on the boot CPU. Called on the boot stack, with interrupts off.
 */
_Noreturn void kmain(void);

/* The first function of the portable kernel on each other CPU. */
_Noreturn void cpu_main(void);

enum irq {
	IRQ_TIMER,
	IRQ_IPI,
	IRQ_SPURIOUS,
	IRQ_NMI, /* the architecture calls nmi() */
	IRQ_DOORBELL,
	IRQ_TRACE_UNIT,
};

/*
 * Reports to the tracer that this CPU has acknowledged the interrupt to the controller. Called before
 * interrupt(), because interrupt() may switch threads and return much later.
 */
void interrupt_ended(enum irq irq);

/*
 * Handles an interrupt that was taken at instruction ip. The architecture has already acknowledged the
 * interrupt to the controller, except IRQ_DOORBELL. Requires: interrupts off; they are off on return as well.
 * May switch to another thread, and then returns much later, on the same stack but perhaps on another CPU.
 */
void interrupt(enum irq irq, uintptr_t ip);

/*
 * Handles a non-maskable interrupt, in any context and on a separate stack. Takes no lock and never switches
 * threads.
 */
void nmi(uintptr_t ip);

enum fault_flags {
	FAULT_PRESENT = 1, /* the page is mapped, but does not allow the access */
	FAULT_WRITE = 2,
	FAULT_EXECUTE = 4,
};

/*
 * Handles a page fault at instruction ip. Returns if the instruction can be repeated; otherwise panics.
 * Requires: interrupts off. If the fetch of the instruction failed (FAULT_EXECUTE), `caller` is the return
 * address of the call that led there.
 */
void page_fault(uintptr_t address, uintptr_t ip, unsigned flags, uintptr_t caller);

/* Every other exception is fatal: the architecture calls panic("…"), see panic.h. */

#endif
