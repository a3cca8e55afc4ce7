# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests of the kernel library: how it builds, and how it records on a fake machine.
SCRIPT_TESTS += $(addprefix test/unit/kernel_build/,matrix.sh callers.sh ktr.sh cplusplus.sh refused.sh documented.sh macros.sh code.sh \
	arguments.sh cplusplus_rows.sh)

.PHONY: ktrace-sources ktrace-proc-sources test-kernel-matrix
ktrace-sources:
	@echo $(KTRACE_CORE_SOURCES) $(KTRACE_CONSOLE_SOURCES)
ktrace-proc-sources:
	@echo $(KTRACE_PROC_SOURCES)
test-kernel-matrix:
	sh test/run.sh test/unit/kernel_build/matrix.sh

KERNEL_TEST_SRCS := test/fake/machine.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
KERNEL_TEST_CFLAGS := -I. -Itest/fake -Ikernel/arch/generic

# $(call kernel_test,<name>)
define kernel_test
UNIT_TESTS += kernel_$(1)
UNIT_SRCS_kernel_$(1) := test/unit/kernel_$(1).c $(KERNEL_TEST_SRCS)
UNIT_CFLAGS_kernel_$(1) := $(KERNEL_TEST_CFLAGS)
endef
$(eval $(call kernel_test,record))
$(eval $(call kernel_test,ring))
$(eval $(call kernel_test,hooks))
$(eval $(call kernel_test,holders))
$(eval $(call kernel_test,control))
$(eval $(call kernel_test,settings))
$(eval $(call kernel_test,mailbox))
$(eval $(call kernel_test,init))
$(eval $(call kernel_test,snapshot))
UNIT_SRCS_kernel_snapshot += kernel/core/snapshot.c kernel/core/dump.c kernel/core/dump_stream.c kernel/core/rings.c
$(eval $(call kernel_test,fold))
$(eval $(call kernel_test,rare))
$(eval $(call kernel_test,many))
$(eval $(call kernel_test,callers))
UNIT_SRCS_kernel_callers += $(patsubst %,host/analyze/%.c,demangle symbols symbols_image symbols_library)
UNIT_CFLAGS_kernel_callers += -fno-omit-frame-pointer -DKTRACE_FRAME_POINTERS=1 -Ihost
UNIT_LDLIBS_kernel_callers := $(KTRACE_LDLIBS)
$(eval $(call kernel_test,online))
UNIT_SRCS_kernel_online += kernel/core/snapshot.c kernel/core/dump.c kernel/core/dump_stream.c kernel/core/rings.c
UNIT_CFLAGS_kernel_online += -DFAKE_GENERIC_WORD

# The ring's protocol in all interleavings, and how often its check misses.
UNIT_TESTS += ring_model ktrx_check
UNIT_SRCS_ring_model := test/unit/ring_model.c
UNIT_CFLAGS_ring_model := -Itest/unit
UNIT_SRCS_ktrx_check := test/unit/ktrx_check.c
UNIT_CFLAGS_ktrx_check := -Itest/unit

# Needs a word reached by one instruction relative to fs: the host must be an x86_64.
UNIT_TESTS_X86_64 += kernel_stress kernel_hooks_stress
UNIT_SRCS_kernel_stress := test/unit/kernel_stress.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_stress := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread
UNIT_TESTS_X86_64 += kernel_step
UNIT_SRCS_kernel_step := $(UNIT_SRCS_kernel_stress:%/kernel_stress.c=%/kernel_step.c)
# As kernels have it: sanitized, the record path is another one, of thousands of instructions.
UNIT_CFLAGS_kernel_step := $(UNIT_CFLAGS_kernel_stress) -O2 -fno-sanitize=all -Wno-maybe-uninitialized
UNIT_SRCS_kernel_hooks_stress := test/unit/kernel_hooks_stress.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_hooks_stress := $(UNIT_CFLAGS_kernel_stress)
UNIT_TESTS_X86_64 += kernel_fold_stress
UNIT_SRCS_kernel_fold_stress := test/unit/kernel_fold_stress.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_fold_stress := $(UNIT_CFLAGS_kernel_stress)

# Files written for DragonFly's macros, told in DragonFly's way what to compile in.
$(eval $(call kernel_test,ktr))
UNIT_SRCS_kernel_ktr += $(addprefix test/unit/ktr/,tokens.c forms.c extern.c)
UNIT_CFLAGS_kernel_ktr += -Itest/unit/ktr -Iinclude/compat -DKTR=1 -DKTR_TOKENS=1 -DKTR_FORMS=1

$(eval $(call kernel_test,place))

# The same, read by the host.
UNIT_TESTS += noise_read
UNIT_SRCS_noise_read := test/unit/noise_read.c $(KERNEL_TEST_SRCS) kernel/core/snapshot.c kernel/core/dump.c \
	kernel/core/dump_stream.c kernel/core/rings.c test/unit/ktread_support.c host/analyze/repeats.c $(wildcard host/ktread/*.c)
UNIT_CFLAGS_noise_read := $(KERNEL_TEST_CFLAGS) -Ihost

UNIT_TESTS += place_read
UNIT_SRCS_place_read := $(UNIT_SRCS_noise_read:%/noise_read.c=%/place_read.c)
UNIT_CFLAGS_place_read := $(UNIT_CFLAGS_noise_read)

UNIT_TESTS += keep_read
UNIT_SRCS_keep_read := test/unit/keep_read.c $(KERNEL_TEST_SRCS) kernel/core/snapshot.c kernel/core/dump.c \
	kernel/core/dump_stream.c kernel/core/rings.c test/unit/ktread_support.c test/fuzz/ktread_exercise.c $(wildcard host/ktread/*.c)
UNIT_CFLAGS_keep_read := $(KERNEL_TEST_CFLAGS) -Ihost
SOAK_TESTS += test/unit/kernel_build/matrix_all.sh
