/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The devices of QEMU's virt machines to which a trace can be dumped. platform.h contains their addresses. */
#include <ktrace/transport.h>

#include "arch.h"
#include "console.h"
#include "platform.h"
#include "string.h"

static struct ktrace_semihosting semihosting;
static struct ktrace_virtio_console virtio;
static struct ktrace_ivshmem ivshmem;
static struct ktrace_pci pci;

struct ktrace_transport *arch_transport(const char *name, const char *path)
{
	ktrace_pci_ecam(&pci, PLATFORM_PCI_CONFIGURATION, PLATFORM_PCI_MEMORY, PLATFORM_PCI_MEMORY_SIZE);
	if (strcmp(name, "semihosting") == 0)
		return ktrace_semihosting_init(&semihosting, path);
	if (strcmp(name, "uart") == 0)
		return console_transport();
	if (strcmp(name, "virtio") == 0)
		return ktrace_virtio_mmio_init(&virtio, NULL, PLATFORM_VIRTIO, PLATFORM_VIRTIO_STRIDE,
					       PLATFORM_VIRTIO_COUNT);
	if (strcmp(name, "ivshmem") == 0)
		return ktrace_ivshmem_init(&ivshmem, NULL, &pci);
	return NULL;
}
