# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Sources of the transports. TRANSPORT_SOURCES are for every architecture, TRANSPORT_SOURCES_<arch> come on top.
# A kernel that wants fewer names them itself: transport.c and dump.c are needed by all, the drivers by nobody else.

TRANSPORT_SOURCES := $(addprefix kernel/transport/,transport.c transport_dump.c uart16550.c \
	virtio_queue.c virtio_mmio.c pci.c pci_ecam.c ivshmem.c) \
	$(addprefix kernel/core/,dump.c dump_stream.c dump_v1.c walk.c)

TRANSPORT_SOURCES_x86_64 := $(addprefix kernel/transport/,debugcon.c pci_ports.c virtio_pci.c)
TRANSPORT_SOURCES_aarch64 := $(addprefix kernel/transport/,pl011.c semihosting.c aarch64/semihosting_trap.S)
TRANSPORT_SOURCES_riscv64 := $(addprefix kernel/transport/,semihosting.c riscv64/semihosting_trap.S)
