#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures the CPU time of each format of `ktrace export` over a version 1 trace of 8 M events. Prints the
# median of 3 runs as text and as JSON, in million events a second. Fails if a format is slower than 40 % of
# its aim, because the aim is for a machine without other work.
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
times=3 records=8388608 short=
[ -z "${BENCH_SHORT-}" ] || times=1 records=8192 short=yes # see short.h
status=0
build/bench/decode/gen_v1 "$tmp/trace.ktrx" "$records" || exit 1

# measure FORMAT AIM: AIM is the target value, in million events per second; 0: no target.
measure() {
	: >"$tmp/times"
	for _ in $(seq "$times"); do
		rm -rf "$tmp/out"
		build/bench/cputime build/bin/ktrace export --format "$1" "$tmp/trace.ktrx" -o "$tmp/out" 2>"$tmp/err" || {
			cat "$tmp/err" >&2
			exit 1
		}
		tail -n 1 "$tmp/err" >>"$tmp/times"
	done
	seconds=$(sort -n "$tmp/times" | sed -n "$(((times + 1) / 2))p")
	rate=$(awk -v seconds="$seconds" -v records="$records" 'BEGIN { printf "%.1f", records / 1e6 / (seconds + 1e-9) }')
	echo "{\"bench\": \"export\", \"case\": \"$1\", \"million_events_per_s\": $rate, \"aim\": $2}"
	echo "export $1: $rate M events/s (aim $2)" >&2
	[ -n "$short" ] || awk -v rate="$rate" -v aim="$2" 'BEGIN { exit rate < 0.4 * aim }' || status=1
}

measure perfetto 5
measure fxt 5
measure ctf 10
measure parquet 10
measure folded 0
measure speedscope 0
measure sqlite 0
exit $status
