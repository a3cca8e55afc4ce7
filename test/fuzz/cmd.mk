# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/fuzz/cmd.sh
CHECK_NEEDS += build/asan/bin/ktrace build/asan/bin/ktrace-decode build/test/cmd-traces build/test/cmd-mutate

build/test/cmd-mutate: test/fuzz/cmd_mutate.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) -o $@ $<
