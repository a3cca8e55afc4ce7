#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The small Unix under TCG: what recording every event, those of all locks too, costs its parallel load; and how long it
# takes from the start of QEMU to the first line of a user program. Reported only: an emulated CPU's costs are not a
# real one's, and other load on the host shows, so runs alternate and medians are compared. The load's own clock and
# the CPU time of the whole run on the host are two measures of the same; the second suffers less from other load.
# bench/unix.sh [ARCH…], UNIX_REPEATS and UNIX_FILES in the environment.
set -u
repeats=${UNIX_REPEATS:-9}
files=${UNIX_FILES:-400}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# CPU seconds that a `times` told of all children: user and system.
cpu_seconds() { awk -F '[ms ]+' 'NR == 2 { print $1 * 60 + $2 + $3 * 60 + $4 }' "$1"; }

# load ARCH VARIANT EVENTS: appends "VARIANT MICROSECONDS CPU-SECONDS EVENTS" to $tmp/runs.
load() {
	times >"$tmp/before"
	timeout -k 2 100 build/bin/ktrace run -q --timeout 90 --out "$tmp/trace" -- $(sh scripts/qemu.sh "$1" 2) \
		-append "$3 slots=524288 run=time:make:4:$files" </dev/null >"$tmp/console" 2>"$tmp/err" || return 1
	times >"$tmp/after"
	build/bin/ktrace summary "$tmp/trace" >"$tmp/summary" 2>>"$tmp/err"
	awk -v variant="$2" -v before="$(cpu_seconds "$tmp/before")" -v after="$(cpu_seconds "$tmp/after")" '
		FNR == NR && /^time: make:/ { us = $3 }
		FNR != NR && $1 == "events" { events = $2 }
		END { if (!us) exit 1; print variant, us, after - before, events }' "$tmp/console" "$tmp/summary" >>"$tmp/runs"
}

# median VARIANT COLUMN
median() {
	awk -v variant="$1" -v column="$2" '$1 == variant { print $column }' "$tmp/runs" | sort -n |
		awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

report_load() {
	echo "$(median off 2) $(median all 2) $(median off 3) $(median all 3) $(median all 4)" |
		awk -v arch="$1" -v repeats="$repeats" -v files="$files" '{
			printf "{\"bench\": \"unix\", \"arch\": \"%s\", \"repeats\": %d, \"files\": %d, ", arch, repeats, files
			printf "\"off_ms\": %.1f, \"all_ms\": %.1f, \"ratio\": %.3f, ", $1 / 1e3, $2 / 1e3, $2 / $1
			printf "\"off_cpu_s\": %.2f, \"all_cpu_s\": %.2f, \"cpu_ratio\": %.3f, ", $3, $4, $4 / $3
			printf "\"events\": %d, \"events_per_second\": %.0f}\n", $5, $5 * 1e6 / $2
			printf "unix %-8s make of %d files: off %.0f ms, all events %.0f ms (x %.3f); CPU %.2f s, %.2f s (x %.3f); %.0f events/s\n", \
				arch, files, $1 / 1e3, $2 / 1e3, $2 / $1, $3, $4, $4 / $3, $5 * 1e6 / $2 > "/dev/stderr"
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
	for _ in $(seq "$repeats"); do
		load "$arch" off "ktrace=*=off" && load "$arch" all "debug=ktrace" ||
			{ echo "bench/unix.sh: $arch: no figure" >&2; cat "$tmp/err" >&2; status=1; break; }
	done
	[ "$(grep -c '^all' "$tmp/runs")" -eq 0 ] || report_load "$arch"
	boot "$arch"
done
exit $status
