/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes records, with their payload in 64-bit words as in ktrx/hwt.h. Also contains the queue in which
 * records wait for the owner, and the functions in which threads and readers wait.
 */
#include "hwt.h"

static uint32_t text_of(struct ktrace_proc_pending *pending, const char *text)
{
	uint32_t length = ktrace_length(text, KTRACE_HWT_PATH_MAX + 1);

	if (length > KTRACE_HWT_PATH_MAX) {
		pending->flags |= KTRX_PROC_CUT;
		length = KTRACE_HWT_PATH_MAX;
	}
	pending->text = text;
	return length;
}

void ktrace_hwt_pending_image(struct ktrace_proc_pending *pending, uint16_t type, uint64_t fixed[4],
			      const struct ktrace_hwt_context *context, const struct ktrx_hwt_image *image,
			      const char *path)
{
	fixed[0] = image->address;
	fixed[1] = image->size;
	fixed[2] = image->offset;
	fixed[3] = image->access | (uint64_t)context->ident << 32;
	ktrace_proc_pending_init(pending, type, 0, fixed, sizeof(struct ktrx_hwt_image));
	pending->text_size = text_of(pending, path);
}

void ktrace_hwt_pending_thread(struct ktrace_proc_pending *pending, uint16_t type, uint64_t *fixed,
			       const struct ktrace_hwt_context *context,
			       const struct ktrace_hwt_thread *thread, const char *name)
{
	fixed[0] = (thread->unit ? thread->unit->index : KTRX_HWT_NO_UNIT) | (uint64_t)context->ident << 32;
	ktrace_proc_pending_init(pending, type, 0, fixed, sizeof(struct ktrx_hwt_thread));
	pending->thread = thread->tid;
	pending->text_size = text_of(pending, name);
}

void ktrace_hwt_pending_fill(struct ktrace_proc_pending *pending, uint64_t fixed[3],
			     struct ktrace_hwt_unit *unit)
{
	fixed[0] = unit->position;
	fixed[1] = unit->wraps;
	fixed[2] = unit->index | (uint64_t)unit->context->ident << 32;
	ktrace_proc_pending_init(pending, KTRX_HWT_BUFFER, 0, fixed, sizeof(struct ktrx_hwt_fill));
	pending->thread = unit->tid;
	unit->reported = unit->position;
}

void ktrace_hwt_say_fill(struct ktrace_hwt_unit *unit)
{
	struct ktrace_proc_pending pending;
	uint64_t fixed[3];

	ktrace_hwt_pending_fill(&pending, fixed, unit);
	ktrace_hwt_append_or_lose(unit->context, &pending);
}

void ktrace_hwt_say_clock(struct ktrace_hwt_context *context)
{
	struct ktrace_hwt_backend *backend = context->backend;
	struct ktrace_proc_pending pending;
	uint64_t fixed[4];

	if (!backend->operations->clock || backend->operations->clock(backend, &fixed[0], &fixed[2]))
		return;
	fixed[1] = ktrace_arch_clock();
	fixed[3] = context->ident | KTRX_U64(0xffffffff) << 32;
	ktrace_proc_pending_init(&pending, KTRX_HWT_CLOCK, 0, fixed, sizeof(fixed));
	pending.thread = 0;
	ktrace_hwt_append_or_lose(context, &pending);
}

void ktrace_hwt_say_context(struct ktrace_hwt_context *context)
{
	struct ktrace_hwt_backend *backend = context->backend;
	const struct ktrace_hwt_config *config = &context->config;
	uint64_t fixed[sizeof(struct ktrx_hwt_context) / 8], extra[sizeof(struct ktrx_hwt_etm4) / 8];
	struct ktrace_proc_pending pending;

	fixed[0] = context->ident | (uint64_t)context->mode << 32 | (uint64_t)backend->encoding << 40 |
		   (uint64_t)backend->kind << 48 | (uint64_t)config->level << 56;
	fixed[1] = context->target | (uint64_t)config->ranges << 32;
	for (uint32_t i = 0; i < KTRACE_HWT_RANGES_MAX; i++) {
		int given = i < config->ranges;

		fixed[2 + 2 * i] = given ? config->range[i].start : 0;
		fixed[3 + 2 * i] = given ? config->range[i].end : 0;
	}
	ktrace_proc_pending_init(&pending, KTRX_HWT_CONTEXT, 0, fixed, sizeof(fixed));
	pending.thread = 0;
	pending.text = (const char *)extra;
	if (backend->operations->describe)
		pending.text_size =
			(uint32_t)backend->operations->describe(backend, config, extra, sizeof(extra));
	ktrace_hwt_append_or_lose(context, &pending);
}

/* ---- The queue of records --------------------------------------------------------------------- */

/*
 * The queue of records for the owner: a ring of whole records. A record may begin at the end of the ring and
 * continue at its beginning. Records are appended under the spinlock. One reader at a time copies records
 * out. The reader does not need the spinlock, because a record is not overwritten before it is consumed.
 */

/*
 * If the backend has no interrupt, nothing wakes the owner when a unit becomes full during a thread switch.
 * So the owner sleeps for at most this number of ns before it checks the units again.
 */
#define KTRACE_UNTOLD_NS KTRX_U64(100000000)

/* ---- Appending records to the queue ------------------------------------------------------------ */

/* A place in the queue at which the next word is stored. */
struct place {
	struct ktrace_hwt_queue *queue;
	uint64_t at;
};

static void put_word(struct place *place, uint64_t word)
{
	*(volatile ktrace_u64_any *)(place->queue->bytes + place->at) = word;
	place->at += 8;
	if (place->at == place->queue->size)
		place->at = 0;
}

/* Appends bytes, then zeros up to a multiple of 8. */
static void put_text(struct place *place, const volatile char *text, uint32_t size)
{
	for (uint32_t at = 0; at < size; at += 8) {
		uint64_t word = 0;

		for (uint32_t i = 0; i < 8 && at + i < size; i++)
			word |= (uint64_t)(uint8_t)text[at + i] << 8 * i;
		put_word(place, word);
	}
}

static uint64_t room_of(const struct ktrace_hwt_queue *queue)
{
	return queue->size - (queue->produced - queue->consumed);
}

int ktrace_hwt_append(struct ktrace_hwt_context *context, const struct ktrace_proc_pending *pending)
{
	struct ktrace_hwt_queue *queue = &context->queue;
	uint64_t size = ktrace_proc_size(ktrace_proc_payload(pending)), head[KTRACE_PROC_HEAD_WORDS];
	struct place place;

	if (room_of(queue) < size)
		return 0;
	place.queue = queue;
	place.at = queue->produced % queue->size;
	ktrace_proc_head(head, pending, context->target, queue->lost);
	for (uint32_t i = 0; i < KTRACE_PROC_HEAD_WORDS; i++)
		put_word(&place, head[i]);
	for (uint32_t i = 0; i < pending->fixed_size / 8; i++)
		put_word(&place, pending->fixed[i]);
	put_text(&place, pending->text, pending->text_size);
	queue->lost = 0;
	queue->produced += size;
	ktrace_hwt_changed(context);
	return 1;
}

void ktrace_hwt_append_or_lose(struct ktrace_hwt_context *context, const struct ktrace_proc_pending *pending)
{
	if (!ktrace_hwt_append(context, pending) && context->queue.lost != KTRX_U32_MAX)
		context->queue.lost++;
}

void ktrace_hwt_append_head(struct ktrace_hwt_context *context)
{
	struct ktrx_proc_head head;

	ktrace_proc_fill_head(&head);
	ktrace_copy(context->queue.bytes, &head, sizeof(head));
	context->queue.produced = sizeof(head);
}

/* ---- Reading records from the queue ------------------------------------------------------------ */

/*
 * Returns the size of the item that begins at the position: a record or, at position 0, the file's head.
 * Requires: the control lock is held.
 */
static uint64_t size_at(const struct ktrace_hwt_queue *queue, uint64_t position)
{
	uint64_t word = *(const volatile ktrace_u64_any *)(queue->bytes + position % queue->size);

	if (position == 0)
		return sizeof(struct ktrx_proc_head);
	return ktrace_proc_size((uint32_t)word);
}

static int copy_piece(void *to, const void *from, size_t size)
{
	const struct ktrace_hwt_kernel *kernel = ktrace_hwt_kernel();

	if (size == 0)
		return KTRACE_OK;
	if (kernel->copy_out)
		return kernel->copy_out(to, from, size) ? KTRACE_ERROR_FAULT : KTRACE_OK;
	ktrace_copy(to, from, size);
	return KTRACE_OK;
}

static int copy_out(const struct ktrace_hwt_queue *queue, uint64_t position, uint8_t *to, uint64_t size)
{
	uint64_t at = position % queue->size, first = queue->size - at;
	int error;

	if (first > size)
		first = size;
	error = copy_piece(to, queue->bytes + at, (size_t)first);
	return error ? error : copy_piece(to + first, queue->bytes, (size_t)(size - first));
}

/*
 * Records that units are full and that records were lost, if this could not be recorded when it happened.
 * Requires: the spinlock is held.
 */
static void say_rest(struct ktrace_hwt_context *context)
{
	for (struct ktrace_hwt_unit *unit = context->first; unit; unit = unit->next)
		if (unit->full && !unit->enabled && unit->reported != unit->position)
			ktrace_hwt_say_fill(unit);
	if (context->queue.lost && room_of(&context->queue) >= KTRACE_HWT_QUEUE_MIN / 2)
		ktrace_hwt_say_context(context);
}

/*
 * Waits for a record. Returns KTRACE_OK if there is a record, if the time is over, or if the thread must stop
 * waiting. Returns an error if there will be no more records: STATE if the context has ended, NO_PROCESS if
 * the process has ended.
 */
static int wait_for_one(struct ktrace_hwt_context *context, uint64_t timeout_ns)
{
	const struct ktrace_hwt_kernel *kernel = ktrace_hwt_kernel();
	uint64_t start = timeout_ns ? kernel->now_ns() : 0, passed = 0;

	for (;;) {
		unsigned long saved = ktrace_hwt_lock();
		uint32_t seen = context->changes;
		uint64_t slice = timeout_ns - passed;
		int error = KTRACE_OK, waits;

		say_rest(context);
		waits = context->queue.produced == context->queue.consumed;
		if (context->ended)
			error = KTRACE_ERROR_STATE;
		else if (waits && context->mode == KTRX_HWT_MODE_THREAD && !context->process)
			error = KTRACE_ERROR_NO_PROCESS;
		if (context->running && !context->backend->operations->interrupt && slice > KTRACE_UNTOLD_NS)
			slice = KTRACE_UNTOLD_NS;
		ktrace_hwt_unlock(saved);
		if (error || !waits || passed >= timeout_ns)
			return error;
		if (kernel->sleep(&context->changes, seen, slice))
			return KTRACE_OK;
		passed = kernel->now_ns() - start;
	}
}

/* Copies records to the reader. If a record cannot be copied, all records stay in the queue. */
static int64_t take(struct ktrace_hwt_context *context, uint8_t *to, size_t room, uint32_t most,
		    uint32_t *count)
{
	struct ktrace_hwt_queue *queue = &context->queue;
	unsigned long saved = ktrace_hwt_lock();
	uint64_t produced = queue->produced, at = queue->consumed, bytes = 0;
	uint32_t taken = 0;

	ktrace_hwt_unlock(saved);
	while (at + bytes < produced && taken < most) {
		uint64_t size = size_at(queue, at + bytes);
		int error;

		if (size > room - bytes)
			break;
		error = copy_out(queue, at + bytes, to + bytes, size);
		if (error)
			return error;
		bytes += size;
		taken++;
	}
	if (bytes == 0)
		return at < produced ? KTRACE_ERROR_ARGUMENT : 0;
	*count = taken;
	saved = ktrace_hwt_lock();
	queue->consumed += bytes;
	queue->gave_up = 0;
	ktrace_hwt_changed(context);
	ktrace_hwt_unlock(saved);
	return (int64_t)bytes;
}

int64_t ktrace_hwt_records(struct ktrace_hwt_context *context, void *to, size_t room, uint32_t most,
			   uint64_t timeout_ns, uint32_t *count)
{
	int64_t result;

	*count = 0;
	if (most == 0 || most > KTRACE_HWT_RECORD_MAX)
		return KTRACE_ERROR_ARGUMENT;
	result = wait_for_one(context, timeout_ns);
	if (result == KTRACE_OK)
		result = ktrace_hwt_control_lock(context);
	if (result != KTRACE_OK)
		return result;
	result = take(context, to, room, most, count);
	ktrace_hwt_control_unlock(context);
	return result;
}

/* ---- Threads and readers that wait ------------------------------------------------------------ */

/*
 * Threads of the target wait for the owner: for room in the queue, and for their release after exec and mmap.
 * Both waits end with the context, and after the pause's timeout, because it is possible that the owner does
 * not respond.
 */

#define KTRACE_TIMEOUT_MS 1000u

/*
 * Waits until the context's count of changes differs from `seen`. Returns 0 if the deadline has passed or the
 * thread must not wait.
 */
static int wait_until(struct ktrace_hwt_context *context, uint32_t seen, uint64_t deadline)
{
	uint64_t now = ktrace_hwt_kernel()->now_ns();

	return now < deadline && ktrace_hwt_kernel()->sleep(&context->changes, seen, deadline - now) == 0;
}

static uint64_t deadline_of(const struct ktrace_hwt_context *context)
{
	uint32_t ms = context->pausing.timeout_ms ? context->pausing.timeout_ms : KTRACE_TIMEOUT_MS;

	return ktrace_hwt_kernel()->now_ns() + ms * KTRX_U64(1000000);
}

/* ---- Waiting for room -------------------------------------------------------------------------- */

/*
 * Starts the pause of the running thread. Call it in the same critical section in which the thread's record
 * was appended. Requires: the spinlock is held.
 */
static void start_waiting(struct ktrace_hwt_context *context, struct ktrace_hwt_waiter *waiter)
{
	waiter->record = context->queue.produced;
	waiter->released = 0;
	waiter->next = context->waiters;
	context->waiters = waiter;
}

enum attempt { PUT, PAUSED, LOST, OVER, NO_ROOM };

/*
 * Tries once to append the record. If `last` is nonzero and there is no room, the record is lost. Stores the
 * count of changes in *seen. If the result is NO_ROOM, the caller waits until the count differs from *seen.
 */
static enum attempt attempt(struct ktrace_hwt_context *context, const struct ktrace_proc_pending *pending,
			    uint32_t pause, struct ktrace_hwt_waiter *waiter, int last, uint32_t *seen)
{
	unsigned long saved = ktrace_hwt_lock();
	enum attempt result = PUT;

	*seen = context->changes;
	if (context->ended) {
		result = OVER;
	} else if (!ktrace_hwt_append(context, pending)) {
		result = last || context->queue.gave_up ? LOST : NO_ROOM;
	} else if (context->pausing.pauses & pause) {
		start_waiting(context, waiter);
		result = PAUSED;
	}
	if (result == LOST) {
		context->queue.lost += context->queue.lost != KTRX_U32_MAX;
		context->queue.gave_up = 1;
	}
	ktrace_hwt_unlock(saved);
	return result;
}

/* ---- Waiting for release ----------------------------------------------------------------------- */

/* Returns nonzero if the thread need not wait any longer. */
static int is_over(struct ktrace_hwt_context *context, const struct ktrace_hwt_waiter *waiter, uint32_t *seen)
{
	unsigned long saved = ktrace_hwt_lock();
	int over = waiter->released || context->ended;

	*seen = context->changes;
	ktrace_hwt_unlock(saved);
	return over;
}

static void stop_waiting(struct ktrace_hwt_context *context, const struct ktrace_hwt_waiter *waiter)
{
	unsigned long saved = ktrace_hwt_lock();
	struct ktrace_hwt_waiter **link = &context->waiters;

	while (*link != waiter)
		link = &(*link)->next;
	*link = waiter->next;
	ktrace_hwt_unlock(saved);
}

void ktrace_hwt_record(struct ktrace_hwt_context *context, const struct ktrace_proc_pending *pending,
		       uint32_t pause)
{
	uint64_t deadline = deadline_of(context);
	struct ktrace_hwt_waiter waiter;
	enum attempt result;
	uint32_t seen;
	int last = 0;

	while ((result = attempt(context, pending, pause, &waiter, last, &seen)) == NO_ROOM)
		last = !wait_until(context, seen, deadline);
	ktrace_hwt_wake(context);
	if (result != PAUSED)
		return;
	deadline = deadline_of(context);
	while (!is_over(context, &waiter, &seen) && wait_until(context, seen, deadline))
		continue;
	stop_waiting(context, &waiter);
}

int ktrace_hwt_wakeup(struct ktrace_hwt_context *context)
{
	unsigned long saved = ktrace_hwt_lock();
	int error = KTRACE_ERROR_STATE;

	for (struct ktrace_hwt_waiter *waiter = context->waiters; waiter; waiter = waiter->next) {
		if (waiter->released || waiter->record > context->queue.consumed)
			continue;
		waiter->released = 1;
		error = KTRACE_OK;
	}
	ktrace_hwt_changed(context);
	ktrace_hwt_unlock(saved);
	ktrace_hwt_wake(context);
	return error;
}
