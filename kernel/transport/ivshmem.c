/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ivshmem-plain: BAR 2 is memory that the host sees, too.
 *
 * As a transport, a dump is laid behind the one before, so that the last complete one stays readable while
 * the next is on its way. One that no longer fits starts over at the front of wiped memory: nothing older may
 * be found after it.
 */
#include "bus.h"
#include "output.h"
#include "pci.h"

#define IVSHMEM_ID  0x11101af4u
#define IVSHMEM_BAR 2u

static int ivshmem_probe(struct ktrace_transport *transport)
{
	struct ktrace_ivshmem *ivshmem = (struct ktrace_ivshmem *)transport;
	uint32_t address = 0;
	int error;

	if (!ktrace_pci_find(ivshmem->pci, IVSHMEM_ID, &address))
		return KTRACE_OUTPUT_ABSENT;
	error = ktrace_pci_memory_bar(ivshmem->pci, address, IVSHMEM_BAR, &ivshmem->physical, &ivshmem->size);
	if (error)
		return error;
	ivshmem->memory = (unsigned char *)ktrace_bus_map(ivshmem->bus, ivshmem->physical, ivshmem->size);
	return ivshmem->memory ? 0 : KTRACE_OUTPUT_FAILED;
}

/*
 * Both are volatile, so that no compiler makes a library call of them, and store whole aligned words where they
 * can: the memory may be mapped as a device's.
 */
static void wipe(unsigned char *memory, uint64_t bytes)
{
	volatile uint64_t *words = (volatile uint64_t *)(void *)memory;

	for (uint64_t i = 0; i < (bytes + sizeof(*words) - 1) / sizeof(*words); i++)
		words[i] = 0;
}

static void copy(unsigned char *to, const unsigned char *from, size_t bytes)
{
	bool aligned = (((uintptr_t)to | (uintptr_t)from) & (sizeof(uint64_t) - 1)) == 0;
	size_t done = 0;

	for (; aligned && bytes - done >= sizeof(uint64_t); done += sizeof(uint64_t))
		*(volatile uint64_t *)(void *)(to + done) = *(const uint64_t *)(const void *)(from + done);
	for (; done < bytes; done++)
		*(volatile unsigned char *)(to + done) = from[done];
}

static int ivshmem_begin(struct ktrace_transport *transport, uint64_t bytes)
{
	struct ktrace_ivshmem *ivshmem = (struct ktrace_ivshmem *)transport;

	if (bytes > ivshmem->size)
		return KTRACE_OUTPUT_FULL;
	if (bytes > ivshmem->size - ivshmem->next) {
		wipe(ivshmem->memory, ivshmem->next);
		ivshmem->next = 0;
	}
	return 0;
}

static int64_t ivshmem_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	struct ktrace_ivshmem *ivshmem = (struct ktrace_ivshmem *)transport;

	if (bytes > ivshmem->size - ivshmem->next)
		return KTRACE_OUTPUT_FULL;
	copy(ivshmem->memory + ivshmem->next, (const unsigned char *)data, bytes);
	ivshmem->next += bytes;
	return (int64_t)bytes;
}

struct ktrace_transport *ktrace_ivshmem_init(struct ktrace_ivshmem *ivshmem, const struct ktrace_bus *bus,
					     const struct ktrace_pci *pci)
{
	ktrace_output_init(&ivshmem->transport, "ivshmem", ivshmem_probe, ivshmem_send);
	ivshmem->transport.begin = ivshmem_begin;
	ivshmem->bus = bus;
	ivshmem->pci = pci;
	ivshmem->memory = NULL;
	ivshmem->size = 0;
	ivshmem->physical = 0;
	ivshmem->next = 0;
	return &ivshmem->transport;
}
