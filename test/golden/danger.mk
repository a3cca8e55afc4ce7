# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/golden/danger.sh
CHECK_NEEDS += build/bin/ktrace build/test/danger-traces build/test/harmless build/test/ktrace-script

DANGER_SRCS := test/golden/danger_traces.c test/unit/ktread_writer.c test/unit/ktread_support.c
build/test/danger-traces: $(DANGER_SRCS) $$(filter-out $(DANGER_SRCS),$$(PROC_PUT_SRCS)) build/lib/libktread.a \
		test/golden/danger.h test/golden/proc/put.h test/unit/ktread_writer.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -Itest/golden -o $@ $(filter %.c %.a,$^) -lcmocka $(KTRACE_LDLIBS)

build/test/harmless: test/golden/harmless.c test/golden/json_tree.c test/golden/json_tree.h test/golden/danger.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(filter %.c,$^)
