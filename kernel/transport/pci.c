/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * PCI through the two access functions of a bridge: the code for all kinds of access, and the access
 * functions for configuration space in memory.
 */
#include "drivers.h"

#include "ktrace_io.h"

#define KTRACE_FUNCTION_STEP	    (1u << 12)
#define KTRACE_FUNCTIONS_END	    (1u << 20) /* end of the addresses of one bus */
#define KTRACE_FUNCTION_OF(address) ((address) >> 12 & 7u)
#define KTRACE_HEADER_MULTIFUNCTION (1u << 23)
#define KTRACE_ID_NONE		    0xffffffffu

#define KTRACE_BAR_IO	    1u
#define KTRACE_BAR_IO_MASK  0xfffcu
#define KTRACE_BAR_TYPE	    6u
#define KTRACE_BAR_TYPE_64  4u
#define KTRACE_BAR_MEM_MASK (~(uint64_t)0xf)

void ktrace_pci_next(uint32_t *address)
{
	*address += KTRACE_FUNCTION_STEP;
}

/* Functions 1 to 7 exist only if function 0 has the multifunction bit. */
static bool function_exists(const struct ktrace_pci *pci, uint32_t address)
{
	uint32_t first = address & ~(7u << 12);

	if (pci->read(pci, first + KTRACE_PCI_ID) == KTRACE_ID_NONE)
		return false;
	return KTRACE_FUNCTION_OF(address) == 0 ||
	       (pci->read(pci, first + KTRACE_PCI_HEADER) & KTRACE_HEADER_MULTIFUNCTION) != 0;
}

bool ktrace_pci_find(const struct ktrace_pci *pci, uint32_t id, uint32_t *address)
{
	for (; *address < KTRACE_FUNCTIONS_END; ktrace_pci_next(address))
		if (function_exists(pci, *address) && pci->read(pci, *address + KTRACE_PCI_ID) == id)
			return true;
	return false;
}

void ktrace_pci_enable(const struct ktrace_pci *pci, uint32_t address, uint32_t command_bits)
{
	/*
	 * The upper half is the status register, where writing 1 to a bit clears it. So zeros are written
	 * there, which change nothing.
	 */
	uint32_t command = pci->read(pci, address + KTRACE_PCI_COMMAND) & 0xffffu;

	pci->write(pci, address + KTRACE_PCI_COMMAND, command | command_bits);
}

uint16_t ktrace_pci_ports_bar(const struct ktrace_pci *pci, uint32_t address, uint32_t bar)
{
	uint32_t value = pci->read(pci, address + KTRACE_PCI_BAR + 4 * bar);

	return value & KTRACE_BAR_IO ? (uint16_t)(value & KTRACE_BAR_IO_MASK) : 0;
}

static uint64_t bar_read(const struct ktrace_pci *pci, uint32_t reg)
{
	uint64_t low = pci->read(pci, reg);

	if ((low & KTRACE_BAR_TYPE) == KTRACE_BAR_TYPE_64)
		low |= (uint64_t)pci->read(pci, reg + 4) << 32;
	return low;
}

static void bar_write(const struct ktrace_pci *pci, uint32_t reg, uint64_t value, bool wide)
{
	pci->write(pci, reg, (uint32_t)value);
	if (wide)
		pci->write(pci, reg + 4, (uint32_t)(value >> 32));
}

/*
 * Requires: the device does not decode memory addresses. Otherwise an emulated machine would map the device
 * at the address that is written here as a probe.
 */
static uint64_t bar_size(const struct ktrace_pci *pci, uint32_t reg, uint64_t value, bool wide)
{
	uint64_t mask;

	bar_write(pci, reg, ~(uint64_t)0, wide);
	mask = bar_read(pci, reg) & KTRACE_BAR_MEM_MASK;
	bar_write(pci, reg, value, wide);
	if (!wide && mask != 0)
		mask |= ~(uint64_t)0xffffffff;
	return ~mask + 1;
}

/* Returns the lowest free address in the window for a naturally aligned BAR; 0 if the BAR does not fit. */
static uint64_t window_place(const struct ktrace_pci *pci, uint64_t size, bool wide)
{
	uint64_t place = (pci->window + size - 1) & ~(size - 1);

	if (pci->window == 0 || size > pci->window_size || place - pci->window > pci->window_size - size)
		return 0;
	return wide || place + size <= (uint64_t)1 << 32 ? place : 0;
}

int ktrace_pci_memory_bar(const struct ktrace_pci *pci, uint32_t address, uint32_t bar, uint64_t *physical,
			  uint64_t *size)
{
	uint32_t reg = address + KTRACE_PCI_BAR + 4 * bar;
	uint32_t command = pci->read(pci, address + KTRACE_PCI_COMMAND) & 0xffffu;
	uint64_t value = bar_read(pci, reg);
	bool wide = (value & KTRACE_BAR_TYPE) == KTRACE_BAR_TYPE_64;

	if (value & KTRACE_BAR_IO)
		return KTRACE_OUTPUT_FAILED;
	pci->write(pci, address + KTRACE_PCI_COMMAND,
		   command & ~(KTRACE_PCI_COMMAND_IO | KTRACE_PCI_COMMAND_MEMORY));
	*size = bar_size(pci, reg, value, wide);
	*physical = value & KTRACE_BAR_MEM_MASK;
	if (*size == 0 || (*size & (*size - 1)) != 0) {
		pci->write(pci, address + KTRACE_PCI_COMMAND, command);
		return KTRACE_OUTPUT_FAILED;
	}
	if (*physical == 0) {
		*physical = window_place(pci, *size, wide);
		if (*physical == 0) {
			pci->write(pci, address + KTRACE_PCI_COMMAND, command);
			return KTRACE_OUTPUT_FULL;
		}
		bar_write(pci, reg, *physical, wide);
	}
	pci->write(pci, address + KTRACE_PCI_COMMAND, command | KTRACE_PCI_COMMAND_MEMORY);
	return 0;
}

/* ---- Access through memory -------------------------------------------------------------------- */

/*
 * Access to PCI configuration space that is mapped into memory, as on AArch64 and RISC-V boards and on newer
 * PCs.
 */

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
