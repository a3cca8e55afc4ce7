# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The reader library is compiled into its tests, so that it is sanitized with them.
KTREAD_TEST_SRCS := test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c \
	$(wildcard host/ktread/*.[ch] test/unit/ktread_*.h test/fuzz/ktread_*.h)

UNIT_TESTS += ktread_v1
UNIT_CFLAGS_ktread_v1 := -Ihost/ktread
UNIT_SRCS_ktread_v1 := test/unit/ktread_v1.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_v2
UNIT_SRCS_ktread_v2 := test/unit/ktread_v2.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_settings
UNIT_SRCS_ktread_settings := test/unit/ktread_settings.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_tables
UNIT_SRCS_ktread_tables := test/unit/ktread_tables.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_image
UNIT_SRCS_ktread_image := test/unit/ktread_image.c test/fuzz/ktread_exercise.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_golden
UNIT_SRCS_ktread_golden := test/unit/ktread_golden.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_format
UNIT_SRCS_ktread_format := test/unit/ktread_format.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_follow
UNIT_SRCS_ktread_follow := test/unit/ktread_follow.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_columns
UNIT_CFLAGS_ktread_columns := -Ihost/ktread
UNIT_SRCS_ktread_columns := test/unit/ktread_columns.c test/unit/ktread_support.c $(wildcard host/ktread/*.[ch])

UNIT_TESTS += ktread_stream
UNIT_SRCS_ktread_stream := test/unit/ktread_stream.c $(KTREAD_TEST_SRCS)

# Needs an x86_64, as kernel_stress does.
UNIT_TESTS_X86_64 += follow_storm
UNIT_SRCS_follow_storm := test/unit/follow_storm.c $(wildcard host/ktread/*.[ch]) $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_follow_storm := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread
