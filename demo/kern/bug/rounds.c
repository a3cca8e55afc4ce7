/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "bug/rounds.h"

#include "clock.h"
#include "timer.h"
#include "wait.h"
#include "bug/bug.h"

#define BATCHES_PER_S 40u
#define BATCH_MOST_NS (5 * NS_PER_MS)
#define START_NS      8000
#define COLD_START_NS 200000
#define WARM_UP_NS    (50 * NS_PER_MS)
#define POLLS_MOST    1000u
#define PAUSE_LOOPS   50u

static const struct rounds *running;
/* Numbers of the last round that was handed over and of the last round that ended; atomic. */
static unsigned handed_over, ended;
static bool is_over; /* true: there are no further rounds; accessed atomically */

/* `second` sleeps here if it has polled for a long time and no new round has begun. */
static struct wait_queue bell = WAIT_QUEUE("bell");
static bool sleeps; /* true: `second` sleeps; changed under the bell's lock, accessed atomically */

/* Waits without arch_relax(), at which an emulator would leave the translated code. */
static void pause(void)
{
	for (unsigned i = 0; i < PAUSE_LOOPS; i++)
		__asm__ volatile("");
}

/* ---- The thread `first` -------------------------------------------------------------------------- */

static void ring_bell(void)
{
	bool irq_on;

	if (!__atomic_load_n(&sleeps, __ATOMIC_SEQ_CST))
		return;
	irq_on = spin_lock(&bell.lock);
	if (sleeps)
		wait_wake_all(&bell);
	spin_unlock(&bell.lock, irq_on);
}

void rounds_hand_over(void)
{
	__atomic_store_n(&handed_over, handed_over + 1, __ATOMIC_SEQ_CST);
	ring_bell();
}

static void run_batch(void)
{
	uint64_t until_ns = clock_ns() + BATCH_MOST_NS;

	for (unsigned i = 0; i < running->rounds_at_once && !work_over(until_ns); i++) {
		running->first();
		while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < handed_over)
			pause();
	}
}

static void run_first(uint64_t until_ns)
{
	uint64_t batches = (until_ns - clock_ns()) * BATCHES_PER_S / NS_PER_S + 1;

	for (uint64_t i = 0; i < batches; i++) {
		run_batch();
		timer_sleep(NS_PER_MS);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_SEQ_CST);
	ring_bell();
}

/* ---- The thread `second` ------------------------------------------------------------------------- */

static bool may_continue(unsigned round)
{
	return __atomic_load_n(&handed_over, __ATOMIC_SEQ_CST) >= round ||
	       __atomic_load_n(&is_over, __ATOMIC_SEQ_CST);
}

static void sleep_until_next(unsigned round)
{
	bool irq_on = spin_lock(&bell.lock);

	__atomic_store_n(&sleeps, true, __ATOMIC_SEQ_CST);
	while (!may_continue(round))
		wait_sleep(&bell);
	__atomic_store_n(&sleeps, false, __ATOMIC_SEQ_CST);
	spin_unlock(&bell.lock, irq_on);
}

/* Waits until this round may begin. Returns true if `second` had to sleep. */
static bool await(unsigned round)
{
	for (unsigned polls = 0; polls < POLLS_MOST; polls++) {
		if (may_continue(round))
			return false;
		pause();
	}
	sleep_until_next(round);
	return true;
}

/*
 * A round takes longer after a pause, because caches are cold. The very first round takes even longer in an
 * emulator, which translates code when it first runs.
 */
static void delay_start(unsigned round, bool has_slept)
{
	if (round == 1)
		timer_sleep(WARM_UP_NS);
	else
		work_compute(has_slept ? COLD_START_NS : START_NS);
}

static void run_second(void)
{
	for (unsigned round = 1;; round++) {
		bool has_slept = await(round);

		if (__atomic_load_n(&is_over, __ATOMIC_SEQ_CST))
			return;
		delay_start(round, has_slept);
		running->second();
		__atomic_store_n(&ended, round, __ATOMIC_RELEASE);
	}
}

static void take_part(unsigned n, uint64_t until_ns)
{
	if (n == 0)
		run_first(until_ns);
	else
		run_second();
}

void rounds_run(const struct rounds *rounds, uint64_t until_ns)
{
	running = rounds;
	handed_over = ended = 0;
	is_over = false;
	work_crew(rounds->name, 2, take_part, until_ns);
}
