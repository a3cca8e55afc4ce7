#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Hardware trace of a process with several threads: each thread has a unit of its own with the thread's id and
# name, and the functions decoded from a unit are those that its thread ran. All threads together match QEMU's
# own log. Also tests threads that existed before the context (demo/user/programs/hwtthreads.c).
# HWT_ARCHES: architectures to test (default: x86_64 aarch64).
. test/tap.sh

ktrace=build/bin/ktrace

# boot ARCH CPUS PROGRAMS: runs the programs in a guest; stores the console in $tmp/console.
boot() {
	rm -f "$tmp/crew.trace"
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --trace-unit --out "$tmp/rings" -- $(sh scripts/qemu.sh "$1" "$2") \
		-append "run=$3" </dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/console"
	"$ktrace" take -d "$tmp" "$tmp/console" 2>"$tmp/took"
	grep 'failed' "$tmp/console" | sed 's/^/# /'
}

# functions INDEX: prints the functions that the thread with this index ran, in one line.
functions() {
	"$ktrace" hwt --functions -t "$1" -R "build/demo/$arch/root" "$tmp/crew.trace" 2>"$tmp/err" |
		awk '/ (saw|paint|sweep|main)(_[a-z]*)?$/ { print $2 }' | paste -sd ' '
}

for arch in ${HWT_ARCHES:-x86_64 aarch64}; do
	for cpus in 1 4; do
		boot "$arch" "$cpus" hwtthreads
		check "$arch, $cpus CPUs: existing threads and a new one are traced" \
			grep -qx 'init: hwtthreads: status 0' "$tmp/console"
		check "$arch, $cpus CPUs: the kernel finds a trace unit" sh -c '! grep -q "there is no trace unit" "$1"' sh "$tmp/console"
	done

	boot "$arch" 2 hwt:-w:/tmp/crew.trace:crew,give:/tmp/crew.trace
	check "$arch: hwt reports that nothing is lost" grep -q 'lost: 0 bytes in 0 rounds of the buffer, 0 packets, 0 records' "$tmp/console"
	check "$arch: hwt traces every thread" sh -c '! grep -q "a thread is not traced" "$1"' sh "$tmp/console"
	build/bin/kdump -f "$tmp/crew.trace" -H >"$tmp/text"
	equal "$arch: the file has six units" "0 1 2 3 4 5" "$(awk '$3 == "HTHR" { print $5 }' "$tmp/text" | sort -nu | paste -sd ' ')"
	equal "$arch: each unit belongs to another thread" 6 "$(awk '$3 == "HTHR" { print $2 }' "$tmp/text" | sort -u | wc -l)"
	equal "$arch: the file has the threads' names" '1 "carpenter" 2 "painter" 3 "sweeper" 4 "sweeper" 5 "sweeper"' \
		"$(awk '$3 == "HNAM" { print $5, $NF }' "$tmp/text" | sort -n | paste -sd ' ')"
	check "$arch: the data of a unit has its thread's id" awk '
		$3 == "HTHR" { thread[$5] = $2 }
		$3 == "HDAT" { n++; bad += thread[$5] != $2 }
		END { exit n < 6 || bad }' "$tmp/text"
	equal "$arch: the first thread runs only main" "main" "$(functions 0)"
	equal "$arch: the carpenter thread runs only its functions" "saw saw_beam saw_plank" "$(functions 1)"
	equal "$arch: the painter thread runs only its functions" "paint paint_door paint_wall" "$(functions 2)"
	for index in 3 4 5; do
		equal "$arch: a sweeper thread runs only its function" "sweep" "$(functions $index)"
	done

	HWT_PROGRAMS=crew HWT_KERNEL=no sh scripts/demo_hwt.sh "$arch" >"$tmp/out" 2>"$tmp/err"
	equal "$arch: the comparison with QEMU's log succeeds" 0 "$?"
	check "$arch: decoded functions of all threads match QEMU's log" grep -qE "^$arch crew: functions equal: [0-9]{2,}\$" "$tmp/out"
	sed 's/^/# /' "$tmp/err"
done
done_testing
