#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures what an event costs in the demo kernel under TCG: ns per round, and the ratio to the cost of only
# reading the clock. Prints one JSON line per architecture on stdout. There is no limit: the costs of an
# emulated CPU differ from those of a real one.
set -u
arches="x86_64 aarch64 riscv64"
[ -z "${BENCH_SHORT-}" ] || arches=x86_64 # see short.h
status=0
for arch in ${*:-$arches}; do
	line=$(timeout -k 2 600 $(sh scripts/qemu.sh "$arch" 1) -append run=cost </dev/null 2>/dev/null |
		tr -d '\r' | grep '^cost:\|Booting.*cost:')
	printf '%s\n' "$line" | awk -v arch="$arch" '
		match($0, /clock [0-9]+ ps, event off [0-9]+ ps, one slot [0-9]+ ps, three slots [0-9]+ ps/) {
			split(substr($0, RSTART, RLENGTH), f, /[^0-9]+/)
			printf "{\"bench\": \"guest\", \"arch\": \"%s\", \"clock_ns\": %.2f, \"off_ns\": %.2f, ", arch, f[2] / 1e3, f[3] / 1e3
			printf "\"one_slot_ns\": %.2f, \"three_slots_ns\": %.2f, \"one_slot_to_clock\": %.2f}\n", f[4] / 1e3, f[5] / 1e3, f[4] / f[2]
			printf "guest %-8s clock %.1f ns, off %.1f ns, one slot %.1f ns (%.1f x clock), three slots %.1f ns\n", \
				arch, f[2] / 1e3, f[3] / 1e3, f[4] / 1e3, f[4] / f[2], f[5] / 1e3 > "/dev/stderr"
			found = 1
		}
		END { exit !found }' || { echo "bench/guest.sh: $arch: no figures on the console" >&2; status=1; }
done
exit $status
