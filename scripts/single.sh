#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Writes the kernel library as two files, ktrace.c and ktrace.h: scripts/single.sh OUT SOURCE…
set -eu
out=$1
shift
mkdir -p "$out"
tmp=$(mktemp -d "$out/.single.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# head_of TEXT: prints the first lines of a file that this script makes. TEXT describes the file.
head_of() {
	printf '/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */\n/*\n * ktrace %s, %s\n' "$(cat VERSION)" "$1"
	printf ' * Made by `make single` from the files named below: change those. Documentation: doc/porting.md.\n */\n'
}

: >"$tmp/known"
{
	head_of 'kernel side, in two files: include this one and compile ktrace.c. Recording, rings in memory, console.'
	printf '#ifndef KTRACE_SINGLE\n#define KTRACE_SINGLE 1\n'
} >"$tmp/head"
awk -v known="$tmp/known" -f scripts/single.awk "$tmp/head" include/ktrace/ktrace.h include/ktrace/console.h >"$tmp/ktrace.h"
printf '\n#endif\n' >>"$tmp/ktrace.h"
{
	head_of 'kernel side: the one file to compile, for x86_64, AArch64 and RISC-V 64: the compiler'\''s macros select one.'
	printf '#include "ktrace.h"\n'
} >"$tmp/head"
awk -v known="$tmp/known" -f scripts/single.awk "$tmp/head" "$@" >"$tmp/ktrace.c"
mv "$tmp/ktrace.h" "$tmp/ktrace.c" "$out"
