# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Sources of the transports. KTRACE_TRANSPORT_SOURCES: what every kernel that dumps compiles. KTRACE_TRANSPORT_SOURCES_<arch>
# and KTRACE_TRANSPORT_ASM_<arch>: the drivers, C and assembler. KTRACE_TRANSPORTS names the drivers wanted; an architecture
# takes those of them that it has.
KTRACE_TRANSPORTS ?= debugcon uart16550 pl011 semihosting virtio-mmio virtio-pci ivshmem

KTRACE_TRANSPORT_SOURCES := $(addprefix kernel/transport/,transport.c transport_dump.c) \
	$(addprefix kernel/core/,dump.c dump_v1.c)

KTRACE_TRANSPORT_DRIVERS_x86_64 := debugcon uart16550 virtio-mmio virtio-pci ivshmem
KTRACE_TRANSPORT_DRIVERS_aarch64 := uart16550 pl011 semihosting virtio-mmio ivshmem
KTRACE_TRANSPORT_DRIVERS_riscv64 := uart16550 semihosting virtio-mmio ivshmem

KTRACE_TRANSPORT_PCI_x86_64 := pci.c pci_ecam.c pci_ports.c
KTRACE_TRANSPORT_PCI_aarch64 := pci.c pci_ecam.c
KTRACE_TRANSPORT_PCI_riscv64 := pci.c pci_ecam.c

# $(call ktrace_transport_files,<driver>,<arch>): the files a driver needs, in this folder.
ktrace_transport_files = $(KTRACE_TRANSPORT_FILES_$(1)) $(if $(filter semihosting,$(1)),$(2)/semihosting_$(2).S) \
	$(if $(filter virtio-pci ivshmem,$(1)),$(KTRACE_TRANSPORT_PCI_$(2)))
KTRACE_TRANSPORT_FILES_debugcon := debugcon.c
KTRACE_TRANSPORT_FILES_uart16550 := uart16550.c
KTRACE_TRANSPORT_FILES_pl011 := pl011.c
KTRACE_TRANSPORT_FILES_semihosting := semihosting.c
KTRACE_TRANSPORT_FILES_virtio-mmio := virtio_queue.c virtio_mmio.c
KTRACE_TRANSPORT_FILES_virtio-pci := virtio_queue.c virtio_pci.c
KTRACE_TRANSPORT_FILES_ivshmem := ivshmem.c

# $(call ktrace_transport_drivers,<arch>,<suffix>): the files of its drivers that end so, each once.
ktrace_transport_drivers = $(addprefix kernel/transport/,$(sort $(filter %$(2),$(foreach driver,\
	$(filter $(KTRACE_TRANSPORTS),$(KTRACE_TRANSPORT_DRIVERS_$(1))),$(call ktrace_transport_files,$(driver),$(1))))))
KTRACE_TRANSPORT_SOURCES_x86_64 := $(call ktrace_transport_drivers,x86_64,.c)
KTRACE_TRANSPORT_SOURCES_aarch64 := $(call ktrace_transport_drivers,aarch64,.c)
KTRACE_TRANSPORT_SOURCES_riscv64 := $(call ktrace_transport_drivers,riscv64,.c)
KTRACE_TRANSPORT_ASM_x86_64 := $(call ktrace_transport_drivers,x86_64,.S)
KTRACE_TRANSPORT_ASM_aarch64 := $(call ktrace_transport_drivers,aarch64,.S)
KTRACE_TRANSPORT_ASM_riscv64 := $(call ktrace_transport_drivers,riscv64,.S)
