/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the drivers need of PCI: find a device on bus 0, learn where its registers or its memory lie. */
#ifndef KTRACE_TRANSPORT_PCI_H
#define KTRACE_TRANSPORT_PCI_H

#include "ktrace/transport.h"

/* Configuration registers, by their offsets. */
#define KTRACE_PCI_ID	   0x00u
#define KTRACE_PCI_COMMAND 0x04u
#define KTRACE_PCI_HEADER  0x0cu /* type in bits 23:16 */
#define KTRACE_PCI_BAR	   0x10u

#define KTRACE_PCI_COMMAND_IO	  1u
#define KTRACE_PCI_COMMAND_MEMORY 2u
#define KTRACE_PCI_COMMAND_MASTER 4u

/* Device n of bus 0, function f; registers are added to it. */
#define KTRACE_PCI_ADDRESS(device, function) ((uint32_t)(device) << 15 | (uint32_t)(function) << 12)

/*
 * The first function with that vendor (low half) and device id at or behind *address: true, and where.
 * *address starts at 0; to go on behind a find, call ktrace_pci_next() first.
 */
bool ktrace_pci_find(const struct ktrace_pci *pci, uint32_t id, uint32_t *address);
void ktrace_pci_next(uint32_t *address);

void ktrace_pci_enable(const struct ktrace_pci *pci, uint32_t address, uint32_t command_bits);

/* First I/O port of a BAR; 0 if it is none or was not assigned. */
uint16_t ktrace_pci_ports_bar(const struct ktrace_pci *pci, uint32_t address, uint32_t bar);

/*
 * Physical range of a memory BAR, assigned here from the bridge's window if nobody did before, and enabled.
 * 0 or an error.
 */
int ktrace_pci_memory_bar(const struct ktrace_pci *pci, uint32_t address, uint32_t bar, uint64_t *physical,
			  uint64_t *size);

#endif
