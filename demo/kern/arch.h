/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The whole contract between the portable kernel and an architecture.
 *
 * demo/arch/<arch>/ supplies everything in the first part and calls everything in the second.
 * Inline functions live in its arch_cpu.h, the rest in its .c and .S files; nothing else of an
 * architecture is visible to demo/kern.
 *
 * Invariants every architecture keeps:
 *   - kernel memory is mapped at its physical address, so a page's address serves for both;
 *   - the boot CPU is cpus[0] and arch_this_cpu() is valid on a CPU before any C code but its own
 *     start-up runs there, exception handlers included;
 *   - interrupt handlers run with interrupts off, on the stack of the interrupted thread
 *     (non-maskable ones on a stack of their own).
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
 *   struct cpu *arch_this_cpu(void)         this CPU's entry of cpus[]; stale as soon as interrupts are on
 *   uint64_t arch_clock(void)               a counter in step on all CPUs, arch_clock_hz() ticks a second
 *   bool arch_irq_enabled(void)             are interrupts on here
 *   void arch_irq_unmask(void)              turns them on …
 *   void arch_irq_mask(void)                … and off, and tells nobody: arch_irq_enable() and the like do
 *   void arch_relax(void)                   in the body of a busy wait
 *
 *   ARCH_WINDOW_BASE, ARCH_WINDOW_SIZE      a page-aligned range of addresses, at least 1 MiB, that maps
 * nothing at boot; the portable kernel fills it in on page faults
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

/* Turns interrupts off and tells whether they were on; arch_irq_restore puts that back. `place`: whose doing it is. */
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

/* A piece of RAM that nobody uses: not the image, not the boot stack, not firmware's tables. */
struct memory_range {
	uintptr_t base; /* page-aligned */
	size_t size;	/* bytes, a multiple of PAGE_SIZE */
};

/*
 * First call of kmain, boot CPU only: console, traps, interrupt controller, clock frequency. Interrupts
 * stay off.
 */
void arch_init(void);

/*
 * The command line of the boot loader, NUL-terminated, never NULL; valid for ever, from the first
 * instruction of kmain.
 */
const char *arch_boot_args(void);

/* Fills in at most max ranges of free RAM and returns how many there are. At least 16 MiB in sum. */
size_t arch_memory_map(struct memory_range *ranges, size_t max);

/*
 * Console: polled, usable at any time after arch_init; the caller serialises. getc returns -1 if nothing
 * was typed.
 */
void arch_console_putc(char c);
int arch_console_getc(void);

/* Number of CPUs of the machine, the boot CPU included; may exceed CPU_MAX. */
unsigned arch_cpu_count(void);

/*
 * Starts cpus[n]: fills in hardware_id, sends it to its entry code, which sets this CPU up as arch_init did
 * for the boot CPU and then calls cpu_main on cpu->idle's stack, interrupts off. Returns without waiting;
 * false if the machine refused. The caller waits for cpu->online before it starts another, so that a static
 * variable may carry the new CPU's cpu and stack to the entry code.
 */
bool arch_cpu_start(struct cpu *cpu);

/* Starts this CPU's periodic timer: from now on interrupt(IRQ_TIMER, …) TICK_HZ times a second. */
void arch_timer_start(void);

/* Stops it, until arch_timer_start. */
void arch_timer_stop(void);

/* Rate of arch_clock(); right after arch_init, and never 0. */
uint64_t arch_clock_hz(void);

/*
 * Interrupts another CPU (or this one): interrupt(IRQ_IPI, …) runs there. What is wanted is in
 * cpu->ipi_pending.
 */
void arch_ipi_send(const struct cpu *cpu);

/*
 * Interrupts that CPU (or this one) by another number: interrupt(IRQ_DOORBELL, …) runs there. Other than the
 * timer and IPIs this one is not over for the controller until arch_doorbell_end() is called there; until then the
 * CPU gets no interrupt of that or a lower rank. (RISC-V's software interrupts have no controller that waits for that.)
 */
void arch_doorbell_ring(const struct cpu *cpu);
void arch_doorbell_end(void);

/* Raises a non-maskable interrupt there: nmi() runs. False if the architecture has none. */
bool arch_nmi_send(const struct cpu *cpu);

/*
 * Called with interrupts off when nothing can run. Waits for an interrupt (one already pending counts), lets
 * it be taken, and returns with interrupts off.
 */
void arch_idle(void);

/* Stops this CPU for good, interrupts off. */
_Noreturn void arch_halt(void);

/* Ends the machine with an exit status (0 to 127), where the machine has a way to say one. */
_Noreturn void arch_exit(int status);

/* Resets the machine the hard way: a triple fault on x86, the platform's reset elsewhere. */
_Noreturn void arch_reset(void);

/*
 * Saves the callee-saved registers on this stack, its pointer in *save, and goes on with the stack pointer
 * that an earlier arch_switch or arch_thread_frame left. Interrupts are off.
 */
void arch_switch(uintptr_t *save, uintptr_t next);

/* Prepares a stack such that arch_switch to the returned stack pointer calls entry, which never returns. */
uintptr_t arch_thread_frame(void *stack_top, void (*entry)(void));

/*
 * Maps one page of the window to a page of RAM, or takes the mapping away, for all CPUs but with no care
 * for what other CPUs have cached: the caller does that, by arch_tlb_flush on each. Tables come from
 * page_alloc (page.h) and stay. The caller serialises. map returns false if there was no memory; unmap
 * returns the page that was mapped, 0 if none was.
 */
bool arch_is_mapped(uintptr_t address);
bool arch_map(uintptr_t address, uintptr_t page);
uintptr_t arch_unmap(uintptr_t address);
void arch_tlb_flush(uintptr_t address);

/*
 * The transport of that name (ktrace/transport.h) for a device of this machine; NULL if there is none of it.
 * The path is for those that write a file of the host.
 */
struct ktrace_transport *arch_transport(const char *name, const char *path);

/*
 * Makes the nth of what traces branches in CPUs like this one, to be looked for by ktrace_hwt_add(); NULL: ktrace knows of no
 * more. Its interrupt goes to ktrace_hwt_interrupt(), and then to interrupt(IRQ_TRACE_UNIT, …). Once for each n.
 */
#define ARCH_TRACE_UNITS_MAX 2
struct ktrace_hwt_backend *arch_trace_unit(unsigned n);

/* The linker script: the ELF note with the build id, nothing between the two if there is none. */
extern const char build_id_note[], build_id_note_end[];

/* ---- Called by the architecture ---------------------------------------------------------------- */

/* The boot CPU's C entry, on the boot stack, interrupts off. */
_Noreturn void kmain(void);

/* Every other CPU's. */
_Noreturn void cpu_main(void);

enum irq {
	IRQ_TIMER,
	IRQ_IPI,
	IRQ_SPURIOUS,
	IRQ_NMI, /* goes to nmi() */
	IRQ_DOORBELL,
	IRQ_TRACE_UNIT,
};

/* The controller has been told that this interrupt is over; before interrupt(), which may not return for long. */
void interrupt_ended(enum irq irq);

/*
 * An interrupt was taken at instruction ip and, but for IRQ_DOORBELL, is over for the controller. Interrupts are off
 * and stay off; may switch to another thread and so return late, on the same stack and perhaps another CPU.
 */
void interrupt(enum irq irq, uintptr_t ip);

/* A non-maskable interrupt: any context, own stack; takes no lock and never switches. */
void nmi(uintptr_t ip);

enum fault_flags {
	FAULT_PRESENT = 1, /* the page is mapped, the access is not allowed */
	FAULT_WRITE = 2,
	FAULT_EXECUTE = 4,
};

/*
 * A page fault at instruction ip, interrupts off. Returns when the access may be tried again; else panics. If there is no
 * instruction (FAULT_EXECUTE), `caller` is where a call that led there returns to.
 */
void page_fault(uintptr_t address, uintptr_t ip, unsigned flags, uintptr_t caller);

/* Any other exception is fatal: panic("…"), see panic.h. */

#endif
