# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Callers and sites are true whatever the compiler makes of a site: inlined, cloned, split into hot and cold, left by a
# jump. The unit test, built with either compiler at each level.
. test/tap.sh

sources="test/unit/kernel_callers.c test/fake/machine.c test/fake/checker.c host/analyze/symbols.c
	host/analyze/symbols_library.c $(make -s ktrace-sources)"
includes='-Iinclude -Itest -I. -Ihost -Itest/fake -Ikernel/arch/generic'

for compiler in gcc clang; do
	command -v $compiler >/dev/null || {
		skip "$compiler" "not installed"
		continue
	}
	for level in -O0 -O1 -O2 -O3 -Os '-O2 -flto'; do
		# shellcheck disable=SC2086
		if ! $compiler -std=c11 -g $level -fno-omit-frame-pointer -DKTRACE_FRAME_POINTERS=1 -D_GNU_SOURCE \
			$includes -o "$tmp/callers" $sources -lcmocka -ldl >"$tmp/log" 2>&1; then
			fail "$compiler $level" "$(head -n 20 "$tmp/log")"
		elif ! "$tmp/callers" >"$tmp/log" 2>&1; then
			fail "$compiler $level" "$(grep -A 1 ERROR "$tmp/log" | head -n 20)"
		else
			pass "$compiler $level"
		fi
	done
done

done_testing
