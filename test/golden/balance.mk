# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/golden/balance.sh
CHECK_NEEDS += build/bin/ktrace build/bin/ktrace-decode build/test/chrome-check build/test/v1-mix build/test/cmd-traces \
	build/test/danger-traces build/test/perfetto-text build/test/ktrace-script

build/test/chrome-check: test/golden/chrome_check.c test/golden/json_tree.c test/golden/json_tree.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(filter %.c,$^)

build/test/v1-mix: test/golden/v1_mix.c include/ktrx/v1.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $<
