# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/golden/memory.sh
CHECK_NEEDS += build/bin/ktrace build/test/memory-trace build/test/memory-used

build/test/memory-trace: test/golden/memory_trace.c test/unit/ktread_writer.c test/unit/ktread_support.c build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $^ -lcmocka $(KTRACE_LDLIBS)

build/test/memory-used: test/golden/memory_used.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $<
