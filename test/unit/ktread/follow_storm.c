/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Follows this process itself. Its threads record as CPUs do. Signals, whose handlers record as well,
 * interrupt the threads. Each record is numbered. The test fails if a record is torn or is read twice, or if
 * a missing record is not counted.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "ktread/follow.h"

#define WORKERS 2u
#define SLOTS	16384u
/* numbers of records are lower than this: a thread makes fewer records */
#define NUMBERS (UINT64_C(1) << 22)
#define RECORDS 150000u
#define BURST	50u
/* a thread makes this many records slowly: it waits until the reader has read most of its ring */
#define PACED (RECORDS / 3 * 2)
#define AHEAD (SLOTS / 4) /* a thread may be ahead of the reader by this number of records */
#define PAGE  UINT64_C(4096)
#define TOP   (UINT64_C(1) << 47)

KTRACE_EVENT(test, pair, "%llu %llu", (unsigned long long, number), (unsigned long long, complement));
KTRACE_EVENT(test, long, "%llu %llu %llu", (unsigned long long, number), (unsigned long long, triple),
	     (unsigned long long, complement));

__thread uint64_t threads_reserve;
__thread uint32_t threads_cpu;

/* for each thread: number of records of both events that the thread has begun */
static atomic_ullong numbered[WORKERS];
/* for each thread: the largest number that was read */
static atomic_ullong came_last[WORKERS];
static atomic_uint online, at_work;
static atomic_bool storm;
static uint8_t *seen[WORKERS];

static void record_pair(void)
{
	uint64_t number = atomic_fetch_add(&numbered[threads_cpu], 1);

	KTRACE(test, pair, number, ~number);
}

static void record_long(void)
{
	uint64_t number = atomic_fetch_add(&numbered[threads_cpu], 1);

	KTRACE(test, long, number, number * 3, ~number);
}

static void interrupt(int signal)
{
	signal == SIGUSR1 ? record_pair() : record_long();
}

static void *work(void *argument)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	threads_cpu = *(const uint32_t *)argument;
	if (ktrace_cpu_online(threads_cpu) != KTRACE_OK)
		abort();
	online++;
	while (!storm)
		sched_yield();
	for (uint32_t i = 0; i < RECORDS; i++) {
		i % 3 ? record_pair() : record_long();
		if (i < PACED && i % BURST == 0)
			do
				nanosleep(&pause, NULL);
			while (numbered[threads_cpu] > came_last[threads_cpu] + AHEAD);
	}
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	at_work--;
	/* The thread must not exit yet, because the reserve word is in its memory. */
	while (storm)
		sched_yield();
	return NULL;
}

/*
 * Reads the memory of this process, without address translation. Returns zeros for memory that is not mapped.
 */
static int self_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	struct iovec to = { buffer, bytes }, from = { (void *)(uintptr_t)physical, bytes };
	ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	(void)context;
	got = got < 0 ? 0 : got;
	memset((char *)buffer + got, 0, bytes - (size_t)got);
	return 0;
}

/*
 * Replaces the function that finds the parts of memory that contain data: only the page of the root has to be
 * found.
 */
static uint64_t self_next_data(void *context, uint64_t physical)
{
	const uint64_t root = (uintptr_t)&ktrace_root & ~(PAGE - 1);

	(void)context;
	return physical <= root ? root : physical < root + PAGE ? physical : UINT64_MAX;
}

static int self_ended(void *context)
{
	(void)context;
	return at_work == 0;
}

static void check_event(const struct ktread_followed *now, uint64_t *last)
{
	const struct ktread_event *event = now->event;
	const bool is_pair = strcmp(event->type->name, "pair") == 0;
	uint64_t words[3];

	/* The payload may be at the end of the reader's buffer. */
	memcpy(words, event->payload, (is_pair ? 2 : 3) * sizeof(words[0]));
	assert_in_range(event->cpu, 0, WORKERS - 1);
	if (is_pair) {
		assert_true(words[0] == ~words[1]);
	} else {
		assert_string_equal(event->type->name, "long");
		assert_true(words[0] * 3 == words[1] && words[0] == ~words[2]);
	}
	assert_true(words[0] < NUMBERS);
	assert_int_equal(seen[event->cpu][words[0]]++, 0);
	if (words[0] > came_last[event->cpu])
		came_last[event->cpu] = words[0];
	assert_int_equal(now->late, event->stamp < *last);
	*last = event->stamp > *last ? event->stamp : *last;
}

/* Reads to the end, and sends signals to the threads. Returns how many slots were reported as lost. */
static uint64_t follow_to_the_end(struct ktread_follow *follow, const pthread_t *threads)
{
	struct ktread_followed now = { 0 };
	uint64_t last = 0, lost = 0;

	for (uint64_t n = 0; now.kind != KTREAD_FOLLOWED_END; n++) {
		assert_int_equal(ktread_follow_next(follow, &now, -1), 1);
		if (now.kind == KTREAD_FOLLOWED_EVENT)
			check_event(&now, &last);
		else if (now.kind == KTREAD_FOLLOWED_LOST)
			lost += now.slots;
		else if (now.kind == KTREAD_FOLLOWED_BOOT)
			storm = true;
		if (n % 64 == 0 && at_work > 0)
			pthread_kill(threads[n / 64 % WORKERS], n / 128 % 2 ? SIGUSR1 : SIGUSR2);
	}
	return lost;
}

static void start(pthread_t *threads)
{
	static const uint32_t cpus[WORKERS] = { 0, 1 };
	static _Alignas(64) uint8_t rings[WORKERS * SLOTS * 32 + 4096];
	const struct ktrace_memory lent = { rings, sizeof(rings) };
	const struct ktrace_config config = {
		.size = sizeof(config), .cpus = WORKERS, .slots = SLOTS, .blocks = 1, .memory = &lent
	};
	struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	at_work = WORKERS;
	for (uint32_t i = 0; i < WORKERS; i++) {
		seen[i] = calloc(1, NUMBERS);
		assert_non_null(seen[i]);
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)&cpus[i]), 0);
	}
	while (online < WORKERS)
		sched_yield();
}

/* Waits for the threads, and counts the records that were read and those that are missing. */
static void join(const pthread_t *threads, uint64_t *came, uint64_t *missing)
{
	storm = false;
	*came = *missing = 0;
	for (uint32_t i = 0; i < WORKERS; i++) {
		pthread_join(threads[i], NULL);
		for (uint64_t n = 0; n < numbered[i]; n++) {
			*came += seen[i][n];
			*missing += !seen[i][n];
		}
		free(seen[i]);
	}
}

static void every_record_comes_once_or_is_counted(void **state)
{
	const struct ktread_memory_ops ops = { .read = self_read,
					       .next_data = self_next_data,
					       .ended = self_ended };
	const struct ktread_range all = { PAGE, TOP - PAGE };
	struct ktread_memory *memory;
	struct ktread_follow *follow;
	struct ktread_follow_account account;
	uint64_t lost, came, missing;
	pthread_t threads[WORKERS];

	(void)state;
	start(threads);
	assert_int_equal(ktread_memory_open(&memory, &ops, NULL, &all, 1), 0);
	assert_int_equal(ktread_follow_open_memory(&follow, memory, NULL), 0);
	lost = follow_to_the_end(follow, threads);
	ktread_follow_account(follow, &account);
	join(threads, &came, &missing);
	print_message("%llu events, %llu late, %llu slots lost, %llu unreadable, %llu looks\n",
		      (unsigned long long)account.events, (unsigned long long)account.late,
		      (unsigned long long)lost, (unsigned long long)account.unreadable,
		      (unsigned long long)account.polls);
	assert_int_equal(account.pending, 0);
	assert_int_equal(account.overwritten, lost);
	assert_int_equal(account.produced, account.shown + lost + account.unreadable);
	assert_int_equal(account.events, came);
	assert_true(came > PACED);
	/*
	 * Each missing record was counted as one or two lost slots. Lost anchors may have been counted, too.
	 */
	assert_in_range(lost + account.unreadable, missing, 2 * missing + 2 * WORKERS);
	ktread_follow_close(follow);
	ktread_memory_close(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_record_comes_once_or_is_counted) };

	return cmocka_run_group_tests_name("follow storm", tests, NULL, NULL);
}
