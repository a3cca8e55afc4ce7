/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stddef.h>

#include <ktrace/ktrace.h>

#include "arch.h"
#include "net/packet.h"
#include "page.h"
#include "spinlock.h"

KTRACE_EVENT(net, drop, "packet %u: %s", (uint32_t, packet), (const char *, why));

#define PACKETS_MAX	 1024
#define PACKETS_PER_PAGE (PAGE_SIZE / sizeof(struct packet))

_Static_assert(PACKETS_PER_PAGE == 2, "a packet takes half a page");

static struct spinlock lock = SPINLOCK("packets");
static struct packet *free_packets;
static unsigned packets; /* number of packets allocated from pages so far; these pages are never freed */

static void add_page(void)
{
	struct packet *page = packets < PACKETS_MAX ? page_alloc(1) : NULL;

	for (size_t i = 0; page && i < PACKETS_PER_PAGE; i++) {
		page[i].next = free_packets;
		free_packets = &page[i];
		packets++;
	}
}

struct packet *packet_alloc(void)
{
	bool irq_on = spin_lock(&lock);
	struct packet *packet;

	if (!free_packets)
		add_page();
	packet = free_packets;
	if (packet)
		free_packets = packet->next;
	spin_unlock(&lock, irq_on);
	return packet;
}

void packet_free(struct packet *packet)
{
	bool irq_on = spin_lock(&lock);

	packet->next = free_packets;
	free_packets = packet;
	spin_unlock(&lock, irq_on);
}

void packet_drop(struct packet *packet, const char *why)
{
	KTRACE(net, drop, packet->number, why);
	packet_free(packet);
}

void packet_put(struct packet_queue *queue, struct packet *packet)
{
	packet->next = NULL;
	if (queue->last)
		queue->last->next = packet;
	else
		queue->first = packet;
	queue->last = packet;
	queue->length++;
}

struct packet *packet_take(struct packet_queue *queue)
{
	struct packet *packet = queue->first;

	if (!packet)
		return NULL;
	queue->first = packet->next;
	if (!queue->first)
		queue->last = NULL;
	queue->length--;
	return packet;
}

void packet_free_all(struct packet_queue *queue)
{
	struct packet *packet;

	while ((packet = packet_take(queue)))
		packet_free(packet);
}
