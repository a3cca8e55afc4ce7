# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace retrace --branches` records which code a repeated run executes. The guest then has no trace unit.
# Its behaviour does not change: the events are the same. Views of hardware trace read the file.
. test/tap.sh
. test/qemu/run_support.sh

# retrace [OPTION…]: repeats the run of $out. Stores the output in $tmp/functions, the messages in $tmp/err,
# the exit status in $status.
retrace() {
	status=0
	timeout -k 5 $kill_limit "$ktrace" retrace --out "$tmp/again" "$@" "$out" </dev/null >"$tmp/functions" 2>"$tmp/err" || status=$?
}

# entered FUNCTION: prints two counts of the function's calls: the count from the recorded branches,
# and the count from --functions.
entered() {
	sed -n "s/.*\"function\":\"$1\",.*\"calls\":\([0-9]*\),.*/\1/p" "$tmp/durations"
	awk -v name="$1" '$2 == name { print $1 }' "$tmp/counts"
}

for arch in x86_64 aarch64; do
	kernel=build/demo/$arch/kernel.elf
	# shellcheck disable=SC2046
	run --seed 7 --deadline 0.3 -- $(demo $arch 2) -append "debug=ktrace run=echo"
	cp "$out" "$tmp/first"
	# After the guest has ended QEMU, its CPUs run for a short time that varies. So these runs end at
	# an event.
	end=$("$ktrace" show --ids "$out" 2>/dev/null | sed -n 's/^\[ *[0-9.]*\] \([0-9]*\.[0-9]*\) .*lock.acquire.*/\1/p' |
		awk '{ line[NR] = $0 } END { print line[int(NR * 0.9)] }')
	retrace --branches "$tmp/out.branches" --until-event "$end"
	equal "$arch: status" 0 "$status"
	message_has "the same run as $out: all "
	same "$arch: the trace is untouched" "$tmp/first" "$out"

	"$ktrace" hwt --elf "$kernel" --durations --json "$tmp/out.branches" >"$tmp/durations" 2>"$tmp/messages"
	equal "$arch: ktrace hwt: status" 0 $?
	retrace --functions --summary --until-event "$end"
	sed 1d "$tmp/functions" >"$tmp/counts"
	for function in schedule arch_switch files_get process_self; do
		check "$arch: $function is called" grep -q "\"function\":\"$function\"" "$tmp/durations"
		equal "$arch: $function is called as often as --functions counts" 1 "$(entered $function | sort -u | wc -l)"
	done

	"$ktrace" show --with "$tmp/out.branches" --with-elf "$kernel" "$out" >"$tmp/with" 2>"$tmp/messages"
	equal "$arch: ktrace show --with: status" 0 $?
	# A call without ~ has an exact time, and therefore the right thread.
	check "$arch: functions are shown by thread, beside events" grep -q 'PID=2(idle/0).*hwt.call  *schedule,.* call$' "$tmp/with"
	# If the clocks agree, a function that records an event is shown directly before this event.
	check "$arch: times agree with those of events" awk '
		/hwt.call  *ktrace_fact_sched_switch/ { all++; getline; near += /sched.switch/ } END { exit !(all > 5 && near > all * 0.8) }' \
		"$tmp/with"

	# If the branches of a run are recorded twice, both recordings are the same, including the times.
	"$ktrace" hwt --elf "$kernel" --calls "$tmp/out.branches" >"$tmp/calls" 2>/dev/null
	check "$arch: more than 1000 calls are recorded" test "$(wc -l <"$tmp/calls")" -gt 1000
	retrace --branches "$tmp/out.branches" --until-event "$end"
	"$ktrace" hwt --elf "$kernel" --calls "$tmp/out.branches" >"$tmp/calls_again" 2>/dev/null
	same "$arch: a second retrace records the same branches" "$tmp/calls" "$tmp/calls_again"
done

# Tests a run that ends at an event, in which functions are recorded as well.
retrace --branches "$tmp/short.branches" --until 0.02 --functions --last 1
equal "--until: status" 0 "$status"
check "--until: the record is shorter" test "$("$ktrace" hwt --functions --elf "$kernel" "$tmp/short.branches" 2>/dev/null | wc -l)" -lt \
	"$("$ktrace" hwt --functions --elf "$kernel" "$tmp/out.branches" 2>/dev/null | wc -l)"

# refused STATUS TEXT [OPTION…]: checks that retrace exits with STATUS, and that its message contains TEXT.
refused() {
	wanted=$1 text=$2
	shift 2
	retrace "$@"
	equal "$*: status" "$wanted" "$status"
	message_has "$text"
}
refused 2 "must not be the file of a trace" --branches "$out"
refused 2 "must not be the file of a trace" --branches "$tmp/again"
refused 2 "must not be a file of the first run" --branches "$kernel"
check "refused files are unchanged" cmp -s "$out" "$tmp/first"
refused 1 "$tmp/none/x" --branches "$tmp/none/x"

# The disk is full: QEMU cannot write the file.
if mkdir "$tmp/small" && mount -t tmpfs -o size=200k tmpfs "$tmp/small" 2>/dev/null; then
	retrace --branches "$tmp/small/branches"
	umount "$tmp/small"
	equal "a full disk: status" 1 "$status"
	message_has "is the disk with the file of --branches full?"
else
	skip "a full disk" "no permission to mount"
fi

# If the guest of the recorded run has a trace unit, the repeated run has one as well: without it,
# the guest would run differently.
# shellcheck disable=SC2046
run --seed 7 --deadline 0.1 --trace-unit -- $(demo x86_64 2) -append "debug=ktrace run=echo"
retrace --branches "$tmp/out.branches"
equal "a guest with a unit: status" 0 "$status"
message_has "the same run as"

# RISC-V has no trace unit.
# shellcheck disable=SC2046
run --seed 7 --deadline 0.1 -- $(demo riscv64 2)
refused 2 "no trace unit for this architecture" --branches "$tmp/out.branches"
done_testing
