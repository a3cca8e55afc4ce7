#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures what `ktrace live` costs the host while an x86_64 guest records as much as it can: its CPU time as
# a share of one core. Aim: at most 5 % at a million events per second.
set -u
tmp=$(mktemp -d /dev/shm/ktrace-bench.XXXXXX)
ktrace=$PWD/build/bin/ktrace
seconds=10 ready=3
[ -z "${BENCH_SHORT-}" ] || seconds=1 ready=0 # see short.h
qemu=
trap '[ -z "$qemu" ] || kill "$qemu"; wait; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# shellcheck disable=SC2046
timeout -k 2 600 $(sh scripts/qemu.sh x86_64 2 | sed 's/-m 128M//; s/-nographic/-display none/') \
	$("$ktrace" qemu-args x86_64 --ram "$tmp/ram") -append "debug=ktrace run=stress seconds=500" -serial null \
	>/dev/null 2>&1 &
qemu=$!
# Waits until the guest has recorded events, which takes long on a busy host.
until "$ktrace" extract -o "$tmp/begun" "$tmp/ram" 2>/dev/null && "$ktrace" show "$tmp/begun" 2>/dev/null | grep -q stress; do
	kill -0 "$qemu" 2>/dev/null || exit 1
	sleep 0.2
done
sleep "$ready"
# Sets $spent to the CPU time, in milliseconds, of children that have ended.
spend() {
	times >"$tmp/times"
	spent=$(sed -n '2s/[ms]/ /gp' "$tmp/times" | awk '{ print ($1 * 60 + $2 + $3 * 60 + $4) * 1000 }')
}
spend
before=$spent
"$ktrace" live --json --count "$seconds" "$tmp/ram" >"$tmp/live" || exit 1
spend
cpu=$((spent - before))
grep -o '"events_per_second":[0-9.]*' "$tmp/live" | cut -d: -f2 | sort -n | awk -v cpu="$cpu" -v seconds="$seconds" '
	{ rate[NR] = $1 }
	END {
		share = cpu / seconds / 10
		printf "{\"bench\": \"live\", \"events_per_second\": %d, \"core_percent\": %.2f, \"aim_percent\": 5}\n", \
			rate[int((NR + 1) / 2)], share
		printf "live %.1f %% of a core beside %.1f million events/s (aim 5 %% at 1 million)\n", share, \
			rate[int((NR + 1) / 2)] / 1e6 > "/dev/stderr"
	}'
