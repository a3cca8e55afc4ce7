/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A machine with little to do. Servers wait for requests, which are rare. One of the servers never gets a
 * request.
 */
#include <stddef.h>

#include "args.h"
#include "clock.h"
#include "thread.h"
#include "timer.h"
#include "wait.h"
#include "work.h"

#define SERVERS	     3
#define ROUND_MIN_NS (30 * NS_PER_MS)
#define ROUND_STEPS  64 /* limit (exclusive) of the random number of milliseconds added to ROUND_MIN_NS */

static struct server {
	struct wait_queue requests;
	unsigned waiting; /* number of requests that have not been served yet; guarded by the queue's lock */
} servers[SERVERS] = {
	{ .requests = WAIT_QUEUE("mail requests") },
	{ .requests = WAIT_QUEUE("web requests") },
	{ .requests = WAIT_QUEUE("fax requests") },
};

static void serve(void *argument)
{
	struct server *server = argument;

	for (;;) {
		bool irq_on = spin_lock(&server->requests.lock);

		while (server->waiting == 0)
			wait_sleep(&server->requests);
		server->waiting--;
		spin_unlock(&server->requests.lock, irq_on);
	}
}

static void request(struct server *server)
{
	bool irq_on = spin_lock(&server->requests.lock);

	server->waiting++;
	wait_wake_one(&server->requests);
	spin_unlock(&server->requests.lock, irq_on);
}

void work_idle(uint64_t until_ns)
{
	static const char *const names[SERVERS] = { "mailer", "web", "fax" };
	uint64_t seed = arg_number("seed", 0);

	for (unsigned n = 0; n < SERVERS; n++)
		thread_create(names[n], serve, &servers[n], CPU_ANY);
	do {
		unsigned chance = work_random(&seed);

		timer_sleep(ROUND_MIN_NS + chance % ROUND_STEPS * NS_PER_MS);
		if (chance & 1u << 16)
			request(&servers[chance >> 17 & 1]);
	} while (!work_over(until_ns));
}
