#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures two values for the demo Unix under TCG. The first one is the cost for its parallel load if every
# event is recorded, including those of all locks. The second one is the time from the start of QEMU to the
# first line of a user program. There is no limit: the costs of an emulated CPU differ from those of a real
# one.
#
# To make runs comparable, one boot runs the load many times, with events off and on alternately: off, on, on,
# off. The first pair does not count, because QEMU translates the kernel and the host allocates memory then.
# The measure is the CPU time of QEMU's threads, which other load on the host disturbs least; the guest's
# clock is reported as well. Each pair gives a ratio. Their median has a confidence interval that does not
# depend on their distribution. The guest's instructions are counted as well; nothing disturbs these.
#
# bench/unix.sh [ARCH…]; UNIX_BOOTS (boots of 16 pairs each) and UNIX_FILES (size of the load) in the
# environment.
set -u
boots=${UNIX_BOOTS:-4}
files=${UNIX_FILES:-150}
arches="x86_64 aarch64 riscv64" starts=9
pairs=17 # in a boot, with the one that does not count: as much as its arguments hold
if [ -n "${BENCH_SHORT-}" ]; then # see short.h
	boots=1 files=2 pairs=2 starts=1 arches=x86_64
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

off="ktrace=*=off" all="debug=ktrace"

# guest ARCH CPUS ARGUMENTS [OPTION…]: runs a guest, prints its console output, and writes QEMU's process id
# to $tmp/pid.
guest() {
	guest_arch=$1 guest_cpus=$2 guest_arguments=$3
	shift 3
	timeout -k 2 300 sh -c 'echo $$ >"$0" && exec "$@"' "$tmp/pid" \
		$(sh scripts/qemu.sh "$guest_arch" "$guest_cpus") "$@" -append "$guest_arguments" </dev/null 2>"$tmp/err"
}

# Prints the value of run= for one boot: $pairs pairs of loads, with events off and on, and a last load. The
# last load is not measured, because QEMU may end before its CPU time is read.
programs() {
	load=time:make:4:$files
	for pair in $(seq "$pairs"); do
		if [ $((pair % 2)) -eq 1 ]; then
			printf '%s' "sysctl:*=off,$load,sysctl:*=on,$load,"
		else
			printf '%s' "$load,sysctl:*=off,$load,"
		fi
	done
	echo "$load"
}

# Reads a guest's console. At the end of each load, prints two numbers: the load's duration by the guest's
# clock, in microseconds, and the CPU time of QEMU's threads since QEMU's start, in nanoseconds (0 if QEMU has
# ended). Starts no process, because the next load may end before a process has read the CPU time.
load_times() {
	while IFS= read -r line; do
		case $line in
		"time: make:"*)
			set -- $line
			us=$3 sum=0
			read -r id <"$tmp/pid"
			for thread in /proc/"$id"/task/*/schedstat; do
				read -r ns rest 2>/dev/null <"$thread" && sum=$((sum + ns))
			done
			echo "$us $sum"
			;;
		esac
	done 2>/dev/null
}

# pairs_of ARCH: boots once and appends a line "pair OFF-MS ALL-MS OFF-CPU-MS ALL-CPU-MS" to $tmp/runs for
# each pair of loads (events off, all events on). On a busy host, several lines of the console may arrive at
# the same time; the CPU time between these lines is then unknown, and the pair is not used.
pairs_of() {
	guest "$1" 2 "run=$(programs)" | load_times >"$tmp/times"
	awk -v loads=$((2 * pairs)) '
		{ us[NR] = $1; ns[NR] = $2 - before; before = $2 }
		END {
			for (n = 3; n < loads && NR == loads + 1; n += 2) {
				first_is_off = n % 4 == 1
				off = first_is_off ? n : n + 1
				all = first_is_off ? n + 1 : n
				if (ns[off] > 0 && ns[all] > 0)
					printf "pair %.2f %.2f %.2f %.2f\n", us[off] / 1e3, us[all] / 1e3, ns[off] / 1e6, ns[all] / 1e6
			}
			exit NR != loads + 1
		}' "$tmp/times" >>"$tmp/runs"
}

# Counts the guest's instructions: with one CPU and one nanosecond per instruction, the guest's clock equals the
# number of instructions.
instructions() {
	guest "$1" 1 "$3 run=time:make:4:$files" -icount shift=0,sleep=off |
		awk -v variant="$2" '/^time: make:/ { print variant, $3 }' >>"$tmp/runs"
}

# Counts the events that one load records. The rings are large enough to hold all of them.
events() {
	build/bin/ktrace run -q --timeout 300 --out "$tmp/trace" -- $(sh scripts/qemu.sh "$1" 2) \
		-append "$all slots=524288 run=time:make:4:$files" </dev/null >"$tmp/console" 2>"$tmp/err"
	build/bin/ktrace summary "$tmp/trace" | awk '$1 == "events" { print "events", $2 }' >>"$tmp/runs"
}

measure() {
	for _ in $(seq "$boots"); do
		pairs_of "$1" || return 1
	done
	for _ in $(seq 10); do # where no pair counts; a longer load is less often too short
		grep -q '^pair' "$tmp/runs" && break
		[ "$files" -ge 150 ] || files=$((2 * files))
		pairs_of "$1" || return 1
	done
	grep -q '^pair' "$tmp/runs" || return 1
	instructions "$1" off-instructions "$off"
	instructions "$1" all-instructions "$all"
	events "$1"
}

# Prints the median of the numbers on stdin.
middle() {
	sort -n | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

# median VARIANT COLUMN: prints the median of a column of $tmp/runs, in the lines of this variant.
median() { awk -v variant="$1" -v column="$2" '$1 == variant { print $column }' "$tmp/runs" | middle; }

# ratio OFF ALL: computes the ratio of two columns, ALL / OFF, for each pair. Prints the median of the ratios
# and its 95 % confidence interval.
ratio() {
	awk -v off="$1" -v all="$2" '$1 == "pair" { print $all / $off }' "$tmp/runs" | sort -n >"$tmp/ratios"
	awk -v middle="$(middle <"$tmp/ratios")" '
		{ value[NR] = $1 }
		END {
			low = int(NR / 2 - 0.98 * sqrt(NR) + 0.9999)
			if (low < 1)
				low = 1
			print middle, value[low], value[NR + 1 - low]
		}' "$tmp/ratios"
}

report_load() {
	echo "$(median pair 2) $(median pair 3) $(ratio 2 3) $(median pair 4) $(median pair 5) $(ratio 4 5)" \
		"$(median off-instructions 2) $(median all-instructions 2) $(median events 2)" |
		awk -v arch="$1" -v pairs="$(grep -c '^pair' "$tmp/runs")" -v files="$files" '{
			printf "{\"bench\": \"unix\", \"arch\": \"%s\", \"pairs\": %d, \"files\": %d, ", arch, pairs, files
			printf "\"off_cpu_ms\": %.1f, \"all_cpu_ms\": %.1f, \"cpu_ratio\": %.3f, \"cpu_ratio_low\": %.3f, " \
				"\"cpu_ratio_high\": %.3f, ", $6, $7, $8, $9, $10
			printf "\"off_ms\": %.1f, \"all_ms\": %.1f, \"ratio\": %.3f, \"ratio_low\": %.3f, " \
				"\"ratio_high\": %.3f, ", $1, $2, $3, $4, $5
			printf "\"instruction_ratio\": %.4f, \"events\": %d, ", $12 / $11, $13
			printf "\"events_per_second\": %.0f}\n", $13 * 1e3 / $2
			printf "unix %-8s make of %d files: all events x %.3f of off by CPU time (95%%: %.3f to %.3f), ", \
				arch, files, $8, $9, $10 > "/dev/stderr"
			printf "x %.3f by the clock (%.3f to %.3f), ", $3, $4, $5 > "/dev/stderr"
			printf "instructions x %.4f; %d events, %.0f a second\n", $12 / $11, $13, $13 * 1e3 / $2 > "/dev/stderr"
		}'
}

# Prints the milliseconds from the start of QEMU to the first line that a user program writes.
boot_once() {
	start=$(date +%s%N)
	timeout -k 2 300 $(sh scripts/qemu.sh "$1" 2) -append run=cat:/etc/motd </dev/null 2>/dev/null |
		while IFS= read -r line; do
			case $line in
			"$(head -n 1 demo/user/etc/motd)"*) echo $((($(date +%s%N) - start) / 1000000)) ;;
			esac
		done
}

boot() {
	for _ in $(seq "$starts"); do
		echo "boot $(boot_once "$1")" >>"$tmp/runs"
	done
	median boot 2 | awk -v arch="$1" '{
		printf "{\"bench\": \"unix-boot\", \"arch\": \"%s\", \"first_program_ms\": %.0f}\n", arch, $1
		printf "unix %-8s %.0f ms from the start of QEMU to the first line of a user program\n", arch, $1 > "/dev/stderr"
	}'
}

status=0
for arch in ${*:-$arches}; do
	: >"$tmp/runs"
	if measure "$arch"; then
		report_load "$arch"
		boot "$arch"
	else
		echo "bench/unix.sh: $arch: the load failed" >&2
		cat "$tmp/err" >&2
		status=1
	fi
done
exit $status
