/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions that all transports share: selection of the default transport, the output lock, and retries of
 * short writes.
 */
#include "drivers.h"

#include "ktrace/port.h"
#include "ktrace_io.h"

#define KTRACE_LOCK_TRIES (1u << 20)
/* a send fails after this number of consecutive attempts in which the device accepts no byte */
#define KTRACE_EMPTY_SENDS_LIMIT 16u
/* maximum number of polls; on any machine, so many polls take longer than sending a byte at 9600 baud */
#define KTRACE_REGISTER_PATIENCE (1u << 20)

static uint64_t output_lock; /* 1 while a context holds the lock, otherwise 0 */
static struct ktrace_transport *chosen;

void ktrace_output_init(struct ktrace_transport *transport, const char *name,
			int (*probe)(struct ktrace_transport *transport),
			int64_t (*send)(struct ktrace_transport *transport, const void *data, size_t bytes))
{
	transport->name = name;
	transport->probe = probe;
	transport->send = send;
	transport->begin = NULL;
	transport->patience = KTRACE_REGISTER_PATIENCE;
	transport->ready = false;
}

int ktrace_output_enter(bool seize)
{
	for (uint32_t i = 0; i < KTRACE_LOCK_TRIES; i++) {
		if (ktrace_arch_compare_swap(&output_lock, 0, 1)) {
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			return 0;
		}
		ktrace_io_relax();
	}
	if (!seize)
		return KTRACE_OUTPUT_BUSY;
	__atomic_store_n(&output_lock, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void ktrace_output_leave(void)
{
	__atomic_store_n(&output_lock, 0, __ATOMIC_RELEASE);
}

int ktrace_output_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	const unsigned char *next = (const unsigned char *)data;
	uint32_t empty = 0;

	while (bytes > 0) {
		int64_t taken = transport->send(transport, next, bytes);

		if (taken < 0)
			return (int)taken;
		if ((uint64_t)taken > bytes)
			return KTRACE_OUTPUT_FAILED;
		empty = taken ? 0 : empty + 1;
		if (empty == KTRACE_EMPTY_SENDS_LIMIT)
			return KTRACE_OUTPUT_STALLED;
		next += taken;
		bytes -= (size_t)taken;
	}
	return 0;
}

int ktrace_output_resolve(struct ktrace_transport **transport)
{
	if (!*transport)
		*transport = ktrace_transport_get();
	return *transport && (*transport)->ready ? 0 : KTRACE_OUTPUT_ABSENT;
}

int ktrace_transport_set(struct ktrace_transport *transport)
{
	if (transport && !transport->ready) {
		int error = transport->probe(transport);

		if (error)
			return error;
		transport->ready = true;
	}
	__atomic_store_n(&chosen, transport, __ATOMIC_RELEASE);
	return 0;
}

struct ktrace_transport *ktrace_transport_get(void)
{
	return __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
}

int ktrace_transport_write(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	int error = ktrace_output_resolve(&transport);

	if (!error)
		error = ktrace_output_enter(false);
	if (error)
		return error;
	error = ktrace_output_send(transport, data, bytes);
	ktrace_output_leave();
	return error;
}

int ktrace_write_bytes(const void *data, size_t bytes)
{
	return ktrace_transport_write(NULL, data, bytes);
}

int ktrace_write_byte(uint8_t byte)
{
	return ktrace_write_bytes(&byte, 1);
}

int ktrace_write_record(uint64_t stamp, uint32_t header, const uint32_t data[5])
{
	const struct ktrx1_record record = { stamp, header, { data[0], data[1], data[2], data[3], data[4] } };

	return ktrace_write_bytes(&record, sizeof(record));
}
