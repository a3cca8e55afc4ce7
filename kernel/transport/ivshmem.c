/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ivshmem-plain: BAR 2 is memory shared with the host.
 *
 * As a transport, it stores dumps alternately in the two halves of the memory, so that the memory always
 * contains a complete dump after the first one. The first word of a dump (magic and version) is stored last.
 * Readers use the dump at the highest offset. So after a new dump is stored in the first half, the magic of
 * the older dump in the second half is cleared. A dump larger than a half uses the whole memory. Bytes that
 * are not part of a dump are stored one after another.
 */
#include "../base/bytes.h"
#include "drivers.h"

#include "ktrace_io.h"

#define KTRACE_IVSHMEM_ID  0x11101af4u
#define KTRACE_IVSHMEM_BAR 2u
#define KTRACE_NONE	   KTRX_U64_MAX

static int ivshmem_probe(struct ktrace_transport *transport)
{
	struct ktrace_ivshmem *ivshmem = (struct ktrace_ivshmem *)transport;
	uint32_t address = 0;
	int error;

	if (!ktrace_pci_find(ivshmem->pci, KTRACE_IVSHMEM_ID, &address))
		return KTRACE_OUTPUT_ABSENT;
	error = ktrace_pci_memory_bar(ivshmem->pci, address, KTRACE_IVSHMEM_BAR, &ivshmem->physical,
				      &ivshmem->size);
	if (error)
		return error;
	ivshmem->memory = (unsigned char *)ktrace_bus_map(ivshmem->bus, ivshmem->physical, ivshmem->size);
	return ivshmem->memory ? 0 : KTRACE_OUTPUT_FAILED;
}

static void store_magic(const struct ktrace_ivshmem *ivshmem, uint64_t offset, uint64_t magic)
{
	ktrace_io_barrier();
	*(volatile uint64_t *)(void *)(ivshmem->memory + offset) = magic;
	ktrace_io_barrier();
}

static int ivshmem_begin(struct ktrace_transport *transport, uint64_t bytes)
{
	struct ktrace_ivshmem *ivshmem = (struct ktrace_ivshmem *)transport;
	uint64_t half = ivshmem->size / 2;

	if (bytes > ivshmem->size || bytes < sizeof(ivshmem->magic))
		return KTRACE_OUTPUT_FULL;
	if (bytes > half)
		store_magic(ivshmem, half, 0);
	ivshmem->start = bytes <= half && ivshmem->complete == 0 ? half : 0;
	ivshmem->next = ivshmem->start;
	ivshmem->end = ivshmem->start + bytes;
	store_magic(ivshmem, ivshmem->start, 0);
	return 0;
}

/* Makes a complete dump visible to readers. If an older dump follows it in memory, hides the older dump. */
static void publish(struct ktrace_ivshmem *ivshmem)
{
	store_magic(ivshmem, ivshmem->start, ivshmem->magic);
	if (ivshmem->start == 0 && ivshmem->end <= ivshmem->size / 2)
		store_magic(ivshmem, ivshmem->size / 2, 0);
	ivshmem->complete = ivshmem->start;
}

static int64_t ivshmem_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	struct ktrace_ivshmem *ivshmem = (struct ktrace_ivshmem *)transport;
	const unsigned char *from = (const unsigned char *)data;
	bool first = ivshmem->end != 0 && ivshmem->next == ivshmem->start;
	size_t held = first ? sizeof(ivshmem->magic) : 0;

	if (bytes > (ivshmem->end ? ivshmem->end : ivshmem->size) - ivshmem->next || bytes < held)
		return KTRACE_OUTPUT_FULL;
	if (first)
		ktrace_copy(&ivshmem->magic, from, held);
	ktrace_copy(ivshmem->memory + ivshmem->next + held, from + held, bytes - held);
	ivshmem->next += bytes;
	if (ivshmem->next == ivshmem->end)
		publish(ivshmem);
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
	ivshmem->start = 0;
	ivshmem->next = 0;
	ivshmem->end = 0;
	ivshmem->complete = KTRACE_NONE;
	ivshmem->magic = 0;
	return &ivshmem->transport;
}
