/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "doctor/examine.h"

#include "analyze/rules.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define ROWS 32u /* number of table rows that are read at once */
/* maximum number of examined waits whose hook gave CPU 0 or thread 0 as the lock's holder */
#define WAITS 64u
#define YEAR  UINT64_C(31556952) /* in seconds */

struct waits {
	struct mistakes *mistakes;
	const struct ktread *trace;
	const struct keyed *syscalls;
	uint64_t late;
	struct ktrx_holder wait[WAITS];
	uint32_t count;
	uint32_t usual;	  /* number of waits with a deadline at most a year after the wait */
	uint32_t distant; /* number of waits with a later deadline */
	struct ktrx_holder last_distant;
};

typedef void each_row(struct waits *waits, const struct ktrx_holder *row);

static int read_rows(struct waits *waits, const struct ktread *trace, each_row *each)
{
	struct ktrx_holder row[ROWS];
	int got = (int)ROWS;

	for (uint32_t first = 0; got == (int)ROWS; first += ROWS) {
		got = ktread_holders(trace, first, row, ROWS);
		for (int n = 0; n < got; n++)
			each(waits, &row[n]);
	}
	return got < 0 ? got : 0;
}

/* `sure`: true if all timestamps that show the mistake are of the same CPU. */
static void note(struct waits *waits, enum mistake mistake, const struct ktrx_holder *row, bool sure)
{
	struct mistake_count *found = &waits->mistakes->of[mistake];

	found->sure += !waits->mistakes->unordered || sure;
	if (found->count++ == 0) {
		found->stamp = row->wait_stamp;
		found->cpu = row->cpu;
		found->value = row->object;
	}
}

/*
 * Returns the thread's newest entry or exit of a system call after its wait began; NULL if there is none. If
 * there is one, the wait has ended.
 */
static const struct keyed_entry *end_of_wait(const struct waits *waits, const struct ktrx_holder *row)
{
	const uint64_t key[KEYED_WORDS] = { (row->id - 1) & KTRX_THREAD_MAX };
	const struct keyed_entry *syscall =
		row->id & KTRX_HOLDER_CPU ? NULL : keyed_find(waits->syscalls, key);

	return syscall && row->wait_stamp && syscall->stamp > row->wait_stamp + waits->late ? syscall : NULL;
}

static void note_deadline(struct waits *waits, const struct ktrx_holder *row)
{
	note(waits, MISTAKE_DEADLINE, row, true);
	waits->mistakes->of[MISTAKE_DEADLINE].value = row->id - 1;
}

/* Counts a mistake if the deadline is before the wait, as a duration or a number of milliseconds is. */
static void take_deadline(struct waits *waits, const struct ktrx_holder *row)
{
	const uint64_t frequency = ktread_info(waits->trace)->frequency;

	if (!row->id || row->id & KTRX_HOLDER_CPU || row->state != KTRX_THREAD_WAITING || !row->deadline ||
	    !row->wait_stamp)
		return;
	if (row->deadline < row->wait_stamp) {
		if (row->wait_stamp - row->deadline > waits->late)
			note_deadline(waits, row);
	} else if (frequency && (row->deadline - row->wait_stamp) / frequency > YEAR) {
		waits->distant++;
		waits->last_distant = *row;
	} else {
		waits->usual++;
	}
}

/*
 * Counts a mistake if several threads wait for more than a year, and no thread waits for less: then the unit
 * of the deadlines is wrong. A single such wait may be what a program has asked for.
 */
static void judge_distant(struct waits *waits)
{
	if (waits->distant > 1 && waits->usual == 0)
		note_deadline(waits, &waits->last_distant);
}

static void take_wait(struct waits *waits, const struct ktrx_holder *row)
{
	const struct keyed_entry *syscall;

	take_deadline(waits, row);
	if (!row->id || !row->object || (row->wait != KTRX_WAIT_SPIN && row->wait != KTRX_WAIT_LOCK))
		return;
	syscall = end_of_wait(waits, row);
	if (syscall)
		note(waits, MISTAKE_WAIT_LEFT, row,
		     syscall->cpu == row->cpu && row->state_stamp <= row->wait_stamp);
	if ((row->owner == KTRX_HOLDER_CPU || row->owner == 1) && waits->count < WAITS)
		waits->wait[waits->count++] = *row;
}

/*
 * Examines the waits whose hook gave CPU 0 or thread 0 as the lock's holder. Counts a mistake for each wait
 * for a lock that the thread or CPU of `row` holds, and held before the wait began.
 */
static void take_held(struct waits *waits, const struct ktrx_holder *row)
{
	for (uint32_t n = 0; n < waits->count; n++) {
		const struct ktrx_holder *wait = &waits->wait[n];

		for (uint32_t h = 0; h < KTRX_HELD; h++)
			if (row->id != wait->owner && row->id != wait->id &&
			    row->held[h].object == wait->object && row->held[h].stamp &&
			    row->held[h].stamp < wait->wait_stamp)
				note(waits, MISTAKE_OWNER, wait, false);
	}
}

/*
 * Counts a mistake if the row says that the thread runs, but its CPU has switched to another thread long
 * since.
 */
static void take_running(struct waits *waits, const struct ktrx_holder *row)
{
	struct ktrx_cpu cpu;

	if (row->id && !(row->id & KTRX_HOLDER_CPU) && row->state == KTRX_THREAD_RUNNING &&
	    ktread_cpus(waits->trace, row->cpu, &cpu, 1) == 1 &&
	    (cpu.thread & KTRX_THREAD_MAX) != row->id - 1 &&
	    cpu.switch_stamp > row->state_stamp + waits->late) {
		note(waits, MISTAKE_STILL_RUNS, row, true);
		waits->mistakes->of[MISTAKE_STILL_RUNS].value = row->id - 1;
	}
}

int mistakes_waits(struct mistakes *mistakes, const struct ktread *trace, const struct keyed *syscalls,
		   uint64_t late)
{
	struct waits waits = { .mistakes = mistakes, .trace = trace, .syscalls = syscalls, .late = late };
	int status;

	if (rules_state_is_off(trace))
		return 0; /* the tables have not been updated since this setting was changed */
	status = read_rows(&waits, trace, take_wait);
	judge_distant(&waits);
	if (status == 0 && waits.count)
		status = read_rows(&waits, trace, take_held);
	if (status == 0)
		status = read_rows(&waits, trace, take_running);
	return status;
}
