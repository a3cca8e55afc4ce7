#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures the CPU time of queries of `ktrace sql` over a version 1 trace of 8 M events. Prints the median of
# 5 runs as text and as JSON. Fails if a query takes longer than its aim.
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
times=5 records=8388608 short=
[ -z "${BENCH_SHORT-}" ] || times=1 records=8192 short=yes # see short.h
status=0
build/bench/decode/gen_v1 "$tmp/trace.ktrx" "$records" || exit 1

# measure NAME AIM QUERY: AIM is the target maximum, in ms of CPU time.
measure() {
	: >"$tmp/times"
	for _ in $(seq "$times"); do
		build/bench/cputime build/bin/ktrace sql --json "$tmp/trace.ktrx" "$3" >"$tmp/out" 2>"$tmp/err" || {
			cat "$tmp/err" >&2
			exit 1
		}
		tail -n 1 "$tmp/err" >>"$tmp/times"
	done
	[ -s "$tmp/out" ] || exit 1
	ms=$(sort -n "$tmp/times" | sed -n "$(((times + 1) / 2))p" | awk '{ printf "%.0f", $1 * 1000 }')
	echo "{\"bench\": \"sql\", \"case\": \"$1\", \"ms\": $ms, \"aim_ms\": $2}"
	echo "sql $1: $ms ms (aim $2)" >&2
	[ -n "$short" ] || awk -v ms="$ms" -v aim="$2" 'BEGIN { exit ms > aim }' || status=1
}

measure count 500 'SELECT count(*) FROM events'
measure group 2000 'SELECT name, count(*) FROM events GROUP BY name'
measure window 20 'SELECT count(*), min(ts), max(thread) FROM events WHERE ts BETWEEN 100000000 AND 101000000'
measure counts 20 'SELECT name, counted FROM counts'
measure recorded 200 'SELECT name, recorded FROM counts'
measure syscalls 8000 'SELECT count(duration), max(duration) FROM syscalls'
exit $status
