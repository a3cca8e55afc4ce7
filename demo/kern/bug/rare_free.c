/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Requests come from a pool. One thread cancels a request, and another thread completes it. The first of the
 * two threads frees the request.
 * The mistake: finish() reads whether the request is in use, and clears this flag with another instruction.
 * If another CPU does the same between the two instructions, both CPUs free the request. Here a request is
 * cancelled much earlier than completed, so the mistake matters only if the CPU that cancels is delayed.
 */
#include <stddef.h>

#include "panic.h"
#include "spinlock.h"
#include "bug/bug.h"
#include "bug/rounds.h"

#define SLOTS	 4u
#define REQUESTS 80

struct request {
	uint32_t in_use; /* accessed atomically; 32 bits, because RISC-V has no smaller atomic exchange */
	bool is_free;	 /* true: the request is in the list of free requests; guarded by the pool's lock */
	struct request *next; /* next request in that list */
};

static struct spinlock pool = SPINLOCK("request pool");
static struct request requests[SLOTS], *free_requests;
static struct request *current; /* the request that the first thread has handed over to the second one */

static void put(struct request *request)
{
	bool irq_on = spin_lock(&pool);

	if (request->is_free)
		panic("request %u freed twice", (unsigned)(request - requests));
	request->is_free = true;
	request->next = free_requests;
	free_requests = request;
	spin_unlock(&pool, irq_on);
}

static struct request *get(void)
{
	bool irq_on = spin_lock(&pool);
	struct request *request = free_requests;

	if (!request)
		panic("no free request");
	free_requests = request->next;
	request->is_free = false;
	request->in_use = true;
	spin_unlock(&pool, irq_on);
	return request;
}

static void finish(struct request *request)
{
	uint32_t in_use = __atomic_load_n(&request->in_use, __ATOMIC_RELAXED);

	__atomic_store_n(&request->in_use, false, __ATOMIC_RELAXED);
	if (in_use)
		put(request);
}

static void finish_safely(struct request *request)
{
	if (__atomic_exchange_n(&request->in_use, false, __ATOMIC_ACQ_REL))
		put(request);
}

static void cancel(void)
{
	struct request *request = current = get();

	rounds_hand_over();
	finish(request);
}

static void complete(void)
{
	finish(current);
}

static void cancel_safely(void)
{
	struct request *request = current = get();

	rounds_hand_over();
	finish_safely(request);
}

static void complete_safely(void)
{
	finish_safely(current);
}

static void fill_pool(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		put(&requests[i]);
}

void bug_rare_free(uint64_t until_ns)
{
	fill_pool();
	rounds_run(&(struct rounds){ "request", REQUESTS, cancel, complete }, until_ns);
}

void bug_no_rare_free(uint64_t until_ns)
{
	fill_pool();
	rounds_run(&(struct rounds){ "request", REQUESTS, cancel_safely, complete_safely }, until_ns);
}
