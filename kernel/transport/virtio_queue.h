/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The part of a virtio-console that is the same on every bus: one transmit queue, one chain at a time. The
 * bus parts (virtio_mmio.c, virtio_pci.c) find the device, tell it where the queue lies, and call this.
 *
 * The queue has the legacy layout, which later devices accept as well: descriptors, then the available ring,
 * then the used ring on the next page.
 */
#ifndef KTRACE_TRANSPORT_VIRTIO_QUEUE_H
#define KTRACE_TRANSPORT_VIRTIO_QUEUE_H

#include "ktrace/transport.h"

#define KTRACE_VIRTIO_CONSOLE	3u /* device type */
#define KTRACE_VIRTIO_TRANSMIT	1u /* queue of the first port */
#define KTRACE_VIRTIO_PAGE	4096u
#define KTRACE_VIRTIO_VERSION_1 1u /* feature bit 32: bit 0 of the high word */

/* Device status bits. */
#define KTRACE_VIRTIO_ACKNOWLEDGE 1u
#define KTRACE_VIRTIO_DRIVER	  2u
#define KTRACE_VIRTIO_DRIVER_OK	  4u
#define KTRACE_VIRTIO_FEATURES_OK 8u

void ktrace_virtio_init(struct ktrace_virtio_console *console, int (*probe)(struct ktrace_transport *),
			const struct ktrace_bus *bus);

/*
 * Clears the queue memory and lays out a queue of `size` entries in it. KTRACE_OUTPUT_FAILED if it does not
 * fit or if the memory is not one physical piece.
 */
int ktrace_virtio_queue_lay(struct ktrace_virtio_console *console, uint32_t size);

/*
 * The queue's page number, as legacy devices are told it: in 32 bits. KTRACE_OUTPUT_FAILED if the memory lies
 * higher.
 */
int ktrace_virtio_legacy_page(const struct ktrace_virtio_console *console, uint32_t *page);

/* Physical addresses of the three parts, after laying. */
uint64_t ktrace_virtio_descriptors(const struct ktrace_virtio_console *console);
uint64_t ktrace_virtio_available(const struct ktrace_virtio_console *console);
uint64_t ktrace_virtio_used(const struct ktrace_virtio_console *console);

#endif
