# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# For the proc_*.sh tests: process traces that the demo kernel made, on their way to the host.

ktrace=build/bin/ktrace
kdump=build/bin/kdump
arches=${PROC_ARCHES:-x86_64 aarch64 riscv64}

# boot ARCH CPUS PROGRAM…: runs these, words of each between colons; what the console said in $tmp/console, the rings in
# $tmp/rings, the files that were given in $tmp/given.
boot() {
	boot_arch=$1 boot_cpus=$2
	shift 2
	rm -rf "$tmp/given" && mkdir "$tmp/given"
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --out "$tmp/rings" -- $(sh scripts/qemu.sh "$boot_arch" "$boot_cpus") \
		-append "$boot_events run=$(echo "$*" | tr ' ' ,)" </dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/console"
	"$ktrace" take -d "$tmp/given" "$tmp/console" 2>"$tmp/took"
}
boot_events=debug=process # what goes into the rings

# words FILE [OPTION…]: a trace that was given. What differs from machine to machine, addresses and pids, is made alike.
words() {
	words_file=$tmp/given/$1
	shift
	"$kdump" -f "$words_file" "$@" | sed -E 's/0x1[0-9a-f]{9,}/ADDRESS/g; s/^ *[0-9]+ //; s/parent [0-9]+/parent PID/;
		/^ *END /s/[0-9]+ bytes/SOME bytes/'
}

# count FILE PATTERN: how many lines of the trace match.
count() { "$kdump" -f "$tmp/given/$1" | grep -cE -- "$2"; }

# shows "name" FILE PATTERN: a line of the trace matches.
shows() { check "$1" sh -c '"$1" -f "$2" | grep -qE -- "$3"' sh "$kdump" "$tmp/given/$2" "$3"; }
