/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The CPUs of the guest: which CPU runs, which CPUs are idle, and which CPUs are interrupted. */
#include "parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "qemu.h"

/* ---- Frozen CPUs ---- */

#define CPUS_MOST 4096

static int cpus;
static int last_chosen = -1;
static bool thawing;
static void (*call_woken)(void); /* if not NULL, cpus_interrupted() is called for each interrupt */
/* true if a CPU other than the chosen one may be able to run; set by cpus_thaw() and by interrupts */
static _Atomic bool others_may_run;
static struct {
	bool busy; /* true if the CPU was not idle at the last cpus_thaw() */
	bool frozen;
} state[CPUS_MOST];

const char *cpus_open(int number)
{
	cpus = number;
	return number <= CPUS_MOST ? NULL : "too many CPUs";
}

unsigned cpus_thaw(void)
{
	unsigned busy = 0;

	thawing = true;
	atomic_store_explicit(&others_may_run, false, memory_order_relaxed);
	for (int i = 0; i < cpus; i++) {
		struct CPUState *cpu = qemu_get_cpu(i);

		if (cpu != NULL && state[i].frozen)
			cpu_resume(cpu);
		state[i].frozen = false;
		state[i].busy = cpu != NULL && !cpu_thread_is_idle(cpu);
		busy += state[i].busy;
	}
	thawing = false;
	if (busy > 1 || call_woken == NULL)
		atomic_store_explicit(&others_may_run, true, memory_order_relaxed);
	return busy;
}

void cpus_see_interrupts(void (*woken)(void))
{
	call_woken = woken;
}

void cpus_interrupted(const struct CPUState *cpu)
{
	if (cpus_others_may_run() || (last_chosen >= 0 && cpu == qemu_get_cpu(last_chosen)))
		return;
	atomic_store_explicit(&others_may_run, true, memory_order_relaxed);
	if (cpus_are_frozen() && call_woken != NULL)
		cpus_call(call_woken);
}

bool cpus_others_may_run(void)
{
	return atomic_load_explicit(&others_may_run, memory_order_relaxed);
}

/* Returns true while cpus_thaw() asks QEMU which CPUs are idle. */
static bool cpus_is_thawing(void)
{
	return thawing;
}

/*
 * QEMU exports only a function that stops `current_cpu`, the CPU whose code this thread runs. One thread runs
 * all CPUs, so another CPU may be made the current one during this call.
 */
static void freeze(int number)
{
	struct CPUState *self = current_cpu;

	current_cpu = qemu_get_cpu(number);
	cpu_stop_current();
	current_cpu = self;
	state[number].frozen = true;
}

void cpus_choose(unsigned chosen)
{
	unsigned n = 0;

	for (int i = 0; i < cpus; i++) {
		const bool runs = state[i].busy && n == chosen;

		n += state[i].busy;
		if (runs)
			last_chosen = i;
		else if (qemu_get_cpu(i) != NULL)
			freeze(i);
	}
}

unsigned cpus_next(void)
{
	unsigned before = 0, after = 0;

	for (int i = 0; i < cpus; i++) {
		before += state[i].busy && i <= last_chosen;
		after += state[i].busy && i > last_chosen;
	}
	return after > 0 ? before : 0;
}

int cpus_number(unsigned cpu)
{
	int n = 0;

	if (cpu >= (unsigned)cpus || !state[cpu].busy)
		return -1;
	for (unsigned i = 0; i < cpu; i++)
		n += state[i].busy;
	return n;
}

bool cpus_are_frozen(void)
{
	bool frozen = false;

	for (int i = 0; i < cpus; i++)
		frozen |= state[i].frozen;
	return frozen;
}

#define CALLS 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*called[CALLS])(void); /* guarded by the lock */

static void call_all(struct CPUState *cpu, void *data)
{
	(void)cpu;
	(void)data;
	for (unsigned n = 0; n < CALLS; n++) {
		void (*call)(void);

		pthread_mutex_lock(&lock);
		call = called[n];
		called[n] = NULL;
		pthread_mutex_unlock(&lock);
		if (call != NULL)
			call();
	}
}

/* Returns false if the same call is already queued. */
static bool add(void (*call)(void))
{
	unsigned n = 0;
	bool is_new;

	pthread_mutex_lock(&lock);
	while (n + 1 < CALLS && called[n] != NULL && called[n] != call)
		n++;
	is_new = called[n] != call;
	called[n] = call;
	pthread_mutex_unlock(&lock);
	return is_new;
}

/*
 * Before QEMU runs a CPU, it makes the calls that are queued for this CPU. So the call is queued for all
 * CPUs.
 */
void cpus_call(void (*call)(void))
{
	if (!add(call))
		return;
	for (int i = 0; i < cpus; i++) {
		struct CPUState *cpu = qemu_get_cpu(i);

		if (cpu != NULL)
			async_run_on_cpu(cpu, call_all, NULL);
	}
}

/* ---- Idle CPUs ---- */

/* number of blocks of code that were executed; only the CPUs' thread increases it */
static uint64_t blocks;
static _Atomic uint64_t idle_after; /* value of `blocks` when the CPUs' thread found all CPUs idle */
static _Atomic bool all_idle;

static bool (*choose_again)(void);

/*
 * QEMU calls this function for one CPU after another, until one is not idle. The CPUs' thread calls it
 * between two slices, when the clock includes all executed instructions.
 */
bool idle_confirm(struct CPUState *cpu)
{
	const uint64_t now = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
	bool chosen;

	(void)cpu;
	if (cpus_is_thawing())
		return true;
	if (!qemu_in_vcpu_thread())
		return all_idle && idle_after == now;
	chosen = choose_again();
	idle_after = now;
	all_idle = !chosen;
	return !chosen;
}

static void look(struct qemu_plugin_tb *block)
{
	api_count_block(block, &blocks);
}

void idle_open(bool (*again)(void))
{
	choose_again = again;
	blocks_add(look);
}

/* ---- The accelerator ---- */

#define ACCELERATOR "tcg-accel-ops"
#define WORDS_MOST  64u /* number of words that are searched in the accelerator's class */

/*
 * Positions of functions in QEMU's struct AccelOpsClass (include/sysemu/accel-ops.h, since QEMU 10.0
 * include/system/accel-ops.h), as numbers of words before get_virtual_clock. In TCG, the words from
 * BACK_FIRST_NONE to BACK_IDLE are NULL.
 */
enum { BACK_INTERRUPT = 1, BACK_FIRST_NONE = 2, BACK_IDLE = 7, BACK_KICK = 8, BACK_CREATE = 9 };

static bool (*confirm_idle)(struct CPUState *cpu);
static void (*see_interrupt)(const struct CPUState *cpu);
static void (*call_replaced)(void);
/* QEMU's own function, which the plugin's function calls */
static void (*raise_interrupt)(struct CPUState *cpu, int mask);

static void interrupt(struct CPUState *cpu, int mask)
{
	see_interrupt(cpu);
	raise_interrupt(cpu, mask);
}

/*
 * Returns true if this word and get_elapsed_ticks contain the function for the virtual clock. In QEMU 7.2,
 * get_elapsed_ticks is the next word. Since QEMU 9.1, set_virtual_clock is between them, NULL in TCG.
 */
static bool is_clock(void *const *word)
{
	void *const clock = (void *)icount_get;

	return word[0] == clock && (word[1] == clock || (word[1] == NULL && word[2] == clock));
}

/*
 * Finds the word of the accelerator's class that contains the function for the virtual clock. It is
 * recognized by the words after it, and by the words before it that are NULL in TCG. Returns NULL if the word
 * is not found.
 */
static void **find_word(void **word)
{
	for (unsigned n = BACK_CREATE; n + 2 < WORDS_MOST; n++) {
		bool found = is_clock(&word[n]);

		for (unsigned back = BACK_FIRST_NONE; found && back <= BACK_IDLE; back++)
			found = word[n - back] == NULL;
		if (found && word[n - BACK_INTERRUPT] != NULL && word[n - BACK_KICK] != NULL &&
		    word[n - BACK_CREATE] != NULL)
			return &word[n];
	}
	return NULL;
}

/*
 * In some builds of QEMU, the accelerator is a module that is loaded after the plugin, but before the first
 * CPU begins to run.
 */
static void begin_cpu(qemu_plugin_id_t id, unsigned cpu)
{
	void **word = object_class_by_name(ACCELERATOR), **interrupt_word;

	(void)id;
	api_begin_cpu(cpu);
	if (cpu != 0)
		return;
	word = word != NULL ? find_word(word) : NULL;
	if (word == NULL) {
		fputs("ktrace-schedule: WARNING: this QEMU differs from versions 7.2 and 10.0: its function "
		      "that finds idle CPUs cannot be replaced, so repeated runs may differ in rare cases\n",
		      stderr);
		return;
	}
	word[-BACK_IDLE] = (void *)confirm_idle;
	interrupt_word = &word[-BACK_INTERRUPT];
	*(void **)&raise_interrupt = *interrupt_word;
	*interrupt_word = (void *)interrupt;
	call_replaced();
}

const char *accelerator_open(qemu_plugin_id_t id, bool (*is_idle)(struct CPUState *cpu),
			     void (*interrupted)(const struct CPUState *cpu), void (*replaced)(void))
{
	if (object_class_by_name == NULL || icount_get == NULL || qemu_in_vcpu_thread == NULL)
		return "this QEMU does not export the functions of its accelerator";
	confirm_idle = is_idle;
	see_interrupt = interrupted;
	call_replaced = replaced;
	qemu_plugin_register_vcpu_init_cb(id, begin_cpu);
	return NULL;
}
