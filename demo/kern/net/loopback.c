/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stddef.h>

#include <ktrace/ktrace.h>
#include <ktrx/v1.h>

#include "args.h"
#include "clock.h"
#include "net/ip.h"
#include "net/loopback.h"
#include "net/sockets.h"
#include "net/stream.h"
#include "thread.h"
#include "wait.h"

KTRACE_EVENT_V1(KTRX1_NET_TX_PACKET, net, tx, "%u bytes, protocol %u, port %u -> %u, flags %#x, packet %u",
		(uint32_t, length, bytes), (uint8_t, protocol), (uint16_t, from), (uint16_t, to),
		(uint8_t, flags), (uint32_t, packet));
KTRACE_EVENT_V1(KTRX1_NET_RX_PACKET, net, rx, "%u bytes, protocol %u, port %u -> %u, flags %#x, packet %u",
		(uint32_t, length, bytes), (uint8_t, protocol), (uint16_t, from), (uint16_t, to),
		(uint8_t, flags), (uint32_t, packet));

/* The queue in which the network thread waits. The queue's lock guards `frames`. */
static struct wait_queue waiting = WAIT_QUEUE("loopback");
static struct packet_queue frames;
static uint32_t transmitted;
static uint64_t lose_every;

static bool is_lost(const struct packet *packet)
{
	return lose_every && packet->number % lose_every == 0;
}

void loopback_transmit(struct packet *packet)
{
	bool irq_on;

	packet->number = __atomic_add_fetch(&transmitted, 1, __ATOMIC_RELAXED);
	KTRACE(net, tx, packet->length, ip_protocol(packet), ip_source_port(packet),
	       ip_destination_port(packet), stream_flags(packet), packet->number);
	if (is_lost(packet)) {
		packet_drop(packet, "lost on purpose");
		return;
	}
	irq_on = spin_lock(&waiting.lock);
	packet_put(&frames, packet);
	wait_wake_one(&waiting);
	spin_unlock(&waiting.lock, irq_on);
}

void loopback_wake(void)
{
	bool irq_on = spin_lock(&waiting.lock);

	wait_wake_one(&waiting);
	spin_unlock(&waiting.lock, irq_on);
}

/* Waits for the next frame. Returns NULL if a connection's deadline passes first. */
static struct packet *wait_for_frame(void)
{
	bool irq_on = spin_lock(&waiting.lock);
	struct packet *packet;

	while (!(packet = packet_take(&frames)))
		if (wait_sleep_until(&waiting, stream_next_deadline()) == WOKEN_BY_TIME)
			break;
	spin_unlock(&waiting.lock, irq_on);
	return packet;
}

static void network_thread(void *unused)
{
	(void)unused;
	for (;;) {
		struct packet *packet = wait_for_frame();

		network_lock();
		if (packet) {
			KTRACE(net, rx, packet->length, ip_protocol(packet), ip_source_port(packet),
			       ip_destination_port(packet), stream_flags(packet), packet->number);
			ip_input(packet);
		}
		if (clock_ns() >= stream_next_deadline())
			stream_expire();
		network_unlock();
	}
}

void loopback_init(void)
{
	lose_every = arg_number("lose", 0);
	thread_create("network", network_thread, NULL, CPU_ANY);
}
