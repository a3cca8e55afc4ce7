#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that ktrace compiles without a warning with a kernel's macros, which its port header brings into
# every file: any names of attributes, and printf as a macro; the text of an event is still checked. Hooks of
# the port may use any variable of the kernel. clang, which is the faster one, reads each source for each CPU;
# gcc reads each source for x86_64, and for the other CPUs only their own sources and the samples. A kernel may
# be compiled with -nostdinc, and have headers of its own with few types and no limits.
# MATRIX=all (make soak): all combinations.
. test/tap.sh
. test/unit/kernel_build/common.sh

# refused COMPILER ARCH SOURCE OBJECT FLAGS…: checks that the source does not compile
refused() { ! compile "$@" 2>"$tmp/said" && grep -q 'format' "$tmp/said"; }

macros=test/unit/kernel_build/macros.h
variables=test/unit/kernel_build/variables.h

# reads_each_source COMPILER ARCH: succeeds if this compiler is the one that must read the sources that all
# CPUs share.
reads_each_source() { [ "$1-$2" != gcc-aarch64 ] && [ "$1-$2" != gcc-riscv64 ] || [ "${MATRIX-}" = all ] || ! have clang "$2"; }

cat >"$tmp/lists.mk" <<'END'
KTRACE_ROOT := .
include kernel/ktrace.mk
all: ; @echo $(sort $(KTRACE_SOURCES) $(KTRACE_PROC_SOURCES) $(KTRACE_HWT_SOURCES))
x86_64 aarch64 riscv64: ; @echo $(KTRACE_SOURCES_$@) $(KTRACE_HWT_SOURCES_$@)
.PHONY: all x86_64 aarch64 riscv64
END
make -s -f "$tmp/lists.mk" all >"$tmp/sources"
check "kernel/ has sources to compile" test "$(wc -w <"$tmp/sources")" -gt 30

cat >"$tmp/wrong.c" <<'END'
#include "ktrace/ktrace.h"
KTRACE_EVENT(sample, wrong, "%s", (uint32_t, number));
END

# A port header whose guard has the name that people choose first
printf '%s\n' '#ifndef KTRACE_PORT_H' '#define KTRACE_PORT_H' '#define PORT_WAS_READ' '#endif' >"$tmp/ktrace_port.h"
printf '%s\n' '#include "ktrace/ktrace.h"' '#ifndef PORT_WAS_READ' '#error not read' '#endif' >"$tmp/guarded.c"
check "a port header with the guard KTRACE_PORT_H is read" \
	compile gcc x86_64 "$tmp/guarded.c" "$tmp/out.o" "-I$tmp"

for arch in x86_64 aarch64 riscv64; do
	for compiler in gcc clang; do
		have $compiler $arch || {
			skip "$arch $compiler" "not installed"
			continue
		}
		sources="$(make -s -f "$tmp/lists.mk" $arch) test/unit/kernel_build/sample.c \
			test/unit/kernel_build/hooks.c test/unit/kernel_build/facts.c"
		! reads_each_source $compiler $arch || sources="$sources $(cat "$tmp/sources")"
		read_at_once $compiler $arch -include $macros >>"$tmp/failed" 2>&1 || echo "$arch $compiler" >>"$tmp/failed"
		check "$arch $compiler: a text that does not fit its fields is refused" \
			refused $compiler $arch "$tmp/wrong.c" "$tmp/out.o" -include $macros -O2
		check "$arch $compiler: no variable of ktrace's hides one that a hook of the port names" \
			read_at_once $compiler $arch -Wno-shadow -include $variables
	done
done

mkdir "$tmp/own"
for bits in 8 16 32 64; do
	echo "typedef __INT${bits}_TYPE__ int${bits}_t; typedef __UINT${bits}_TYPE__ uint${bits}_t;"
done >"$tmp/own/stdint.h"
echo 'typedef __INTPTR_TYPE__ intptr_t; typedef __UINTPTR_TYPE__ uintptr_t;' >>"$tmp/own/stdint.h"
echo 'typedef __SIZE_TYPE__ size_t;' >"$tmp/own/stddef.h"
printf '%s\n' '#define NULL ((void *)0)' '#define offsetof(type, member) __builtin_offsetof(type, member)' >>"$tmp/own/stddef.h"
printf '%s\n' '#define bool _Bool' '#define true 1' '#define false 0' >"$tmp/own/stdbool.h"
sources="$(cat "$tmp/sources") test/unit/kernel_build/facts.c"
compiler=clang
have clang x86_64 || compiler=gcc
check "$compiler: a kernel's own headers need no limits and no macros of constants" \
	read_at_once $compiler x86_64 -nostdinc "-I$tmp/own"

# The kernel has the limits in another header, which its port header includes.
printf '%s\n' '#pragma once' '#define UINT16_MAX 65535' '#define UINT32_MAX 4294967295u' '#define UINT64_MAX (~(uint64_t)0)' \
	'#define UINT32_C(value) value##u' '#define UINT64_C(value) value##ull' >"$tmp/own/limits.h"
echo '#include "limits.h"' >"$tmp/own/ktrace_port.h"
check "$compiler: a kernel may define limits in a header of its own" \
	read_at_once $compiler x86_64 -nostdinc "-I$tmp/own"

equal "no source is in the way of these macros" '' "$(head -n 20 "$tmp/failed" 2>/dev/null)"
done_testing
