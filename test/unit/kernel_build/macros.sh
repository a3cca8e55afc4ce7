#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that ktrace compiles without a warning with a kernel's macros, which its port header brings into
# every file: any names of attributes, and printf as a macro; the text of an event is still checked. Hooks of
# the port may use any variable of the kernel.
. test/tap.sh
. test/unit/kernel_build/common.sh

# refused COMPILER ARCH SOURCE OBJECT FLAGS…: checks that the source does not compile
refused() { ! compile "$@" 2>"$tmp/said" && grep -q 'format' "$tmp/said"; }

macros=test/unit/kernel_build/macros.h
variables=test/unit/kernel_build/variables.h

# reads_all COMPILER ARCH: checks that all $sources compile. The clang command would start a process for each
# source. So clang's inner compiler ("-cc1") is called with the same flags: it reads all sources in a third of
# the time.
reads_all() {
	# shellcheck disable=SC2086
	case $1 in
	gcc) read_sources "$@" -include $macros -fsyntax-only $sources ;;
	clang)
		eval "set -- $(read_sources "$1" "$2" -include $macros -fsyntax-only '-###' test/unit/kernel_build/sample.c 2>&1 |
			sed -n 's/^ \(".*"-cc1" .*\) "[^"]*"$/\1/p')" && "$@" $sources
		;;
	esac
}

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

for arch in x86_64 aarch64 riscv64; do
	for compiler in gcc clang; do
		have $compiler $arch || {
			skip "$arch $compiler" "not installed"
			continue
		}
		sources="$(make -s -f "$tmp/lists.mk" $arch) $(cat "$tmp/sources") test/unit/kernel_build/sample.c \
			test/unit/kernel_build/hooks.c test/unit/kernel_build/facts.c"
		reads_all $compiler $arch >>"$tmp/failed" 2>&1 || echo "$arch $compiler" >>"$tmp/failed"
		check "$arch $compiler: a text that does not fit its fields is refused" \
			refused $compiler $arch "$tmp/wrong.c" "$tmp/out.o" -include $macros -O2
		check "$arch $compiler: no variable of ktrace's hides one that a hook of the port names" \
			read_sources $compiler $arch -Wno-shadow -include $variables -fsyntax-only $sources
	done
done
equal "no source is in the way of these macros" '' "$(head -n 20 "$tmp/failed" 2>/dev/null)"
done_testing
