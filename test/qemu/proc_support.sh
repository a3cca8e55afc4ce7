# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Functions for the proc_*.sh tests: they record process traces in the demo kernel and bring them to the host.

. test/qemu/run_support.sh

kdump=build/bin/kdump
arches=${PROC_ARCHES:-x86_64 aarch64 riscv64}

# boot ARCH CPUS PROGRAM…: runs the programs. PROGRAM is a program with its arguments, separated by colons.
# Stores the console in $tmp/console, the rings in $tmp/rings, and the files that the guest's program `give`
# sent in $tmp/given. $boot_options: more options for QEMU.
boot() {
	boot_arch=$1 boot_cpus=$2
	shift 2
	rm -rf "$tmp/given" && mkdir "$tmp/given"
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --out "$tmp/rings" -- $(demo "$boot_arch" "$boot_cpus") $boot_options \
		-append "$boot_events run=$(echo "$*" | tr ' ' ,)" </dev/null 2>"$tmp/err" >"$tmp/typed"
	tr -d '\r' <"$tmp/typed" >"$tmp/console" # not in a pipe, because QEMU writes each byte alone
	"$ktrace" take -d "$tmp/given" "$tmp/console" 2>"$tmp/took"
}
boot_options=
boot_events=debug=process # boot argument: the events to record in the rings

# words FILE [OPTION…]: prints the trace FILE, which the guest sent, with kdump. Replaces addresses and pids,
# which differ between machines.
words() {
	words_file=$tmp/given/$1
	shift
	"$kdump" -f "$words_file" "$@" | sed -E 's/0x1[0-9a-f]{9,}/ADDRESS/g; s/^ *[0-9]+ //; s/parent [0-9]+/parent PID/;
		/^ *END /s/[0-9]+ bytes/SOME bytes/'
}

# count FILE PATTERN: prints how many lines of the printed trace match.
count() { "$kdump" -f "$tmp/given/$1" | grep -cE -- "$2"; }

# shows NAME FILE PATTERN: checks that a line of the trace matches.
shows() { check "$1" sh -c '"$1" -f "$2" | grep -qE -- "$3"' sh "$kdump" "$tmp/given/$2" "$3"; }
