#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures the time of a whole `ktrace why` process that also reads the kernel's ELF file, on the full rings
# of 4 busy CPUs with at least 8192 slots each. Prints medians of 21 runs, as text and as JSON, and the load
# of the host. Aim: 100 ms.
set -u
tmp=$(mktemp -d /dev/shm/ktrace-bench.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
aim=100 times=21 seconds=5 work=run=forever short=
[ -z "${BENCH_SHORT-}" ] || times=1 seconds=300 work=seconds=0 short=yes # see short.h
status=0

# shellcheck disable=SC2046
timeout -k 2 300 build/bin/ktrace run -q --timeout "$seconds" --stall 0 --out "$tmp/busy.ktrx" -- $(sh scripts/qemu.sh x86_64 4) \
	-append "debug=ktrace $work" </dev/null >/dev/null 2>"$tmp/err"
[ -s "$tmp/busy.ktrx" ] || {
	cat "$tmp/err" >&2
	exit 1
}
events=$(build/bin/ktrace summary "$tmp/busy.ktrx" | awk '/^events/ { print $2 }')

# measure NAME OPTION…: measures the time of `ktrace why` with these options, and compares it with the
# target maximum.
measure() {
	name=$1
	shift
	: >"$tmp/ns"
	for _ in $(seq "$times"); do
		begin=$(date +%s%N)
		build/bin/ktrace why --elf build/demo/x86_64/kernel.elf "$@" "$tmp/busy.ktrx" >"$tmp/out" 2>"$tmp/err"
		[ $? -le 11 ] && [ -s "$tmp/out" ] || {
			cat "$tmp/err" >&2
			exit 1
		}
		echo $(($(date +%s%N) - begin)) >>"$tmp/ns"
	done
	ms=$(sort -n "$tmp/ns" | sed -n "$(((times + 1) / 2))p" | awk '{ printf "%.1f", $1 / 1e6 }')
	load=$(cut -d' ' -f1 /proc/loadavg)
	echo "{\"bench\": \"why\", \"case\": \"$name\", \"events\": $events, \"ms\": $ms, \"aim_ms\": $aim, \"load\": $load}"
	echo "why $name: $ms ms for $events events (aim $aim); load $load" >&2
	[ -n "$short" ] || awk -v ms="$ms" -v aim=$aim 'BEGIN { exit ms > aim }' || status=1
}

measure text
measure json --json
exit $status
