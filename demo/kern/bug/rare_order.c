/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A sender puts packets on a wire and counts each for its route and for its neighbour. A receiver learns from
 * the packets when a neighbour has got a new address.
 * The mistake: the sender locks the routes and then the neighbours; the receiver locks the neighbours and
 * then the routes. The sender has released both locks long before its packet arrives, so they deadlock only
 * if something delays the sender's CPU while it holds the first lock.
 */
#include "mutex.h"
#include "bug/bug.h"
#include "bug/rounds.h"

#define PACKETS 2

static struct mutex routes = MUTEX("routes"), neighbours = MUTEX("neighbours");
static unsigned packets_of_route, packets_of_neighbour; /* each is guarded by the lock of the same name */
static unsigned address;				/* guarded by both locks */

static void send(void)
{
	rounds_hand_over();
	mutex_lock(&routes);
	packets_of_route++;
	mutex_lock(&neighbours);
	packets_of_neighbour++;
	mutex_unlock(&neighbours);
	mutex_unlock(&routes);
}

static void change_address(struct mutex *outer, struct mutex *inner)
{
	mutex_lock(outer);
	mutex_lock(inner);
	address++;
	mutex_unlock(inner);
	mutex_unlock(outer);
}

static void receive(void)
{
	change_address(&neighbours, &routes);
}

static void receive_safely(void)
{
	change_address(&routes, &neighbours);
}

void bug_rare_order(uint64_t until_ns)
{
	rounds_run(&(struct rounds){ "network", PACKETS, send, receive }, until_ns);
}

void bug_no_rare_order(uint64_t until_ns)
{
	rounds_run(&(struct rounds){ "network", PACKETS, send, receive_safely }, until_ns);
}
