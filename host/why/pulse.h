/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What several detectors ask about a CPU: does its heart beat, where is it, and whose code is that? */
#ifndef WHY_PULSE_H
#define WHY_PULSE_H

#include "why/evidence.h"
#include "why/finding.h"

/*
 * Converts milliseconds to ticks. Returns 0 if the trace has no frequency; every wait is at least that long.
 */
uint64_t why_ms(const struct why_evidence *evidence, uint64_t ms);

/* Does the trace tell at all what CPUs and threads do, by hooks or by events that have a meaning? */
bool why_tells(const struct why_evidence *evidence);

/* Once the evidence is complete: what the functions below need to know of all CPUs. */
void why_pulse_settle(struct why_evidence *evidence);

/* A machine is taken to stand still if a host that watches it sees nothing for this long. */
#define WHY_STANDS_MS 900u

/* Does the trace record wakeups that met no thread: is sched.wake_nobody declared, and switched on? */
bool why_tells_nobody(const struct why_evidence *evidence);

/* No slots are lost behind `stamp`, on any CPU. */
bool why_is_whole_since(const struct why_evidence *evidence, uint64_t stamp);

/*
 * Ticks from a CPU's last heartbeat, or its last sign of life if it never beat, to the end of what is known.
 */
uint64_t why_silence(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Has its heartbeat stopped, WHY_STOPPED_MS ago or more, or never begun although others did? Also true for
 * all CPUs if the host saw the whole machine stand still; never if the kernel ended, panicked or was reset. A
 * CPU that stops its tick while it idles has stopped, too.
 */
#define WHY_STOPPED_MS 250u
bool why_has_stopped(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Has the thread faulted in the handler of a fault, and in that of this one, and so on, in the kernel? */
bool why_nests_faults(const struct why_evidence *evidence, const struct why_thread *thread);

/*
 * Has the stack of the thread that runs on the CPU overflowed: is the stack pointer known, and below it? A
 * pointer far below may be in another stack; it counts only if faults nest without end, as each takes more
 * stack.
 */
bool why_left_stack(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    const struct why_thread *thread);

/* Is it online, or has at least left events? */
bool why_is_there(const struct why_cpu *cpu);

/* The thread that runs there, NULL if unknown. */
const struct why_thread *why_runs(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Does it run a thread that is there to work, rather than to idle? */
bool why_runs_work(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Is the lock among those that a row names as held? */
bool why_holds_lock(const struct ktrx_holder *holder, uint64_t lock);

/* Has it ended, unseen: the kernel has rows for its threads, and none for this one? */
bool why_is_gone(const struct why_evidence *evidence, const struct why_thread *thread);

/* Did the kernel itself report that all work is done? Then a thread that no longer runs does not hang. */
bool why_ended_well(const struct why_evidence *evidence);

/*
 * Do the lengths of waits prove nothing? True if the kernel reported that all was done, panicked or was
 * reset, if the newest events are not in the file, or if the clock's frequency is unknown.
 */
bool why_waits_mean_nothing(const struct why_evidence *evidence);

/*
 * Does the thread idle on that CPU? True for an idle thread. Also true if the CPU's mode is idle and the
 * thread has run there since before that mode was set, or has no row and the CPU has not switched yet.
 */
bool why_rests_on(const struct why_evidence *evidence, const struct why_thread *thread, uint32_t cpu);

/*
 * Has it nothing to do? A CPU whose idle thread runs and that does not say that it idles, though others do,
 * is still starting, as many kernels start on what becomes the idle thread; and so are all as long as none
 * has switched threads.
 */
bool why_idles(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Whether the CPU idles and runs no thread but an idle one. */
bool why_is_at_rest(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Has it said that it idles, and switched to a thread that works since, without setting another mode? */
bool why_idle_is_stale(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Does the CPU wait for a lock or for another CPU's answer, running? */
bool why_spins_for_something(const struct why_cpu *cpu);

/* Does a CPU that is there do something else than to idle and to wait for locks and answers? */
bool why_somebody_works(const struct why_evidence *evidence);

/* What is known of interrupts of the newest one's number; NULL: nothing. */
const struct why_irq_kind *why_newest_kind(const struct why_interrupts *interrupts);

/* Was an interrupt, the newest one there, left without a word to the controller, which is told otherwise? */
bool why_owes_end(const struct why_cpu *cpu);

/* Places where one thread was interrupted. */
struct why_places {
	uint32_t count;
	uint64_t lowest, highest;
	uint64_t newest;
};
/*
 * In thread context, later than `since`: by the events of all CPUs, else by the samples of the heartbeats of
 * `cpu`, on which it runs.
 */
void why_places_of(const struct why_evidence *evidence, const struct why_cpu *cpu, uint32_t thread,
		   uint64_t since, struct why_places *places);
/* Do they lie in one function, or, where names are not known, close together? */
bool why_places_are_one(const struct why_evidence *evidence, const struct why_places *places);

/* "the last heartbeat of CPU 1 was 2.41 s ago" */
const char *why_say_beat(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			 size_t size);
/* "thread 5 (make)": what a CPU runs, or that it is not known. */
const char *why_say_running(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			    size_t size);
/* "interrupt 4 (doorbell)"; the name is the guest's. */
const char *why_say_irq(uint32_t number, const char *name, char *buffer, size_t size);

/*
 * Whose code is it: the kernel's or a program's? What the CPU and the kernel say of it comes before the
 * address.
 */

struct why_places;

enum why_side { WHY_SIDE_UNKNOWN, WHY_SIDE_KERNEL, WHY_SIDE_USER };

/*
 * Once the evidence is complete: in which half of the address space the kernel runs, and whether there are
 * programs.
 */
void why_side_settle(struct why_evidence *evidence);

/*
 * By the address alone. The upper half of the address space is the kernel's. In a kernel that runs there, the
 * lower half is the programs', but for code that started the kernel, of which it is not known. In a kernel
 * that runs in the lower half its file decides, and an address outside the kernel is a program's only if user
 * mode was seen.
 */
enum why_side why_side_of(const struct why_evidence *evidence, uint64_t pc);

/* Where a CPU stands by its registers: by its privilege level where they have it, else by the address. */
enum why_side why_side_of_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Of places where a thread that runs on that CPU was interrupted, all of them later than `since`: by the
 * CPU's registers if it still stands there, else by the mode that the kernel has set, else by the addresses.
 * Unknown where they contradict each other.
 */
enum why_side why_side_of_places(const struct why_evidence *evidence, const struct why_cpu *cpu,
				 const struct why_places *places, uint64_t since);

/* May the address be given a name of the kernel's file? Not if it is a program's. */
bool why_side_has_name(const struct why_evidence *evidence, uint64_t address);

/*
 * CPUs that wait until another CPU, or all others, have answered an interrupt (ktrace_ipi_wait): for how
 * long, whose answers are missing, and what keeps them.
 */

/* Does the CPU wait for an answer? */
bool why_asks(const struct why_cpu *cpu);

/* Does it wait for the answer of that CPU, which has not answered since? */
bool why_asks_for(const struct why_cpu *asker, const struct why_cpu *asked);

/* "CPU 0 has waited 2.31 s for CPU 1 to answer IPI request 2, at flush+0x31 (tlb.c:88)" */
const char *why_say_asks(const struct why_evidence *evidence, const struct why_cpu *asker, char *buffer,
			 size_t size);

/* "CPU 1 has not answered: it disabled interrupts about 2.40 s ago, at spin+0x10 (disk.c:20), and has …" */
const char *why_say_owes(const struct why_evidence *evidence, const struct why_cpu *asked, char *buffer,
			 size_t size);

/* A line for each CPU that has waited for an answer of `asked` for 10 ms and more. */
void why_finding_askers(struct why_finding *finding, const struct why_evidence *evidence,
			const struct why_cpu *asked);

#endif
