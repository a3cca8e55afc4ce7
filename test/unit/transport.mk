# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Unit tests of the transports and of dumps. Drivers run on a fake machine, whose ktrace_io.h comes first.

TRANSPORT_FAKE := test/unit/transport_fake/machine.c
TRANSPORT_CFLAGS := -I. -Itest/unit -Itest/unit/transport_fake -Ikernel/arch/$(shell uname -m)

# $(call transport_test,<name>,<sources of the kernel>)
define transport_test
UNIT_TESTS += $(1)
UNIT_SRCS_$(1) := test/unit/$(1).c $(TRANSPORT_FAKE) $(2)
UNIT_CFLAGS_$(1) := $(TRANSPORT_CFLAGS)
endef

$(eval $(call transport_test,transport_output,kernel/transport/transport.c))
$(eval $(call transport_test,transport_debugcon,kernel/transport/transport.c kernel/transport/debugcon.c))
$(eval $(call transport_test,transport_uart16550,kernel/transport/transport.c kernel/transport/uart16550.c))
$(eval $(call transport_test,transport_pl011,kernel/transport/transport.c kernel/transport/pl011.c))
$(eval $(call transport_test,transport_semihosting,kernel/transport/transport.c kernel/transport/semihosting.c))
$(eval $(call transport_test,transport_pci,kernel/transport/transport.c kernel/transport/pci.c \
	kernel/transport/pci_ecam.c kernel/transport/pci_ports.c kernel/transport/ivshmem.c))
$(eval $(call transport_test,transport_virtio,kernel/transport/transport.c kernel/transport/pci.c \
	kernel/transport/virtio_queue.c kernel/transport/virtio_mmio.c kernel/transport/virtio_pci.c))

# Dumps are made of a trace that the core itself recorded.
DUMP_TEST_SRCS := test/unit/dump_support.c $(KTRACE_CORE_SOURCES) \
	$(KTRACE_READER_SOURCES) $(addprefix kernel/core/,dump.c dump_stream.c dump_v1.c)
# $(call dump_test,<name>,<sources>)
define dump_test
UNIT_TESTS += $(1)
UNIT_SRCS_$(1) := test/unit/$(1).c $(2)
UNIT_CFLAGS_$(1) := $(TRANSPORT_CFLAGS)
endef

$(eval $(call dump_test,dump_v1,$(DUMP_TEST_SRCS)))
$(eval $(call dump_test,dump_v2,$(DUMP_TEST_SRCS)))
$(eval $(call dump_test,dump_transport,$(DUMP_TEST_SRCS) $(TRANSPORT_FAKE) \
	$(addprefix kernel/transport/,transport.c transport_dump.c)))
$(eval $(call dump_test,dump_walk,$(addprefix kernel/core/,walk.c rings.c)))

# The drivers build wherever the core does.
SCRIPT_TESTS += test/unit/transport_build.sh

transport-sources-%:
	@echo $(KTRACE_SOURCES) $(KTRACE_SOURCES_$*) $(KTRACE_ASM_$*)

# The Rust crate.
SCRIPT_TESTS += bindings/rust/check.sh
