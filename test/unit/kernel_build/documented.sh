#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that the code in doc/events.md compiles unchanged, for each CPU.
. test/tap.sh
. test/unit/kernel_build/common.sh

{
	echo '#include "ktrace/ktrace.h"'
	awk '/^```/ { inside = !inside; next } inside' doc/events.md
} >"$tmp/events.c"
check "the documents have declarations of events" test "$(grep -c '^KTRACE_EVENT(' "$tmp/events.c")" -ge 9
for arch in x86_64 aarch64 riscv64; do
	for compiler in gcc clang; do
		have $compiler $arch || {
			skip "$arch $compiler" "not installed"
			continue
		}
		check "$arch $compiler" compile $compiler $arch "$tmp/events.c" "$tmp/events.o" -O2
	done
done
done_testing
