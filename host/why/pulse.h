/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions about a CPU that several detectors use: its heartbeats, the thread that it runs, the place where
 * it is, and whether that place is in the kernel or in a program.
 */
#ifndef WHY_PULSE_H
#define WHY_PULSE_H

#include "why/evidence.h"
#include "why/finding.h"

/* time in ms: a thread that announces its sleep may be missing in the queue for at most this time */
#define WHY_QUEUED_MS 100u

/* Converts milliseconds to ticks. Returns 0 if the frequency of the trace is unknown. */
uint64_t why_ms(const struct why_evidence *evidence, uint64_t ms);

/*
 * Returns whether the trace shows what CPUs and threads do. This is so if hooks were called, or if there are
 * well-known events.
 */
bool why_shows_activity(const struct why_evidence *evidence);

/*
 * Corrects the interrupt state of each CPU by its registers, because the kernel may not call the hook
 * wherever it enables or disables interrupts. A CPU counts as "disabled" only if it has also been silent for
 * long.
 */
void why_mask_settle(struct why_evidence *evidence);

/*
 * Sets evidence->longest_silence, which other functions of this file use. Requires: the tables have been read
 * and evidence->end is set.
 */
void why_pulse_settle(struct why_evidence *evidence);

/* time in ms: if a host that watches a machine sees no activity for this long, the machine has stopped */
#define WHY_SILENT_MS 900u

/* Returns whether the event sched.wake_nobody was recorded during the whole trace. */
bool why_records_wake_nobody(const struct why_evidence *evidence);

/* Returns whether no CPU lost slots after `stamp`. */
bool why_is_whole_since(const struct why_evidence *evidence, uint64_t stamp);

/*
 * Returns for how many ticks before the capture the machine was silent, as the host's note states; 0:
 * unknown.
 */
uint64_t why_silent_ticks(const struct why_evidence *evidence);
/*
 * Returns the number of ticks since the CPU's last heartbeat, or since the CPU last read its clock if it
 * never had a heartbeat.
 */
uint64_t why_silence(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Returns whether the CPU has had no heartbeat for WHY_STOPPED_MS or more. In some kernels, one CPU counts
 * the ticks for all: for a CPU that never had a heartbeat although other CPUs had many, returns whether it
 * has not read its clock for that long. If the host saw the whole machine stop, the result is true for all
 * CPUs. If the kernel ended, panicked or was reset, the result is false. The result is also true for a CPU
 * that stops its tick while it idles.
 */
#define WHY_STOPPED_MS 250u
bool why_has_stopped(const struct why_evidence *evidence, const struct why_cpu *cpu);
/* Returns whether the CPU has had no heartbeat for so long that a busy host is not the cause. */
bool why_is_silent(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether a CPU makes progress although it has had heartbeats and is silent now: it switches threads,
 * a timed sleep of one of its threads ended long after the last heartbeat, no sleep is late, and no thread
 * has been runnable for long.
 */
bool why_works_without_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether the CPU took interrupts only while it idled, as far as events show: the kernel may program
 * its timer only while the CPU idles, so that no tick interrupts its threads.
 */
bool why_interrupts_only_idle(const struct why_cpu *cpu);
/*
 * Adds a line for each CPU that does not idle, and for which why_is_silent() and why_works_without_ticks()
 * return true.
 */
void why_finding_without_ticks(struct why_finding *finding, const struct why_evidence *evidence);
/*
 * Returns whether nothing shows that the machine still ran when its memory was read: the trace is a RAM file,
 * the kernel has not ended, and the machine recorded nothing while the file was watched. If the result is
 * true, the machine may have stopped long before.
 */
bool why_may_have_stopped(const struct why_evidence *evidence);

/*
 * Returns whether the thread's page faults nest without end, because each fault comes while the handler of
 * the previous fault runs.
 */
bool why_nests_faults(const struct why_evidence *evidence, const struct why_thread *thread);

/* Returns whether the return addresses on the captured stack repeat, as in a recursion without end. */
bool why_recurses(const struct why_cpu *cpu);

/*
 * Returns whether the stack of the CPU's running thread has overflowed: the stack pointer is below the stack.
 * A stack pointer far below the stack may be in another stack. For it, the result is true only if faults or
 * calls nest without end, because each nested fault or call needs more stack.
 */
bool why_left_stack(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    const struct why_thread *thread);

/* Returns whether the message of a panic says that the stack that code runs on has overflowed. */
bool why_message_shows_overflow(const char *message);

/* Returns whether the CPU is online or has recorded events. */
bool why_is_there(const struct why_cpu *cpu);

/*
 * Returns whether the CPU never started: it has a row in the kernel's table, but was never online and had no
 * event and no heartbeat. Ignores captured registers, unless they show that the CPU runs code of the kernel.
 */
bool why_is_offline(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns the thread that runs on the CPU, NULL if unknown. */
const struct why_thread *why_runs(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether interrupts of one number leave the CPU no time for other work. See detect_interrupts.c. */
bool why_is_flooded(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether the CPU runs a thread that is not an idle thread. */
bool why_runs_work(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether `holder`, a row of the kernel's table, lists the lock as held. */
bool why_holds_lock(const struct ktrx_holder *holder, uint64_t lock);

/*
 * Returns whether the thread has ended: events show its end, or the kernel's table has rows of other threads,
 * but no row of this thread.
 */
bool why_is_gone(const struct why_evidence *evidence, const struct why_thread *thread);

/* Returns the number of the CPU on which the thread runs or last ran; KTRX_NO_CPU if unknown. */
uint32_t why_cpu_of(const struct why_thread *thread);

/*
 * Returns whether the kernel reported a normal end (status 0). Threads are not stuck if they do not run after
 * that.
 */
bool why_ended_well(const struct why_evidence *evidence);

/*
 * Returns whether long waits prove nothing. This is so if the kernel ended normally, panicked or was reset.
 * It is also so if the newest events are missing in the file, or if the frequency of the clock is unknown.
 */
bool why_waits_mean_nothing(const struct why_evidence *evidence);

/*
 * Returns whether the thread counts as idling when it runs on that CPU. An idle thread always counts as
 * idling. While the CPU is in idle mode, two other threads count as idling, too: the thread that ran on the
 * CPU when this mode was set, and, if the CPU has never switched threads, a thread without a row in the
 * kernel's table.
 */
bool why_idles_on(const struct why_evidence *evidence, const struct why_thread *thread, uint32_t cpu);

/*
 * Returns whether the CPU idles. Many kernels start a CPU on the thread that later becomes its idle thread.
 * So a CPU that runs its idle thread but is not in idle mode does not count as idle, but as still starting.
 * This applies only if other CPUs have been in idle mode, or if no CPU has switched threads yet.
 */
bool why_idles(const struct why_evidence *evidence, const struct why_cpu *cpu);
/* Returns whether the kernel's table shows that the CPU has left its first thread and another one. */
bool why_has_run_threads(const struct why_cpu *cpu);
/*
 * Returns whether the CPU switched to an idle thread a moment ago, and has run other threads, but is not in
 * idle mode. Many schedulers switch to an idle thread, or to thread 0, and from there to the next thread.
 * Such a CPU does not idle: there may be a thread that it is about to run.
 */
bool why_is_between_threads(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether the CPU is between two threads and will run the next one. A machine that was halted for the
 * capture may have hung there, unless the host has seen it make progress.
 */
bool why_is_about_to_switch(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether the registers show that an interrupt is pending that the CPU does not take, because
 * interrupts are disabled. Only RISC-V has such registers. A CPU that waits for an interrupt runs on as soon
 * as one is pending.
 */
bool why_leaves_pending(const struct why_cpu *cpu);
/*
 * Returns whether the CPU idles, and an interrupt wakes it even if interrupts are disabled, as on AArch64 and
 * RISC-V. Returns false if an interrupt is pending that should have woken it.
 */
bool why_wakes_masked(const struct why_evidence *evidence, const struct why_cpu *cpu);
/* Returns whether the CPU runs the handler of traps, or a function that the handler has called. */
bool why_is_in_handler(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether the CPU is in idle mode, used to wait for interrupts in that mode, and is now in a function
 * that contains no instruction that waits. Needs registers and the kernel's file.
 */
bool why_left_halt(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether nothing shows that the kernel has used the CPU: it has run no thread, taken no interrupt
 * and recorded nothing, and holds no lock. A kernel may halt such a CPU on purpose until its scheduler uses
 * it.
 */
bool why_is_unused(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns the first CPU that has halted with interrupts disabled, and that nothing shows to be used. Returns
 * NULL if there is none.
 */
const struct why_cpu *why_parked(const struct why_evidence *evidence);
/*
 * Returns whether the registers show that the CPU has halted, or the kernel's file shows that the CPU is at
 * the instruction that waits for an interrupt.
 */
bool why_has_halted(const struct why_evidence *evidence, const struct why_cpu *cpu);
/* The same, and the registers show that interrupts are disabled. On x86, no interrupt wakes such a CPU. */
bool why_has_halted_masked(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether the registers show that the CPU has not halted and has interrupts disabled, and the
 * kernel's file shows that its function contains no instruction that waits. Such a CPU does not wait for an
 * interrupt.
 */
bool why_is_awake(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether the CPU may run code with interrupts disabled, as far as registers, hooks and the kernel's
 * file show.
 */
bool why_may_run_masked(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether the CPU took an interrupt while it idled, and has been in the handler for long. Either its
 * code shows it: see why_left_halt(). Or, on RISC-V, the registers and the stack show it: a pending interrupt
 * ends wfi even if interrupts are disabled, so a CPU that leaves an interrupt pending runs code.
 */
bool why_stays_in_handler(const struct why_evidence *evidence, const struct why_cpu *cpu);
/* Returns whether a CPU that seems to idle has run code with interrupts disabled for a long time. */
bool why_stays_awake(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns whether it is unknown if a CPU that seems to idle runs code, such as a handler that spins: the CPU
 * has been silent for long, its registers show disabled interrupts, and nothing shows that it waits for an
 * interrupt.
 */
bool why_may_stay_awake(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Returns whether the CPU idles, and does so in an idle thread, in no known thread, or in idle mode. In idle
 * mode, the thread may be any thread: many kernels idle in the context of the last thread. Does not show that
 * the CPU waits for an interrupt: see why_may_stay_awake().
 */
bool why_is_in_idle_thread(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Returns whether the CPU is in idle mode, but has switched to a thread other than an idle thread after it
 * set that mode.
 */
bool why_idle_is_stale(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Returns whether the CPU waits for a lock or for an IPI answer. */
bool why_spins_for_something(const struct why_cpu *cpu);

/* Returns whether some CPU does not idle and does not wait for a lock or an IPI answer. */
bool why_any_cpu_works(const struct why_evidence *evidence);

/*
 * Returns the counts of the interrupts that have the same number as the newest interrupt. Returns NULL if
 * there are none.
 */
const struct why_irq_kind *why_newest_kind(const struct why_interrupts *interrupts);

/*
 * Returns whether the CPU's timer ticked even when the CPU idled: events show that nearly all the time,
 * interrupts came on the CPU at intervals of WHY_TICK_MS or less.
 */
bool why_ticks_always(const struct why_cpu *cpu);
/*
 * Returns whether events show that the CPU's timer ticks even if the CPU idles and there is no thread to
 * wake. If the result is false, the kernel may program its timer only for the next wakeup, and ticks may end
 * for a good reason.
 */
bool why_ticks_without_reason(const struct why_cpu *cpu);
/* Returns the counts of the interrupt that came most often; NULL if none came. */
const struct why_irq_kind *why_most_frequent(const struct why_cpu *cpu);
/* Returns whether the CPU runs a thread and could take ticks: its interrupts are enabled, and it works. */
bool why_could_take_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns a CPU with regular ticks of its own if `cpu` is online and has never had a tick. Returns NULL if
 * `cpu` has had a tick or takes interrupts as regularly as ticks, or if fewer than two CPUs have ticks, so
 * that perhaps only one CPU gets ticks in this kernel.
 */
const struct why_cpu *why_ticks_elsewhere(const struct why_evidence *evidence, const struct why_cpu *cpu);
/* Returns whether events show that the CPU has run for so long that its timer should have been started. */
bool why_is_there_for_long(const struct why_evidence *evidence, const struct why_cpu *cpu);
/*
 * Returns a CPU whose timer should have ticked while the machine was watched, but recorded nothing: its timer
 * used to tick even if there was no thread to wake, or may have done so because wakeups are not recorded.
 * Returns NULL if there is no such CPU.
 */
const struct why_cpu *why_stopped_ticking(const struct why_evidence *evidence);

/*
 * Returns whether the handler of the newest interrupt has returned without an EOI, although the kernel
 * records EOIs, and this interrupt may need one.
 */
bool why_lacks_eoi(const struct why_evidence *evidence, const struct why_cpu *cpu);
/* Returns whether an interrupt with the number of the CPU's newest interrupt had an EOI on any CPU. */
bool why_has_had_eoi(const struct why_evidence *evidence, const struct why_cpu *cpu);

/* Places in the code at which interrupts interrupted a thread. */
struct why_places {
	uint32_t count;
	uint64_t lowest, highest;
	uint64_t newest;
};
/*
 * Collects the places at which interrupts after `since` interrupted the thread, but not the places in
 * interrupt handlers. The places are taken from the events of all CPUs. If events show no place, the places
 * are taken from the heartbeats of `cpu`, which is the CPU on which the thread runs.
 */
void why_places_of(const struct why_evidence *evidence, const struct why_cpu *cpu, uint32_t thread,
		   uint64_t since, struct why_places *places);
/*
 * Returns whether all places are in one function. If the names of functions are not known, returns whether
 * the places are close together.
 */
bool why_places_are_one(const struct why_evidence *evidence, const struct why_places *places);

/* Returns the timestamp of the CPU's newest event, interrupt or context switch. */
uint64_t why_active_until(const struct why_cpu *cpu);

/*
 * Returns the longest time, in ticks, between the CPU's last heartbeat and its newest event, interrupt or
 * context switch in which no event shows that the CPU ran.
 */
uint64_t why_pause(const struct why_cpu *cpu);

/*
 * Returns for how many ticks the CPU ran after its last heartbeat: the time from that heartbeat to the CPU's
 * newest event, interrupt or context switch, without the longest time in which it recorded no event. In that
 * time, the host may have stopped the virtual CPU. Returns 0 if the heartbeat is newer than all of these.
 */
uint64_t why_lived_on(const struct why_cpu *cpu);

/* Returns whether the CPU has not left the interrupt handler in which its last heartbeat came. */
bool why_is_in_tick(const struct why_cpu *cpu);

/* Formats "the last heartbeat of CPU 1 was 2.41 s ago". */
const char *why_say_beat(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			 size_t size);
/* Formats the thread that a CPU runs: "thread 5 (make)" or "an unknown thread". */
const char *why_say_running(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			    size_t size);
/* Formats "interrupt 4 (doorbell)", with the name escaped. */
const char *why_say_irq(uint32_t number, const char *name, char *buffer, size_t size);

/*
 * Functions that decide whether code belongs to the kernel or to a program. They use the CPU's privilege
 * level if it is known, or else the mode that the kernel has set, or else the address.
 */

struct why_places;

enum why_side { WHY_SIDE_UNKNOWN, WHY_SIDE_KERNEL, WHY_SIDE_USER };

/* Sets evidence->high and evidence->users. Must be called after the rest of the evidence is complete. */
void why_side_settle(struct why_evidence *evidence);

/*
 * Decides by the address alone. The upper half of the address space belongs to the kernel.
 *
 * If the kernel runs in the upper half, the lower half belongs to programs, except for the kernel's boot code
 * there: for its addresses, the result is "unknown".
 *
 * If the kernel runs in the lower half, its file shows which addresses belong to it. Other addresses belong
 * to programs if a CPU has been in user mode; otherwise the result is "unknown".
 */
enum why_side why_side_of(const struct why_evidence *evidence, uint64_t pc);

/*
 * Determines the side of the pc in a CPU's captured registers. Uses the privilege level in the registers
 * or, if it is unknown, the address.
 */
enum why_side why_side_of_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Determines the side of the places at which a thread on the CPU was interrupted after `since`. If the pc
 * in the CPU's captured registers is near these places, the privilege level in the registers decides.
 * Otherwise the mode that the kernel has set and the addresses decide; if these two contradict each other,
 * the result is "unknown".
 */
enum why_side why_side_of_places(const struct why_evidence *evidence, const struct why_cpu *cpu,
				 const struct why_places *places, uint64_t since);

/*
 * Returns whether the address may be printed with the name of a function from the kernel's file. Returns
 * false if the address may belong to a program.
 */
bool why_side_has_name(const struct why_evidence *evidence, uint64_t address);

#endif
