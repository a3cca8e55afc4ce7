# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests of hardware trace in the kernel, on a fake one. Those of a backend are in a fragment of its own, hwt_<backend>.mk.
HWT_KERNEL_TEST_SRCS = test/unit/hwt_support.c test/unit/proc_walk.c $(KTRACE_HWT_SOURCES) $(KERNEL_TEST_SRCS)
HWT_KERNEL_TEST_CFLAGS = $(KERNEL_TEST_CFLAGS)

.PHONY: $(foreach arch,x86_64 aarch64 riscv64,ktrace-hwt-sources-$(arch))
$(foreach arch,x86_64 aarch64 riscv64,ktrace-hwt-sources-$(arch)): ktrace-hwt-sources-%:
	@echo $(KTRACE_HWT_SOURCES) $(KTRACE_HWT_SOURCES_$*)

# $(call hwt_test,<name>)
define hwt_test
UNIT_TESTS += hwt_$(1)
UNIT_SRCS_hwt_$(1) = test/unit/hwt_$(1).c $$(HWT_KERNEL_TEST_SRCS)
UNIT_CFLAGS_hwt_$(1) = $$(HWT_KERNEL_TEST_CFLAGS)
endef
$(foreach name,context pause permission records switch,$(eval $(call hwt_test,$(name))))

# A kernel without hooks.
$(eval $(call hwt_test,left_out))
UNIT_CFLAGS_hwt_left_out += -DKTRACE_HWT_HOOKS=0

# What every backend must pass; for its own test: $(HWT_CONFORM_SRCS), its sources, its model's, and $(HWT_KERNEL_TEST_CFLAGS).
HWT_CONFORM_SRCS = test/unit/hwt_conform.c $(HWT_KERNEL_TEST_SRCS)
$(eval $(call hwt_test,mock))
UNIT_SRCS_hwt_mock += test/unit/hwt_conform.c

# Threads as CPUs: the host must be an x86_64.
UNIT_TESTS_X86_64 += hwt_stress
UNIT_SRCS_hwt_stress = test/unit/hwt_stress.c test/unit/proc_walk.c $(KTRACE_HWT_SOURCES) $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_hwt_stress = -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread
