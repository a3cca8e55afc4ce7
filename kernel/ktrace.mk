# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The kernel library, for any make. Include this file and use these lists. All paths are relative to
# KTRACE_ROOT, the directory that contains include/ and kernel/.
#
#   KTRACE_SOURCES          C sources for every kernel and all CPUs
#   KTRACE_CORE_SOURCES     the part of KTRACE_SOURCES that recording needs
#   KTRACE_CONSOLE_SOURCES  the part that include/ktrace/console.h needs in addition
#   KTRACE_PROC_SOURCES     additional sources for include/ktrace/proc.h (processes)
#   KTRACE_HWT_SOURCES      additional sources for include/ktrace/hwt.h (hardware trace), with QEMU's trace unit
#   KTRACE_HWT_SOURCES_<arch>   additional drivers of trace units that such a CPU may have. Never run on hardware!
#   KTRACE_SOURCES_<arch>   additional C sources for x86_64, aarch64 or riscv64
#   KTRACE_ASM_<arch>       additional assembler sources (.S) for these; empty for x86_64
#   KTRACE_INCLUDES_<arch>  its -I flags; KTRACE_INCLUDES_generic for a CPU that is none of these
#   KTRACE_INCLUDES_COMPAT  additional -I flags for code that includes <sys/ktr.h>
#
# Only the flags of a freestanding kernel are needed; doc/porting.md lists them.
ifndef KTRACE_ROOT
KTRACE_ROOT := $(patsubst %/kernel/ktrace.mk,%,$(patsubst kernel/%,./kernel/%,$(lastword $(MAKEFILE_LIST))))
endif

# Transports. KTRACE_TRANSPORT_SOURCES: sources for every kernel that dumps. KTRACE_TRANSPORT_SOURCES_<arch>
# and KTRACE_TRANSPORT_ASM_<arch>: the drivers, in C and assembler. KTRACE_TRANSPORTS lists the drivers to
# compile; an architecture compiles only the drivers that exist for it.
KTRACE_TRANSPORTS ?= debugcon uart16550 pl011 semihosting virtio-mmio virtio-pci ivshmem

KTRACE_TRANSPORT_SOURCES := $(addprefix kernel/transport/,transport.c transport_dump.c) \
	$(addprefix kernel/core/,dump.c dump_v1.c)

KTRACE_TRANSPORT_DRIVERS_x86_64 := debugcon uart16550 virtio-mmio virtio-pci ivshmem
KTRACE_TRANSPORT_DRIVERS_aarch64 := uart16550 pl011 semihosting virtio-mmio ivshmem
KTRACE_TRANSPORT_DRIVERS_riscv64 := uart16550 semihosting virtio-mmio ivshmem

KTRACE_TRANSPORT_PCI_x86_64 := pci.c pci_ports.c
KTRACE_TRANSPORT_PCI_aarch64 := pci.c
KTRACE_TRANSPORT_PCI_riscv64 := pci.c

# $(call ktrace_transport_files,<driver>,<arch>): the files in kernel/transport that a driver needs.
ktrace_transport_files = $(KTRACE_TRANSPORT_FILES_$(1)) $(if $(filter semihosting,$(1)),$(2)/semihosting_$(2).S) \
	$(if $(filter virtio-pci ivshmem,$(1)),$(KTRACE_TRANSPORT_PCI_$(2)))
KTRACE_TRANSPORT_FILES_debugcon := debugcon.c
KTRACE_TRANSPORT_FILES_uart16550 := uart16550.c
KTRACE_TRANSPORT_FILES_pl011 := pl011.c
KTRACE_TRANSPORT_FILES_semihosting := semihosting.c
KTRACE_TRANSPORT_FILES_virtio-mmio := virtio_queue.c virtio_mmio.c
KTRACE_TRANSPORT_FILES_virtio-pci := virtio_queue.c virtio_pci.c
KTRACE_TRANSPORT_FILES_ivshmem := ivshmem.c

# $(call ktrace_transport_drivers,<arch>,<suffix>): the files of the architecture's drivers with this suffix,
# each once.
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

# The reader of rings inside the kernel, for dumps and for the console.
KTRACE_READER_SOURCES := kernel/core/reader.c
KTRACE_CONSOLE_SOURCES := $(KTRACE_READER_SOURCES) $(addprefix kernel/console/,format.c line.c merge.c output.c show.c)
KTRACE_SOURCES := $(KTRACE_CORE_SOURCES) $(KTRACE_TRANSPORT_SOURCES) $(KTRACE_CONSOLE_SOURCES)

KTRACE_PROC_SOURCES := $(addprefix kernel/proc/,dragonfly.c drain.c proc_control.c proc_hooks.c proc_record.c sink.c)

KTRACE_HWT_SOURCES := $(addprefix kernel/hwt/,context.c hwt_control.c hwt_hooks.c hwt_record.c qemu.c unit.c)

# Drivers, which can be compiled for any CPU: they access registers only through accessor functions.
KTRACE_HWT_PT_SOURCES := $(addprefix kernel/hwt_drivers/,pt.c pt_config.c)
KTRACE_HWT_CORESIGHT_SOURCES := $(addprefix kernel/hwt_drivers/,coresight.c coresight_etm.c \
	coresight_graph.c coresight_memory.c coresight_path.c)
KTRACE_HWT_SPE_SOURCES := $(addprefix kernel/hwt_drivers/,spe.c spe_config.c)

# Drivers with the accessors for a CPU. ktrace has no driver for a trace unit of RISC-V.
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
