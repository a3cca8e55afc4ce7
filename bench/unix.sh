#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The small Unix under TCG: what recording every event, those of all locks too, costs its parallel load; and how long it
# takes from the start of QEMU to the first line of a user program. Reported only: an emulated CPU's costs are not a
# real one's, and other load on the host shows. So runs alternate, and medians and the fastest runs are compared, by the
# load's own clock, medians also by the CPU time of QEMU; and the guest's instructions are counted, which nothing disturbs.
# bench/unix.sh [ARCH…], UNIX_REPEATS and UNIX_FILES in the environment.
set -u
repeats=${UNIX_REPEATS:-15}
files=${UNIX_FILES:-250}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

off="ktrace=*=off" all="debug=ktrace"

# CPU seconds that a `times` told of all children: user and system.
cpu_seconds() { awk -F '[ms ]+' 'NR == 2 { print $1 * 60 + $2 + $3 * 60 + $4 }' "$1"; }

# load ARCH CPUS ARGUMENTS [OPTION…]: microseconds that the load took, by the guest's clock.
load() {
	load_arch=$1 load_cpus=$2 load_arguments=$3
	shift 3
	timeout -k 2 100 $(sh scripts/qemu.sh "$load_arch" "$load_cpus") "$@" \
		-append "$load_arguments run=time:make:4:$files" </dev/null >"$tmp/console" 2>"$tmp/err"
	awk '/^time: make:/ { us = $3 } END { print us; exit !us }' "$tmp/console"
}

# timed ARCH VARIANT ARGUMENTS: appends "VARIANT MICROSECONDS CPU-SECONDS" to $tmp/runs.
timed() {
	times >"$tmp/before"
	load "$1" 2 "$3" >"$tmp/us" || return 1
	times >"$tmp/after"
	echo "$2 $(cat "$tmp/us") $(cpu_seconds "$tmp/before") $(cpu_seconds "$tmp/after")" |
		awk '{ print $1, $2, $4 - $3 }' >>"$tmp/runs"
}

# One CPU and a nanosecond an instruction make the guest's clock a count of them.
instructions() { echo "$2 $(load "$1" 1 "$3" -icount shift=0,sleep=off)" >>"$tmp/runs"; }

# How many events the load is, from rings that hold all of them.
events() {
	build/bin/ktrace run -q --timeout 90 --out "$tmp/trace" -- $(sh scripts/qemu.sh "$1" 2) \
		-append "$all slots=524288 run=time:make:4:$files" </dev/null >"$tmp/console" 2>"$tmp/err"
	build/bin/ktrace summary "$tmp/trace" | awk '$1 == "events" { print "events", $2 }' >>"$tmp/runs"
}

measure() {
	for pair in $(seq "$repeats"); do
		if [ $((pair % 2)) -eq 0 ]; then
			timed "$1" off "$off" && timed "$1" all "$all" || return 1
		else
			timed "$1" all "$all" && timed "$1" off "$off" || return 1
		fi
	done
	instructions "$1" off-instructions "$off"
	instructions "$1" all-instructions "$all"
	events "$1"
}

# median VARIANT COLUMN
median() {
	awk -v variant="$1" -v column="$2" '$1 == variant { print $column }' "$tmp/runs" | sort -n |
		awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

least() { awk -v variant="$1" -v column="$2" '$1 == variant { print $column }' "$tmp/runs" | sort -n | head -n 1; }

report_load() {
	echo "$(median off 2) $(median all 2) $(median off 3) $(median all 3) $(median off-instructions 2)" \
		"$(median all-instructions 2) $(median events 2) $(least off 2) $(least all 2)" |
		awk -v arch="$1" -v repeats="$repeats" -v files="$files" '{
			printf "{\"bench\": \"unix\", \"arch\": \"%s\", \"repeats\": %d, \"files\": %d, ", arch, repeats, files
			printf "\"off_ms\": %.1f, \"all_ms\": %.1f, \"ratio\": %.3f, \"fastest_ratio\": %.3f, ", \
				$1 / 1e3, $2 / 1e3, $2 / $1, $9 / $8
			printf "\"off_cpu_s\": %.2f, \"all_cpu_s\": %.2f, \"cpu_ratio\": %.3f, ", $3, $4, $4 / $3
			printf "\"instruction_ratio\": %.4f, \"events\": %d, ", $6 / $5, $7
			printf "\"events_per_second\": %.0f}\n", $7 * 1e6 / $2
			printf "unix %-8s make of %d files: off %.0f ms, all events %.0f ms (x %.3f, fastest x %.3f), ", \
				arch, files, $1 / 1e3, $2 / 1e3, $2 / $1, $9 / $8 > "/dev/stderr"
			printf "CPU time x %.3f, instructions x %.4f; %d events, %.0f a second\n", \
				$4 / $3, $6 / $5, $7, $7 * 1e6 / $2 > "/dev/stderr"
		}'
}

# Milliseconds from the start of QEMU to the first line that a user program writes.
boot_once() {
	start=$(date +%s%N)
	timeout -k 2 30 $(sh scripts/qemu.sh "$1" 2) -append run=cat:/etc/motd </dev/null 2>/dev/null |
		while IFS= read -r line; do
			case $line in
			"$(head -n 1 demo/user/etc/motd)"*) echo $((($(date +%s%N) - start) / 1000000)) ;;
			esac
		done
}

boot() {
	for _ in $(seq "$repeats"); do
		echo "boot $(boot_once "$1")" >>"$tmp/runs"
	done
	median boot 2 | awk -v arch="$1" '{
		printf "{\"bench\": \"unix-boot\", \"arch\": \"%s\", \"first_program_ms\": %.0f}\n", arch, $1
		printf "unix %-8s %.0f ms from the start of QEMU to the first line of a user program\n", arch, $1 > "/dev/stderr"
	}'
}

status=0
for arch in ${*:-x86_64 aarch64 riscv64}; do
	: >"$tmp/runs"
	if measure "$arch"; then
		report_load "$arch"
		boot "$arch"
	else
		echo "bench/unix.sh: $arch: the load failed" >&2
		tail -n 5 "$tmp/console" "$tmp/err" >&2
		status=1
	fi
done
exit $status
