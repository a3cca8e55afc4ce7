#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints a linker script for the demo kernel for x86_64, in which the code is moved so that a branch is in the
# last 15 bytes of a page: test/qemu/hwt_cut.sh KERNEL LINKER-SCRIPT
#
# The branch is the first conditional jump of ktrace_clock_beat, which runs often, that can be moved there.
# Functions are aligned to 16 bytes. So the code is moved by a multiple of 16 bytes.
set -eu
address=$(objdump -d --no-show-raw-insn --disassemble=ktrace_clock_beat "$1" |
	sed -n 's/^ *\([0-9a-f]*\):[[:space:]]*j[^m][a-z]* .*/\1/p' | grep '[2-9a-f]$' | head -n 1)
[ -n "$address" ] || { echo "hwt_cut.sh: $1: no conditional jump found" >&2; exit 1; }
pad=$(((0xff0 - (0x$address & ~15)) & 0xfff))
sed "s/\*(\.text \.text\.\*)/. = . + $pad; &/" "$2"
