/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations that the drivers of transports share: the output lock, buses, PCI, virtio queues, semihosting.
 */
#ifndef KTRACE_TRANSPORT_DRIVERS_H
#define KTRACE_TRANSPORT_DRIVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ktrace/transport.h"

/*
 * The output lock: only one context on one CPU can send at a time, for all transports together. A caller
 * tries to take the lock only a limited number of times.
 */

/*
 * Takes the lock. Returns 0 or KTRACE_OUTPUT_BUSY. If all attempts fail and `seize` is true, takes the lock
 * from the context that holds it. Set `seize` if that context will never release the lock.
 */
int ktrace_output_enter(bool seize);
void ktrace_output_leave(void);

/* Sends all bytes and retries short writes. Requires: the output lock is held. */
int ktrace_output_send(struct ktrace_transport *transport, const void *data, size_t bytes);

/*
 * Sets a driver's operations, and a limit of polls that is suitable for devices that take one byte at a time.
 * The transport is not ready yet.
 */
void ktrace_output_init(struct ktrace_transport *transport, const char *name,
			int (*probe)(struct ktrace_transport *transport),
			int64_t (*send)(struct ktrace_transport *transport, const void *data, size_t bytes));

/*
 * If *transport is NULL, sets it to the default transport. Returns 0, or KTRACE_OUTPUT_ABSENT if the
 * transport is not ready.
 */
int ktrace_output_resolve(struct ktrace_transport **transport);

/*
 * Functions that map and translate addresses by the kernel's callbacks. Without a callback, virtual and
 * physical addresses are the same.
 */

static inline void *ktrace_bus_map(const struct ktrace_bus *bus, uint64_t physical, size_t bytes)
{
	return bus && bus->map ? bus->map(physical, bytes) : (void *)(uintptr_t)physical;
}

static inline uint64_t ktrace_bus_physical(const struct ktrace_bus *bus, const void *pointer)
{
	return bus && bus->physical ? bus->physical(pointer) : (uint64_t)(uintptr_t)pointer;
}

static inline bool ktrace_bus_identity(const struct ktrace_bus *bus)
{
	return !bus || !bus->physical;
}

/* PCI functions that the drivers need: find a device on bus 0, and locate its registers or memory. */

/* Configuration registers, by offset. */
#define KTRACE_PCI_ID	   0x00u
#define KTRACE_PCI_COMMAND 0x04u
#define KTRACE_PCI_HEADER  0x0cu /* bits 23:16 of this register are the header type */
#define KTRACE_PCI_BAR	   0x10u

#define KTRACE_PCI_COMMAND_IO	  1u
#define KTRACE_PCI_COMMAND_MEMORY 2u
#define KTRACE_PCI_COMMAND_MASTER 4u

/* Address of function f of device n on bus 0. Add the offset of a register to it. */
#define KTRACE_PCI_ADDRESS(device, function) ((uint32_t)(device) << 15 | (uint32_t)(function) << 12)

/*
 * Finds the first PCI function, at *address or later, whose vendor id is the low half of `id` and whose
 * device id is the high half. Returns true and sets *address.
 * Set *address to 0 before the first call. To continue the search after a match, call ktrace_pci_next()
 * first.
 */
bool ktrace_pci_find(const struct ktrace_pci *pci, uint32_t id, uint32_t *address);
void ktrace_pci_next(uint32_t *address);

void ktrace_pci_enable(const struct ktrace_pci *pci, uint32_t address, uint32_t command_bits);

/* Returns the first I/O port of a BAR; 0 if it is not an I/O BAR or was not assigned. */
uint16_t ktrace_pci_ports_bar(const struct ktrace_pci *pci, uint32_t address, uint32_t bar);

/*
 * Returns the physical range of a memory BAR and enables it. A BAR that was not assigned gets a range of the
 * bridge's window.
 * Returns 0 or an error.
 */
int ktrace_pci_memory_bar(const struct ktrace_pci *pci, uint32_t address, uint32_t bar, uint64_t *physical,
			  uint64_t *size);

/*
 * The part of a virtio-console driver that is the same on every bus: one transmit queue, one chain at a time.
 * The parts for each bus (virtio_mmio.c, virtio_pci.c) find the device, give it the address of the queue, and
 * call this part.
 *
 * The queue has the legacy layout, which newer devices accept as well: descriptors, then the available ring,
 * then the used ring on the next page.
 */

#define KTRACE_VIRTIO_CONSOLE	3u /* virtio device type of a console */
#define KTRACE_VIRTIO_TRANSMIT	1u /* number of the transmit queue of the first port */
#define KTRACE_VIRTIO_PAGE	4096u
#define KTRACE_VIRTIO_VERSION_1 1u /* feature bit 32, which is bit 0 of the high word */

/* Device status bits. */
#define KTRACE_VIRTIO_ACKNOWLEDGE 1u
#define KTRACE_VIRTIO_DRIVER	  2u
#define KTRACE_VIRTIO_DRIVER_OK	  4u
#define KTRACE_VIRTIO_FEATURES_OK 8u

void ktrace_virtio_init(struct ktrace_virtio_console *console, int (*probe)(struct ktrace_transport *),
			const struct ktrace_bus *bus);

/*
 * Clears the queue memory and lays out a queue of `size` entries in it. Returns KTRACE_OUTPUT_FAILED if the
 * queue does not fit or if the memory is not physically contiguous.
 */
int ktrace_virtio_queue_lay(struct ktrace_virtio_console *console, uint32_t size);

/*
 * Stores in *page the number of the queue's first page, which legacy devices need. Returns 0, or
 * KTRACE_OUTPUT_FAILED if the number does not fit into 32 bits.
 */
int ktrace_virtio_legacy_page(const struct ktrace_virtio_console *console, uint32_t *page);

/* Return the physical addresses of the queue's three parts. Requires: ktrace_virtio_queue_lay() succeeded. */
uint64_t ktrace_virtio_descriptors(const struct ktrace_virtio_console *console);
uint64_t ktrace_virtio_available(const struct ktrace_virtio_console *console);
uint64_t ktrace_virtio_used(const struct ktrace_virtio_console *console);

/* Each architecture with semihosting supplies these: kernel/transport/<arch>/semihosting_<arch>.S. */

/*
 * Returns true if semihosting is available. Makes one harmless call with a trap vector of its own: without
 * semihosting the call is an exception, and the vector skips it. Any context that may mask interrupts.
 */
bool ktrace_semihosting_present(void);

/* Makes one call. Requires: ktrace_semihosting_present() returned true. */
int64_t ktrace_semihosting_call(uint64_t operation, const void *block);

#endif
