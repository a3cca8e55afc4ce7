#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Measures what runs that can be repeated cost. Each figure is the ratio of two commands that run one after the
# other, because the speed of a machine changes. Each is the median of several rounds:
#	seed0	CPU time of a run with seed 0 / of one without a seed, with the work of `make demo`: at most 4
#	noise	the same for seeds with short slices and for one with long slices: at most 8 for each
#	hooks	the same for a seed that ends slices at each hook: at most 8
#	goto	time of `ktrace goto` to the last event, less 1 s / of the run up to this event: at most 1.2
#	retrace	CPU time of `ktrace retrace --who-wrote` / of the run that it repeats: at most 3
#	hunt	runs per second of a hunt with 2 jobs / with 1 job: at least 0.8 x 2 on 2 CPUs and more
set -u
rounds=${1:-5} hunted=14 cpus=4 noises="1 6 7" short=
work="debug=boot,sched,syscall,process,vfs,net,signal,mm,irq slots=65536 run=pipeline,echo,resolver"
if [ -n "${BENCH_SHORT-}" ]; then # see short.h
	rounds=1 hunted=1 cpus=1 noises=7 work="debug=boot,sched run=ls" short=yes
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
ktrace=build/bin/ktrace
demo=$(sh scripts/qemu.sh x86_64 "$cpus")
status=0

fails() {
	echo "bench/schedule.sh: $1: exit status $2" >&2
	cat "$tmp/console" >&2
	exit 1
}

# cpu NAME COMMAND…: appends the command's CPU seconds to $tmp/NAME.
cpu() {
	name=$1
	shift
	build/bench/cputime "$@" </dev/null 2>>"$tmp/$name" >"$tmp/console" || fails "$name" $?
}

# elapsed STATUS NAME COMMAND…: runs a command, whose exit status must be STATUS; appends its duration in
# seconds to $tmp/NAME.
elapsed() {
	expected=$1 name=$2
	shift 2
	begin=$(date +%s%N) ended=0
	"$@" </dev/null >"$tmp/console" 2>&1 || ended=$?
	[ "$ended" -eq "$expected" ] || fails "$name" "$ended"
	echo $(($(date +%s%N) - begin)) | awk '{ printf "%.3f\n", $1 / 1e9 }' >>"$tmp/$name"
}

# run NAME [OPTION…]: prints the command for a run of the demo, without its last argument. The trace is
# $tmp/NAME.ktrx.
run() {
	trace=$tmp/$1.ktrx
	shift
	echo "$ktrace run -q --timeout 300 --out $trace $* -- $demo -append"
}

# middle: prints the median of the numbers on stdin.
middle() { sort -n | sed -n "$(((rounds + 1) / 2))p"; }

# judge CASE RATIO COMPARISON LIMIT: prints a ratio. COMPARISON is <= or >=.
judge() {
	awk -v name="$1" -v ratio="$2" -v sign="$3" -v limit="$4" -v short="$short" -v load="$(cut -d' ' -f1 /proc/loadavg)" '
	BEGIN {
		held = short != "" || (sign == "<=" ? ratio <= limit : ratio >= limit)
		printf "{\"bench\": \"schedule\", \"case\": \"%s\", \"ratio\": %.2f, \"%s\": %.2f, \"held\": %s, \"load\": %s}\n", name,
			ratio, sign == "<=" ? "most" : "least", limit, held ? "true" : "false", load
		printf "schedule %-8s %.2f x (%s %.2f)%s; load %s\n", name, ratio, sign == "<=" ? "at most" : "at least", limit,
			held ? "" : ": MISSED", load >"/dev/stderr"
		exit !held
	}' || status=1
}

# ratio CASE NAME BASE: judges the median of the ratios NAME / BASE. Each ratio compares two runs of
# the same round.
ratio() { judge "$1" "$(paste "$tmp/$2" "$tmp/$3" | awk '$2 > 0 { print ($1 - '"${6:-0}"') / $2 }' | middle)" "$4" "$5"; }

# ---- The cost of a seed: `ktrace run`

# Seeds 1 and 6 have time slices of 4 and 2 µs, which cost most; seed 7 has time slices of 256 µs. With hooks,
# seed 41 is among those that cost most.
for round in $(seq "$rounds"); do
	cpu plain $(run plain) "$work"
	for seed in 0 $noises; do cpu "seed$seed" $(run "seed$seed" --seed "$seed") "$work"; done
	cpu hooks41 $(run hooks41 --seed 41 --noise hooks) "$work"
done
ratio seed0 seed0 plain '<=' 4
for seed in $noises; do ratio "noise$seed" "seed$seed" plain '<=' 8; done
ratio hooks41 hooks41 plain '<=' 8

# ---- The cost of `ktrace goto`

for round in $(seq "$rounds"); do
	elapsed 0 goto "$ktrace" goto --out "$tmp/goto.ktrx" "$tmp/seed7.ktrx"
	time=$(sed -n 's/.*halted at \([0-9.]*\) s.*/\1/p' "$tmp/console")
	elapsed 12 upto $(run upto --seed 7 --deadline "$time") "$work"
done
ratio goto goto upto '<=' 1.2 1

# ---- The cost of `ktrace retrace`

for round in $(seq "$rounds"); do
	cpu repeat "$ktrace" run -q --timeout 300 --out "$tmp/again.ktrx" --replay "$tmp/seed7.ktrx"
	cpu retrace "$ktrace" retrace --out "$tmp/retrace.ktrx" --who-wrote all_started "$tmp/seed7.ktrx"
done
ratio retrace retrace repeat '<=' 3

# ---- The cost of `ktrace hunt`

cores=$(nproc)
[ "$cores" -le 2 ] || cores=2
for round in $(seq "$rounds"); do
	for jobs in 1 2; do
		elapsed 0 "jobs$jobs" "$ktrace" hunt -q --seeds "$hunted" --jobs "$jobs" --out "$tmp/hunt$jobs.$round" -- \
			$(sh scripts/qemu.sh x86_64 2) -append run=echo
	done
done
ratio hunt jobs1 jobs2 '>=' "$(awk "BEGIN { print 0.8 * $cores }")"
exit $status
