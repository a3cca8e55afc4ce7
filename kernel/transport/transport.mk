# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Sources of the transports: TRANSPORT_SOURCES for every kernel that dumps at all, TRANSPORT_SOURCES_<arch> the drivers.
# KTRACE_TRANSPORTS names the drivers wanted; an architecture takes those of them that it has.
KTRACE_TRANSPORTS ?= debugcon uart16550 pl011 semihosting virtio-mmio virtio-pci ivshmem

TRANSPORT_SOURCES := $(addprefix kernel/transport/,transport.c transport_dump.c) \
	$(addprefix kernel/core/,dump.c dump_stream.c dump_v1.c)

TRANSPORT_DRIVERS_x86_64 := debugcon uart16550 virtio-mmio virtio-pci ivshmem
TRANSPORT_DRIVERS_aarch64 := uart16550 pl011 semihosting virtio-mmio ivshmem
TRANSPORT_DRIVERS_riscv64 := uart16550 semihosting virtio-mmio ivshmem

TRANSPORT_PCI_x86_64 := pci.c pci_ecam.c pci_ports.c
TRANSPORT_PCI_aarch64 := pci.c pci_ecam.c
TRANSPORT_PCI_riscv64 := pci.c pci_ecam.c

# $(call transport_files,<driver>,<arch>): the files a driver needs, in this folder.
transport_files = $(TRANSPORT_FILES_$(1)) $(if $(filter semihosting,$(1)),$(2)/semihosting_trap.S) \
	$(if $(filter virtio-pci ivshmem,$(1)),$(TRANSPORT_PCI_$(2)))
TRANSPORT_FILES_debugcon := debugcon.c
TRANSPORT_FILES_uart16550 := uart16550.c
TRANSPORT_FILES_pl011 := pl011.c
TRANSPORT_FILES_semihosting := semihosting.c
TRANSPORT_FILES_virtio-mmio := virtio_queue.c virtio_mmio.c
TRANSPORT_FILES_virtio-pci := virtio_queue.c virtio_pci.c
TRANSPORT_FILES_ivshmem := ivshmem.c

# $(call transport_sources,<arch>), each file once.
transport_sources = $(addprefix kernel/transport/,$(sort $(foreach driver,\
	$(filter $(KTRACE_TRANSPORTS),$(TRANSPORT_DRIVERS_$(1))),$(call transport_files,$(driver),$(1)))))
TRANSPORT_SOURCES_x86_64 := $(call transport_sources,x86_64)
TRANSPORT_SOURCES_aarch64 := $(call transport_sources,aarch64)
TRANSPORT_SOURCES_riscv64 := $(call transport_sources,riscv64)
