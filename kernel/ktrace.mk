# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The kernel library, for any make. Include this file and take, all relative to KTRACE_ROOT (the folder that holds
# include/ and kernel/):
#
#   KTRACE_SOURCES          what every kernel compiles: C, for all CPUs
#   KTRACE_CORE_SOURCES     of these, what recording takes
#   KTRACE_CONSOLE_SOURCES  of these, what include/ktrace/console.h takes on top
#   KTRACE_PROC_SOURCES     on top, for kernels with processes: what include/ktrace/proc.h takes
#   KTRACE_HWT_SOURCES      on top, for hardware trace: what include/ktrace/hwt.h takes, and QEMU's trace unit in software
#   KTRACE_HWT_SOURCES_<arch>   on top, drivers of trace units that such a CPU may have. Never run on hardware!
#   KTRACE_SOURCES_<arch>   on top, for x86_64, aarch64 or riscv64: C
#   KTRACE_ASM_<arch>       on top, for the same: assembler, .S; empty for x86_64
#   KTRACE_INCLUDES_<arch>  its -I flags; KTRACE_INCLUDES_generic for a CPU that is none of these
#   KTRACE_INCLUDES_COMPAT  on top, for code that includes <sys/ktr.h>
#
# No flag is needed beyond those of a freestanding kernel; doc/porting.md says which ones those are.
ifndef KTRACE_ROOT
KTRACE_ROOT := $(patsubst %/kernel/ktrace.mk,%,$(patsubst kernel/%,./kernel/%,$(lastword $(MAKEFILE_LIST))))
endif

# Transports. KTRACE_TRANSPORT_SOURCES: what every kernel that dumps compiles. KTRACE_TRANSPORT_SOURCES_<arch>
# and KTRACE_TRANSPORT_ASM_<arch>: the drivers, C and assembler. KTRACE_TRANSPORTS names the drivers wanted; an architecture
# takes those of them that it has.
KTRACE_TRANSPORTS ?= debugcon uart16550 pl011 semihosting virtio-mmio virtio-pci ivshmem

KTRACE_TRANSPORT_SOURCES := $(addprefix kernel/transport/,transport.c transport_dump.c) \
	$(addprefix kernel/core/,dump.c dump_v1.c)

KTRACE_TRANSPORT_DRIVERS_x86_64 := debugcon uart16550 virtio-mmio virtio-pci ivshmem
KTRACE_TRANSPORT_DRIVERS_aarch64 := uart16550 pl011 semihosting virtio-mmio ivshmem
KTRACE_TRANSPORT_DRIVERS_riscv64 := uart16550 semihosting virtio-mmio ivshmem

KTRACE_TRANSPORT_PCI_x86_64 := pci.c pci_ports.c
KTRACE_TRANSPORT_PCI_aarch64 := pci.c
KTRACE_TRANSPORT_PCI_riscv64 := pci.c

# $(call ktrace_transport_files,<driver>,<arch>): the files a driver needs, in kernel/transport.
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

KTRACE_CORE_SOURCES := kernel/base/bytes.c $(addprefix kernel/core/,argument.c attach.c backtrace.c clock.c control.c cpu.c events.c \
	facts.c fold.c held.c holder.c init.c keep.c mailbox.c masks.c record.c settings.c write.c)

# Rings read inside the kernel, for dumps and for the console.
KTRACE_READER_SOURCES := kernel/core/reader.c
KTRACE_CONSOLE_SOURCES := $(KTRACE_READER_SOURCES) $(addprefix kernel/console/,format.c line.c merge.c output.c show.c)
KTRACE_SOURCES := $(KTRACE_CORE_SOURCES) $(KTRACE_TRANSPORT_SOURCES) $(KTRACE_CONSOLE_SOURCES)

KTRACE_PROC_SOURCES := $(addprefix kernel/proc/,dragonfly.c drain.c proc_control.c proc_hooks.c proc_record.c sink.c)

KTRACE_HWT_SOURCES := $(addprefix kernel/hwt/,context.c hwt_control.c hwt_hooks.c hwt_record.c qemu.c unit.c)

# Drivers, each for any CPU: they reach registers through accessors alone.
KTRACE_HWT_PT_SOURCES := $(addprefix kernel/hwt_drivers/,pt.c pt_config.c)
KTRACE_HWT_CORESIGHT_SOURCES := $(addprefix kernel/hwt_drivers/,coresight.c coresight_etm.c \
	coresight_graph.c coresight_memory.c coresight_path.c)
KTRACE_HWT_SPE_SOURCES := $(addprefix kernel/hwt_drivers/,spe.c spe_config.c)

# With the accessors of a CPU. RISC-V has no unit that ktrace knows.
KTRACE_HWT_SOURCES_x86_64 := kernel/hwt_drivers/x86_64/msr.c $(KTRACE_HWT_PT_SOURCES)
KTRACE_HWT_SOURCES_aarch64 := kernel/hwt_drivers/aarch64/registers.c $(KTRACE_HWT_SPE_SOURCES) \
	$(KTRACE_HWT_CORESIGHT_SOURCES)
KTRACE_HWT_SOURCES_riscv64 :=

KTRACE_SOURCES_x86_64 := $(KTRACE_TRANSPORT_SOURCES_x86_64)
KTRACE_SOURCES_aarch64 := $(KTRACE_TRANSPORT_SOURCES_aarch64)
KTRACE_SOURCES_riscv64 := $(KTRACE_TRANSPORT_SOURCES_riscv64)

KTRACE_ASM_x86_64 := $(KTRACE_TRANSPORT_ASM_x86_64)
KTRACE_ASM_aarch64 := $(KTRACE_TRANSPORT_ASM_aarch64)
KTRACE_ASM_riscv64 := $(KTRACE_TRANSPORT_ASM_riscv64)

KTRACE_INCLUDES_x86_64 := -I$(KTRACE_ROOT)/include -I$(KTRACE_ROOT)/kernel/arch/x86_64
KTRACE_INCLUDES_aarch64 := -I$(KTRACE_ROOT)/include -I$(KTRACE_ROOT)/kernel/arch/aarch64
KTRACE_INCLUDES_riscv64 := -I$(KTRACE_ROOT)/include -I$(KTRACE_ROOT)/kernel/arch/riscv64
KTRACE_INCLUDES_generic := -I$(KTRACE_ROOT)/include -I$(KTRACE_ROOT)/kernel/arch/generic
KTRACE_INCLUDES_COMPAT := -I$(KTRACE_ROOT)/include/compat
