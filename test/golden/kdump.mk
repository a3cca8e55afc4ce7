# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/golden/kdump.sh
CHECK_NEEDS += build/bin/kdump build/test/kdump-traces

build/test/kdump-traces: test/golden/kdump_traces.c $$(PROC_PUT_SRCS) build/lib/libktread.a test/golden/proc/put.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -Itest/golden -o $@ $(filter %.c %.a,$^) -lcmocka $(KTRACE_LDLIBS)
