/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Detectors, their findings, and the order of the findings. The first finding is the verdict. */
#ifndef WHY_FINDING_H
#define WHY_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/finding.h"
#include "why/evidence.h"

/*
 * Which healthy verdict a machine with a problem may look like: idle, busy, or both. If another finding
 * reports such a problem as possible, the verdict "idle" or "busy" is only "possible", too. A detector may
 * state this for a single finding (see struct why_finding), because other findings with the same verdict are
 * about the past.
 */
#define WHY_LOOKS_IDLE 1u
#define WHY_LOOKS_BUSY 2u

/*
 * All verdicts. If several problems are found, the verdict is the problem that comes first in this list,
 * because it explains most. Each line contains the verdict's constant, its name in the output for scripts,
 * and which healthy verdict a machine with this problem may look like.
 */
/* clang-format off */
#define WHY_VERDICT_LIST(ROW) \
	ROW(TRIPLE_FAULT, "triple-fault", 0) \
	ROW(STACK_OVERFLOW, "stack-overflow", 0) \
	ROW(PANIC, "panic", 0) \
		ROW(SLEEP_IN_ATOMIC, "sleep-in-atomic", 0) /* listed before problems that it causes */ \
	ROW(SELF_DEADLOCK, "self-deadlock", WHY_LOOKS_IDLE) \
	ROW(DEADLOCK, "deadlock", WHY_LOOKS_IDLE) \
	ROW(DEAD_OWNER, "dead-owner", WHY_LOOKS_IDLE | WHY_LOOKS_BUSY) \
	ROW(MISSING_EOI, "missing-eoi", 0) \
	ROW(IRQ_STORM, "irq-storm", 0) \
	ROW(DEAD_TIMER, "dead-timer", WHY_LOOKS_IDLE) \
	ROW(PRIORITY_INVERSION, "priority-inversion", 0) \
	ROW(STARVATION, "starvation", 0) \
	ROW(LIVELOCK, "livelock", 0) \
	ROW(FAULT_LOOP, "fault-loop", 0) \
	ROW(SYSCALL_LOOP, "syscall-loop", 0) \
	ROW(USER_SPIN, "user-spin", 0) \
	ROW(KERNEL_SPIN, "kernel-spin", 0) \
	ROW(WAKEUP_RACE, "wakeup-race", WHY_LOOKS_IDLE | WHY_LOOKS_BUSY) \
	ROW(LOST_WAKEUP, "lost-wakeup", WHY_LOOKS_IDLE | WHY_LOOKS_BUSY) \
	ROW(IRQS_OFF, "irqs-off", 0) \
		ROW(OVERDUE, "overdue", WHY_LOOKS_IDLE | WHY_LOOKS_BUSY) /* listed after its causes */ \
	ROW(LOCK_ORDER, "lock-order", 0) \
	ROW(SLOW, "slow", 0) \
		ROW(BOOKKEEPING, "bookkeeping", 0) /* used if the recorded state has several explanations */ \
	ROW(BUSY, "busy", 0) \
	ROW(IDLE, "idle", 0) \
	ROW(ENDED, "ended", 0) \
	ROW(UNKNOWN, "unknown", 0)
/* clang-format on */

#define WHY_VERDICT(name, word, looks) WHY_##name,
enum why_verdict { WHY_VERDICT_LIST(WHY_VERDICT) WHY_VERDICTS };
#undef WHY_VERDICT

/* Returns the verdict's name in the output. */
const char *why_verdict_word(enum why_verdict verdict);
/* Returns whether the verdict is idle or busy. */
bool why_verdict_is_healthy(enum why_verdict verdict);
#define WHY_ACTORS 16u

/* A thread or CPU that takes part in a finding. */
struct why_actor {
	uint32_t id;	/* id as in struct ktrx_holder: thread + 1, or KTRX_HOLDER_CPU | CPU */
	uint64_t holds; /* lock that the actor holds; 0: none */
	uint64_t waits; /* object that the actor waits for; 0: none */
	uint64_t ticks; /* number of ticks for which the actor has waited */
	uint64_t pc;	/* place in the code where the actor is; 0: unknown */
	bool exact;	/* true if `pc` is the address of an instruction; otherwise it is a return address */
};

struct why_finding {
	/* the members kind, mark and where of `base` are set by why_find() after all detectors have run */
	struct finding base;
	enum why_verdict verdict;
	/* WHY_LOOKS_*: healthy verdicts that this finding makes doubtful, in addition to its verdict's */
	uint8_t looks;
	bool host; /* true if the cause may be the host, which may have stopped the machine for a while */
	/* for the verdict "idle" or "busy": its certainty is only "possible", because of another finding */
	bool open;
	struct why_actor actor[WHY_ACTORS];
	uint32_t actors;
	/*
	 * for a finding of starvation: if the thread's CPU waits for an IPI answer instead of running
	 * threads, the number of this CPU plus 1; otherwise 0
	 */
	uint32_t asker;
	/*
	 * of several findings with the same verdict and certainty, those with the smallest number come first;
	 * 0 if their order does not matter
	 */
	uint64_t order;
	bool follows; /* true if the finding is a consequence of another finding, not a problem of its own */
	bool aside;   /* true if the finding causes no other problem: other problems come first */
};

/*
 * Returns whether a machine with this problem may look like a machine with the healthy verdict `healthy`,
 * idle or busy.
 */
bool why_leaves_open(enum why_verdict healthy, const struct why_finding *problem);

struct why_findings;

/* Looks for one kind of problem and adds its findings. Returns 0 or KTREAD_E_MEMORY. */
typedef int why_detector(const struct why_evidence *evidence, struct why_findings *findings);

/*
 * Adds a finding. Returns NULL if out of memory. The returned pointer is valid until the next call. Only the
 * first WHY_FINDINGS findings are reported.
 */
#define WHY_FINDINGS 256u
struct why_finding *why_finding_new(struct why_findings *findings, enum why_verdict verdict,
				    enum finding_certainty certain);
/*
 * Sets the finding's advice: the kernel should call these hooks (KTRX_HOOK_*). Does nothing if none of these
 * hooks has a name.
 */
void why_finding_hooks(struct why_finding *finding, uint32_t hooks);
/*
 * If the hooks recorded no state, sets the finding's advice to boot without debug.ktr.state=0, and returns
 * true. Otherwise changes nothing and returns false.
 */
bool why_finding_state(struct why_finding *finding, const struct why_evidence *evidence);
/*
 * Returns whether a return address is in a function whose name contains a word that kernels use to name panic
 * functions, such as "panic" or "assert".
 */
bool why_is_panic_function(const struct why_evidence *evidence, uint64_t address);

/*
 * Adds a line "called from …" for each frame of the CPU's stack, at most `most` lines. Frames in a row with
 * the same return address share one line.
 */
void why_finding_stack(struct why_finding *finding, const struct why_evidence *evidence,
		       const struct why_cpu *cpu, uint32_t most);
/*
 * Adds a line that lists the threads that ran most within the time window, sorted by their running time, the
 * longest first. Adds one more line for each of these threads that has recorded no event for long.
 */
void why_finding_users(struct why_finding *finding, const struct why_evidence *evidence);
/* Adds an actor. Does nothing if the finding already has WHY_ACTORS actors. */
void why_finding_actor(struct why_finding *finding, struct why_actor actor);
/*
 * Adds as an actor the thread that runs on the CPU, or the CPU if this thread is unknown. `pc`: address of
 * the instruction where it is; `ticks`: for how long.
 */
void why_finding_cpu(struct why_finding *finding, const struct why_cpu *cpu, uint64_t pc, uint64_t ticks);

/* Adds a finding for a trace in which no detector has found anything. Returns 0 or KTREAD_E_MEMORY. */
int why_detect_nothing(const struct why_evidence *evidence, struct why_findings *findings);
/*
 * Runs all detectors and sorts their findings. Returns 0 or KTREAD_E_MEMORY. The caller must free *findings
 * with why_findings_free(), even after an error.
 */
int why_find(struct why_findings **findings, const struct why_evidence *evidence);
void why_findings_free(struct why_findings *findings);
uint32_t why_findings_count(const struct why_findings *findings);
const struct why_finding *why_findings_at(const struct why_findings *findings, uint32_t n);
/* Returns a pointer to `base` of finding `n`. The caller may change it. */
struct finding *why_findings_base(struct why_findings *findings, uint32_t n);

/*
 * Functions that format text for people. Each writes the text to `buffer` and returns `buffer`. Examples:
 * "thread 5 (make)", "CPU 1", "inode (0x1234)", "fs_read+0x31 (fs.c:88)", "2.31 s". Strings from the guest
 * are escaped.
 *
 * For a return address, as hooks record it, use why_say_call(): it formats the line of the call before this
 * address. why_say() works as snprintf(), and truncates text that is too long.
 */
/* size of a buffer for the text of one of these functions, except those that need FINDING_LINE bytes */
#define WHY_WORDS 176u
__attribute__((format(printf, 3, 4))) const char *why_say(char *buffer, size_t size, const char *format, ...);
const char *why_say_actor(const struct why_evidence *evidence, uint32_t id, char *buffer, size_t size);
const char *why_say_object(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size);
const char *why_say_place(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size);
const char *why_say_call(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size);
/*
 * why_say_standing() formats the place at the pc in a CPU's registers, why_say_frame() the place of a frame
 * of its stack. If the CPU was in user mode, both format only the address.
 */
const char *why_say_standing(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			     size_t size);
const char *why_say_frame(const struct why_evidence *evidence, const struct why_cpu *cpu, uint32_t frame,
			  char *buffer, size_t size);
/*
 * These functions format a time or a place after the text `before`, for example " for 2.31 s" or ", at
 * fs_read+0x31 (fs.c:88)". They format "" if the timestamp or the address is 0 (unknown).
 */
const char *why_say_since(const struct why_evidence *evidence, const char *before, uint64_t stamp,
			  char *buffer, size_t size);
const char *why_say_called(const struct why_evidence *evidence, const char *before, uint64_t address,
			   char *buffer, size_t size);
/*
 * Formats what a thread or CPU waits for. Examples: "has waited 2.31 s for lock cache (0x2000), at
 * fs_read+0x31 (fs.c:8)", "has waited 2.31 s on jobs (0x1000)", "has spun 2.31 s for lock cache (0x2000)".
 *
 * `kind` is one of KTRX_WAIT_*. If it is KTRX_WAIT_THREAD, `object` is the id of a thread. An object, time or
 * place that is 0 (unknown) is left out. The buffer must have FINDING_LINE bytes.
 */
const char *why_say_waiting(const struct why_evidence *evidence, uint8_t kind, uint64_t object,
			    uint64_t since, uint64_t pc, char *buffer, size_t size);
/*
 * Formats the name, escaped. If the name is NULL, formats `what` and the number instead, such as "system call
 * 7".
 */
const char *why_say_name(const char *name, const char *what, uint64_t number, char *buffer, size_t size);
/*
 * Formats the names of hooks (KTRX_HOOK_*), for example "locks, threads". Formats "" if none of the hooks has
 * a name.
 */
const char *why_say_hooks(uint32_t hooks, char *buffer, size_t size);
const char *why_say_ticks(const struct why_evidence *evidence, uint64_t ticks, char *buffer, size_t size);

/*
 * Lists all detectors: USE(name) is used for the function why_detect_NAME(). Their order has no effect,
 * because findings are sorted by verdict.
 */

/* clang-format off */
#define WHY_DETECTORS(USE) \
	USE(bookkeeping) \
	USE(answer) \
	USE(dead_owner) \
	USE(dead_timer) \
	USE(deadlock) \
	USE(health) \
	USE(irq_storm) \
	USE(irqs_off) \
	USE(join) \
	USE(kept) \
	USE(livelock) \
	USE(lock_order) \
	USE(loop) \
	USE(missing_eoi) \
	USE(mutual) \
	USE(overdue) \
	USE(late_sleep) \
	USE(panic) \
	USE(partner) \
	USE(priority_inversion) \
	USE(sleep_in_atomic) \
	USE(slow) \
	USE(spin) \
	USE(stack) \
	USE(starvation) \
	USE(triple_fault) \
	USE(wakeup)
/* clang-format on */

#define WHY_DECLARE(name) why_detector why_detect_##name;
WHY_DETECTORS(WHY_DECLARE)
#undef WHY_DECLARE

/* Adds a line to a healthy verdict if a device answered late while the whole machine was slow. */
void why_slow_explain(const struct why_evidence *evidence, struct why_finding *finding);

/*
 * Functions for the verdicts "idle" and "busy", in doubts.c. Each lowers the certainty of the finding to
 * "possible" and adds a line, if there is a reason to doubt the verdict.
 */

/*
 * The machine may have stopped: no tick was recorded while the machine was watched, although its timer may
 * have ticked all the time before. Or `open` sleeps may be faults, and it is unknown how long they are.
 */
void why_doubt_times(const struct why_evidence *evidence, uint32_t open, struct why_finding *finding);
/* Some CPUs that seem to idle may run code: see why_may_stay_awake(). Returns the number of these CPUs. */
uint32_t why_doubt_idle_cpus(const struct why_evidence *evidence, struct why_finding *finding);

#endif
