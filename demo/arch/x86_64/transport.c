/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The devices of a PC to which a trace can be dumped. */
#include <ktrace/transport.h>

#include "arch.h"
#include "string.h"

#define COM2 0x2f8

static struct ktrace_debugcon debugcon;
static struct ktrace_uart16550 uart;
static struct ktrace_virtio_console virtio;
static struct ktrace_ivshmem ivshmem;
static struct ktrace_pci pci;

struct ktrace_transport *arch_transport(const char *name, const char *path)
{
	(void)path;
	ktrace_pci_ports(&pci);
	if (strcmp(name, "debugcon") == 0)
		return ktrace_debugcon_init(&debugcon, KTRACE_DEBUGCON_PORT);
	if (strcmp(name, "uart") == 0)
		return ktrace_uart16550_init(&uart, (struct ktrace_io){ .base = COM2, .ports = true }, 0);
	if (strcmp(name, "virtio") == 0)
		return ktrace_virtio_pci_init(&virtio, NULL, &pci);
	if (strcmp(name, "ivshmem") == 0)
		return ktrace_ivshmem_init(&ivshmem, NULL, &pci);
	return NULL;
}
