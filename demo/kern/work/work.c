/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "args.h"
#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "print.h"
#include "string.h"
#include "thread.h"
#include "wait.h"
#include "work.h"
#include "bug/bug.h"

#define DEFAULT_DURATION_NS (500 * NS_PER_MS)
#define CREW_MAX	    (2 * CPU_MAX)
#define WORK_NAME_MAX	    32

static const struct work works[] = {
	{ "pingpong", work_pingpong }, /* two threads that wake each other, on different CPUs */
	{ "spin", work_spin },	       /* all CPUs contend for one spinlock */
	{ "fault", work_fault },       /* page faults that the kernel resolves */
	{ "ipi", work_ipi },	       /* all CPUs call functions on each other */
	{ "sleepers", work_sleepers }, /* timed sleeps */
	{ "net", work_net },	       /* sockets, used by kernel threads */
	{ "mix", work_mix },	       /* all workloads from pingpong to sleepers at the same time */
	{ "forever", work_forever },   /* the workload mix, for ever */
	{ "idle", work_idle },	       /* servers that wait for rare requests */
	{ "busy", work_busy },	       /* more work than the CPUs can do at once */
	{ "spread", work_spread },     /* threads queued on one CPU must spread to the other CPUs */
	{ "stress", work_stress },     /* every CPU records self-checking events at full speed */
	{ "cost", work_cost },	       /* measures the cost of events */
	{ "calls", work_calls },       /* a known chain of calls, with events and a backtrace */
	{ "ktr", work_ktr },	       /* trace points in the style of DragonFly's ktr */
	{ "dump", work_dump },	       /* dumps the trace, by the transport that transport= selects */
	{ "panic", work_panic },       /* panics */
	{ "wild", work_wild },	       /* a page fault that the kernel cannot resolve */
	{ "triple", work_triple },     /* resets the machine without a dump and without an orderly end */
	/* Resets the machine once. Requires keep=; the second boot then has the trace of the first boot. */
	{ "reset", work_reset },
	{ "hang", work_hang }, /* one CPU spins for ever, with interrupts off */
	{ "halt", work_halt }, /* one CPU halts for ever, with interrupts off */
	{ NULL, NULL },
};

static const struct work *find_in(const struct work *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

static const struct work *find(const char *name)
{
	const struct work *work = find_in(works, name);

	return work ? work : find_in(bugs, name);
}

bool work_is_asked_for(void)
{
	struct arg_walk walk = { 0 };
	char name[WORK_NAME_MAX];

	if (!arg_next(&walk, "run", name, sizeof(name)))
		return arg_next(&(struct arg_walk){ 0 }, "seconds", name, sizeof(name));
	return find(name);
}

void work_run_all(void)
{
	struct arg_walk walk = { 0 };
	char name[WORK_NAME_MAX];
	uint64_t seconds = arg_number("seconds", 0);
	uint64_t duration_ns = seconds ? seconds * NS_PER_S : DEFAULT_DURATION_NS;
	const struct work *work = find("mix");

	if (!arg_next(&walk, "run", name, sizeof(name))) {
		work->run(clock_ns() + duration_ns);
		return;
	}
	do {
		work = find(name);
		if (work)
			work->run(clock_ns() + duration_ns);
		else
			kprintf("run=%s: no such workload\n", name);
	} while (arg_next(&walk, "run", name, sizeof(name)));
}

bool work_over(uint64_t until_ns)
{
	return clock_ns() >= until_ns;
}

void work_compute(uint64_t ns)
{
	uint64_t end = clock_ns() + ns;

	while (clock_ns() < end)
		arch_relax();
}

unsigned work_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33);
}

struct crew_member {
	unsigned n;
	uint64_t until_ns;
	void (*work)(unsigned n, uint64_t until_ns);
	struct latch *done;
};

static void member_main(void *argument)
{
	struct crew_member *member = argument;

	member->work(member->n, member->until_ns);
	latch_count_down(member->done);
}

void work_crew(const char *name, unsigned count, void (*work)(unsigned n, uint64_t until_ns),
	       uint64_t until_ns)
{
	struct latch done = LATCH(name, count);
	struct crew_member members[CREW_MAX];
	char member_name[THREAD_NAME_MAX];

	for (unsigned n = 0; n < count; n++) {
		members[n] = (struct crew_member){ n, until_ns, work, &done };
		format(member_name, sizeof(member_name), "%s/%u", name, n);
		thread_create(member_name, member_main, &members[n], (int)(n % cpu_count));
	}
	latch_wait(&done);
}
