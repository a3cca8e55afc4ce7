#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The recorder also compiles for Linux on other machines.
. test/tap.sh

for arch in aarch64 riscv64; do
	cc=$arch-linux-gnu-gcc
	if ! echo '#include <stdio.h>' | $cc -fsyntax-only -x c - 2>"$tmp/err"; then
		skip "$arch" "$cc or its C library is absent"
		continue
	fi
	for source in host/record/*.c; do
		check "$arch: $source compiles" "$cc" -std=c11 -O2 -Wall -Wextra -Werror -Iinclude -I. -Ihost -D_GNU_SOURCE \
			-D_FILE_OFFSET_BITS=64 -c -o "$tmp/object" "$source"
	done
done
done_testing
