# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The trace unit in software, against QEMU's own log.
SCRIPT_TESTS += test/qemu/plugin.sh
CHECK_NEEDS += build/lib/ktrace-pt.so build/test/plugin_blocks

build/test/plugin_blocks: test/qemu/plugin_blocks.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $< -lipt
