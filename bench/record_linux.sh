#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# What `ktrace record` costs beside `strace -f -o FILE`, both with children and all calls, by turns: processor time of
# tracer and program together, medians. Bar: 1.0 of strace.
set -u
tmp=$(mktemp -d /dev/shm/ktrace-bench.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
export XDG_RUNTIME_DIR="$tmp"
status=0
times=11 short=
[ -z "${BENCH_SHORT-}" ] || times=1 short=yes # see short.h

# cpu_ms COMMAND…: into $cpu.
cpu_ms() {
	sh -c '"$@" >/dev/null 2>&1; times' - "$@" >"$tmp/times"
	cpu=$(sed -n '2s/[ms]/ /gp' "$tmp/times" | awk '{ print int(($1 * 60 + $2 + $3 * 60 + $4) * 1000) }')
}

# measure NAME COMMAND…
measure() {
	name=$1
	shift
	for _ in $(seq "$times"); do
		cpu_ms build/bin/ktrace record -i -f "$tmp/trace" "$@"
		echo "$cpu" >>"$tmp/record"
		cpu_ms strace -f -o "$tmp/strace" "$@"
		echo "$cpu" >>"$tmp/other"
		cpu_ms "$@"
		echo "$cpu" >>"$tmp/bare"
	done
	for kind in record other bare; do sort -n "$tmp/$kind" | sed -n "$(((times + 1) / 2))p"; done | xargs | {
		read -r record other bare
		awk -v short="$short" -v name="$name" -v record="$record" -v other="$other" -v bare="$bare" 'BEGIN {
			ratio = other > bare ? (record - bare) / (other - bare) : 0
			printf "{\"bench\": \"record_linux\", \"case\": \"%s\", \"record_ms\": %d, \"strace_ms\": %d, \"bare_ms\": %d, \"ratio\": %.3f, \"most\": 1.0}\n", name, record, other, bare, ratio
			printf "record %-10s %5d ms, strace %5d ms, bare %4d ms: overhead %.2f of strace'\''s  %s\n", name, record, other, bare, ratio, ratio <= 1 ? "held" : "MISSED" > "/dev/stderr"
			exit short == "" && ratio > 1
		}'
	} || status=1
	rm -f "$tmp/record" "$tmp/other" "$tmp/bare"
}

measure calls dd if=/dev/zero of=/dev/null bs=1 count=10000
measure paths find /usr/share/doc -name nothing
measure threads build/test/record/threads
measure children sh -c 'for n in $(seq 100); do /bin/true; done'
exit $status
