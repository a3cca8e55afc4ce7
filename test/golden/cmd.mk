# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/golden/check.sh test/golden/doctor.sh test/golden/cmd.sh test/golden/cmd_stream.sh test/golden/cmd_errors.sh test/golden/options.sh test/golden/options_tools.sh test/golden/cmd_take.sh test/golden/stats.sh test/golden/install.sh
CHECK_NEEDS += build/bin/ktrace build/bin/ktrace-decode build/test/cmd-traces build/test/why-traces build/test/ktrace-script

build/test/cmd-traces: test/golden/cmd_traces.c test/unit/ktread_writer.c test/unit/ktread_support.c \
		build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $^ -lcmocka
