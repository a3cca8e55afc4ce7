/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Packets: buffers for one frame each. At each time, a packet has one owner, which frees the packet or passes
 * it to the next owner. A reply reuses the buffer of the packet that it answers, so receiving a packet needs
 * no additional memory.
 */
#ifndef DEMO_NET_PACKET_H
#define DEMO_NET_PACKET_H

#include <stdint.h>

#define PACKET_BYTES 1500 /* maximum size of a frame (MTU of the device) */

struct packet {
	struct packet *next;
	uint32_t number; /* sequence number of the transmission, for the trace */
	uint16_t length; /* number of bytes of the frame */
	uint8_t frame[PACKET_BYTES];
};

/*
 * Allocates a packet. Returns NULL if the maximum number of packets is in use, or if out of memory.
 * packet_alloc and packet_free: any context.
 */
struct packet *packet_alloc(void);
void packet_free(struct packet *packet);

/* Frees a packet that cannot be delivered, and records the reason in the trace. */
void packet_drop(struct packet *packet, const char *why);

/* A FIFO queue of packets. The code that uses it must provide the locking. Initialize it with zeroes. */
struct packet_queue {
	struct packet *first, *last;
	unsigned length;
};

void packet_put(struct packet_queue *queue, struct packet *packet);
struct packet *packet_take(struct packet_queue *queue); /* returns NULL if the queue is empty */
void packet_free_all(struct packet_queue *queue);

#endif
