# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Unit tests of the kernel library and of the demo kernel.

# Tests of show ktr and of the console output inside the kernel, on the fake machine of the core's tests.
CONSOLE_TEST_CFLAGS := -I. -Itest/fake -Ikernel/arch/generic

UNIT_TESTS += console_format
UNIT_CFLAGS_console_format := $(CONSOLE_TEST_CFLAGS)
UNIT_SRCS_console_format := test/unit/kernel/console_format.c kernel/core/reader.c kernel/console/format.c kernel/console/line.c \
	kernel/base/bytes.c

CONSOLE_TEST_SRCS := test/fake/machine.c test/fake/checker.c $(KTRACE_CORE_SOURCES) $(KTRACE_CONSOLE_SOURCES)

UNIT_TESTS += console_show
UNIT_CFLAGS_console_show := $(CONSOLE_TEST_CFLAGS)
UNIT_SRCS_console_show := test/unit/kernel/console_show.c $(CONSOLE_TEST_SRCS)

UNIT_TESTS += console_refusal
UNIT_CFLAGS_console_refusal := $(CONSOLE_TEST_CFLAGS)
UNIT_SRCS_console_refusal := test/unit/kernel/console_refusal.c $(CONSOLE_TEST_SRCS)

UNIT_TESTS += console_output
UNIT_CFLAGS_console_output := $(CONSOLE_TEST_CFLAGS)
UNIT_SRCS_console_output := test/unit/kernel/console_output.c $(CONSOLE_TEST_SRCS)

# These tests need an x86_64 host: one instruction, with an address relative to fs, must change the reserve
# word.
UNIT_TESTS_X86_64 += console_stress
UNIT_SRCS_console_stress := test/unit/kernel/console_stress.c $(KTRACE_CORE_SOURCES) $(KTRACE_CONSOLE_SOURCES)
UNIT_CFLAGS_console_stress := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread

# Tests of the parts of the demo kernel that can run on the host. Some headers of the demo kernel have names
# of C library headers, hence -iquote.
DEMO_TEST_CFLAGS := -DKTRACE_STATE=0 -Ikernel/arch/generic -iquote test/fake/demo -iquote demo/kern -iquote demo/abi
DEMO_TEST_SRCS := test/fake/demo/memory.c test/fake/demo/process.c demo/kern/vm.c demo/kern/vm_fault.c demo/kern/share.c

UNIT_TESTS += demo_vm demo_elf
UNIT_SRCS_demo_vm := test/unit/demo/vm.c $(DEMO_TEST_SRCS)
UNIT_CFLAGS_demo_vm := $(DEMO_TEST_CFLAGS)
UNIT_SRCS_demo_elf := test/unit/demo/elf.c demo/kern/elf.c $(DEMO_TEST_SRCS)
UNIT_CFLAGS_demo_elf := $(DEMO_TEST_CFLAGS)

# Tests of hardware trace in the kernel, on a fake kernel. The tests of each trace unit follow.
HWT_KERNEL_TEST_SRCS = test/unit/support/hwt_support.c test/fake/hwt_mock.c test/unit/support/proc_walk.c $(KTRACE_HWT_SOURCES) $(KERNEL_TEST_SRCS)
HWT_KERNEL_TEST_CFLAGS = $(KERNEL_TEST_CFLAGS)

.PHONY: $(foreach arch,x86_64 aarch64 riscv64,ktrace-hwt-sources-$(arch))
$(foreach arch,x86_64 aarch64 riscv64,ktrace-hwt-sources-$(arch)): ktrace-hwt-sources-%:
	@echo $(KTRACE_HWT_SOURCES) $(KTRACE_HWT_SOURCES_$*)

# $(call hwt_test,<name>): adds the test hwt_<name>, which uses the simulated kernel.
define hwt_test
UNIT_TESTS += hwt_$(1)
UNIT_SRCS_hwt_$(1) = test/unit/kernel/hwt_$(1).c $$(HWT_KERNEL_TEST_SRCS)
UNIT_CFLAGS_hwt_$(1) = $$(HWT_KERNEL_TEST_CFLAGS)
endef
$(foreach name,context pause permission records switch,$(eval $(call hwt_test,$(name))))

# A kernel without hooks of hardware trace.
$(eval $(call hwt_test,left_out))
UNIT_CFLAGS_hwt_left_out += -DKTRACE_HWT_HOOKS=0

# The conformance tests of backends. The test of a backend consists of its own file, the backend, its
# model, and $(HWT_CONFORM_SRCS); it is compiled with $(HWT_KERNEL_TEST_CFLAGS).
HWT_CONFORM_SRCS = test/unit/support/hwt_conform.c $(HWT_KERNEL_TEST_SRCS)
$(eval $(call hwt_test,mock))
UNIT_SRCS_hwt_mock += test/unit/support/hwt_conform.c

# In this test, threads act as CPUs. It needs an x86_64 host.
UNIT_TESTS_X86_64 += hwt_stress
UNIT_SRCS_hwt_stress = test/unit/kernel/hwt_stress.c test/fake/hwt_threads.c test/unit/support/proc_walk.c $(KTRACE_HWT_SOURCES) $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_hwt_stress = -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread

# Tests of the CoreSight backend on a model of its components.
CORESIGHT_TEST_SRCS = test/unit/support/hwt_coresight_support.c $(addprefix test/fake/,hwt_coresight.c hwt_coresight_etm.c \
	hwt_coresight_names.c hwt_coresight_tmc.c hwt_log.c) $(KTRACE_HWT_CORESIGHT_SOURCES)

# $(call coresight_test,<name>,<further sources>): adds the test hwt_<name>.
define coresight_test
UNIT_TESTS += hwt_$(1)
UNIT_SRCS_hwt_$(1) = test/unit/kernel/hwt_$(1).c $$(CORESIGHT_TEST_SRCS) $(2)
UNIT_CFLAGS_hwt_$(1) = $$(KERNEL_TEST_CFLAGS)
endef
$(eval $(call coresight_test,coresight,$$(KERNEL_TEST_SRCS)))
$(eval $(call coresight_test,coresight_graph,$$(KERNEL_TEST_SRCS)))
$(eval $(call coresight_test,coresight_config,$$(KERNEL_TEST_SRCS)))
$(eval $(call coresight_test,coresight_conform,$$(HWT_CONFORM_SRCS)))
$(eval $(call coresight_test,coresight_model,$$(KERNEL_TEST_SRCS)))

# Tests of Intel PT and SPE on models of their registers: the values that the backends write, the places of
# trace bytes, and forbidden accesses that the models detect. Also the conformance tests of backends.

# $(call hwt_registers_test,<name>,<pt or spe>,<sources of the backend>): adds the test <name>.
define hwt_registers_test
UNIT_TESTS += $(1)
UNIT_SRCS_$(1) = test/unit/kernel/$(1).c test/unit/support/hwt_$(2)_support.c test/fake/hwt_$(2).c test/fake/hwt_log.c $(3)
UNIT_CFLAGS_$(1) = $$(KERNEL_TEST_CFLAGS)
endef
$(eval $(call hwt_registers_test,hwt_pt,pt,$(KTRACE_HWT_PT_SOURCES)))
$(eval $(call hwt_registers_test,hwt_pt_buffer,pt,$(KTRACE_HWT_PT_SOURCES)))
$(eval $(call hwt_registers_test,hwt_pt_model,pt,$(KTRACE_HWT_PT_SOURCES)))
$(eval $(call hwt_registers_test,hwt_spe_registers,spe,$(KTRACE_HWT_SPE_SOURCES)))
$(eval $(call hwt_registers_test,hwt_spe_buffer,spe,$(KTRACE_HWT_SPE_SOURCES)))
$(eval $(call hwt_registers_test,hwt_spe_model,spe,$(KTRACE_HWT_SPE_SOURCES)))

# $(call hwt_registers_conform,<pt or spe>,<sources of the backend>): adds the conformance tests of the
# backend.
define hwt_registers_conform
UNIT_TESTS += hwt_$(1)_conform
UNIT_SRCS_hwt_$(1)_conform = test/unit/kernel/hwt_$(1)_conform.c test/fake/hwt_$(1).c test/fake/hwt_log.c $(2) $$(HWT_CONFORM_SRCS)
UNIT_CFLAGS_hwt_$(1)_conform = $$(HWT_KERNEL_TEST_CFLAGS)
endef
$(eval $(call hwt_registers_conform,pt,$(KTRACE_HWT_PT_SOURCES)))
$(eval $(call hwt_registers_conform,spe,$(KTRACE_HWT_SPE_SOURCES)))

# Tests of the backend for the trace unit in software, on a fake unit, and of the marker instruction that
# compilers generate for it.
UNIT_TESTS += hwt_qemu hwt_qemu_conform
UNIT_SRCS_hwt_qemu = test/unit/kernel/hwt_qemu.c test/fake/hwt_unit.c kernel/hwt/qemu.c $(KERNEL_TEST_SRCS)
UNIT_CFLAGS_hwt_qemu = $(KERNEL_TEST_CFLAGS)
UNIT_SRCS_hwt_qemu_conform = test/unit/kernel/hwt_qemu_conform.c test/fake/hwt_unit.c $(HWT_CONFORM_SRCS)
UNIT_CFLAGS_hwt_qemu_conform = $(KERNEL_TEST_CFLAGS)

SCRIPT_TESTS += test/unit/kernel_build/marker.sh

# Tests of the kernel library: builds, and recording on a fake machine.
SCRIPT_TESTS += $(addprefix test/unit/kernel_build/,matrix.sh callers.sh ktr.sh cplusplus.sh refused.sh documented.sh macros.sh code.sh \
	arguments.sh cplusplus_rows.sh port.sh)

.PHONY: ktrace-sources ktrace-proc-sources test-kernel-matrix
ktrace-sources:
	@echo $(KTRACE_CORE_SOURCES) $(KTRACE_CONSOLE_SOURCES)
ktrace-proc-sources:
	@echo $(KTRACE_PROC_SOURCES)
test-kernel-matrix:
	sh test/run.sh test/unit/kernel_build/matrix.sh

KERNEL_TEST_SRCS := test/fake/machine.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
KERNEL_TEST_CFLAGS := -I. -Itest/fake -Ikernel/arch/generic

# $(call kernel_test,<name>): adds the test kernel_<name>.
define kernel_test
UNIT_TESTS += kernel_$(1)
UNIT_SRCS_kernel_$(1) := test/unit/kernel/$(1).c $(KERNEL_TEST_SRCS)
UNIT_CFLAGS_kernel_$(1) := $(KERNEL_TEST_CFLAGS)
endef
$(eval $(call kernel_test,facts))
$(eval $(call kernel_test,record))
$(eval $(call kernel_test,ring))
$(eval $(call kernel_test,hooks))
$(eval $(call kernel_test,holders))
$(eval $(call kernel_test,holder_table))
$(eval $(call kernel_test,control))
$(eval $(call kernel_test,switched))
$(eval $(call kernel_test,settings))
$(eval $(call kernel_test,mailbox))
$(eval $(call kernel_test,init))
$(eval $(call kernel_test,snapshot))
UNIT_SRCS_kernel_snapshot += kernel/core/dump.c kernel/core/reader.c
$(eval $(call kernel_test,fold))
$(eval $(call kernel_test,rare))
$(eval $(call kernel_test,many))
$(eval $(call kernel_test,callers))
UNIT_CFLAGS_kernel_callers += -DKTRACE_FRAME_POINTERS=1 -Ihost
$(eval $(call kernel_test,online))
UNIT_SRCS_kernel_online += kernel/core/dump.c kernel/core/reader.c
UNIT_CFLAGS_kernel_online += -DFAKE_GENERIC_WORD

# Clocks that differ: the kernel library measures them between threads, and the reader corrects them.
UNIT_TESTS += kernel_clock
UNIT_SRCS_kernel_clock := test/unit/kernel/clock.c $(KTRACE_CORE_SOURCES) kernel/core/dump.c \
	kernel/core/reader.c
UNIT_CFLAGS_kernel_clock := -I. -Itest/fake/skew -Ikernel/arch/generic -pthread

UNIT_TESTS += kernel_clock_turns
UNIT_SRCS_kernel_clock_turns := test/unit/kernel/clock_turns.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_clock_turns := -I. -Itest/fake/skew -Ikernel/arch/generic -pthread

UNIT_TESTS += kernel_tick
UNIT_SRCS_kernel_tick := test/unit/kernel/tick.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_tick := -I. -Itest/fake/tick -Ikernel/arch/generic

# Tests of the ring's protocol in all interleavings, and of the probability that the checksum of a slot does
# not detect words of different writers.
UNIT_TESTS += ring_model ring_model_long ktrx_check
UNIT_SRCS_ring_model := test/unit/kernel/ring_model.c test/unit/support/state_search.c
UNIT_SRCS_ring_model_long := test/unit/kernel/ring_model_long.c test/unit/support/state_search.c
UNIT_SRCS_ktrx_check := test/unit/kernel/ktrx_check.c

# These tests need an x86_64 host: one instruction, with an address relative to fs, must change the reserve
# word.
UNIT_TESTS_X86_64 += kernel_stress kernel_hooks_stress
UNIT_SRCS_kernel_stress := test/unit/kernel/stress.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_stress := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread
UNIT_TESTS_X86_64 += kernel_step
UNIT_SRCS_kernel_step := $(UNIT_SRCS_kernel_stress:%/stress.c=%/step.c)
# This test is compiled like a kernel, without sanitizers: sanitizers would add thousands of instructions to
# the record path.
UNIT_CFLAGS_kernel_step := $(UNIT_CFLAGS_kernel_stress) -O2 -fno-sanitize=all -Wno-maybe-uninitialized
UNIT_SRCS_kernel_hooks_stress := test/unit/kernel/hooks_stress.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_hooks_stress := $(UNIT_CFLAGS_kernel_stress)
UNIT_TESTS_X86_64 += kernel_fold_stress
UNIT_SRCS_kernel_fold_stress := test/unit/kernel/fold_stress.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_fold_stress := $(UNIT_CFLAGS_kernel_stress)

# Files written for DragonFly's macros. As in DragonFly, macros select which of their trace points are
# compiled.
$(eval $(call kernel_test,ktr))
UNIT_SRCS_kernel_ktr += $(addprefix test/unit/kernel/ktr/,tokens.c forms.c extern.c)
UNIT_CFLAGS_kernel_ktr += -Itest/unit/kernel/ktr -Iinclude/compat -DKTR=1 -DKTR_TOKENS=1 -DKTR_FORMS=1

$(eval $(call kernel_test,place))

# Traces that the kernel library writes and the host reads.
UNIT_TESTS += noise_read
UNIT_SRCS_noise_read := test/unit/kernel/noise_read.c $(KERNEL_TEST_SRCS) kernel/core/dump.c \
	kernel/core/reader.c test/unit/support/ktread_support.c
UNIT_CFLAGS_noise_read := $(KERNEL_TEST_CFLAGS) -Ihost

UNIT_TESTS += place_read
UNIT_SRCS_place_read := $(UNIT_SRCS_noise_read:%/noise_read.c=%/place_read.c)
UNIT_CFLAGS_place_read := $(UNIT_CFLAGS_noise_read)

UNIT_TESTS += keep_read
UNIT_SRCS_keep_read := test/unit/kernel/keep_read.c $(KERNEL_TEST_SRCS) kernel/core/dump.c \
	kernel/core/reader.c test/unit/support/ktread_support.c test/fuzz/ktread_exercise.c
UNIT_CFLAGS_keep_read := $(KERNEL_TEST_CFLAGS) -Ihost
SOAK_TESTS += test/unit/kernel_build/matrix_all.sh

# Tests of process traces in the kernel, on a fake kernel.
PROC_TEST_SRCS := test/unit/support/proc_support.c test/unit/support/proc_walk.c $(KTRACE_PROC_SOURCES) $(KERNEL_TEST_SRCS)

# $(call proc_test,<name>): adds the test proc_<name>.
define proc_test
UNIT_TESTS += proc_$(1)
UNIT_SRCS_proc_$(1) := test/unit/kernel/proc_$(1).c $(PROC_TEST_SRCS)
UNIT_CFLAGS_proc_$(1) := $(KERNEL_TEST_CFLAGS)
endef
$(eval $(call proc_test,records))
$(eval $(call proc_test,dragonfly))
$(eval $(call proc_test,control))
$(eval $(call proc_test,life))
$(eval $(call proc_test,full))
$(eval $(call proc_test,read))

# In this test, threads act as CPUs. It needs an x86_64 host.
UNIT_TESTS_X86_64 += proc_stress
UNIT_SRCS_proc_stress := test/unit/kernel/proc_stress.c test/unit/support/proc_walk.c $(KTRACE_PROC_SOURCES) $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_proc_stress := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread

# Tests of transports and dumps. Drivers run on a fake machine, whose ktrace_io.h precedes the real one.

TRANSPORT_FAKE := test/unit/kernel/transport_fake/machine.c
TRANSPORT_CFLAGS := -I. -Itest/unit/kernel -Itest/unit/kernel/transport_fake -Ikernel/arch/$(shell uname -m)

# $(call transport_test,<name>,<sources of the kernel library>): adds the test transport_<name>.
define transport_test
UNIT_TESTS += $(1)
UNIT_SRCS_$(1) := test/unit/kernel/$(1).c $(TRANSPORT_FAKE) $(2)
UNIT_CFLAGS_$(1) := $(TRANSPORT_CFLAGS)
endef

$(eval $(call transport_test,transport_output,kernel/transport/transport.c))
$(eval $(call transport_test,transport_debugcon,kernel/transport/transport.c kernel/transport/debugcon.c))
$(eval $(call transport_test,transport_uart16550,kernel/transport/transport.c kernel/transport/uart16550.c))
$(eval $(call transport_test,transport_pl011,kernel/transport/transport.c kernel/transport/pl011.c))
$(eval $(call transport_test,transport_semihosting,kernel/transport/transport.c kernel/transport/semihosting.c))
$(eval $(call transport_test,transport_pci,kernel/transport/transport.c kernel/transport/pci.c \
	kernel/transport/pci_ports.c kernel/transport/ivshmem.c))
$(eval $(call transport_test,transport_virtio,kernel/transport/transport.c kernel/transport/pci.c \
	kernel/transport/virtio_queue.c kernel/transport/virtio_mmio.c kernel/transport/virtio_pci.c))

# Tests of dumps of traces that the kernel library has recorded.
DUMP_TEST_SRCS := test/unit/support/dump_support.c $(KTRACE_CORE_SOURCES) \
	$(KTRACE_READER_SOURCES) $(addprefix kernel/core/,dump.c dump_v1.c)
# $(call dump_test,<name>,<sources>): adds the test <name>.
define dump_test
UNIT_TESTS += $(1)
UNIT_SRCS_$(1) := test/unit/kernel/$(1).c $(2)
UNIT_CFLAGS_$(1) := $(TRANSPORT_CFLAGS)
endef

$(eval $(call dump_test,dump_v1,$(DUMP_TEST_SRCS)))
$(eval $(call dump_test,dump_v2,$(DUMP_TEST_SRCS)))
$(eval $(call dump_test,dump_transport,$(DUMP_TEST_SRCS) $(TRANSPORT_FAKE) \
	$(addprefix kernel/transport/,transport.c transport_dump.c)))
$(eval $(call dump_test,dump_walk,kernel/core/reader.c))

# The drivers can be built for each CPU for which the core can be built.
SCRIPT_TESTS += test/unit/transport_build.sh

transport-sources-%:
	@echo $(KTRACE_SOURCES) $(KTRACE_SOURCES_$*) $(KTRACE_ASM_$*)

# Tests of the Rust crate.
SCRIPT_TESTS += bindings/rust/check.sh
SOAK_TESTS += bindings/rust/check_all.sh
