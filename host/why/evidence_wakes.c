/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sleeps and wakeups: queues, the threads and interrupts that wake sleepers, and the times that devices took
 * to answer.
 */
#include <stddef.h>

#include "analyze/keyed.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"
#include "why/pulse.h"

#define BATCH_US 200u /* time in µs: wakeups count as one if they are at most this far apart */
/* if at least this many other waits for devices end during a wait, devices answered during that wait */
#define OVERTAKEN 8u
#define SLOW_MS	  100u /* time in ms: minimum length of a wait that may be late */
/*
 * a timed sleep is late if its delay is at least 1/LATE_PART of the length of the longest wait for a device
 */
#define LATE_PART 4u

static struct why_queue *touch(struct why_reader *reader, uint64_t kind, uint64_t value)
{
	struct why_evidence *evidence = reader->evidence;
	struct why_queue *queue;
	uint32_t at;

	if (why_index_find(&evidence->index, kind, value, &at))
		return &evidence->queue[at];
	if (reader->error || evidence->queues == WHY_OBJECTS)
		return NULL;
	queue = why_one_more(evidence->queue, evidence->queues, sizeof(*queue));
	if (!queue) {
		reader->error = KTREAD_E_MEMORY;
		return NULL;
	}
	evidence->queue = queue;
	reader->error = why_index_put(&evidence->index, kind, value, evidence->queues);
	if (reader->error)
		return NULL;
	queue = &evidence->queue[evidence->queues++];
	*queue = (struct why_queue){ .address = kind == WHY_KEY_QUEUE ? value : 0,
				     .first = reader->stamp,
				     .gaps = reader->gaps };
	return queue;
}

static struct why_queue *touch_queue(struct why_reader *reader, uint64_t address)
{
	return address ? touch(reader, WHY_KEY_QUEUE, address) : NULL;
}

/*
 * Returns the queue on which a thread sleeps. Adds the queue if necessary. If the address is 0 (unknown),
 * returns the thread's own queue.
 */
static struct why_queue *touch_sleep(struct why_reader *reader, uint64_t address, uint32_t thread)
{
	return address ? touch_queue(reader, address) : touch(reader, WHY_KEY_SLEEP, thread);
}

const struct why_queue *why_queue_find(const struct why_evidence *evidence, uint64_t address)
{
	uint32_t at;

	return address && why_index_find(&evidence->index, WHY_KEY_QUEUE, address, &at) ? &evidence->queue[at]
											: NULL;
}

const struct why_queue *why_queue_of_thread(const struct why_evidence *evidence, uint32_t thread)
{
	uint32_t at;

	return why_index_find(&evidence->index, WHY_KEY_SLEEP, thread, &at) ? &evidence->queue[at] : NULL;
}

/*
 * Adds the interval between the previous wakeup and this one. Leaves the interval out if it contains a gap,
 * in which other wakeups may be lost.
 */
static void add_interval(struct why_reader *reader, struct why_queue *queue, uint64_t stamp)
{
	const uint64_t frequency = reader->evidence->info->frequency;
	struct why_rhythm *rhythm = &queue->rhythm;
	uint64_t ticks;

	if (rhythm->last == 0)
		rhythm->first = stamp;
	if (queue->gaps != reader->gaps || rhythm->last == 0 || stamp < rhythm->last) {
		queue->gaps = reader->gaps;
		rhythm->last = stamp;
		return;
	}
	ticks = stamp - rhythm->last;
	if (ticks <= frequency / 1000000u * BATCH_US)
		return;
	rhythm->interval[rhythm->intervals++ % WHY_INTERVALS] = ticks;
	if (ticks > rhythm->longest)
		rhythm->longest = ticks;
	rhythm->last = stamp;
}

/*
 * Records that an interrupt has woken sleepers of the queue. If interrupts are recorded, also records the
 * number of the interrupt in progress on the event's CPU.
 */
static void add_irq_waker(struct why_reader *reader, struct why_queue *queue,
			  const struct ktread_event *event)
{
	const struct why_evidence *evidence = reader->evidence;
	const struct why_irqs_open *open = event->cpu < evidence->cpus ? &reader->open[event->cpu] : NULL;

	queue->irq.wakes++;
	queue->irq.last = event->stamp;
	queue->irq.known = open && open->depth > 0 && open->depth <= WHY_IRQ_NESTED;
	if (!queue->irq.known)
		return;
	queue->irq.number = open->nest[open->depth - 1].number;
	queue->irq.cpu = event->cpu;
}

/* Returns NULL if an interrupt made the wakeup, if it is unknown what made it, or if no entry is free. */
static struct why_waker *touch_waker(const struct why_reader *reader, struct why_queue *queue,
				     const struct ktread_event *event)
{
	const enum why_origin origin = why_origin(reader, event);

	queue->by_interrupt |= origin == WHY_BY_INTERRUPT;
	queue->by_others |= origin == WHY_BY_EITHER;
	if (origin != WHY_BY_THREAD)
		return NULL;
	for (uint32_t n = 0; n < queue->wakers; n++)
		if (queue->waker[n].thread == event->thread)
			return &queue->waker[n];
	if (queue->wakers == WHY_WAKERS) {
		queue->by_others = true;
		return NULL;
	}
	queue->waker[queue->wakers] = (struct why_waker){ .thread = event->thread };
	return &queue->waker[queue->wakers++];
}

static void note_sleeper(struct why_queue *queue, uint32_t thread)
{
	uint32_t at = 0;

	while (at < queue->sleepers && queue->sleeper[at].thread != thread)
		at++;
	if (at == WHY_WAKERS) {
		queue->more_sleepers = true;
		return;
	}
	queue->sleeper[at].thread = thread;
	queue->sleeper[at].sleeps++;
	if (at == queue->sleepers)
		queue->sleepers++;
}

static void on_block(struct why_reader *reader, const struct ktread_event *event,
		     const struct wellknown *known)
{
	struct why_queue *queue;
	struct why_thread *thread;
	uint64_t object = 0, kind = KTRX_WAIT_NONE, newest, taken;
	uint32_t id;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		id = event->thread;
	thread = why_thread_touch(reader, id);
	if (!thread)
		return;
	wellknown_number(known, event, WELLKNOWN_OBJECT, &object);
	wellknown_number(known, event, WELLKNOWN_NUMBER, &kind);
	queue = touch_sleep(reader, object, id);
	if (queue)
		note_sleeper(queue, id);
	newest = why_lock_newest(reader, id, &taken);
	why_outer_block(thread, event, newest, taken);
	reader->evidence->timeouts_recorded |= kind == KTRX_WAIT_TIME;
	thread->blocked = event->stamp;
	thread->blocked_on = object;
	thread->blocked_for = (uint8_t)kind;
	if (kind != KTRX_WAIT_LOCK && kind != KTRX_WAIT_SPIN)
		thread->last_sleep = event->stamp;
	thread->blocked_after = reader->evidence->device.ticks.count;
}

/* Counts an answer of a device that took `ticks` ticks and came at `stamp`. */
static void add_answer(const struct why_evidence *evidence, struct why_queue *queue, uint64_t ticks,
		       uint64_t stamp)
{
	uint32_t least = 0;

	queue->answers++;
	if (ticks < why_ms(evidence, SLOW_MS)) {
		queue->soon += ticks;
		return;
	}
	queue->slows++;
	for (uint32_t n = 1; n < 3; n++)
		if (queue->slow[n] < queue->slow[least])
			least = n;
	if (stamp - ticks < queue->slow_end)
		return;
	if (ticks > queue->slow[least])
		queue->slow[least] = ticks;
	queue->slow_end = stamp;
}

/*
 * Counts a wait that ends now. A wait that began before a gap is not counted: in the gap, it may have ended,
 * and another wait may have begun.
 */
static void end_wait(struct why_reader *reader, struct why_queue *queue, const struct why_thread *thread,
		     uint64_t stamp)
{
	const uint64_t ticks = elapsed(thread->blocked, stamp);

	if (thread->blocked == 0 || thread->blocked < reader->gap_stamp)
		return;
	queue->waits++;
	queue->spares |= queue->nobody && elapsed(thread->blocked, queue->nobody_stamp) >=
						  why_ms(reader->evidence, WHY_QUEUED_MS);
	if (thread->blocked_for == KTRX_WAIT_DEVICE)
		add_answer(reader->evidence, queue, ticks, stamp);
	if (ticks > queue->longest)
		queue->longest = ticks;
}

/* If a timed sleep overlaps the longest wait for a device, counts the sleep as late or as on time. */
static void compare_sleep(struct why_waits *waits, const struct why_slept *slept)
{
	const uint64_t ticks = elapsed(slept->begin, slept->end);

	if (slept->begin >= waits->worst_begin + waits->ticks.greatest || slept->end <= waits->worst_begin)
		return;
	if (ticks > slept->usual && ticks - slept->usual >= waits->ticks.greatest / LATE_PART)
		waits->worst_late++;
	else
		waits->worst_punctual++;
}

/*
 * Ends a timed sleep, and updates the thread's usual_sleep: a longer sleep raises it by at most an eighth, a
 * shorter one lowers it by at most an eighth. So usual_sleep stays near the median.
 */
static void end_sleep(struct why_reader *reader, struct why_thread *thread, uint64_t stamp)
{
	const uint64_t ticks = elapsed(thread->blocked, stamp), usual = thread->usual_sleep;
	struct why_slept *slept;

	if (usual) {
		slept = &reader->slept[reader->sleeps++ % WHY_SLEPT];
		*slept = (struct why_slept){ .begin = thread->blocked, .end = stamp, .usual = usual };
		if (reader->evidence->device.ticks.count)
			compare_sleep(&reader->evidence->device, slept);
	}
	if (usual == 0)
		thread->usual_sleep = ticks;
	else if (ticks > usual)
		thread->usual_sleep = ticks - usual < usual / 8 ? ticks : usual + usual / 8;
	else
		thread->usual_sleep = usual - ticks < usual / 8 ? ticks : usual - usual / 8;
}

/* Handles an IPI from another CPU. The receiver should soon record something, even if it idles. */
static void note_call(struct why_reader *reader, const struct ktread_event *event,
		      const struct wellknown *known)
{
	uint64_t cpu;

	if (known->kind == WELLKNOWN_IPI_SEND && wellknown_number(known, event, WELLKNOWN_CPU, &cpu) &&
	    cpu < reader->evidence->cpus && cpu != event->cpu && reader->open[cpu].called == 0)
		reader->open[cpu].called = event->stamp;
}

void why_unseen_event(struct why_reader *reader, const struct ktread_event *event,
		      const struct wellknown *known)
{
	const uint64_t tick = why_ms(reader->evidence, WHY_TICK_MS);
	struct why_irqs_open *open;

	if (event->cpu >= reader->evidence->cpus)
		return;
	note_call(reader, event, known);
	open = &reader->open[event->cpu];
	if (open->seen && elapsed(open->seen, event->stamp) > tick)
		reader->unseen[reader->unseens++ % WHY_UNSEEN] = (struct why_unseen){
			.from = open->seen,
			.to = event->stamp,
			.cpu = event->cpu,
			.thread = event->thread,
			.called = open->called && elapsed(open->called, event->stamp) > tick,
		};
	open->seen = event->stamp;
	open->called = 0;
}

/*
 * Returns whether the CPU should have recorded something in the period `unseen`. An idle CPU whose tick is
 * stopped records nothing, unless it gets an IPI. If many other waits for devices ended during the longest
 * wait, a silent idle CPU cannot be the cause of the longest wait.
 */
static bool should_have_recorded(const struct why_evidence *evidence, const struct why_unseen *unseen)
{
	const struct why_thread *thread = why_thread_find(evidence, unseen->thread);

	if (thread && !thread->idle)
		return true;
	return evidence->device.worst_overtaken < OVERTAKEN &&
	       (unseen->called || (thread && why_ticks_always(&evidence->cpu[unseen->cpu])));
}

/*
 * Finds the CPU that recorded nothing for the largest part of the time since `begin`, although it should
 * have. The host may have stopped this CPU.
 */
static void sum_unseen(struct why_reader *reader, uint64_t begin)
{
	const uint64_t count = reader->unseens < WHY_UNSEEN ? reader->unseens : WHY_UNSEEN;
	struct why_waits *waits = &reader->evidence->device;

	waits->worst_unseen = 0;
	for (uint64_t n = 0; n < count; n++)
		reader->open[reader->unseen[n].cpu].sum = 0;
	for (uint64_t n = 0; n < count; n++) {
		const struct why_unseen *unseen = &reader->unseen[n];
		uint64_t *sum = &reader->open[unseen->cpu].sum;

		if (unseen->to <= begin || !should_have_recorded(reader->evidence, unseen))
			continue;
		*sum += unseen->to - (unseen->from > begin ? unseen->from : begin);
		if (*sum <= waits->worst_unseen)
			continue;
		waits->worst_unseen = *sum;
		waits->worst_cpu = unseen->cpu;
	}
}

static int end_device_wait(struct why_reader *reader, const struct why_thread *thread, uint64_t stamp)
{
	struct why_waits *waits = &reader->evidence->device;
	const uint64_t ticks = elapsed(thread->blocked, stamp);
	const bool is_worst = waits->ticks.count == 0 || ticks > waits->ticks.greatest;
	int error;

	if (is_worst) {
		waits->worst_thread = thread->id;
		waits->worst_object = thread->blocked_on;
		waits->worst_begin = thread->blocked;
		waits->worst_overtaken = waits->ticks.count - thread->blocked_after;
		waits->worst_late = waits->worst_punctual = 0;
		sum_unseen(reader, thread->blocked);
	}
	error = histogram_add(&waits->ticks, ticks);
	for (uint64_t n = 0; is_worst && !error && n < WHY_SLEPT && n < reader->sleeps; n++)
		compare_sleep(waits, &reader->slept[n]);
	return error;
}

void why_wakes_settle(struct why_evidence *evidence)
{
	struct why_waits *waits = &evidence->device;

	if (waits->ticks.count == 0)
		return;
	waits->half = histogram_nth(&waits->ticks, histogram_rank(waits->ticks.count, 1, 2));
}

static void on_wake(struct why_reader *reader, const struct ktread_event *event,
		    const struct wellknown *known)
{
	struct why_thread *thread;
	struct why_waker *waker;
	struct why_queue *queue;
	uint32_t id;

	if (!wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		return;
	thread = why_thread_touch(reader, id);
	if (!thread)
		return;
	thread->woken = event->stamp;
	if (!thread->blocked && why_records(reader, WELLKNOWN_BLOCK))
		return;
	queue = touch_sleep(reader, thread->blocked ? thread->blocked_on : 0, id);
	if (queue) {
		queue->wakes++;
		queue->last_wake = event->stamp;
		add_interval(reader, queue, event->stamp);
		end_wait(reader, queue, thread, event->stamp);
		waker = touch_waker(reader, queue, event);
		if (why_origin(reader, event) == WHY_BY_INTERRUPT)
			add_irq_waker(reader, queue, event);
		if (waker) {
			waker->wakes++;
			waker->last = event->stamp;
		}
	}
	/* if a gap came after `blocked`, the wait that ends now may be a later wait */
	if (thread->blocked_for == KTRX_WAIT_DEVICE && thread->blocked >= reader->gap_stamp && !reader->error)
		reader->error = end_device_wait(reader, thread, event->stamp);
	if (thread->blocked_for == KTRX_WAIT_TIME && thread->blocked && thread->blocked >= reader->gap_stamp)
		end_sleep(reader, thread, event->stamp);
	if (thread->blocked)
		thread->slept_until = event->stamp;
	thread->blocked = 0;
	why_outer_forget(thread);
}

static void on_wake_nobody(struct why_reader *reader, const struct ktread_event *event,
			   const struct wellknown *known)
{
	struct why_queue *queue;
	uint64_t address;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &address))
		return;
	queue = touch_queue(reader, address);
	if (!queue)
		return;
	touch_waker(reader, queue, event);
	queue->nobody++;
	queue->nobody_stamp = event->stamp;
	queue->nobody_thread = event->thread;
	queue->nobody_cpu = event->cpu;
	queue->nobody_ip = 0;
	wellknown_number(known, event, WELLKNOWN_PLACE, &queue->nobody_ip);
}

void why_wakes_event(struct why_reader *reader, const struct ktread_event *event,
		     const struct wellknown *known)
{
	switch (known->kind) {
	case WELLKNOWN_BLOCK:
		on_block(reader, event, known);
		break;
	case WELLKNOWN_WAKE:
		on_wake(reader, event, known);
		break;
	case WELLKNOWN_WAKE_NOBODY:
		on_wake_nobody(reader, event, known);
		break;
	default:
		break;
	}
}
