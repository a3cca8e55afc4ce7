/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Packets: buffers that hold one frame each. Whoever is given one owns it, and frees it or hands it on. What only
 * answers a packet is written over it, so receiving never needs memory.
 */
#ifndef DEMO_NET_PACKET_H
#define DEMO_NET_PACKET_H

#include <stdint.h>

#define PACKET_BYTES 1500 /* of a frame: the device's MTU */

struct packet {
	struct packet *next;
	uint32_t number; /* of the transmission, for the trace */
	uint16_t length; /* of the frame */
	uint8_t frame[PACKET_BYTES];
};

/* NULL: so many are in use already, or out of memory. Any context, like packet_free. */
struct packet *packet_alloc(void);
void packet_free(struct packet *packet);

/* Frees a packet that cannot be delivered, and says so in the trace. */
void packet_drop(struct packet *packet, const char *why);

/* First in, first out; whoever owns the queue sees to its lock. Starts as zeroes. */
struct packet_queue {
	struct packet *first, *last;
	unsigned length;
};

void packet_put(struct packet_queue *queue, struct packet *packet);
struct packet *packet_take(struct packet_queue *queue); /* NULL: empty */
void packet_free_all(struct packet_queue *queue);

#endif
