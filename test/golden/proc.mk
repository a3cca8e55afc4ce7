# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/golden/proc.sh test/golden/processes.sh
CHECK_NEEDS += build/test/proc-traces

PROC_PUT_SRCS := test/golden/proc/put.c test/unit/ktread_support.c

build/test/proc-traces: test/golden/proc/make.c test/golden/proc/make_bad.c $(PROC_PUT_SRCS) build/lib/libktread.a \
		test/golden/proc/put.h test/golden/proc/make_bad.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(filter %.c %.a,$^) -lcmocka $(KTRACE_LDLIBS)
