# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Clocks that differ: measured by the kernel library between threads, and put right by the reader.
UNIT_TESTS += kernel_clock
UNIT_SRCS_kernel_clock := test/unit/kernel_clock.c $(KTRACE_CORE_SOURCES) kernel/core/snapshot.c kernel/core/dump.c \
	kernel/core/dump_stream.c kernel/core/rings.c $(wildcard host/ktread/*.[ch])
UNIT_CFLAGS_kernel_clock := -I. -Itest/fake/skew -Ikernel/arch/generic -pthread

UNIT_TESTS += kernel_clock_turns
UNIT_SRCS_kernel_clock_turns := test/unit/kernel_clock_turns.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_clock_turns := -I. -Itest/fake/skew -Ikernel/arch/generic -pthread

UNIT_TESTS += ktread_clock
UNIT_SRCS_ktread_clock = test/unit/ktread_clock.c $(KTREAD_TEST_SRCS)
UNIT_CFLAGS_ktread_clock := -Ihost/ktread

UNIT_TESTS += analyze_align
UNIT_SRCS_analyze_align = test/unit/analyze_align.c $(KTREAD_TEST_SRCS) \
	$(addprefix host/analyze/,align.c bounds.c causes.c coarse.c drift.c wellknown.c)
UNIT_CFLAGS_analyze_align := -Ihost

UNIT_TESTS += kernel_tick
UNIT_SRCS_kernel_tick := test/unit/kernel_tick.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_tick := -I. -Itest/fake/tick -Ikernel/arch/generic

UNIT_TESTS += analyze_order
UNIT_SRCS_analyze_order = test/unit/analyze_order.c $(KTREAD_TEST_SRCS) host/analyze/order.c
UNIT_CFLAGS_analyze_order := -Ihost
