/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * PCI configuration space through the PC's two ports. The address port is restored after each access, because
 * this code may have interrupted the kernel between its own accesses to the two ports.
 */
#include "drivers.h"

#include "ktrace_io.h"

#define KTRACE_PORT_ADDRESS 0xcf8
#define KTRACE_PORT_DATA    0xcfc
#define KTRACE_ENABLE	    0x80000000u

/*
 * Converts an address, which has 12 bits for the register offset, to the format of the port, which has 8
 * bits.
 */
static uint32_t port_address(uint32_t address)
{
	return KTRACE_ENABLE | (address >> 12 & 0xffu) << 8 | (address & 0xfcu);
}

static uint32_t ports_read(const struct ktrace_pci *pci, uint32_t address)
{
	uint32_t saved = ktrace_port_read32(KTRACE_PORT_ADDRESS);
	uint32_t value;

	(void)pci;
	ktrace_port_write32(KTRACE_PORT_ADDRESS, port_address(address));
	value = ktrace_port_read32(KTRACE_PORT_DATA);
	ktrace_port_write32(KTRACE_PORT_ADDRESS, saved);
	return value;
}

static void ports_write(const struct ktrace_pci *pci, uint32_t address, uint32_t value)
{
	uint32_t saved = ktrace_port_read32(KTRACE_PORT_ADDRESS);

	(void)pci;
	ktrace_port_write32(KTRACE_PORT_ADDRESS, port_address(address));
	ktrace_port_write32(KTRACE_PORT_DATA, value);
	ktrace_port_write32(KTRACE_PORT_ADDRESS, saved);
}

void ktrace_pci_ports(struct ktrace_pci *pci)
{
	pci->read = ports_read;
	pci->write = ports_write;
	pci->ecam = 0;
	pci->window = 0;
	pci->window_size = 0;
}
