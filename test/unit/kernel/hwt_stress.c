/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace at full speed: threads of this program are threads of traced processes, which share a few CPUs, switch, map,
 * make threads and end, while owners begin, start, stop, read and drop contexts on them. A CPU is a mutex for who runs on it
 * and one for its interrupts. The backend sees to it that nobody is at work on a unit twice at once, that each CPU
 * traces one unit, and that what was switched on is switched off there.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <ktrace/hwt.h>
#include <ktrace/ktrace.h>

#include "unit/support/proc_walk.h"

#define CPUS	   3u
#define PROCESSES  4u
#define OWNERS	   3u
#define ROUNDS	   3000u /* of each process: hooks that make a record */
#define LIFE_EVERY 50u	 /* of them the second thread comes and goes */
#define CHAOS	   400u	 /* contexts of each owner */

__thread uint64_t threads_reserve;
__thread uint32_t threads_cpu;

struct process {
	struct ktrace_hwt_process trace;
	struct ktrace_hwt_thread thread[2]; /* the second comes and goes */
	bool second;
	bool alive;
	uint32_t pid;
};

static struct process processes[PROCESSES];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t sleepers = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static atomic_flag short_lock = ATOMIC_FLAG_INIT;
static atomic_int memory;
static atomic_bool working;

static struct {
	pthread_mutex_t runs, interrupts;
	struct ktrace_hwt_unit *traced;
} cpus[CPUS];

/* ---- CPUs -------------------------------------------------------------------------------------- */

static __thread struct ktrace_hwt_thread
	*running; /* on threads_cpu; NULL: an owner, whose CPU does not matter */
static __thread bool interrupts_off;

static bool disable_interrupts(void)
{
	bool before = interrupts_off;

	if (!before && running)
		pthread_mutex_lock(&cpus[threads_cpu].interrupts);
	interrupts_off = true;
	return before;
}

static void restore_interrupts(bool before)
{
	interrupts_off = before;
	if (!before && running)
		pthread_mutex_unlock(&cpus[threads_cpu].interrupts);
}

static void get_cpu(struct ktrace_hwt_thread *thread)
{
	static atomic_uint next;

	threads_cpu = next++ % CPUS;
	pthread_mutex_lock(&cpus[threads_cpu].runs);
	running = thread;
	disable_interrupts();
	ktrace_hwt_switch_in(thread);
	restore_interrupts(false);
}

static struct ktrace_hwt_thread *leave_cpu(void)
{
	struct ktrace_hwt_thread *thread = running;

	disable_interrupts();
	ktrace_hwt_switch_out(thread);
	restore_interrupts(false);
	running = NULL;
	pthread_mutex_unlock(&cpus[threads_cpu].runs);
	return thread;
}

static int on_cpu(uint32_t cpu, void (*function)(void *argument), void *argument)
{
	struct ktrace_hwt_thread *self = running;
	uint32_t before = threads_cpu;

	assert_false(interrupts_off);
	running = NULL;
	pthread_mutex_lock(&cpus[cpu].interrupts);
	threads_cpu = cpu;
	interrupts_off = true;
	function(argument);
	interrupts_off = false;
	threads_cpu = before;
	pthread_mutex_unlock(&cpus[cpu].interrupts);
	running = self;
	return KTRACE_OK;
}

static uint32_t this_cpu(void)
{
	assert_true(interrupts_off);
	return threads_cpu;
}

/* ---- The rest of the kernel -------------------------------------------------------------------- */

static unsigned long lock(void)
{
	bool before = disable_interrupts();

	while (atomic_flag_test_and_set_explicit(&short_lock, memory_order_acquire))
		sched_yield();
	return before;
}

static void unlock(unsigned long saved)
{
	atomic_flag_clear_explicit(&short_lock, memory_order_release);
	restore_interrupts(saved);
}

static unsigned long table_lock(void)
{
	pthread_mutex_lock(&table);
	return 0;
}

static void table_unlock(unsigned long saved)
{
	(void)saved;
	pthread_mutex_unlock(&table);
}

static struct ktrace_hwt_process *find_process(uint32_t pid)
{
	struct process *process = &processes[pid - 1];

	return process->alive ? &process->trace : NULL;
}

static struct ktrace_hwt_thread *next_thread(struct ktrace_hwt_process *trace, struct ktrace_hwt_thread *last)
{
	struct process *process = (struct process *)trace;

	if (!last)
		return &process->thread[0];
	return last == &process->thread[0] && process->second ? &process->thread[1] : NULL;
}

static void identity(const struct ktrace_hwt_process *process, struct ktrace_proc_identity *identity)
{
	memset(identity, 0, sizeof(*identity));
	identity->pid = ((const struct process *)process)->pid;
}

static uint64_t space(const struct ktrace_hwt_process *process)
{
	return ((const struct process *)process)->pid;
}

static void *alloc(size_t size)
{
	memory++;
	return calloc(1, size);
}

static void give_back(void *what, size_t size)
{
	memset(what, 0xdb, size);
	free(what);
	memory--;
}

static int buffer_alloc(struct ktrace_hwt_buffer *buffer, uint64_t size)
{
	buffer->base = alloc(size);
	buffer->size = size;
	return KTRACE_OK;
}

static void buffer_free(struct ktrace_hwt_buffer *buffer)
{
	give_back(buffer->base, buffer->size);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Without end is bounded, too, by far more than any of it takes: a lost wake-up is to be seen. */
static int sleep_on(const volatile uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
	uint64_t end = now_ns() + (timeout_ns == UINT64_MAX ? UINT64_C(60000000000) : timeout_ns);
	const struct timespec deadline = { (time_t)(end / 1000000000), (long)(end % 1000000000) };
	struct ktrace_hwt_thread *self = running ? leave_cpu() : NULL;
	int error = 0;

	pthread_mutex_lock(&sleepers);
	while (*word == seen && !error)
		error = pthread_cond_timedwait(&woken, &sleepers, &deadline);
	pthread_mutex_unlock(&sleepers);
	assert_true(!error || timeout_ns != UINT64_MAX);
	if (self)
		get_cpu(self);
	return 0;
}

static void wake(const volatile uint32_t *word)
{
	(void)word;
	pthread_mutex_lock(&sleepers);
	pthread_cond_broadcast(&woken);
	pthread_mutex_unlock(&sleepers);
}

/* ---- The hardware ------------------------------------------------------------------------------ */

static void enter(struct ktrace_hwt_unit *unit)
{
	assert_int_equal(__atomic_exchange_n(&unit->state[0], 1, __ATOMIC_ACQ_REL), 0);
}

static int leave(struct ktrace_hwt_unit *unit)
{
	__atomic_store_n(&unit->state[0], 0, __ATOMIC_RELEASE);
	return KTRACE_OK;
}

static int init(struct ktrace_hwt_backend *backend)
{
	(void)backend;
	return KTRACE_OK;
}

static int unit_init(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	enter(unit);
	return leave(unit);
}

static void unit_free(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	enter(unit);
	assert_int_equal(unit->state[1], 0);
}

static int configure(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
		     const struct ktrace_hwt_config *config)
{
	(void)backend;
	(void)config;
	enter(unit);
	assert_int_equal(unit->state[1], 0);
	return leave(unit);
}

static int enable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	enter(unit);
	assert_true(interrupts_off);
	assert_int_equal(threads_cpu, cpu);
	assert_null(cpus[cpu].traced);
	assert_int_equal(unit->state[1], 0);
	cpus[cpu].traced = unit;
	unit->state[1] = cpu + 1;
	return leave(unit);
}

static int read_unit(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	enter(unit);
	unit->position += 8;
	return leave(unit);
}

static int disable(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu)
{
	(void)backend;
	enter(unit);
	assert_true(interrupts_off);
	assert_int_equal(threads_cpu, cpu);
	assert_ptr_equal(cpus[cpu].traced, unit);
	assert_int_equal(unit->state[1], cpu + 1);
	cpus[cpu].traced = NULL;
	unit->state[1] = 0;
	unit->position += 8;
	return leave(unit);
}

static int service(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit)
{
	(void)backend;
	enter(unit);
	assert_int_equal(unit->state[1], 0);
	return leave(unit);
}

static const struct ktrace_hwt_backend_operations operations = {
	.init = init,
	.unit_init = unit_init,
	.unit_free = unit_free,
	.configure = configure,
	.enable = enable,
	.disable = disable,
	.read = read_unit,
	.service = service,
};

static struct ktrace_hwt_backend backend = {
	.name = "stress",
	.modes = 1 << KTRX_HWT_MODE_THREAD | 1 << KTRX_HWT_MODE_CPU,
	.levels = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL,
	.operations = &operations,
};

static const struct ktrace_hwt_kernel kernel = {
	.size = sizeof(kernel),
	.cpus = CPUS,
	.lock = lock,
	.unlock = unlock,
	.table_lock = table_lock,
	.table_unlock = table_unlock,
	.process = find_process,
	.next_thread = next_thread,
	.identity = identity,
	.space = space,
	.buffer_alloc = buffer_alloc,
	.buffer_free = buffer_free,
	.alloc = alloc,
	.free = give_back,
	.on_cpu = on_cpu,
	.sleep = sleep_on,
	.wake = wake,
	.now_ns = now_ns,
	.cpu = this_cpu,
};

/* ---- The targets ------------------------------------------------------------------------------- */

static void preempt(void)
{
	get_cpu(leave_cpu());
}

static void set_second(struct process *self, bool there)
{
	pthread_mutex_lock(&table);
	if (there) {
		memset(&self->thread[1], 0, sizeof(self->thread[1]));
		self->thread[1].tid = self->pid * 100 + 1;
	}
	self->second = there;
	pthread_mutex_unlock(&table);
}

/* The second thread runs on this program's thread of the first one, which is switched out meanwhile. */
static void live_a_short_life(struct process *self)
{
	struct ktrace_hwt_thread *first;

	set_second(self, true);
	ktrace_hwt_thread_create(&self->trace, &self->thread[1]);
	first = leave_cpu();
	get_cpu(&self->thread[1]);
	ktrace_hwt_thread_name(&self->trace, &self->thread[1], "second");
	preempt();
	ktrace_hwt_thread_exit(&self->trace, &self->thread[1]);
	assert_null(self->thread[1].unit);
	leave_cpu();
	set_second(self, false);
	get_cpu(first);
}

static void work(struct process *self, uint32_t n)
{
	struct ktrx_hwt_image image = { n, 1, 0, 5, 0 };

	switch (n % 8) {
	case 3:
		ktrace_hwt_mmap(&self->trace, &self->thread[0], &image, "/lib/libc.so");
		break;
	case 6:
		ktrace_hwt_exec(&self->trace, &self->thread[0], n, "/bin/sh", 0);
		break;
	default:
		ktrace_hwt_munmap(&self->trace, &self->thread[0], n, 1);
	}
	if (n % 5 == 0)
		preempt();
	if (n % LIFE_EVERY == 0)
		live_a_short_life(self);
}

static void *be_traced(void *argument)
{
	struct process *self = argument;

	get_cpu(&self->thread[0]);
	for (uint32_t n = 0; n < ROUNDS; n++)
		work(self, n);
	ktrace_hwt_thread_exit(&self->trace, &self->thread[0]);
	ktrace_hwt_exit(&self->trace);
	assert_null(self->trace.context);
	pthread_mutex_lock(&table);
	self->alive = false;
	pthread_mutex_unlock(&table);
	leave_cpu();
	return NULL;
}

/* Lives on until nobody traces any more, with pauses in which others get on. */
static void *be_traced_on(void *argument)
{
	struct process *self = argument;

	get_cpu(&self->thread[0]);
	for (uint32_t n = 0; working; n++)
		work(self, n);
	leave_cpu();
	return be_traced(argument);
}

/* ---- The owners -------------------------------------------------------------------------------- */

static int open_context(struct ktrace_hwt_owner *owner, uint32_t pid, uint64_t cpu_mask, uint64_t queue_size,
			struct ktrace_hwt_context **context)
{
	const struct ktrace_hwt_request request = { .size = sizeof(request),
						    .mode = pid ? KTRX_HWT_MODE_THREAD : KTRX_HWT_MODE_CPU,
						    .pid = pid,
						    .cpus = { cpu_mask },
						    .buffer_size = 4096,
						    .queue_size = queue_size };
	uint32_t ident;
	int error = ktrace_hwt_alloc(owner, &processes[0].trace, &request, &ident);

	if (error)
		return error;
	*context = ktrace_hwt_get(ident);
	return *context ? KTRACE_OK : KTRACE_ERROR_STATE;
}

struct counted {
	uint64_t made;	 /* by work() … */
	uint64_t others; /* … and what tells of units */
	uint64_t lost;
	uint64_t last; /* number of the last one */
};

/* Returns what ktrace_hwt_records() does. */
static int64_t read_some(struct ktrace_hwt_context *context, uint64_t timeout_ns, struct counted *counted)
{
	uint8_t bytes[2048];
	uint32_t count;
	int64_t size = ktrace_hwt_records(context, bytes, sizeof(bytes), 20, timeout_ns, &count);
	struct proc_walk walk;
	struct proc_seen seen;

	if (size <= 0)
		return size;
	proc_walk_bytes(&walk, bytes, (size_t)size, KTRACE_PROC_FORMAT_KTRX);
	while (proc_next(&walk, &seen)) {
		counted->lost += seen.lost;
		if (seen.type > KTRX_HWT_EXECUTABLE) {
			counted->others += seen.type != KTRX_HWT_CONTEXT;
			continue;
		}
		assert_true(counted->made == 0 || proc_bits(seen.payload, 8) > counted->last);
		counted->last = proc_bits(seen.payload, 8);
		counted->made++;
	}
	assert_false(walk.torn);
	return size;
}

static void set_pauses(struct ktrace_hwt_context *context, uint32_t pauses, uint32_t timeout_ms)
{
	const struct ktrace_hwt_pausing pausing = { pauses, timeout_ms };
	const struct ktrace_hwt_config config = { 0 };
	uint32_t left_out;

	assert_int_equal(ktrace_hwt_configure(context, &config, &pausing, &left_out), KTRACE_OK);
}

struct follower {
	struct ktrace_hwt_owner owner;
	struct ktrace_hwt_context *context;
	struct counted counted;
};

/* Reads to the end, releases whoever waits, and looks at buffers. */
static void *follow(void *argument)
{
	struct follower *follower = argument;
	struct ktrace_hwt_place place;
	int64_t result;

	do {
		result = read_some(follower->context, 20000000, &follower->counted);
		ktrace_hwt_wakeup(follower->context);
		assert_int_equal(ktrace_hwt_position(follower->context, 0, &place) % -9, KTRACE_OK);
	} while (result >= 0);
	assert_int_equal(result, KTRACE_ERROR_NO_PROCESS);
	return NULL;
}

/* Each owner takes whatever it can get, and drops it again somehow. */
static void *make_trouble(void *argument)
{
	uint32_t seed = (uint32_t)(uintptr_t)argument, opened = 0;

	while (opened < CHAOS) {
		struct ktrace_hwt_owner owner = { 0 };
		struct ktrace_hwt_context *context;
		struct ktrace_hwt_place place;
		struct counted counted = { 0 };
		uint32_t what = (seed = seed * 1103515245 + 12345) >> 16;
		int error =
			open_context(&owner, what % 8 == 7 ? 0 : what % PROCESSES + 1,
				     what % 8 == 7 ? 1 << what % CPUS : 0, KTRACE_HWT_QUEUE_MIN, &context);

		if (error) {
			assert_int_equal(error, KTRACE_ERROR_EXIST);
			sched_yield();
			continue;
		}
		opened++;
		set_pauses(context, what >> 4 & 3, 1);
		assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
		for (uint32_t i = 0; i < what % 5; i++) {
			read_some(context, 100000, &counted);
			ktrace_hwt_wakeup(context);
			if (ktrace_hwt_position(context, 0, &place) == KTRACE_OK)
				ktrace_hwt_service(context, 0, place.position);
		}
		if (what & 64)
			assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
		if (what & 128)
			ktrace_hwt_release(context);
		ktrace_hwt_owner_exit(&owner);
		assert_int_equal(ktrace_hwt_stop(context), KTRACE_ERROR_STATE);
		ktrace_hwt_put(context);
	}
	return NULL;
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static int setup(void **state)
{
	(void)state;
	memset(processes, 0, sizeof(processes));
	for (uint32_t i = 0; i < PROCESSES; i++) {
		processes[i].pid = i + 1;
		processes[i].thread[0].tid = (i + 1) * 100;
		processes[i].alive = true;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CPUS; i++)
		if (cpus[i].traced)
			return 1;
	return memory != 1; /* what ktrace_hwt_init() has */
}

static void whoever_follows_learns_all(void **state)
{
	static struct follower followers[PROCESSES];
	pthread_t target[PROCESSES], owner[PROCESSES];

	(void)state;
	for (uint32_t i = 0; i < PROCESSES; i++) {
		struct follower *follower = &followers[i];

		assert_int_equal(
			open_context(&follower->owner, i + 1, 0, KTRACE_HWT_QUEUE_MIN, &follower->context),
			KTRACE_OK);
		set_pauses(follower->context, i % 2 ? KTRACE_HWT_PAUSE_EXEC | KTRACE_HWT_PAUSE_MMAP : 0,
			   60000);
		assert_int_equal(ktrace_hwt_start(follower->context), KTRACE_OK);
		pthread_create(&target[i], NULL, be_traced, &processes[i]);
		pthread_create(&owner[i], NULL, follow, follower);
	}
	for (uint32_t i = 0; i < PROCESSES; i++) {
		pthread_join(target[i], NULL);
		pthread_join(owner[i], NULL);
		assert_int_equal(followers[i].counted.made, ROUNDS);
		assert_int_equal(followers[i].counted.lost, 0);
		ktrace_hwt_owner_exit(&followers[i].owner);
		ktrace_hwt_put(followers[i].context);
	}
}

/* Nobody reads until the end: what is there and what is said to be lost make all. */
static void what_finds_no_room_is_counted(void **state)
{
	struct follower follower = { .counted = { 0 } };
	pthread_t target;

	(void)state;
	assert_int_equal(open_context(&follower.owner, 1, 0, KTRACE_HWT_QUEUE_MIN, &follower.context),
			 KTRACE_OK);
	set_pauses(follower.context, 0, 1);
	pthread_create(&target, NULL, be_traced, &processes[0]);
	pthread_join(target, NULL);
	follow(&follower);
	/* Of each thread one when it is made and one when it ends; the second is given a name. */
	assert_int_equal(follower.counted.made + follower.counted.others + follower.counted.lost,
			 ROUNDS + 2 * (1 + ROUNDS / LIFE_EVERY) + ROUNDS / LIFE_EVERY);
	assert_true(follower.counted.made < ROUNDS);
	ktrace_hwt_owner_exit(&follower.owner);
	ktrace_hwt_put(follower.context);
}

static void owners_come_and_go(void **state)
{
	pthread_t target[PROCESSES], owner[OWNERS];

	(void)state;
	working = true;
	for (uint32_t i = 0; i < PROCESSES; i++)
		pthread_create(&target[i], NULL, be_traced_on, &processes[i]);
	for (uint32_t i = 0; i < OWNERS; i++)
		pthread_create(&owner[i], NULL, make_trouble, (void *)(uintptr_t)(i + 1));
	for (uint32_t i = 0; i < OWNERS; i++)
		pthread_join(owner[i], NULL);
	working = false;
	for (uint32_t i = 0; i < PROCESSES; i++)
		pthread_join(target[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whoever_follows_learns_all, setup, teardown),
		cmocka_unit_test_setup_teardown(what_finds_no_room_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(owners_come_and_go, setup, teardown),
	};

	for (uint32_t i = 0; i < CPUS; i++) {
		pthread_mutex_init(&cpus[i].runs, NULL);
		pthread_mutex_init(&cpus[i].interrupts, NULL);
	}
	if (ktrace_hwt_init(&kernel) != KTRACE_OK || ktrace_hwt_add(&backend) != KTRACE_OK)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
