#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Compares the cost of `ktrace record` with that of `strace -f -o FILE`, in alternating runs. Both trace
# children and record all calls. The cost is the median of the processor time of tracer and program together.
# All processes run on one processor, because different placements by the scheduler change the figures by a
# third. Limit: 0.9 times the cost of strace.
set -u
tmp=$(mktemp -d /dev/shm/ktrace-bench.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
export XDG_RUNTIME_DIR="$tmp"
status=0
times=11 calls=10000 children=200 pipes=30 short=
cpu=$(taskset -cp $$ | sed 's/.*[^0-9]//') && taskset -cp "$cpu" $$ >"$tmp/affinity" || exit 1
[ -z "${BENCH_SHORT-}" ] || times=1 calls=100 children=5 pipes=2 short=yes # see short.h

# cpu_ms COMMAND…: sets $spent to the command's CPU time in milliseconds.
cpu_ms() {
	build/bench/cputime "$@" >"$tmp/out" 2>"$tmp/seconds" </dev/null
	spent=$(awk '{ print $1 * 1000 }' "$tmp/seconds")
}

# measure NAME COMMAND…: compares the command's CPU time under `ktrace record`, under strace, and alone.
measure() {
	name=$1
	shift
	for _ in $(seq "$times"); do
		cpu_ms build/bin/ktrace record -i -f "$tmp/trace" "$@"
		echo "$spent" >>"$tmp/record"
		cpu_ms strace -f -o "$tmp/strace" "$@"
		echo "$spent" >>"$tmp/other"
		cpu_ms "$@"
		echo "$spent" >>"$tmp/bare"
	done
	for kind in record other bare; do sort -n "$tmp/$kind" | sed -n "$(((times + 1) / 2))p"; done | xargs | {
		read -r record other bare
		awk -v short="$short" -v name="$name" -v record="$record" -v other="$other" -v bare="$bare" 'BEGIN {
			ratio = other > bare ? (record - bare) / (other - bare) : 0
			printf "{\"bench\": \"record_linux\", \"case\": \"%s\", \"record_ms\": %d, \"strace_ms\": %d, \"bare_ms\": %d, \"ratio\": %.3f, \"most\": 0.9}\n", name, record, other, bare, ratio
			printf "record %-10s %5d ms, strace %5d ms, bare %4d ms: overhead %.2f of strace'\''s  %s\n", name, record, other, bare, ratio, ratio <= 0.9 ? "held" : "MISSED" > "/dev/stderr"
			exit short == "" && ratio > 0.9
		}'
	} || status=1
	rm -f "$tmp/record" "$tmp/other" "$tmp/bare"
}

measure calls dd if=/dev/zero of=/dev/null bs=1 count=$calls
measure paths find /usr/share/doc -name nothing
measure threads build/test/record/threads
measure children sh -c "for n in \$(seq $children); do /bin/true; done"
measure tree sh -c "for n in \$(seq $pipes); do (ls /usr | cat | wc -l); done"
exit $status
