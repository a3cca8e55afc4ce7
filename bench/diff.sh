#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures the CPU time of `ktrace diff` on two traces of a million events each. The traces contain the same
# 16 threads, but the order of the threads differs, and one call in 10,000 has a different result. Prints the
# minimum of 5 runs, as text and as JSON. Aim: 3 s.
set -u
tmp=$(mktemp -d /dev/shm/ktrace-bench.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
aim=3000 times=5 events=1000000 short=
[ -z "${BENCH_SHORT-}" ] || times=1 events=3000 short=yes # see short.h

for seed in 1 2; do
	build/bench/diff/gen_diff "$tmp/$seed" $events $seed || exit 1
done
for _ in $(seq "$times"); do
	build/bench/cputime build/bin/ktrace diff "$tmp/1" "$tmp/2" >"$tmp/out" 2>>"$tmp/times"
done
verdict=$(tail -n 1 "$tmp/out")
case $verdict in
differs:* | same:*) ;;
*)
	echo "diff: the traces could not be compared: $verdict" >&2
	exit 1
	;;
esac
ms=$(sort -n "$tmp/times" | awk 'NR == 1 { printf "%.0f", $1 * 1000 }')
load=$(cut -d' ' -f1 /proc/loadavg)
echo "{\"bench\": \"diff\", \"events\": $events, \"ms\": $ms, \"aim_ms\": $aim, \"load\": $load}"
echo "diff: $ms ms of CPU time for 2 x $events events (aim $aim); $verdict; load $load" >&2
[ -n "$short" ] || [ "$ms" -le $aim ]
