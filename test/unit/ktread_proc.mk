# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The reader of process traces.
KTREAD_PROC_TEST_SRCS := test/unit/ktread_proc_support.c test/unit/ktread_support.c test/golden/proc/put.c \
	$(wildcard host/ktread/*.[ch] test/unit/ktread_proc*.h test/golden/proc/*.h)

UNIT_TESTS += ktread_proc ktread_proc_sessions ktread_proc_damage ktread_proc_input
UNIT_SRCS_ktread_proc := test/unit/ktread_proc.c $(KTREAD_PROC_TEST_SRCS)
UNIT_SRCS_ktread_proc_sessions := test/unit/ktread_proc_sessions.c $(KTREAD_PROC_TEST_SRCS)
UNIT_SRCS_ktread_proc_damage := test/unit/ktread_proc_damage.c $(KTREAD_PROC_TEST_SRCS)
UNIT_CFLAGS_ktread_proc_input := -Ihost/ktread
UNIT_SRCS_ktread_proc_input := test/unit/ktread_proc_input.c $(KTREAD_PROC_TEST_SRCS)
