/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/threads.h"
#include "base/escape.h"

/* Returns whether the CPU runs an idle thread that does not wait for a lock. */
static bool is_idle_thread(const struct live_cpu *cpu, const struct ktrx_cpu *row)
{
	return !cpu->waits && (row->thread == 0 || cpu->named_idle);
}

static enum live_share share_of_mode(const struct live_cpu *cpu, const struct ktrx_cpu *row)
{
	const uint8_t mode = row->mode;

	if (ktread_idle_runs(&cpu->idle, row, is_idle_thread(cpu, row)))
		return LIVE_IDLE;
	switch (mode) {
	case KTRX_MODE_IDLE:
		return LIVE_IDLE;
	case KTRX_MODE_KERNEL:
		return LIVE_KERNEL;
	case KTRX_MODE_USER:
		return LIVE_USER;
	case KTRX_MODE_INTERRUPT:
		return LIVE_IRQ;
	default:
		return cpu->follows ? cpu->by_events : LIVE_UNKNOWN;
	}
}

/*
 * Returns whether the CPU has made progress since the last sample: it has had a heartbeat, or it idles
 * outside of interrupt handlers. A CPU that has heartbeats while its idle thread runs must go on to have
 * them, unless the kernel has reported that the CPU idles. Before the CPU's first heartbeat, any hook call
 * counts as progress, too, so that a CPU is found to be stuck even if the kernel hangs before the end of its
 * first timer tick.
 */
static bool makes_progress(const struct live_cpu *cpu, const struct ktrx_cpu *row, enum live_share share)
{
	const bool rests = share == LIVE_IDLE && row->nesting == 0 &&
			   (row->mode == KTRX_MODE_IDLE || !cpu->idle.beats ||
			    !ktread_idle_runs(&cpu->idle, row, is_idle_thread(cpu, row)));

	return row->heartbeats != cpu->heartbeats || rests || (row->heartbeats == 0 && row->now != cpu->hook);
}

void live_cpu_sample(struct live_cpu *cpu, const struct ktrx_cpu *row, bool any_heartbeat, uint64_t age,
		     uint64_t now)
{
	enum live_share share;

	ktread_idle_read(&cpu->idle, row, is_idle_thread(cpu, row));
	share = share_of_mode(cpu, row);
	if (now - cpu->looked > LIVE_UNSEEN_NS)
		cpu->progress += now - cpu->looked - LIVE_UNSEEN_NS;
	cpu->looked = now;
	cpu->online = row->online != 0;
	if (!cpu->online) {
		cpu->sampled = false;
		return;
	}
	if (!cpu->sampled || makes_progress(cpu, row, share)) {
		cpu->progress = now;
		cpu->before = cpu->sampled || share == LIVE_IDLE ? 0 : age;
	}
	cpu->sampled = true;
	cpu->heartbeats = row->heartbeats;
	cpu->hook = row->now;
	cpu->pc = row->pc;
	cpu->thread = row->heartbeats || row->mode != KTRX_MODE_UNKNOWN ? row->thread : cpu->thread_by_events;
	cpu->stuck = 0;
	if ((row->heartbeats || row->nesting || (any_heartbeat && row->mode != KTRX_MODE_UNKNOWN)) &&
	    now - cpu->progress >= LIVE_STUCK_NS) {
		share = LIVE_STUCK;
		cpu->stuck = (double)(now - cpu->progress + cpu->before) / 1e9;
	}
	cpu->now = share;
	cpu->sample[share]++;
	cpu->nested += row->nesting != 0 && share != LIVE_STUCK;
}

/* Adds the time between the CPU's last event and this event to the times of the current interval. */
static void take_time(struct live_cpu *cpu, const struct ktread_event *event)
{
	if (event->lost) {
		cpu->follows = cpu->waits = cpu->irq = false;
		cpu->missed = true;
	} else if (cpu->follows && event->stamp > cpu->stamp) {
		cpu->covered += event->stamp - cpu->stamp;
		if (cpu->irq)
			cpu->in_irq += event->stamp - cpu->stamp;
	}
	cpu->stamp = event->stamp > cpu->stamp || !cpu->follows ? event->stamp : cpu->stamp;
}

static void take_lock(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known)
{
	const bool contends = known->kind == WELLKNOWN_LOCK_CONTEND;
	uint64_t lock;
	bool ends = known->kind == WELLKNOWN_LOCK_ACQUIRE || known->kind == WELLKNOWN_SWITCH;

	/* while the CPU waits, an interrupt handler may release another lock, or try in vain to take one */
	if (known->kind == WELLKNOWN_LOCK_RELEASE || known->kind == WELLKNOWN_LOCK_FAIL)
		ends = wellknown_number(known, event, WELLKNOWN_OBJECT, &lock) && lock == cpu->lock &&
		       event->context == KTRX_CONTEXT_THREAD;
	if (contends || ends) {
		cpu->lock_name[0] = '\0';
		cpu->owner = 0;
	}
	if (contends)
		cpu->waits = wellknown_number(known, event, WELLKNOWN_OBJECT, &cpu->lock);
	else if (ends)
		cpu->waits = false;
}

void live_cpu_event(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known,
		    bool idle)
{
	take_time(cpu, event);
	take_lock(cpu, event, known);
	cpu->irq = known->kind == WELLKNOWN_IRQ_ENTER ||
		   (known->kind != WELLKNOWN_IRQ_EXIT && event->context == KTRX_CONTEXT_INTERRUPT);
	cpu->by_events = idle ? LIVE_IDLE : known->kind == WELLKNOWN_SYSCALL_EXIT ? LIVE_USER : LIVE_KERNEL;
	cpu->thread_by_events = event->thread;
	if (known->kind == WELLKNOWN_SWITCH)
		wellknown_thread(known, event, WELLKNOWN_NEXT, &cpu->thread_by_events);
	cpu->follows = true;
}

void live_cpu_discard_times(struct live_cpu *cpu)
{
	cpu->covered = cpu->in_irq = 0;
	cpu->missed = false;
}

void live_cpu_close(struct live_cpu *cpu, uint64_t ticks)
{
	/*
	 * An idle CPU records no events, so for it, the shares refer to all ticks of the interval. For any
	 * other CPU, the shares refer to the ticks between its events, because some of its events may not
	 * have been read yet.
	 */
	const bool silent = cpu->now == LIVE_IDLE && !cpu->irq && !cpu->missed;
	const uint64_t all = silent && ticks > cpu->covered ? ticks : cpu->covered;
	double samples = 0, at_work = 0, irq = 0;

	for (unsigned i = 0; i < LIVE_SHARES; i++)
		samples += cpu->sample[i];
	if (cpu->in_irq && (ticks || !silent))
		irq = (double)cpu->in_irq / (double)all;
	/*
	 * no event reports time in interrupts, or the length of an idle interval is unknown: use the samples
	 */
	else if (samples > 0)
		irq = cpu->nested / samples;
	for (unsigned i = 0; i < LIVE_SHARES; i++)
		cpu->share[i] = samples > 0 ? cpu->sample[i] / samples : 0;
	/*
	 * interrupts reduce all other shares except the share of time in which the CPU was stuck
	 */
	at_work = samples > 0 ? 1 - cpu->share[LIVE_STUCK] - cpu->share[LIVE_IRQ] : 0;
	for (unsigned i = 0; i < LIVE_SHARES; i++)
		if (i != LIVE_STUCK && i != LIVE_IRQ)
			cpu->share[i] *= 1 - irq;
	cpu->share[LIVE_IRQ] += at_work * irq;
	memset(cpu->sample, 0, sizeof(cpu->sample));
	cpu->nested = 0;
	live_cpu_discard_times(cpu);
}

const char *live_share_name(enum live_share share)
{
	static const char *const name[LIVE_SHARES] = { "user", "kernel", "irq", "idle", "stuck", "unknown" };

	return name[share];
}

#define AT_ONCE 32u
/*
 * the display reads at most this number of entries of the table of holders, because reading more entries
 * would delay it
 */
#define ROWS_MOST 65536u

static void take_holder_lock(struct live_cpu *cpu, const struct ktrx_holder *row)
{
	cpu->waits = row->wait == KTRX_WAIT_SPIN || row->wait == KTRX_WAIT_LOCK;
	cpu->lock = row->object;
	cpu->owner = row->owner;
	memcpy(cpu->lock_name, row->object_name, sizeof(cpu->lock_name));
}

/*
 * Returns whether wait `a` is listed before wait `b`: waits for locks come first, and longer waits come
 * before shorter ones.
 */
static bool goes_before(const struct live_wait *a, const struct live_wait *b)
{
	const bool a_lock = a->kind == KTRX_WAIT_SPIN || a->kind == KTRX_WAIT_LOCK;
	const bool b_lock = b->kind == KTRX_WAIT_SPIN || b->kind == KTRX_WAIT_LOCK;

	return a_lock != b_lock ? a_lock : a->ticks > b->ticks;
}

/*
 * Inserts a wait into the list, which is sorted as goes_before() states. If the list is full, drops the wait
 * that comes last in this order.
 */
static void live_wait_offer(struct live_wait list[LIVE_WAITS], uint32_t *count, const struct live_wait *wait)
{
	uint32_t at = *count;

	while (at > 0 && goes_before(wait, &list[at - 1]))
		at--;
	if (at == LIVE_WAITS)
		return;
	*count += *count < LIVE_WAITS;
	memmove(list + at + 1, list + at, (*count - 1 - at) * sizeof(*list));
	list[at] = *wait;
}

static void take_row(struct live_holders *holders, const struct ktrx_holder *row)
{
	const uint32_t cpu = row->id & ~KTRX_HOLDER_CPU;
	struct live_wait wait = {
		.thread = row->id - 1,
		.kind = row->wait,
		.owner = row->owner,
		.object = row->object,
		.ticks = holders->now > row->wait_stamp ? holders->now - row->wait_stamp : 0,
	};

	if (row->id == 0)
		return;
	if (row->id & KTRX_HOLDER_CPU) {
		if (cpu < holders->cpus)
			take_holder_lock(&holders->cpu[cpu], row);
		return;
	}
	if (row->wait == KTRX_WAIT_NONE || row->wait_stamp == 0)
		return;
	memcpy(wait.name, row->object_name, sizeof(wait.name));
	live_wait_offer(holders->wait, &holders->wait_count, &wait);
}

int live_holders_read(struct live_holders *holders, const struct live_source *source)
{
	struct ktrx_holder row[AT_ONCE];
	uint32_t first = 0;
	int rows = 0;

	holders->wait_count = 0;
	holders->present = false;
	while (first < ROWS_MOST && (rows = source->holders(source->context, first, row, AT_ONCE)) > 0) {
		holders->present = true;
		for (int n = 0; n < rows; n++)
			take_row(holders, &row[n]);
		first += (uint32_t)rows;
	}
	return rows < 0 ? rows : 0;
}

void live_object_text(const struct ktread *trace, uint64_t object, const char *name, uint32_t owner,
		      char *text, size_t size)
{
	char safe[80], whose[80] = "";
	int length;

	*base_escape_text(safe, name, strnlen(name, 32), sizeof(safe) - 1) = '\0';
	if (owner & KTRX_HOLDER_CPU)
		snprintf(whose, sizeof(whose), " of CPU %" PRIu32, owner & ~KTRX_HOLDER_CPU);
	else if (owner) {
		length = snprintf(whose, sizeof(whose), " of ");
		live_thread_text(trace, owner - 1, whose + length, sizeof(whose) - (size_t)length);
	}
	if (safe[0])
		snprintf(text, size, "%s (0x%" PRIx64 ")%s", safe, object, whose);
	else
		snprintf(text, size, "0x%" PRIx64 "%s", object, whose);
}

const char *live_wait_word(uint8_t kind)
{
	static const char *const words[] = {
		[KTRX_WAIT_NONE] = "on",	   [KTRX_WAIT_SPIN] = "for lock",
		[KTRX_WAIT_LOCK] = "for lock",	   [KTRX_WAIT_EVENT] = "for event",
		[KTRX_WAIT_TIME] = "for time",	   [KTRX_WAIT_THREAD] = "for the end of thread",
		[KTRX_WAIT_DEVICE] = "for device",
	};

	return kind < sizeof(words) / sizeof(words[0]) ? words[kind] : words[KTRX_WAIT_NONE];
}

struct live_waits {
	struct threads *threads;
	/*
	 * time of the last event of any CPU: the event's timestamp, but at least 2 more than the time of the
	 * previous event
	 */
	uint64_t time;
	uint64_t last[THREADS_CPUS_MAX]; /* time of the last event of each CPU */
};

static void ignore(void *context, const struct threads_change *change)
{
	(void)context;
	(void)change;
}

int live_waits_restart(struct live_waits *waits)
{
	int error;

	threads_destroy(waits->threads);
	memset(waits, 0, sizeof(*waits));
	error = threads_create(&waits->threads, ignore, NULL);
	if (!error)
		threads_learn_on(waits->threads);
	return error;
}

struct live_waits *live_waits_open(void)
{
	struct live_waits *waits = calloc(1, sizeof(*waits));

	if (waits && live_waits_restart(waits) < 0) {
		free(waits);
		return NULL;
	}
	return waits;
}

void live_waits_close(struct live_waits *waits)
{
	if (!waits)
		return;
	threads_destroy(waits->threads);
	free(waits);
}

int live_waits_event(struct live_waits *waits, const struct ktread_event *event,
		     const struct wellknown *known)
{
	const uint32_t cpu = event->cpu < THREADS_CPUS_MAX ? event->cpu : 0;

	waits->time = event->stamp >= waits->time + 2 ? event->stamp : waits->time + 2;
	if (event->lost && event->cpu < THREADS_CPUS_MAX)
		threads_gap(waits->threads, cpu, waits->last[cpu]);
	waits->last[cpu] = waits->time;
	/* if there are too many threads, forget all threads: the next event of a thread adds it again */
	if (threads_left_out(waits->threads) && live_waits_restart(waits) < 0)
		return KTREAD_E_MEMORY;
	return threads_event(waits->threads, event, known, waits->time);
}

const struct threads *live_waits_threads(const struct live_waits *waits)
{
	return waits->threads;
}

uint64_t live_waits_time(const struct live_waits *waits)
{
	return waits->time;
}

uint32_t live_waits_list(const struct live_waits *waits, struct live_wait list[LIVE_WAITS])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < threads_count(waits->threads); i++) {
		const struct threads_thread *thread = threads_at(waits->threads, i);
		const struct live_wait wait = { .thread = thread->id,
						.object = thread->object,
						.ticks = waits->time - thread->since };

		if (thread->state == THREADS_SLEEPING || thread->state == THREADS_WAITING)
			live_wait_offer(list, &count, &wait);
	}
	return count;
}
