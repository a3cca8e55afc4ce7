/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds threads by id and packets by number, in hash tables of fixed size. A new entry overwrites an older
 * entry in the same place. The pending causes of the older entry then make no pairs. Lost slots clear all
 * tables.
 */
#include "analyze/threads.h"
#include "analyze/align.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "ktrx/v2.h"

#define THREADS 1024u
#define PACKETS 1024u
#define CPUS	256u
#define BITS	8u /* number of bits in the mask that states why an interrupt was sent */
#define QUEUE	16u
/*
 * a wakeup counts as left over if it came more than slack / DOUBT ticks before the thread went to sleep; an
 * interrupt counts as left over if it was sent more than slack / DOUBT ticks before the last arrival
 */
#define DOUBT 8u
/*
 * an effect is chosen from two possible effects of a cause if it is at least this many times nearer than the
 * other effect
 */
#define NEARER 4u

struct place {
	uint32_t cpu;
	uint64_t stamp;
};

struct queue {
	struct place place[QUEUE];
	uint32_t count;
};

/*
 * An effect for which no cause was found, and a cause that came after it. If clocks differ, the cause may
 * belong to that effect. If the kernel does not record that effect's own cause, the cause belongs to the next
 * effect. The cause is paired with the effect that is much nearer, if there is one.
 */
struct open {
	struct place cause, effect; /* cause.stamp is 0 if there is no cause */
};

struct thread {
	uint32_t id;
	uint8_t known; /* 1: the fields below are valid */
	uint8_t running;
	uint8_t waits; /* 1 if the thread slept after the last switch away from it */
	/* if the thread does not run: the last switch away from it; if it runs: the last switch to it */
	struct place left;
	/* switch to the thread while it still ran on another CPU; its timestamp is 0 if there was none */
	struct place early;
	/*
	 * end of a short time after the first switch to the thread: until then, wakeups of the thread are
	 * ignored, because they may belong to this first switch
	 */
	uint64_t settled;
	/*
	 * timestamp of the thread's announcement that it sleeps; if there was none, of the switch away from
	 * the thread; 0 if the thread has not gone to sleep since it last ran
	 */
	uint64_t blocked;
	struct queue wakes;   /* wakeups of the thread that no switch to the thread has followed yet */
	struct queue arrived; /* switches to the thread that came without a wakeup */
	struct open open;
};

/*
 * Interrupts sent to one CPU for one reason. If several interrupts are sent before the first of them arrives,
 * they are delivered as one interrupt. The oldest of them is then regarded as the cause. The resulting bound
 * may be too weak, but is never wrong.
 */
struct request {
	struct queue sent;    /* interrupts that have not arrived yet */
	struct queue arrived; /* arrivals of interrupts whose sending was not recorded */
	uint64_t last;	      /* timestamp of the last arrival */
	struct open open;
};

struct packet {
	uint64_t key;
	/*
	 * the events of sending and of receiving the packet; the timestamp of each event is 0 until the event
	 * was read
	 */
	struct place sent, received;
};

struct causes {
	const struct ktread *trace;
	enum causes_way way;
	uint64_t slack;
	struct causes_pair *pair; /* array for the pairs that the current event completes */
	uint32_t pairs;
	struct thread thread[THREADS];
	struct packet packet[PACKETS];
	struct request request[CPUS][BITS];
};

struct causes *causes_create(const struct ktread *trace, enum causes_way way, uint64_t slack)
{
	struct causes *causes = calloc(1, sizeof(*causes));

	if (!causes)
		return NULL;
	causes->trace = trace;
	causes->way = way;
	causes->slack = slack;
	return causes;
}

void causes_destroy(struct causes *causes)
{
	free(causes);
}

static void forget(struct causes *causes)
{
	memset(causes->thread, 0, sizeof(causes->thread));
	memset(causes->packet, 0, sizeof(causes->packet));
	memset(causes->request, 0, sizeof(causes->request));
}

static void add_pair(struct causes *causes, struct place cause, struct place effect)
{
	if (cause.cpu != effect.cpu && causes->pairs < CAUSES_PAIRS)
		causes->pair[causes->pairs++] =
			(struct causes_pair){ cause.cpu, effect.cpu, cause.stamp, effect.stamp };
}

/* Appends to a queue. A full queue drops its oldest entry. */
static void put(struct queue *queue, struct place place)
{
	if (queue->count == QUEUE)
		memmove(queue->place, queue->place + 1, --queue->count * sizeof(place));
	queue->place[queue->count++] = place;
}

/*
 * Stores an effect without an earlier cause. With CAUSES_NEAREST, stores only the last such effect, which is
 * nearest to a later cause.
 */
static void put_arrival(const struct causes *causes, struct queue *queue, struct place place)
{
	if (causes->way == CAUSES_NEAREST)
		queue->count = 0;
	put(queue, place);
}

static struct place take(struct queue *queue)
{
	struct place place = queue->place[0];

	memmove(queue->place, queue->place + 1, --queue->count * sizeof(place));
	return place;
}

static void drop_before(struct queue *queue, uint64_t stamp)
{
	while (queue->count > 0 && queue->place[0].stamp < stamp)
		take(queue);
}

static uint64_t slack_before(const struct causes *causes, uint64_t stamp)
{
	return stamp > causes->slack ? stamp - causes->slack : 0;
}

/*
 * Returns the timestamp before which a cause counts as left over: its effect has come, but was not
 * recognised.
 */
static uint64_t doubt_before(const struct causes *causes, uint64_t stamp)
{
	return stamp > causes->slack / DOUBT ? stamp - causes->slack / DOUBT : 0;
}

/*
 * Decides whether the cause in `open` belongs to the effect in `open`, which came before it, or to `here`,
 * the next effect after it. If one of the two effects is much nearer, makes a pair. Returns 0 if the cause
 * belongs to the effect in `open`, otherwise 1.
 */
static int close_open(struct causes *causes, struct open *open, struct place here)
{
	const struct place cause = open->cause;
	const uint64_t back = cause.stamp - open->effect.stamp, forth = here.stamp - cause.stamp;

	open->cause.stamp = 0;
	if (back <= forth / NEARER) {
		add_pair(causes, cause, open->effect);
		return 0;
	}
	if (forth <= back / NEARER)
		add_pair(causes, cause, here);
	return 1;
}

static struct thread *thread_of(struct causes *causes, uint32_t id)
{
	struct thread *thread = &causes->thread[id * UINT32_C(0x9e3779b1) >> 22];

	if (thread->id != id)
		*thread = (struct thread){ .id = id };
	return thread;
}

_Static_assert(THREADS == UINT32_C(1) << (32 - 22), "a place for every hash");

/* ---- Wakeups and switches of threads ------------------------------------------------------------- */

static void wake(struct causes *causes, uint32_t id, struct place here)
{
	struct thread *thread = thread_of(causes, id);

	if (here.stamp < thread->settled)
		return;
	drop_before(&thread->arrived, slack_before(causes, here.stamp));
	if (thread->arrived.count == 0) {
		put(&thread->wakes, here);
	} else if (causes->way == CAUSES_IN_TURN || (thread->running && thread->blocked == 0)) {
		add_pair(causes, here, take(&thread->arrived));
	} else {
		thread->open = (struct open){ here, take(&thread->arrived) };
	}
}

static void switch_from(struct causes *causes, uint32_t id, struct place here, int waits)
{
	struct thread *thread = thread_of(causes, id);

	/*
	 * The clock of another CPU is behind this CPU's clock: the switch to the thread on that CPU has an
	 * earlier timestamp than the switch away from the thread on this CPU.
	 */
	if (thread->early.stamp != 0 && thread->early.stamp >= slack_before(causes, here.stamp) &&
	    thread->early.cpu != here.cpu) {
		add_pair(causes, here, thread->early);
		thread->left = thread->early;
		thread->early.stamp = 0;
		return;
	}
	if (!waits && thread->blocked != 0 && thread->wakes.count > 0)
		take(&thread->wakes); /* the thread was woken before it was switched away from */
	if (!waits)
		thread->blocked = 0;
	else if (thread->blocked == 0)
		thread->blocked = here.stamp;
	thread->early.stamp = 0;
	thread->known = 1;
	thread->running = 0;
	thread->waits = (uint8_t)waits;
	thread->left = here;
}

static void switch_to(struct causes *causes, uint32_t id, struct place here)
{
	struct thread *thread = thread_of(causes, id);

	if (thread->known && thread->running && thread->left.cpu != here.cpu) {
		thread->early = here;
		return;
	}
	if (thread->known && !thread->running) {
		add_pair(causes, thread->left, here);
		drop_before(&thread->wakes, doubt_before(causes, thread->blocked));
		if (thread->open.cause.stamp != 0 && close_open(causes, &thread->open, here))
			thread->wakes.count = 0;
		else if (thread->waits && thread->wakes.count > 0)
			add_pair(causes, take(&thread->wakes), here);
		else if (thread->waits && here.stamp >= thread->settled)
			put_arrival(causes, &thread->arrived, here);
	} else if (!thread->known && thread->wakes.count > 0) {
		add_pair(causes, take(&thread->wakes), here);
	} else if (!thread->known) {
		thread->settled = here.stamp + causes->slack / DOUBT;
	}
	thread->known = thread->running = 1;
	thread->left = here;
	thread->blocked = 0;
}

/* ---- Sending and arrival of interrupts ----------------------------------------------------------- */

static void send(struct causes *causes, struct request *request, struct place here)
{
	drop_before(&request->arrived, slack_before(causes, here.stamp));
	if (request->arrived.count == 0)
		put(&request->sent, here);
	else if (causes->way == CAUSES_IN_TURN)
		add_pair(causes, here, take(&request->arrived));
	else
		request->open = (struct open){ here, take(&request->arrived) };
}

/*
 * Returns true if all pending interrupts were sent by one CPU. If several CPUs sent them, any of these
 * interrupts may be the cause, because clocks may differ.
 */
static int is_by_one(const struct queue *queue)
{
	for (uint32_t i = 1; i < queue->count; i++)
		if (queue->place[i].cpu != queue->place[0].cpu)
			return 0;
	return 1;
}

static void arrive(struct causes *causes, struct request *request, struct place here)
{
	drop_before(&request->sent, doubt_before(causes, request->last));
	if (request->open.cause.stamp != 0 && close_open(causes, &request->open, here))
		request->sent.count = 0;
	else if (request->sent.count == 0)
		put_arrival(causes, &request->arrived, here);
	else if (is_by_one(&request->sent))
		add_pair(causes, take(&request->sent), here);
	else
		take(&request->sent);
	request->last = here.stamp;
}

static void interrupt(struct causes *causes, const struct wellknown *known, const struct ktread_event *event,
		      struct place here)
{
	uint64_t what = 1, target = here.cpu;

	wellknown_number(known, event, WELLKNOWN_NUMBER, &what);
	if (known->kind == WELLKNOWN_IPI_SEND && !wellknown_number(known, event, WELLKNOWN_CPU, &target))
		return;
	if (target >= CPUS)
		return;
	for (uint32_t bit = 0; bit < BITS; bit++) {
		if (!(what >> bit & 1))
			continue;
		if (known->kind == WELLKNOWN_IPI_SEND)
			send(causes, &causes->request[target][bit], here);
		else
			arrive(causes, &causes->request[target][bit], here);
	}
}

/* ---- Sending and receipt of packets -------------------------------------------------------------- */

static void packet(struct causes *causes, const struct wellknown *known, const struct ktread_event *event,
		   struct place here)
{
	struct packet *packet;
	uint64_t key;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &key))
		return;
	packet = &causes->packet[key * UINT64_C(0x9e3779b97f4a7c15) >> 54];
	if (packet->key != key)
		*packet = (struct packet){ .key = key };
	if (known->kind == WELLKNOWN_NET_TX)
		packet->sent = here;
	else
		packet->received = here;
	if (packet->sent.stamp == 0 || packet->received.stamp == 0 ||
	    packet->received.stamp < slack_before(causes, packet->sent.stamp))
		return;
	add_pair(causes, packet->sent, packet->received);
	*packet = (struct packet){ .key = 0 };
}

_Static_assert(PACKETS == UINT64_C(1) << (64 - 54), "a place for every hash");

static void switched(struct causes *causes, const struct wellknown *known, const struct ktread_event *event,
		     struct place here)
{
	uint64_t state = WELLKNOWN_STATE_RUNNABLE;
	uint32_t previous, next;
	bool idle;

	if (!wellknown_thread(known, event, WELLKNOWN_PREV, &previous) ||
	    !wellknown_thread(known, event, WELLKNOWN_NEXT, &next))
		return;
	idle = threads_is_idle(causes->trace, previous);
	if (!wellknown_number(known, event, WELLKNOWN_STATE, &state) && !idle)
		state = thread_of(causes, previous)->blocked ? WELLKNOWN_STATE_SLEEP : state;
	if (!idle)
		switch_from(causes, previous, here, state != WELLKNOWN_STATE_RUNNABLE);
	if (!threads_is_idle(causes->trace, next))
		switch_to(causes, next, here);
}

uint32_t causes_event(struct causes *causes, const struct ktread_event *event, const struct wellknown *known,
		      struct causes_pair pair[CAUSES_PAIRS])
{
	struct place here = { event->cpu, event->stamp };
	uint32_t thread = event->thread;

	causes->pair = pair;
	causes->pairs = 0;
	if (event->lost)
		forget(causes);
	if (event->cpu == KTRX_NO_CPU)
		return 0;
	switch (known->kind) {
	case WELLKNOWN_SWITCH:
		switched(causes, known, event, here);
		break;
	case WELLKNOWN_BLOCK:
		wellknown_thread(known, event, WELLKNOWN_THREAD, &thread);
		thread_of(causes, thread)->blocked = event->stamp;
		break;
	case WELLKNOWN_WAKE:
		if (wellknown_thread(known, event, WELLKNOWN_THREAD, &thread) &&
		    !threads_is_idle(causes->trace, thread))
			wake(causes, thread, here);
		break;
	case WELLKNOWN_IPI_SEND:
	case WELLKNOWN_IPI_RECEIVE:
		interrupt(causes, known, event, here);
		break;
	case WELLKNOWN_NET_TX:
	case WELLKNOWN_NET_RX:
		packet(causes, known, event, here);
		break;
	default:
		break;
	}
	return causes->pairs;
}

/* ---- Counts of pairs ----------------------------------------------------------------------------- */

/*
 * Returns the number of ticks by which the effect of a pair may come before its cause because of the stated
 * errors of both clocks. A clock without a stated error counts as exact here, because alignment may move it
 * until no effect comes before its cause.
 */
static uint64_t allowed_error(const struct ktread *trace, const struct causes_pair *pair)
{
	const uint64_t from = order_error_at(trace, pair->from, pair->cause);
	const uint64_t to = order_error_at(trace, pair->to, pair->effect);

	if (from == ORDER_NO_ERROR || to == ORDER_NO_ERROR)
		return 0;
	return from < ORDER_NO_ERROR - to ? from + to : ORDER_NO_ERROR;
}

void causes_count(struct causes_count *count, const struct ktread *trace, const struct causes_pair *pair,
		  uint32_t pairs)
{
	count->pairs += pairs;
	for (uint32_t i = 0; i < pairs; i++) {
		const bool early = pair[i].effect < pair[i].cause;
		const uint64_t apart =
			early ? pair[i].cause - pair[i].effect : pair[i].effect - pair[i].cause;

		count->bits += 64 - (uint32_t)__builtin_clzll(apart | 1);
		if (!early)
			continue;
		count->early++;
		count->beyond += apart > allowed_error(trace, &pair[i]);
		count->ticks += apart;
	}
}

bool causes_fewer(const struct causes_count *count, const struct causes_count *other)
{
	if (count->beyond != other->beyond)
		return count->beyond < other->beyond;
	return count->early < other->early;
}

bool causes_nearer(const struct causes_count *count, const struct causes_count *other)
{
	return count->pairs != 0 && other->pairs != 0 &&
	       (double)count->bits / (double)count->pairs + 1 <= (double)other->bits / (double)other->pairs;
}
