# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs the part of `make demo-hwt` that compares the traced functions with the functions that ran. Checks also that
# the comparison fails if one decoded function is removed.
# HWT_ARCHES: architectures to test (default: x86_64 aarch64).
. test/tap.sh

for arch in ${HWT_ARCHES:-x86_64 aarch64}; do
	HWT_PROGRAMS="interrupted recursion" sh scripts/demo_hwt.sh "$arch" >"$tmp/out" 2>"$tmp/err"
	equal "$arch: demo_hwt.sh succeeds" 0 "$?"
	sed 's/^/# /' "$tmp/err"
	for program in interrupted recursion; do
		check "$arch: decoded functions of $program are those that ran" grep -qE "^$arch $program: functions equal: [0-9]{2,}\$" "$tmp/out"
	done
	check "$arch: decoded functions of the kernel on a CPU are those that ran" grep -qE "^$arch CPU 1: functions equal: [0-9]{3,}\$" "$tmp/out"
done

printf '#!/bin/sh\n%s "$@" | grep -v " main$"\n' "$PWD/build/bin/ktrace" >"$tmp/ktrace"
chmod +x "$tmp/ktrace"
HWT_KTRACE=$tmp/ktrace HWT_PROGRAMS=indirect HWT_KERNEL=no sh scripts/demo_hwt.sh x86_64 >"$tmp/out" 2>"$tmp/err"
equal "a missing function: demo_hwt.sh fails" 1 "$?"
check "a missing function: demo_hwt.sh reports that functions differ" grep -q '^x86_64 indirect: functions differ: ' "$tmp/out"
check "a missing function: demo_hwt.sh names it" grep -qx '    < main' "$tmp/err"
done_testing
