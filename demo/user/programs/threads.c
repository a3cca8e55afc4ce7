/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * threads: checks the threads of a process. They share memory, but each has its own thread-local variables,
 * name and signals. They end one by one, or all together with the process. execve ends all threads except the
 * caller; fork copies only the caller.
 */
#include <program.h>
#include <string.h>
#include <thread.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS	200
#define LONG_MS 60000

static __thread unsigned own = 7; /* a thread-local variable */
static __thread unsigned own_zero;

static struct mutex lock = MUTEX("sum");
static unsigned sum;

/* ---- Memory, thread-local variables, locks -------------------------------------------------------- */

static void add(void *argument)
{
	unsigned number = *(unsigned *)argument;

	check_equal(7, own, "a thread's own variable begins with its initial value");
	check_equal(0, own_zero, "a thread's own variable without an initial value begins with 0");
	own = own_zero = number;
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned before;

		mutex_lock(&lock);
		before = sum;
		if (i % 16 == 0)
			sched_yield();
		sum = before + 1;
		mutex_unlock(&lock);
	}
	check(own == number && own_zero == number, "a thread's own variable is its own");
	check_equal(thread_self(), thread_id(), "a thread knows its id");
}

static void add_together(void)
{
	struct thread threads[THREADS];
	unsigned numbers[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		numbers[i] = 100 + i;
		check_equal(0, thread_start(&threads[i], "adder", add, &numbers[i]), "a thread starts");
	}
	for (unsigned i = 0; i < THREADS; i++)
		check_equal(0, thread_await(&threads[i]), "a thread is waited for");
	check_equal(THREADS * ROUNDS, sum, "every addition counted");
	check_equal(7, own, "the first thread's variable is its own");
	check_equal(getpid(), thread_self(), "the first thread's id");
	check_equal(-EDEADLK, thread_join(thread_self()), "a thread cannot join itself");
	check_equal(0, thread_join(threads[0].id), "joining a thread that has ended returns at once");
}

/* ---- Waiting for words ---------------------------------------------------------------------------- */

static uint32_t word;
static unsigned passed;

static void wait_for_word(void *unused)
{
	(void)unused;
	while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0)
		wait_on(&word, 0, -1, 0, "word");
	__atomic_add_fetch(&passed, 1, __ATOMIC_SEQ_CST);
}

static void wake_by_word(void)
{
	struct thread threads[THREADS];

	check_equal(-EAGAIN, wait_on(&word, 1, -1, 0, NULL), "a word that has another value");
	check_equal(-ETIMEDOUT, wait_on(&word, 0, 1, 0, NULL), "a wait for an unchanged word times out");
	check_equal(-EINVAL, wait_on((char *)&word + 1, 0, 1, 0, NULL), "a word that is not aligned");
	check_equal(-EFAULT, wait_on((void *)4096, 0, 1, 0, NULL), "a word at a bad address");
	check_equal(0, wake(&word, 1), "no thread waits, so none is woken");
	for (unsigned i = 0; i < THREADS; i++)
		check_equal(0, thread_start(&threads[i], "waiter", wait_for_word, NULL), "a waiter starts");
	sleep_ms(5);
	check_equal(0, passed, "no waiter continues before it is woken");
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	check(wake(&word, THREADS) <= THREADS, "waiters are woken");
	for (unsigned i = 0; i < THREADS; i++)
		check_equal(0, thread_await(&threads[i]), "a waiter ends");
	check_equal(THREADS, passed, "all waiters continued");
}

/* ---- Signals -------------------------------------------------------------------------------------- */

/* Number of signals handled by the first thread ([0]) and by another thread ([1]). */
static unsigned taken_by[2];
static unsigned ready;

static void note_taker(int signal)
{
	(void)signal;
	__atomic_add_fetch(&taken_by[own == 1], 1, __ATOMIC_SEQ_CST);
}

/* The main function of a thread that must handle a signal. Returns when the thread has handled it. */
static void take_signal(void *unused)
{
	unsigned before = __atomic_load_n(&taken_by[1], __ATOMIC_SEQ_CST);

	(void)unused;
	own = 1;
	__atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
	wake(&ready, 1);
	while (__atomic_load_n(&taken_by[1], __ATOMIC_SEQ_CST) == before)
		sleep_ms(1);
}

static void start_taker(struct thread *thread)
{
	ready = 0;
	check_equal(0, thread_start(thread, "taker", take_signal, NULL), "a taker starts");
	while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
		wait_on(&ready, 0, -1, 0, NULL);
}

static void send_signals(void)
{
	uint32_t usr1 = 1u << (SIGUSR1 - 1);
	struct thread thread;

	check_equal(0, handle_signal(SIGUSR1, note_taker), "the handler is set");
	start_taker(&thread);
	check_equal(0, thread_kill(thread.id, 0), "the taker exists");
	check_equal(0, thread_kill(thread.id, SIGUSR1), "a signal to a thread");
	check_equal(0, thread_await(&thread), "the taker has ended");
	check_equal(-ESRCH, thread_kill(thread.id, SIGUSR1), "no such thread");
	start_taker(&thread);
	check_equal(0, sigprocmask(SIG_BLOCK, &usr1, NULL), "the first thread blocks it");
	check_equal(0, kill(getpid(), SIGUSR1), "a signal to the process");
	check_equal(0, thread_await(&thread), "a thread that does not block the signal gets it");
	check_equal(0, sigprocmask(SIG_UNBLOCK, &usr1, NULL), "the first thread unblocks the signal");
	check(taken_by[0] == 0 && taken_by[1] == 2, "the taker took both signals");
	check_equal(0, thread_kill(thread_self(), SIGUSR1), "a signal to oneself");
	check_equal(1, taken_by[0], "a signal to oneself is taken at once");
}

/* ---- Ends of threads and of the process ----------------------------------------------------------- */

static struct thread others[THREADS];

static void sleep_long(void *unused)
{
	(void)unused;
	sleep_ms(LONG_MS);
}

static void spin(void *unused)
{
	(void)unused;
	for (;;)
		__asm__ volatile("");
}

static void wait_long(void *unused)
{
	uint32_t never = 0;

	(void)unused;
	wait_on(&never, 0, -1, 0, "never");
}

static void pause_long(void *unused)
{
	(void)unused;
	pause();
}

static void start_others(void)
{
	static void (*const run[THREADS])(void *) = { sleep_long, spin, wait_long, pause_long };

	for (unsigned i = 0; i < THREADS; i++)
		check_equal(0, thread_start(&others[i], "other", run[i], NULL), "another thread starts");
}

static void exit_with_3(void *unused)
{
	(void)unused;
	exit(3);
}

static void end_from_thread(void)
{
	struct thread thread;

	start_others();
	thread_start(&thread, "leaver", exit_with_3, NULL);
	thread_await(&thread);
}

static void end_from_first(void)
{
	start_others();
	exit(4);
}

static void die(void)
{
	volatile int *volatile nowhere = NULL;

	start_others();
	*nowhere = 0;
}

static void finish_late(void *unused)
{
	(void)unused;
	sleep_ms(5);
}

static void leave_first(void)
{
	thread_start(&others[0], "late", finish_late, NULL);
	thread_exit();
}

static void exit_late(void *unused)
{
	(void)unused;
	sleep_ms(5);
	exit(5);
}

static void leave_before_exit(void)
{
	thread_start(&others[0], "late", exit_late, NULL);
	thread_exit();
}

/*
 * Starts another program from a thread: "threads again", which checks that its process has only one
 * thread, and still has the same pid.
 */
static void exec_again(void *unused)
{
	char *words[] = { "threads", "again", NULL }, *none[] = { NULL };

	(void)unused;
	execve("/bin/threads", words, none);
}

static void exec_from_thread(void)
{
	struct thread thread;

	start_others();
	thread_start(&thread, "starter", exec_again, NULL);
	thread_await(&thread);
}

static int status_of(void (*child)(void))
{
	return wait_for(start_child(child));
}

static void end_in_all_ways(void)
{
	check_equal(3 << 8, status_of(end_from_thread), "a thread ends the process");
	check_equal(4 << 8, status_of(end_from_first), "the first thread ends the process");
	check_equal(SIGSEGV, status_of(die), "a signal ends the process");
	check_equal(0, status_of(leave_first), "the last thread ends the process");
	check_equal(5 << 8, status_of(leave_before_exit), "the process continues without its first thread");
	check_equal(6 << 8, status_of(exec_from_thread), "a thread runs another program");
}

/* ---- fork ----------------------------------------------------------------------------------------- */

static volatile unsigned counter;
static unsigned stop;

static void count(void *unused)
{
	(void)unused;
	check_equal(0, setname("counting"), "a thread gets another name");
	while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST))
		counter = counter + 1;
}

/* Runs in a child process. Checks that no thread increments the counter in the child. */
static void look_at_counter(void)
{
	unsigned before = counter;

	sleep_ms(3);
	check_equal(before, counter, "the child has one thread, and memory of its own");
	check_equal(thread_self(), thread_id(), "a child's thread knows its id");
	check_equal(-ESRCH, thread_kill(others[0].id, 0), "the parent's threads are not the child's");
}

static void fork_here(void *unused)
{
	(void)unused;
	check_equal(0, status_of(look_at_counter), "status of a thread's child");
}

static void fork_with_threads(void)
{
	struct thread thread;

	check_equal(0, thread_start(&others[0], "counter", count, NULL), "a counter starts");
	for (unsigned i = 0; i < 3; i++) {
		check_equal(0, thread_start(&thread, "parent", fork_here, NULL), "a parent starts");
		check_equal(0, thread_await(&thread), "a parent ends");
	}
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	check_equal(0, thread_await(&others[0]), "the counter ends");
}

/*
 * A variable in a page that the parent and its child share. When the parent writes to it, the parent gets a
 * copy of the page. All threads of the parent must then see the copy.
 */
static volatile unsigned shown __attribute__((aligned(4096)));

static void watch(void *unused)
{
	(void)unused;
	while (shown != 2)
		;
}

static void stay_a_while(void)
{
	sleep_ms(30);
	check_equal(1, shown, "the child has its own page");
}

static void write_after_fork(void)
{
	struct thread watcher;
	int child;

	shown = 1;
	check_equal(0, thread_start(&watcher, "watcher", watch, NULL), "a watcher starts");
	child = start_child(stay_a_while);
	sleep_ms(3);
	shown = 2;
	check_equal(0, thread_await(&watcher), "the watcher has read the new value");
	check_equal(0, wait_for(child), "status of the child");
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "again") == 0)
		exit(own == 7 && thread_kill(thread_self(), 0) == 0 ? 6 : 1);
	add_together();
	wake_by_word();
	send_signals();
	end_in_all_ways();
	fork_with_threads();
	write_after_fork();
	finish();
}
