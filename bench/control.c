/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures how much a kernel is slowed down if a host often turns the kernel's events on and off. A loop
 * records events and is interrupted by a 250 Hz tick. In every second run, another thread acts as the
 * host: ten times per second, it turns 1024 events on or off through the mailbox. The speed is the number
 * of rounds of the loop, divided by the CPU time of the loop and its ticks. The result is the ratio of the
 * median speeds with and without the host.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include <ktrace/ktrace.h>

#include "short.h"

#define MANY	    1024u
#define RUNS	    15
#define SLICE_NS    200000000u
#define TOGGLE_NS   100000000
#define TICK_US	    4000
#define RING_SLOTS  8192u
#define LOOP_ROUNDS 1000u

KTRACE_EVENT(bench, round, "%u", (uint32_t, n));

/* MANY copies of the descriptor that KTRACE_EVENT() would define for an event many.row. */
static struct {
	struct ktrx_event event;
	char strings[16];
} many[MANY] __attribute__((section("ktrace_events"), aligned(8), KTRACE_KEEP)) = {
	[0 ... MANY - 1] = { { .magic = KTRX_EVENT_MAGIC,
			       .size = sizeof(many[0]),
			       .header = KTRACE_HEADER_SLOW,
			       .v1_id = KTRX_V1_NONE },
			     "many\0row\0\0" },
};

static volatile int toggling, ended;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct ktrx_mailbox *mailbox(void)
{
	return (struct ktrx_mailbox *)(uintptr_t)ktrace_root.section[KTRX_SECTION_MAILBOX - 1].address;
}

/* Posts one request that sets the state of all events in many[], as a host does. */
static void post(uint8_t state)
{
	struct ktrx_mailbox *box = mailbox();
	uint32_t sequence = box->requested + 1;
	struct ktrx_request request = { .sequence = sequence,
					.op = KTRX_REQUEST_EVENTS,
					.change = KTRX_CHANGE_STATE,
					.first = many[0].event.id,
					.last = (uint16_t)(many[0].event.id + MANY - 1),
					.state = state };

	request.check = ktrx_request_check(&request);
	box->request[sequence % KTRX_MAILBOX_REQUESTS] = request;
	__atomic_store_n(&box->requested, sequence, __ATOMIC_RELEASE);
}

static void *host_main(void *unused)
{
	uint8_t state = KTRX_STATE_OFF;

	while (!ended) {
		nanosleep(&(struct timespec){ .tv_nsec = TOGGLE_NS }, NULL);
		if (toggling)
			post(state ^= KTRX_STATE_RECORD);
	}
	return unused;
}

static void tick(int signal)
{
	(void)signal;
	ktrace_heartbeat(0);
}

/* Returns the speed of the loop: rounds per microsecond of CPU time. */
static double speed(int toggled)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + SLICE_NS, begun = now_ns(CLOCK_THREAD_CPUTIME_ID),
		 rounds = 0;

	toggling = toggled;
	for (; now_ns(CLOCK_MONOTONIC) < end; rounds += LOOP_ROUNDS)
		for (uint32_t n = 0; n < LOOP_ROUNDS; n++)
			KTRACE(bench, round, n);
	toggling = 0;
	return (double)rounds * 1e3 / (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begun);
}

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double *samples, int count)
{
	qsort(samples, (size_t)count, sizeof(*samples), compare);
	return samples[count / 2];
}

/* Returns the microseconds that a tick takes to set the state of all events in many[]. */
static double switch_us(void)
{
	double samples[RUNS];

	for (int run = 0; run < RUNS; run++) {
		uint64_t begun;

		post((uint8_t)(run & 1));
		begun = now_ns(CLOCK_MONOTONIC);
		ktrace_heartbeat(0);
		samples[run] = (double)(now_ns(CLOCK_MONOTONIC) - begun) / 1e3;
	}
	return median(samples, RUNS);
}

static int set_up(pthread_t *host)
{
	static _Alignas(64) unsigned char lent[2 * RING_SLOTS * KTRX_SLOT_SIZE];
	const struct ktrace_memory memory = { lent, sizeof(lent) };
	const struct ktrace_config config = {
		.size = sizeof(config), .slots = RING_SLOTS, .blocks = 1, .memory = &memory
	};
	const struct itimerval period = { { 0, TICK_US }, { 0, TICK_US } };
	sigset_t alarm;

	if (ktrace_init(&config) != KTRACE_OK || ktrace_cpu_online(0) != KTRACE_OK)
		return -1;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	signal(SIGALRM, tick);
	/* the new thread inherits the blocked SIGALRM, so the tick always interrupts the main thread */
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	if (pthread_create(host, NULL, host_main, NULL) != 0)
		return -1;
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	return setitimer(ITIMER_REAL, &period, NULL);
}

int main(void)
{
	double quiet[RUNS], toggled[RUNS], ratio, us;
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	uint32_t requests;
	const int runs = bench_times(RUNS);
	pthread_t host;

	if (set_up(&host))
		return 2;
	for (int run = 0; run < runs; run++) {
		quiet[run] = speed(0);
		toggled[run] = speed(1);
	}
	ended = 1;
	pthread_join(host, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	ktrace_heartbeat(0);
	requests = mailbox()->applied;
	ratio = median(toggled, runs) / median(quiet, runs);
	us = switch_us();
	printf("{\"bench\": \"control\", \"events\": %u, \"requests\": %u, \"switch_us\": %.1f, "
	       "\"speed_ratio\": %.4f}\n",
	       MANY, requests, us, ratio);
	fprintf(stderr,
		"control: a loop runs at %.4f of its speed while %u events are switched ten times a second "
		"(%u requests); a tick that does it takes %.1f us\n",
		ratio, MANY, requests, us);
	return mailbox()->refused == 0 && (requests > 0 || bench_short()) ? 0 : 1;
}
