/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The devices of QEMU's virt machine through which a trace can leave it. */
#include <ktrace/transport.h>

#include "arch.h"
#include "platform.h"
#include "string.h"

#define VIRTIO_SLOTS	   0x0a000000
#define VIRTIO_SLOT_STRIDE 0x200
#define VIRTIO_SLOT_COUNT  32
#define PCI_MEMORY	   0x10000000
#define PCI_MEMORY_SIZE	   0x2eff0000

static struct ktrace_semihosting semihosting;
static struct ktrace_pl011 uart;
static struct ktrace_virtio_console virtio;
static struct ktrace_ivshmem ivshmem;
static struct ktrace_pci pci;

struct ktrace_transport *arch_transport(const char *name, const char *path)
{
	ktrace_pci_ecam(&pci, PLATFORM_PCI_CONFIGURATION, PCI_MEMORY, PCI_MEMORY_SIZE);
	if (strcmp(name, "semihosting") == 0)
		return ktrace_semihosting_init(&semihosting, path);
	if (strcmp(name, "uart") == 0)
		return ktrace_pl011_init(&uart, PLATFORM_UART);
	if (strcmp(name, "virtio") == 0)
		return ktrace_virtio_mmio_init(&virtio, NULL, VIRTIO_SLOTS, VIRTIO_SLOT_STRIDE,
					       VIRTIO_SLOT_COUNT);
	if (strcmp(name, "ivshmem") == 0)
		return ktrace_ivshmem_init(&ivshmem, NULL, &pci);
	return NULL;
}
