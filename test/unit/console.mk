# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests of the trace read inside the kernel, on the fake machine of the core's own tests.
CONSOLE_TEST_CFLAGS := -I. -Itest/fake -Ikernel/arch/generic

UNIT_TESTS += console_format
UNIT_CFLAGS_console_format := $(CONSOLE_TEST_CFLAGS)
UNIT_SRCS_console_format := test/unit/console_format.c kernel/core/row.c kernel/console/format.c kernel/console/line.c \
	$(wildcard host/ktread/*.c)

CONSOLE_TEST_SRCS := test/fake/machine.c test/fake/checker.c $(KTRACE_CORE_SOURCES) $(KTRACE_CONSOLE_SOURCES)

UNIT_TESTS += console_show
UNIT_CFLAGS_console_show := $(CONSOLE_TEST_CFLAGS)
UNIT_SRCS_console_show := test/unit/console_show.c $(CONSOLE_TEST_SRCS)

UNIT_TESTS += console_echo
UNIT_CFLAGS_console_echo := $(CONSOLE_TEST_CFLAGS)
UNIT_SRCS_console_echo := test/unit/console_echo.c $(CONSOLE_TEST_SRCS)

# Needs a word reached by one instruction relative to fs: the host must be an x86_64.
UNIT_TESTS_X86_64 += console_stress
UNIT_SRCS_console_stress := test/unit/console_stress.c $(KTRACE_CORE_SOURCES) $(KTRACE_CONSOLE_SOURCES)
UNIT_CFLAGS_console_stress := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread
