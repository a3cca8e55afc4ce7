# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace retrace --functions` repeats a run and prints the functions that are called, at the right depth. The
# guest's behaviour does not change: the events are the same.
. test/tap.sh
. test/qemu/run_support.sh

# retrace [OPTION…]: repeats the run of $out. Stores the output in $tmp/functions, the messages in $tmp/err,
# the exit status in $status.
retrace() {
	status=0
	timeout -k 5 $kill_limit "$ktrace" retrace --out "$tmp/again" "$@" "$out" </dev/null >"$tmp/functions" 2>"$tmp/err" || status=$?
}

# events_of PATTERN: prints the ids of the events that match the pattern, in the order of time.
events_of() { "$ktrace" show --ids "$out" 2>/dev/null | sed -n "s/^\[ *[0-9.]*\] \([0-9]*\.[0-9]*\) .*$1.*/\1/p"; }

# part_of PERCENT FILE: prints the line at PERCENT percent of the file: 50 for the line in the middle.
part_of() { awk -v part="$1" '{ line[NR] = $0 } END { print line[int(NR * part / 100) + 1] }' "$2"; }

# same_depth ARCH EVENT: checks that the function that records a lock's event has the depth that its backtrace
# shows. The function's symbol may have a suffix, such as fact_record.constprop.0: --only finds it without the
# suffix, too.
same_depth() {
	timeout -k 5 $kill_limit "$ktrace" goto --out "$tmp/goto.ktrx" "$2" "$out" </dev/null >"$tmp/stack" 2>"$tmp/err"
	cpu=$(sed -n 's/^CPU //p' "$tmp/stack")
	recorder=$(sed -n '2s/^ *0x[0-9a-f]* \([a-z_]*\).*/\1/p' "$tmp/stack")
	retrace --functions --only "$recorder" --cpu "$cpu" --until-event "$2" --last 1
	equal "$1, event $2: status" 0 "$status"
	message_has "the same run as"
	equal "$1, event $2: $recorder has as many functions below it as in its backtrace" \
		"$(($(grep -c '^  0x' "$tmp/stack") - 1)) $recorder" "$(sed 1d "$tmp/functions" | awk '{ sub(/\..*/, "", $5); print $3, $5 }')"
}

for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	run --seed 7 --deadline 0.3 -- $(demo $arch 2) -append "debug=ktrace run=echo"
	retrace --functions --only arch_switch --only 'sched_*'
	equal "$arch: status" 0 "$status"
	message_has "the same run as $out: all "
	sed 1d "$tmp/functions" >"$tmp/lines"
	check "$arch: threads are switched" grep -q '  call  *arch_switch (demo/.*) from schedule+0x' "$tmp/lines"
	equal "$arch: --only prints only functions with matching names" 0 "$(awk '$5 != "arch_switch" && $5 !~ /^sched_/' "$tmp/lines" | wc -l)"
	check "$arch: times do not decrease" sort -c -n -k 1,1 "$tmp/lines"
	equal "$arch: both CPUs run functions" "0 1" "$(awk '{ print $2 }' "$tmp/lines" | sort -u | xargs)"
	switches=$(grep -c ' arch_switch ' "$tmp/lines")
	events=$(events_of sched.switch | wc -l)
	equal "$arch: as many calls of arch_switch as events sched.switch" "$events" "$switches"

	retrace --functions --summary --cpu 1
	equal "$arch: a summary: status" 0 "$status"
	check "$arch: a summary counts calls of a function" grep -q '^  *[0-9]*  spin_unlock (demo/kern/lock.c:[0-9]*)$' "$tmp/functions"
	check "$arch: a summary begins with the largest number" sh -c 'sed 1d "$0" | sort -c -s -n -r -k 1,1' "$tmp/functions"

	events_of lock.acquire >"$tmp/locks"
	same_depth $arch "$(part_of 40 "$tmp/locks")"
	same_depth $arch "$(part_of 90 "$tmp/locks")"

	# On x86_64, this repeated run ends before the kernel makes the rings of its CPUs.
	retrace --functions --until 0.02
	equal "$arch, an early end: status" 0 "$status"
	message_has "the same run as"
done

# Tests a time window that begins and ends at an event of the trace.
first=$(part_of 50 "$tmp/locks") second=$(part_of 55 "$tmp/locks")
retrace --functions --only spin_lock --only spin_lock_at --since-event "$first" --until-event "$second"
equal "a window: status" 0 "$status"
cp "$tmp/functions" "$tmp/window"
retrace --functions --only spin_lock --only spin_lock_at
sed 1d "$tmp/functions" >"$tmp/all"
sed 1d "$tmp/window" >"$tmp/part"
check "a window has fewer functions" test "$(wc -l <"$tmp/part")" -lt "$(wc -l <"$tmp/all")"
check "a window has functions" test -s "$tmp/part"
grep -c -x -F -f "$tmp/part" "$tmp/all" >"$tmp/common" || :
equal "functions of a window are those of the whole run" "$(wc -l <"$tmp/part")" "$(cat "$tmp/common")"
retrace --functions --since 0.01 --until 0.011 --json
equal "a window of times, JSON: status" 0 "$status"
check "JSON is valid" python3 -c 'import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert lines and lines[-1]["time"] - lines[0]["time"] < 0.0011
assert all(line["function"] and line["entry"] in ("call", "interrupt", "other") for line in lines)' "$tmp/functions"
retrace --functions --last 3
equal "--last 3: a heading and three functions" 4 "$(grep -c . "$tmp/functions")"
retrace --functions --summary --json --only 'spin_*'
check "a summary in JSON matches its schema" python3 test/schema.py retrace "$tmp/functions"
check "a summary in JSON is valid" python3 -c 'import json, sys
assert all(json.loads(line)["entries"] > 0 for line in open(sys.argv[1]))' "$tmp/functions"
retrace --who-wrote cpus --until 0.02
equal "accesses up to an event: status" 0 "$status"
retrace --who-read cpus --last 5
check "reads without writes are found" grep -q ' read ' "$tmp/functions"

# refused STATUS TEXT [OPTION…]: checks that retrace exits with STATUS, and that its message contains TEXT.
refused() {
	wanted=$1 text=$2
	shift 2
	retrace "$@"
	equal "$*: status" "$wanted" "$status"
	message_has "$text"
}
refused 2 "no function of the kernel has such a name" --functions --only no_such_function
refused 2 "such as 2.71681" --functions --until-event 7
refused 1 "has no event with this id" --functions --since-event 0.99999999
refused 1 "has no event at or after this time" --functions --until 9999
refused 1 "--until 0.01: the event is before that of --since" --functions --since 0.02 --until 0.01
refused 1 "--until-event $first: the event is before that of --since-event" --functions --since-event "$second" \
	--until-event "$first"
refused 2 "cannot be combined" --functions --who-wrote cpus

# Ctrl-C ends the run; retrace prints the functions recorded so far. When a thread prints the message, functions of
# the scheduler have been called. After it, the guest needs seconds of CPU time.
# shellcheck disable=SC2046
run --seed 7 --deadline 3 -- $(demo riscv64 2) -append "debug=ktrace run=calls,forever"
: >"$tmp/err"
"$ktrace" retrace --functions --only 'sched_*' --out "$tmp/again" "$out" </dev/null >"$tmp/functions" 2>"$tmp/err" &
run=$!
await grep -q 'calls: done' "$tmp/err"
kill -INT $run
wait $run
equal "SIGINT: status" 130 $?
message_has "the run ended early"
check "SIGINT: functions are printed" grep -q ' call ' "$tmp/functions"
check "SIGINT: no temporary file remains" sh -c '! ls -d "$0"/ktrace-* "$0"/*.ram 2>/dev/null' "$tmp"

# Without symbols, no function is known.
cp build/demo/riscv64/kernel.elf "$tmp/kernel.elf"
riscv64-linux-gnu-strip "$tmp/kernel.elf" 2>/dev/null || llvm-strip "$tmp/kernel.elf" 2>/dev/null || : >"$tmp/kernel.elf"
refused 1 "kernel.elf" --functions --elf "$tmp/kernel.elf"

# The directory for temporary files becomes full: retrace prints the functions recorded before that.
if mkdir "$tmp/small" && mount -t tmpfs -o size=300k tmpfs "$tmp/small" 2>/dev/null; then
	status=0
	TMPDIR="$tmp/small" timeout -k 5 $kill_limit "$ktrace" retrace --functions --until 0.5 --out "$tmp/again" "$out" </dev/null >"$tmp/functions" 2>"$tmp/err" ||
		status=$?
	umount "$tmp/small"
	equal "a full disk: status" 1 "$status"
	message_has "No space left on device"
	check "a full disk: functions are printed" test "$(wc -l <"$tmp/functions")" -gt 100
else
	skip "a full disk" "no permission to mount"
fi
done_testing
