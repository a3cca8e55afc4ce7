/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Questions of several detectors about a CPU: does it have heartbeats, where is it, is that kernel or user
 * code?
 */
#ifndef WHY_PULSE_H
#define WHY_PULSE_H

#include "why/evidence.h"
#include "why/finding.h"

/*
 * Converts milliseconds to ticks. Returns 0 if the trace has no frequency; every wait is at least that long.
 */
uint64_t why_ms(const struct why_evidence *evidence, uint64_t ms);

/*
 * Returns whether the trace shows what CPUs and threads do: hooks were called, or there are well-known
 * events.
 */
bool why_shows_activity(const struct why_evidence *evidence);

/*
 * Sets evidence->longest_silence, which the functions below need. Requires: tables and evidence->end are
 * set.
 */
void why_pulse_settle(struct why_evidence *evidence);

/* A machine counts as stopped if a host that watches it sees nothing for this long. */
#define WHY_SILENT_MS 900u

/* Returns whether sched.wake_nobody was recorded throughout the trace. */
bool why_records_wake_nobody(const struct why_evidence *evidence);

/* Returns whether no CPU lost slots after `stamp`. */
bool why_is_whole_since(const struct why_evidence *evidence, uint64_t stamp);

/* Returns the ticks since the CPU's last heartbeat, or since its newest time stamp if it never had one. */
uint64_t why_silence(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Returns whether the CPU's heartbeat has been missing for WHY_STOPPED_MS or more, or never began although
 * other CPUs had many. Also true for all CPUs if the host saw the whole machine stop. Always false if the
 * kernel ended, panicked or was reset. Also true for a CPU that stops its tick while it idles.
 */
#define WHY_STOPPED_MS 250u
bool why_has_stopped(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Returns whether page faults of the thread nest without end: each came in the handler of the previous one.
 */
bool why_nests_faults(const struct why_evidence *evidence, const struct why_thread *thread);

/*
 * Returns whether the stack of the thread that runs on the CPU has overflowed: the stack pointer is below
 * the stack. A pointer far below it may be in another stack. It counts only if faults nest without end,
 * because each fault takes more stack.
 */
bool why_left_stack(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    const struct why_thread *thread);

/* Returns whether the CPU is online or has recorded events. */
bool why_is_there(const struct why_cpu *cpu);

/* Returns the thread that runs on the CPU, NULL if unknown. */
const struct why_thread *why_runs(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether the CPU runs a thread that is not an idle thread. */
bool why_runs_work(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether the lock is among the held locks of a row. */
bool why_holds_lock(const struct ktrx_holder *holder, uint64_t lock);

/*
 * Returns whether the thread has ended: events show it, or the kernel keeps rows of threads and none for
 * this one.
 */
bool why_is_gone(const struct why_evidence *evidence, const struct why_thread *thread);

/*
 * Returns whether the kernel reported its end with status 0. Then a thread that no longer runs does not
 * hang.
 */
bool why_ended_well(const struct why_evidence *evidence);

/*
 * Returns whether long waits prove nothing: the kernel ended well, panicked or was reset, the newest events
 * are missing in the file, or the clock's frequency is unknown.
 */
bool why_waits_mean_nothing(const struct why_evidence *evidence);

/*
 * Returns whether the thread idles on that CPU. True for an idle thread. Also true if the CPU is in idle
 * mode and the thread has run there since before that mode was set, or if the thread has no row and the CPU
 * has not switched yet.
 */
bool why_idles_on(const struct why_evidence *evidence, const struct why_thread *thread, uint32_t cpu);

/*
 * Returns whether the CPU idles. Many kernels start a CPU on the thread that becomes its idle thread. So a
 * CPU that runs its idle thread is taken to be still starting if it is not in idle mode although other CPUs
 * were, or if no CPU has switched threads yet.
 */
bool why_idles(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether the CPU idles and runs an idle thread or an unknown one. */
bool why_is_in_idle_thread(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether the CPU is in idle mode but has since switched to a thread that is not an idle thread. */
bool why_idle_is_stale(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether the CPU waits for a lock or for another CPU's answer. */
bool why_spins_for_something(const struct why_cpu *cpu);

/* Returns whether some CPU neither idles nor waits for a lock or an answer. */
bool why_any_cpu_works(const struct why_evidence *evidence);

/* Returns the counts for the number of the newest interrupt, NULL if there are none. */
const struct why_irq_kind *why_newest_kind(const struct why_interrupts *interrupts);

/* Returns whether the newest interrupt has returned without an EOI, although the kernel records EOIs. */
bool why_lacks_eoi(const struct why_cpu *cpu);

/* Where one thread was interrupted. */
struct why_places {
	uint32_t count;
	uint64_t lowest, highest;
	uint64_t newest;
};
/*
 * Collects the places in thread context where interrupts after `since` met the thread: from the events of
 * all CPUs, or, if there are none, from the samples of the heartbeats of `cpu`, on which the thread runs.
 */
void why_places_of(const struct why_evidence *evidence, const struct why_cpu *cpu, uint32_t thread,
		   uint64_t since, struct why_places *places);
/* Returns whether the places are in one function or, if names are not known, close together. */
bool why_places_are_one(const struct why_evidence *evidence, const struct why_places *places);

/* "the last heartbeat of CPU 1 was 2.41 s ago" */
const char *why_say_beat(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			 size_t size);
/* Formats the thread that a CPU runs: "thread 5 (make)" or "an unknown thread". */
const char *why_say_running(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			    size_t size);
/* Formats "interrupt 4 (doorbell)"; escapes the name. */
const char *why_say_irq(uint32_t number, const char *name, char *buffer, size_t size);

/*
 * Whether code is the kernel's or a program's. The CPU's privilege level comes first, then the mode that the
 * kernel has set, then the address.
 */

struct why_places;

enum why_side { WHY_SIDE_UNKNOWN, WHY_SIDE_KERNEL, WHY_SIDE_USER };

/* Sets evidence->high and evidence->users. Call it once the rest of the evidence is complete. */
void why_side_settle(struct why_evidence *evidence);

/*
 * Decides by the address alone. The upper half of the address space is the kernel's. If the kernel runs
 * there, the lower half is the programs', except for the kernel's boot code, for which the result is
 * unknown. If the kernel runs in the lower half, its file decides. An address outside the kernel is then a
 * program's only if user mode was seen.
 */
enum why_side why_side_of(const struct why_evidence *evidence, uint64_t pc);

/* Decides for the registers of a CPU: by the privilege level, or by the address if the level is unknown. */
enum why_side why_side_of_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Decides for places where a thread that runs on that CPU was interrupted after `since`: by the CPU's
 * registers if its pc is near the places, otherwise by the mode that the kernel has set and by the
 * addresses. Unknown if these contradict each other.
 */
enum why_side why_side_of_places(const struct why_evidence *evidence, const struct why_cpu *cpu,
				 const struct why_places *places, uint64_t since);

/* Returns whether the address may be named by the kernel's file: not if it may be a program's. */
bool why_side_has_name(const struct why_evidence *evidence, uint64_t address);

/* CPUs that wait until another CPU, or all other CPUs, have answered an IPI (ktrace_ipi_wait()). */

/* Returns whether the CPU waits for an answer. */
bool why_awaits_answer(const struct why_cpu *cpu);

/* Returns whether `asker` waits for the answer of `asked`, which has not answered. */
bool why_awaits_answer_of(const struct why_cpu *asker, const struct why_cpu *asked);

/* "CPU 0 has waited 2.31 s for CPU 1 to answer IPI request 2, at flush+0x31 (tlb.c:88)" */
const char *why_say_awaited_answer(const struct why_evidence *evidence, const struct why_cpu *asker,
				   char *buffer, size_t size);

/* "CPU 1 has not answered: it disabled interrupts about 2.40 s ago, at spin+0x10 (disk.c:20), and has …" */
const char *why_say_missing_answer(const struct why_evidence *evidence, const struct why_cpu *asked,
				   char *buffer, size_t size);

/* Adds a line for each CPU that has waited for an answer of `asked` for 10 ms or more. */
void why_finding_awaited_answer(struct why_finding *finding, const struct why_evidence *evidence,
				const struct why_cpu *asked);

#endif
