/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* PCI configuration space in memory, as on AArch64 and RISC-V boards and newer PCs. */
#include "drivers.h"

#include "ktrace_io.h"

static uint32_t ecam_read(const struct ktrace_pci *pci, uint32_t address)
{
	const struct ktrace_io io = { pci->ecam, false };

	return ktrace_io_read32(io, address);
}

static void ecam_write(const struct ktrace_pci *pci, uint32_t address, uint32_t value)
{
	const struct ktrace_io io = { pci->ecam, false };

	ktrace_io_write32(io, address, value);
}

void ktrace_pci_ecam(struct ktrace_pci *pci, uintptr_t ecam, uint64_t window, uint64_t window_size)
{
	pci->read = ecam_read;
	pci->write = ecam_write;
	pci->ecam = ecam;
	pci->window = window;
	pci->window_size = window_size;
}
