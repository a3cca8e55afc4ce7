/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Counts and durations of system calls, interrupts and locks, from events; rates of past intervals; states
 * of threads, holders of locks, and waits.
 */
#include "live/details.h"

#include <stdlib.h>
#include <string.h>

enum { CALL = 1, INTERRUPT, WAIT }; /* type of a row, which is the first word of its key */

#define ERRORS_LEAST (-4095)

void live_details_restart(struct live_details *details)
{
	keyed_free(&details->open);
	details->threads = details->locks = details->calls.count = details->interrupts.count = 0;
	details->samples = details->rounds = 0;
	details->intervals = 0;
	memset(&details->rate, 0, sizeof(details->rate));
	memset(details->type, 0, sizeof(details->type));
}

/* Returns the row with this number, which is added if necessary; NULL if there is no room. */
static struct live_duration *row_of(struct live_durations *rows, uint32_t number)
{
	for (uint32_t n = 0; n < rows->count; n++)
		if (rows->row[n].number == number)
			return &rows->row[n];
	if (rows->count == LIVE_DURATIONS)
		return NULL;
	memset(&rows->row[rows->count], 0, sizeof(rows->row[0]));
	rows->row[rows->count].number = number;
	return &rows->row[rows->count++];
}

static void set_name(char name[32], const char *from, size_t length)
{
	length = length < 31 ? length : 31;
	memcpy(name, from, length);
	name[length] = '\0';
}

/* Returns the index of the histogram step that contains a size: there are 4 steps for each power of two. */
static unsigned step_of(uint64_t ticks)
{
	const unsigned top = 63u - (unsigned)__builtin_clzll(ticks | 1);

	return top < 2 ? (unsigned)ticks : 4 * top + (unsigned)(ticks >> (top - 2) & 3);
}

static void add(struct live_duration *row, uint64_t ticks)
{
	row->pairs++;
	row->sum += ticks;
	row->most = ticks > row->most ? ticks : row->most;
	row->size[step_of(ticks)]++;
}

uint64_t live_duration_percentile(const struct live_duration *row, unsigned part)
{
	const uint64_t rank = (row->pairs * part + 99) / 100;
	uint64_t seen = 0, largest;

	for (unsigned n = 0; n < 4 * 64; n++) {
		seen += row->size[n];
		if (!row->pairs || seen < rank)
			continue;
		largest = n < 8 ? n : ((UINT64_C(5) + (n & 3)) << (n / 4 - 2)) - 1;
		return largest < row->most ? largest : row->most;
	}
	return 0;
}

/* Stores the beginning of a duration. */
static int begin(struct live_details *details, const uint64_t *key, uint64_t stamp, uint32_t number)
{
	struct keyed_entry *entry;
	const int status = keyed_put(&details->open, key, &entry);

	if (status == 0 && entry) {
		entry->stamp = stamp;
		entry->count = number;
	}
	return status;
}

/*
 * Ends a duration that has begun, and stores its length. Returns false if its beginning is unknown. `number`
 * must be the same as at the beginning.
 */
static bool end(struct live_details *details, const uint64_t *key, uint64_t stamp, uint32_t number,
		uint64_t *ticks)
{
	struct keyed_entry *entry = keyed_find(&details->open, key);
	bool matches;

	if (!entry)
		return false;
	matches = entry->count == number && stamp >= entry->stamp;
	*ticks = stamp - entry->stamp;
	keyed_remove(&details->open, entry);
	return matches;
}

static void name_row(struct live_duration *row, const struct ktread *trace, const struct ktread_event *event,
		     const struct wellknown *known)
{
	const char *call =
		known->kind == WELLKNOWN_SYSCALL_ENTER ? ktread_syscall_name(trace, row->number) : NULL;
	struct ktread_value name;

	if (row->name[0])
		return;
	if (call)
		set_name(row->name, call, strlen(call));
	else if (wellknown_string(known, event, WELLKNOWN_NAME, &name))
		set_name(row->name, name.string, name.length);
}

static int take_call(struct live_details *details, const struct ktread *trace,
		     const struct ktread_event *event, const struct wellknown *known)
{
	const uint64_t key[KEYED_WORDS] = { CALL, event->thread };
	uint64_t number, result, ticks;
	struct live_duration *row;

	if (!wellknown_number(known, event, WELLKNOWN_NUMBER, &number))
		return 0;
	row = row_of(&details->calls, (uint32_t)number);
	if (row && known->kind == WELLKNOWN_SYSCALL_ENTER) {
		row->count++;
		name_row(row, trace, event, known);
		return begin(details, key, event->stamp, (uint32_t)number);
	}
	if (row && end(details, key, event->stamp, (uint32_t)number, &ticks))
		add(row, ticks);
	if (row && wellknown_number(known, event, WELLKNOWN_RESULT, &result) && (int64_t)result < 0 &&
	    (int64_t)result >= ERRORS_LEAST)
		row->errors++;
	return 0;
}

static int take_interrupt(struct live_details *details, const struct ktread *trace,
			  const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t key[KEYED_WORDS] = { INTERRUPT, event->cpu }, number, ticks;
	struct live_duration *row;

	if (!wellknown_number(known, event, WELLKNOWN_NUMBER, &number))
		return 0;
	key[2] = number;
	row = row_of(&details->interrupts, (uint32_t)number);
	if (row && known->kind == WELLKNOWN_IRQ_ENTER) {
		row->count++;
		name_row(row, trace, event, known);
		return begin(details, key, event->stamp, (uint32_t)number);
	}
	if (row && end(details, key, event->stamp, (uint32_t)number, &ticks))
		add(row, ticks);
	return 0;
}

/* Returns the row of a lock, which is added if necessary; NULL if there is no room. */
static struct live_lock *live_details_lock(struct live_details *details, uint64_t object)
{
	for (uint32_t n = 0; n < details->locks; n++)
		if (details->lock[n].object == object)
			return &details->lock[n];
	if (details->locks == LIVE_LOCKS)
		return NULL;
	memset(&details->lock[details->locks], 0, sizeof(details->lock[0]));
	details->lock[details->locks].object = object;
	return &details->lock[details->locks++];
}

static int take_lock(struct live_details *details, const struct ktread_event *event,
		     const struct wellknown *known)
{
	uint64_t key[KEYED_WORDS] = { WAIT, event->thread }, object, ticks;
	struct live_lock *lock;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &object) ||
	    !(lock = live_details_lock(details, object)))
		return 0;
	key[2] = object;
	if (known->kind == WELLKNOWN_LOCK_CONTEND) {
		lock->contends++;
		return begin(details, key, event->stamp, 0);
	}
	lock->holder = 0;
	if (known->kind == WELLKNOWN_LOCK_RELEASE)
		return 0;
	lock->acquires++;
	lock->holder = event->thread == KTREAD_NO_THREAD ? 0 : event->thread + 1;
	lock->taken = event->stamp;
	if (end(details, key, event->stamp, 0, &ticks) && ticks > lock->longest)
		lock->longest = ticks;
	return 0;
}

int live_details_event(struct live_details *details, const struct ktread *trace,
		       const struct ktread_event *event, const struct wellknown *known)
{
	/*
	 * lost slots may contain the end of one duration and the beginning of the next: no duration may
	 * extend across them
	 */
	if (event->lost) {
		keyed_free(&details->open);
		for (uint32_t n = 0; n < details->locks; n++)
			details->lock[n].holder = 0;
	}
	switch (known->kind) {
	case WELLKNOWN_SYSCALL_ENTER:
	case WELLKNOWN_SYSCALL_EXIT:
		return take_call(details, trace, event, known);
	case WELLKNOWN_IRQ_ENTER:
	case WELLKNOWN_IRQ_EXIT:
		return take_interrupt(details, trace, event, known);
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
		return take_lock(details, event, known);
	default:
		return 0;
	}
}

void live_details_sample(struct live_details *details, const struct live_cpu *cpu, uint32_t cpus)
{
	details->rounds++;
	for (uint32_t n = 0; n < cpus && details->samples < LIVE_SAMPLES; n++)
		if (cpu[n].online && cpu[n].now != LIVE_IDLE && cpu[n].now != LIVE_UNKNOWN)
			details->sample[details->samples++] = cpu[n].thread;
}

/* ---- Rates of past intervals ---- */

double live_history_at(const struct live_history *history, uint32_t back)
{
	if (back >= history->count || back >= LIVE_HISTORY)
		return 0;
	return (double)history->rate[(history->count - 1 - back) % LIVE_HISTORY];
}

static void put_rate(struct live_history *history, double rate)
{
	history->rate[history->count++ % LIVE_HISTORY] = (float)rate;
}

const struct live_history *live_details_type(const struct live_details *details, uint16_t id)
{
	for (uint32_t n = 0; n < LIVE_TYPES; n++)
		if (details->type[n].count && details->type[n].id == id)
			return &details->type[n];
	return NULL;
}

/*
 * Returns the history of an event type. If it has none, replaces the history that was not used for the
 * longest time.
 */
static struct live_history *type_of(struct live_details *details, uint16_t id)
{
	struct live_history *oldest = &details->type[0];

	for (uint32_t n = 0; n < LIVE_TYPES; n++) {
		struct live_history *type = &details->type[n];

		if (type->count && type->id == id)
			return type;
		if (type->seen < oldest->seen)
			oldest = type;
	}
	memset(oldest, 0, sizeof(*oldest));
	oldest->id = id;
	return oldest;
}

/*
 * Adds the rates of the interval to the histories. The rate of a type that is not among the most frequent
 * ones is 0.
 */
static void add_rates(struct live_details *details, const struct live_model *model)
{
	details->intervals++;
	put_rate(&details->rate, model->rate);
	for (unsigned n = 0; n < LIVE_TOP && model->top[n].rate > 0; n++) {
		struct live_history *type = type_of(details, model->top[n].id);

		type->seen = details->intervals;
		put_rate(type, model->top[n].rate);
	}
	for (uint32_t n = 0; n < LIVE_TYPES; n++)
		if (details->type[n].count && details->type[n].seen != details->intervals)
			put_rate(&details->type[n], 0);
}

/* ---- Threads ---- */

/* States of threads, holders of locks, and waits: from the kernel's tables and from events. */

#define AT_ONCE	  32u
#define ROWS_MOST 65536u

static int by_number(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static int by_id(const void *a, const void *b)
{
	const struct live_thread *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/*
 * Returns the thread `id`, which is added if necessary; NULL if there is no room. `sorted`: number of rows at
 * the beginning that are sorted.
 */
static struct live_thread *thread_of(struct live_details *details, uint32_t sorted, uint32_t id)
{
	const struct live_thread key = { .id = id };
	struct live_thread *thread = bsearch(&key, details->thread, sorted, sizeof(key), by_id);

	if (thread || details->threads == LIVE_THREADS)
		return thread;
	thread = &details->thread[details->threads++];
	*thread = (struct live_thread){ .id = id, .cpu = KTRX_NO_CPU };
	return thread;
}

/* Adds the threads that events have shown. */
static void add_known(struct live_details *details, const struct live_model *model)
{
	const struct threads *threads = live_waits_threads(model->waits);
	const uint64_t now = live_waits_time(model->waits);

	for (uint32_t n = 0; n < threads_count(threads) && details->threads < LIVE_THREADS; n++) {
		const struct threads_thread *thread = threads_at(threads, n);

		if (thread->state == THREADS_DEAD)
			continue;
		details->thread[details->threads++] =
			(struct live_thread){ .id = thread->id,
					      .state = thread->state,
					      .cpu = thread->cpu,
					      .ticks = now > thread->since ? now - thread->since : 0,
					      .object = thread->state == THREADS_SLEEPING ||
									thread->state == THREADS_WAITING
								? thread->object
								: 0 };
	}
	qsort(details->thread, details->threads, sizeof(details->thread[0]), by_id);
}

/* Processes the locks that a thread or CPU holds. */
static void take_held(struct live_details *details, const struct ktrx_holder *row)
{
	for (uint32_t n = 0; n < KTRX_HELD; n++) {
		struct live_lock *lock =
			row->held[n].object ? live_details_lock(details, row->held[n].object) : NULL;

		if (!lock)
			continue;
		lock->holder = row->id;
		lock->taken = row->held[n].stamp;
	}
}

static void take_wait(struct live_details *details, const struct ktrx_holder *row, uint64_t now)
{
	struct live_lock *lock;

	if (row->wait != KTRX_WAIT_LOCK && row->wait != KTRX_WAIT_SPIN)
		return;
	lock = live_details_lock(details, row->object);
	if (!lock)
		return;
	lock->waiters++;
	if (row->object_name[0])
		memcpy(lock->name, row->object_name, sizeof(lock->name) - 1);
	if (row->wait_stamp && now > row->wait_stamp && now - row->wait_stamp > lock->longest)
		lock->longest = now - row->wait_stamp;
}

static void take_thread(struct live_details *details, uint32_t sorted, const struct ktrx_holder *row,
			uint64_t now)
{
	static const uint8_t states[] = { THREADS_UNKNOWN, THREADS_RUNNING, THREADS_RUNNABLE,
					  THREADS_SLEEPING };
	struct live_thread *thread = thread_of(details, sorted, row->id - 1);
	const uint64_t since =
		row->wait != KTRX_WAIT_NONE && row->wait_stamp ? row->wait_stamp : row->state_stamp;

	if (!thread)
		return;
	if (row->state && row->state < sizeof(states)) {
		thread->state = states[row->state];
		thread->ticks = since && now > since ? now - since : 0;
	}
	if (row->cpu != UINT16_MAX)
		thread->cpu = row->cpu;
	thread->held = row->held_count;
	thread->wait = row->wait;
	thread->object = row->wait != KTRX_WAIT_NONE ? row->object : 0;
	thread->owner = row->owner;
	memcpy(thread->name, row->object_name, sizeof(thread->name));
}

static int take_tables(struct live_details *details, const struct live_model *model)
{
	const uint32_t sorted = details->threads;
	struct ktrx_holder row[AT_ONCE];
	uint32_t first = 0;
	uint64_t now = 0;
	int rows = 0;

	for (uint32_t n = 0; n < model->cpus; n++)
		now = model->row[n].now > now ? model->row[n].now : now;
	while (first < ROWS_MOST &&
	       (rows = model->source->holders(model->source->context, first, row, AT_ONCE)) > 0) {
		for (int n = 0; n < rows; n++) {
			if (row[n].id == 0)
				continue;
			take_held(details, &row[n]);
			take_wait(details, &row[n], now);
			if (!(row[n].id & KTRX_HOLDER_CPU))
				take_thread(details, sorted, &row[n], now);
		}
		first += (uint32_t)rows;
	}
	qsort(details->thread, details->threads, sizeof(details->thread[0]), by_id);
	return rows < 0 ? rows : 0;
}

/* Computes the share of each thread from the samples. */
static void take_samples(struct live_details *details)
{
	const uint32_t sorted = details->threads;
	uint32_t n = 0;

	qsort(details->sample, details->samples, sizeof(details->sample[0]), by_number);
	while (n < details->samples) {
		const uint32_t id = details->sample[n], first = n;
		struct live_thread *thread = thread_of(details, sorted, id);

		while (n < details->samples && details->sample[n] == id)
			n++;
		if (thread && details->rounds)
			thread->share = (double)(n - first) / details->rounds;
	}
}

/*
 * Fills in the threads, the holders of locks and the waiters for locks. Returns 0 or an error of the source.
 */
static int live_details_threads(struct live_details *details, const struct live_model *model)
{
	int status = 0;

	details->threads = 0;
	if (!model->running)
		return 0;
	add_known(details, model);
	status = take_tables(details, model);
	take_samples(details);
	return status;
}

/* ---- The end of an interval ---- */

static void end_rows(struct live_durations *rows, double seconds)
{
	for (uint32_t n = 0; n < rows->count; n++) {
		struct live_duration *row = &rows->row[n];

		row->rate = seconds > 0 ? (double)(row->count - row->count_before) / seconds : 0;
		row->count_before = row->count;
	}
}

int live_details_end(struct live_details *details, const struct live_model *model, double seconds)
{
	int status;

	add_rates(details, model);
	end_rows(&details->calls, seconds);
	end_rows(&details->interrupts, seconds);
	for (uint32_t n = 0; n < details->locks; n++) {
		struct live_lock *lock = &details->lock[n];

		lock->rate = seconds > 0 ? (double)(lock->acquires - lock->acquires_before) / seconds : 0;
		lock->acquires_before = lock->acquires;
		lock->waiters = 0;
	}
	status = live_details_threads(details, model);
	details->samples = details->rounds = 0;
	return status;
}
