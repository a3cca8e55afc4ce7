# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/golden/ktrdump.sh
CHECK_NEEDS += build/bin/ktrdump build/test/ktrdump-traces

build/test/ktrdump-traces: test/golden/ktrdump_traces.c test/unit/ktread_writer.c test/unit/ktread_support.c \
		build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $^ -lcmocka
