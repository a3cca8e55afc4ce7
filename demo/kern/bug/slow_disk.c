/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A slow disk, and programs that read it. The disk always serves the request
 * whose sector is nearest to its head. The mistake: as long as nearer requests
 * arrive, a request for a far sector waits up to MAX_WAIT_NS, which is too
 * long.
 */
#include <stddef.h>

#include "args.h"
#include "clock.h"
#include "thread.h"
#include "timer.h"
#include "wait.h"
#include "bug/bug.h"

#define READERS	    4
#define FAR	    1000000u
#define SEEK_NS	    NS_PER_MS
#define MAX_WAIT_NS (700 * NS_PER_MS)

struct request {
	struct wait_queue answered;
	struct request *next;
	uint64_t since_ns;
	unsigned sector;
	bool done; /* guarded by the lock of `answered` */
};

/* The queue's lock guards the list of requests. */
static struct {
	struct wait_queue queue;
	struct request *first;
	unsigned head; /* sector where the disk's head is now; used only by the disk's thread */
} disk = { .queue = WAIT_QUEUE("disk requests") };

static unsigned distance(const struct request *request)
{
	return request->sector > disk.head ? request->sector - disk.head : disk.head - request->sector;
}

static bool comes_before(const struct request *a, const struct request *b, uint64_t now_ns)
{
	return now_ns - a->since_ns >= MAX_WAIT_NS || distance(a) < distance(b);
}

static struct request *take_request(void)
{
	bool irq_on = spin_lock(&disk.queue.lock);
	struct request **best, *request;
	uint64_t now_ns;

	while (!disk.first)
		wait_sleep(&disk.queue);
	now_ns = clock_ns();
	best = &disk.first;
	for (struct request **at = &disk.first->next; *at; at = &(*at)->next)
		if (comes_before(*at, *best, now_ns))
			best = at;
	request = *best;
	*best = request->next;
	spin_unlock(&disk.queue.lock, irq_on);
	return request;
}

static void disk_main(void *unused)
{
	(void)unused;
	for (;;) {
		struct request *request = take_request();
		bool irq_on;

		timer_sleep(SEEK_NS);
		disk.head = request->sector;
		irq_on = spin_lock(&request->answered.lock);
		request->done = true;
		wait_wake_all(&request->answered);
		spin_unlock(&request->answered.lock, irq_on);
	}
}

static void read_sector(unsigned sector)
{
	struct request request = { .answered = DEVICE_QUEUE("disk"),
				   .since_ns = clock_ns(),
				   .sector = sector };
	bool irq_on = spin_lock(&disk.queue.lock);

	request.next = disk.first;
	disk.first = &request;
	wait_wake_one(&disk.queue);
	spin_unlock(&disk.queue.lock, irq_on);

	irq_on = spin_lock(&request.answered.lock);
	while (!request.done)
		wait_sleep(&request.answered);
	spin_unlock(&request.answered.lock, irq_on);
}

static void reader(unsigned n, uint64_t until_ns)
{
	unsigned sector = (unsigned)arg_number("seed", 0) + n * 8 + (n == READERS - 1 ? FAR : 0);

	while (!work_over(until_ns))
		read_sector(sector++);
}

void bug_slow_disk(uint64_t until_ns)
{
	thread_create("disk", disk_main, NULL, CPU_ANY);
	work_crew("reader", READERS, reader, until_ns);
}
