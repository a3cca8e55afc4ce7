# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The trace unit in software: its arguments, and what it leaves when QEMU is killed.
SCRIPT_TESTS += test/qemu/plugin.sh
CHECK_NEEDS += build/lib/ktrace-pt.so build/test/hwt_blocks build/demo/x86_64/kernel.elf
