# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests of process traces in the kernel, on a fake one.
PROC_TEST_SRCS := test/unit/proc_support.c test/unit/proc_walk.c $(KTRACE_PROC_SOURCES) $(KERNEL_TEST_SRCS)

# $(call proc_test,<name>)
define proc_test
UNIT_TESTS += proc_$(1)
UNIT_SRCS_proc_$(1) := test/unit/proc_$(1).c $(PROC_TEST_SRCS)
UNIT_CFLAGS_proc_$(1) := $(KERNEL_TEST_CFLAGS)
endef
$(eval $(call proc_test,records))
$(eval $(call proc_test,control))
$(eval $(call proc_test,life))
$(eval $(call proc_test,full))
UNIT_SRCS_proc_full += $(wildcard host/ktread/*.c)
$(eval $(call proc_test,read))
UNIT_SRCS_proc_read += $(wildcard host/ktread/*.c)

# Threads as CPUs: the host must be an x86_64.
UNIT_TESTS_X86_64 += proc_stress
UNIT_SRCS_proc_stress := test/unit/proc_stress.c test/unit/proc_walk.c $(KTRACE_PROC_SOURCES) $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_proc_stress := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread
