/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Detectors, what they found, and how all findings are put in order: the first is the verdict. */
#ifndef WHY_FINDING_H
#define WHY_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/finding.h"
#include "why/evidence.h"

/*
 * Healthy verdicts that fit a machine with this problem, too. If the problem is only possible, such a verdict
 * is no more than possible either.
 */
#define WHY_LOOKS_IDLE 1u
#define WHY_LOOKS_BUSY 2u

/*
 * All verdicts, those that explain most first: if two problems are found, the one listed first is the
 * verdict. Each row has the word that scripts see, and which healthy verdicts fit the problem, too.
 */
/* clang-format off */
#define WHY_VERDICT_LIST(ROW) \
	ROW(TRIPLE_FAULT, "triple-fault", 0) \
	ROW(STACK_OVERFLOW, "stack-overflow", 0) \
	ROW(PANIC, "panic", 0) \
	ROW(SLEEP_IN_ATOMIC, "sleep-in-atomic", 0) /* before what it leads to */ \
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
	ROW(WAKEUP_RACE, "wakeup-race", WHY_LOOKS_IDLE) \
	ROW(LOST_WAKEUP, "lost-wakeup", WHY_LOOKS_IDLE) \
	ROW(IRQS_OFF, "irqs-off", 0) \
	ROW(OVERDUE, "overdue", WHY_LOOKS_IDLE | WHY_LOOKS_BUSY) /* after what may be its cause */ \
	ROW(LOCK_ORDER, "lock-order", 0) \
	ROW(SLOW, "slow", 0) \
	ROW(BOOKKEEPING, "bookkeeping", 0) /* what the kernel says of itself may mean several things */ \
	ROW(BUSY, "busy", 0) \
	ROW(IDLE, "idle", 0) \
	ROW(UNKNOWN, "unknown", 0)
/* clang-format on */

#define WHY_VERDICT(name, word, looks) WHY_##name,
enum why_verdict { WHY_VERDICT_LIST(WHY_VERDICT) WHY_VERDICTS };
#undef WHY_VERDICT

/* Its word. */
const char *why_verdict_word(enum why_verdict verdict);
/* Idle or busy: there is nothing to repair. */
bool why_verdict_is_healthy(enum why_verdict verdict);
/* Does a machine with this problem look healthy: does it leave such a verdict open? */
bool why_leaves_open(enum why_verdict healthy, enum why_verdict problem);

#define WHY_ACTORS 16u

/* A thread or a CPU that takes part, as struct ktrx_holder names it. */
struct why_actor {
	uint32_t id;	/* thread + 1, or KTRX_HOLDER_CPU | CPU */
	uint64_t holds; /* object, 0: none */
	uint64_t waits; /* object, 0: for none */
	uint64_t ticks; /* how long it waits */
	uint64_t pc;	/* where, 0 unknown: where a call returns to … */
	bool exact;	/* … or this very instruction */
};

struct why_finding {
	/*
	 * Kind, mark and where are set when all is found. A finding that is only possible is worth a look
	 * where nothing else is found; a machine that is busy or idle stays healthy.
	 */
	struct finding base;
	enum why_verdict verdict;
	bool host; /* the host may have done it: it may not have run the machine */
	bool open; /* of idle or busy: only possible, because of a finding that is listed below */
	struct why_actor actor[WHY_ACTORS];
	uint32_t actors;
	/* of starvation: the CPU + 1 that waits for another one's answer all the time; 0: none */
	uint32_t asker;
	bool follows; /* from a finding that is listed before it */
};

struct why_findings;

/* Looks for one thing. Adds what it finds; 0 or KTREAD_E_MEMORY. */
typedef int why_detector(const struct why_evidence *evidence, struct why_findings *findings);

/*
 * Makes a finding; NULL without memory. The pointer is valid until the next one is made. After WHY_FINDINGS
 * of them, the result is not reported.
 */
#define WHY_FINDINGS 256u
struct why_finding *why_finding_new(struct why_findings *findings, enum why_verdict verdict,
				    enum finding_certainty certain);
/* Adds that these hooks (KTRX_HOOK_*) would make it more certain; nothing if none of them has a name. */
void why_finding_hooks(struct why_finding *finding, uint32_t hooks);
/*
 * Adds that a boot in which hooks keep state would make it more certain. Returns false, and adds nothing, if
 * they kept it.
 */
bool why_finding_state(struct why_finding *finding, const struct why_evidence *evidence);
/*
 * "called from …" for each of the CPU's frames, `most` lines at most; the same caller in a row is said once.
 */
void why_finding_stack(struct why_finding *finding, const struct why_evidence *evidence,
		       const struct why_cpu *cpu, uint32_t most);
void why_finding_actor(struct why_finding *finding, struct why_actor actor);

/* Runs all detectors and puts what they found in order. */
int why_find(struct why_findings **findings, const struct why_evidence *evidence);
void why_findings_free(struct why_findings *findings);
uint32_t why_findings_count(const struct why_findings *findings);
const struct why_finding *why_findings_at(const struct why_findings *findings, uint32_t n);

/*
 * Words for people, into `buffer`, which is returned: "thread 5 (make)" or "CPU 1", "inode (0x1234)",
 * "fs_read+0x31 (fs.c:88)", "2.31 s". What came from the guest is escaped. An address that is a return
 * address, as all are that hooks note, is said by why_say_call(): the line is that of the call. why_say() is
 * snprintf(), cut where it must be.
 */
#define WHY_WORDS 176u /* room that is enough for each of them */
__attribute__((format(printf, 3, 4))) const char *why_say(char *buffer, size_t size, const char *format, ...);
const char *why_say_actor(const struct why_evidence *evidence, uint32_t id, char *buffer, size_t size);
const char *why_say_object(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size);
const char *why_say_place(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size);
const char *why_say_call(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size);
/* Where a CPU stands by its registers, and what is on its stack there: of a program the address alone. */
const char *why_say_standing(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			     size_t size);
const char *why_say_frame(const struct why_evidence *evidence, const struct why_cpu *cpu, uint32_t frame,
			  char *buffer, size_t size);
/*
 * With `before` in front, " for 2.31 s" and " in fs_read+0x31 (fs.c:88)"; "" if since when, or where, is not
 * known.
 */
const char *why_say_since(const struct why_evidence *evidence, const char *before, uint64_t stamp,
			  char *buffer, size_t size);
const char *why_say_called(const struct why_evidence *evidence, const char *before, uint64_t address,
			   char *buffer, size_t size);
/*
 * Says what a thread or CPU waits for: "has waited 2.31 s for lock cache (0x2000), at fs_read+0x31 (fs.c:8)",
 * "has waited 2.31 s on jobs (0x1000)", "has spun 2.31 s for lock cache (0x2000)". `kind`: KTRX_WAIT_*.
 * `object`: for KTRX_WAIT_THREAD the id of the thread. An unknown object, time or place (0) is left out.
 */
const char *why_say_waiting(const struct why_evidence *evidence, uint8_t kind, uint64_t object,
			    uint64_t since, uint64_t pc, char *buffer, size_t size);
/* The name, harmless; without one "system call 7". */
const char *why_say_name(const char *name, const char *what, uint64_t number, char *buffer, size_t size);
const char *why_say_hooks(uint32_t hooks, char *buffer, size_t size); /* "locks, threads", "" of none */
const char *why_say_ticks(const struct why_evidence *evidence, uint64_t ticks, char *buffer, size_t size);

/*
 * All detectors: USE(name) for each why_detect_NAME(), which is in a source detect_*.c. Their order means
 * nothing: findings are put in order by what they are.
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
	USE(livelock) \
	USE(lock_order) \
	USE(loop) \
	USE(missing_eoi) \
	USE(overdue) \
	USE(late_sleep) \
	USE(panic) \
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

/* Adds to a healthy verdict that a device answered late while all of the machine was slow, if that was so. */
void why_slow_explain(const struct why_evidence *evidence, struct why_finding *finding);

#endif
