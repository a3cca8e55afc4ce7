#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures how long it takes to extract the rings of a running x86_64 guest with 4 busy CPUs and 512 MiB of
# RAM, of which every page has been accessed. Measures with and without a file for the guest's RAM. Finds the
# rings by the kernel's symbol, or by a search of all memory. Prints medians and 99th percentiles of two
# times: from start to the finished trace, and the time by QEMU's clock for which the guest was halted. Also
# prints the CPU time, and the load of the host, because the guest is part of that load. Aims: 50 ms by
# symbol, 300 ms by search, halted for 10 ms.
set -u
tmp=$(mktemp -d /dev/shm/ktrace-bench.XXXXXX)
ktrace=$PWD/build/bin/ktrace
kernel=build/demo/x86_64/kernel.elf
qemu=
trap '[ -z "$qemu" ] || kill "$qemu"; wait; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
status=0
short=${BENCH_SHORT:+yes} memory=512M
[ -z "$short" ] || memory=64M # see short.h

# boot OPTION…: starts a guest with $memory of memory.
boot() {
	rm -f "$tmp/qmp"
	# shellcheck disable=SC2046
	timeout -k 2 300 $(sh scripts/qemu.sh x86_64 4 | sed "s/-m 128M/-m $memory/; s/-nographic/-display none/") "$@" \
		-machine memory-backend=ram -append "debug=ktrace run=forever" -serial null \
		-qmp "unix:$tmp/qmp,server=on,wait=off" >/dev/null 2>&1 &
	qemu=$!
	if [ -z "$short" ]; then
		sleep 4
		return
	fi
	for _ in $(seq 300); do
		"$ktrace" extract -o "$tmp/out.ktrx" --qmp "$tmp/qmp" --elf "$kernel" 2>"$tmp/err" && return
		sleep 0.1
	done
	cat "$tmp/err" >&2
	exit 1
}

halt() {
	kill "$qemu"
	wait "$qemu" 2>/dev/null
	qemu=
}

# Sets $cpu to the CPU time, in milliseconds, of this shell's children that have ended.
cpu_ms() {
	times >"$tmp/times"
	cpu=$(sed -n '2s/[ms]/ /gp' "$tmp/times" | awk '{ print int(($1 * 60 + $2 + $3 * 60 + $4) * 1000) }')
}

# measure NAME COUNT AIM OPTION…: extracts COUNT times with these options, and prints the measured times
# and AIM, the target maximum, all in ms.
measure() {
	name=$1 count=$2 aim=$3
	[ -z "$short" ] || count=1
	shift 3
	: >"$tmp/json"
	cpu_ms
	begin=$cpu
	for _ in $(seq "$count"); do
		"$ktrace" extract --json -o "$tmp/out.ktrx" "$@" >>"$tmp/json" 2>"$tmp/err" || {
			cat "$tmp/err" >&2
			status=1
		}
		sleep 0.02
	done
	cpu_ms
	cpu=$((cpu - begin))
	for key in total_ms pause_ms; do
		grep -o "\"$key\":[0-9.]*" "$tmp/json" | cut -d: -f2 | sort -n | awk '
			{ v[NR] = $1 } END { printf "%s %s\n", v[int((NR + 1) / 2)], v[int(NR * 0.99 + 0.99)] }'
	done | xargs echo | awk -v name="$name" -v aim="$aim" -v cpu="$cpu" -v count="$count" -v host_load="$(cut -d' ' -f1 /proc/loadavg)" '
		NF == 4 {
			printf "{\"bench\": \"extract\", \"case\": \"%s\", \"total_ms\": %s, \"total_p99_ms\": %s, ", name, $1, $2
			printf "\"cpu_ms\": %.1f, \"aim_ms\": %s, ", cpu / count, aim
			printf "\"pause_ms\": %s, \"pause_p99_ms\": %s, \"load\": %s}\n", $3, $4, host_load
			printf "extract %-18s %7.1f ms, p99 %.1f, %.1f of them at work (aim %d); ", name, $1, $2, cpu / count, aim > "/dev/stderr"
			printf "halted %.1f ms, p99 %.1f (aim 10); load %s\n", $3, $4, host_load > "/dev/stderr"
		}' || status=1
}

boot -object "memory-backend-file,id=ram,size=$memory,mem-path=$tmp/ram,share=on,prealloc=on"
measure "QMP, file, symbol" 50 50 --qmp "$tmp/qmp" --elf "$kernel"
measure "QMP, file, search" 20 300 --qmp "$tmp/qmp"
measure "file, symbol" 20 50 --elf "$kernel" "$tmp/ram"
measure "file, search" 20 300 "$tmp/ram"
halt
boot -object memory-backend-ram,id=ram,size="$memory",prealloc=on
measure "QMP, symbol" 50 50 --qmp "$tmp/qmp" --elf "$kernel"
measure "QMP, search" 20 300 --qmp "$tmp/qmp"
halt
exit $status
