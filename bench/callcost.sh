#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures the cost that tracing a process (all facilities except data of input and output, into a file) adds
# to a system call of the demo kernel under TCG. The result is the ratio of this cost to the cost that the
# kernel trace's two events per call add in the same run. Limit: 6 on x86_64; none on other architectures.
# Prints one JSON line per architecture on stdout.
set -u
# BENCH_SHORT: see short.h.
short=${BENCH_SHORT:+yes} arches="x86_64 aarch64 riscv64"
[ -z "$short" ] || arches=x86_64
status=0
for arch in ${*:-$arches}; do
	timeout -k 2 600 $(sh scripts/qemu.sh "$arch" 1) -append run=callcost </dev/null 2>/dev/null | tr -d '\r' |
		awk -v arch="$arch" -v most=6 -v short="$short" '
		match($0, /callcost: plain [0-9]+ ps, events [0-9]+ ps, traced [0-9]+ ps/) {
			split(substr($0, RSTART, RLENGTH), f, /[^0-9]+/)
			events = f[3] - f[2]
			traced = f[4] - f[2]
			ratio = events > 0 ? traced / events : 0
			held = short != "" || arch != "x86_64" || (events > 0 && ratio <= most)
			printf "{\"bench\": \"callcost\", \"arch\": \"%s\", \"plain_ns\": %.1f, \"events_ns\": %.1f, ", arch, f[2] / 1e3, events / 1e3
			printf "\"traced_ns\": %.1f, \"ratio\": %.2f, \"most\": %d, \"held\": %s}\n", traced / 1e3, ratio, most, held ? "true" : "false"
			printf "callcost %-8s a call %.0f ns, its events %.0f ns more, its process trace %.0f ns more: %.2f x%s\n", arch,
				f[2] / 1e3, events / 1e3, traced / 1e3, ratio, held ? "" : ", at most " most ": MISSED" > "/dev/stderr"
			found = held
		}
		END { exit !found }' || { echo "bench/callcost.sh: $arch: no figures on the console, or the limit is exceeded" >&2; status=1; }
done
exit $status
