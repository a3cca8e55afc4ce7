/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The devices of QEMU's virt machine through which a trace can leave it. */
#include <ktrace/transport.h>

#include "arch.h"
#include "platform.h"
#include "string.h"

#define VIRTIO_SLOTS	   0x10001000
#define VIRTIO_SLOT_STRIDE 0x1000
#define VIRTIO_SLOT_COUNT  8
#define PCI_CONFIGURATION  0x30000000
#define PCI_MEMORY	   0x40000000
#define PCI_MEMORY_SIZE	   0x40000000

static struct ktrace_semihosting semihosting;
static struct ktrace_uart16550 uart;
static struct ktrace_virtio_console virtio;
static struct ktrace_ivshmem ivshmem;
static struct ktrace_pci pci;

struct ktrace_transport *arch_transport(const char *name, const char *path)
{
	ktrace_pci_ecam(&pci, PCI_CONFIGURATION, PCI_MEMORY, PCI_MEMORY_SIZE);
	if (strcmp(name, "semihosting") == 0)
		return ktrace_semihosting_init(&semihosting, path);
	if (strcmp(name, "uart") == 0)
		return ktrace_uart16550_init(&uart, (struct ktrace_io){ .base = PLATFORM_UART }, 0);
	if (strcmp(name, "virtio") == 0)
		return ktrace_virtio_mmio_init(&virtio, NULL, VIRTIO_SLOTS, VIRTIO_SLOT_STRIDE,
					       VIRTIO_SLOT_COUNT);
	if (strcmp(name, "ivshmem") == 0)
		return ktrace_ivshmem_init(&ivshmem, NULL, &pci);
	return NULL;
}
