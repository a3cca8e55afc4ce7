# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace goto` halts a repeated run at an event, and shows the machine at that moment. Its trace ends there.
. test/tap.sh
. test/qemu/run_support.sh

# visit OPTION…: runs `ktrace goto` on the trace $out. Stores what it prints in $tmp/shown, its messages in
# $tmp/err, its status in $status.
visit() {
	status=0
	rm -f "$tmp/goto.ktrx"
	timeout -k 5 $kill_limit "$ktrace" goto --out "$tmp/goto.ktrx" "$@" "$out" </dev/null >"$tmp/shown" 2>"$tmp/err" || status=$?
}

# shows PATTERN: checks what the last `ktrace goto` has printed.
shows() { check "it shows: $1" grep -q -e "$1" "$tmp/shown"; }

# lines TRACE: prints the timeline with ids. Discards messages.
lines() { "$ktrace" show --ids "$1" 2>/dev/null; }

for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	run --seed 7 -- $(demo $arch 2) -append run=echo
	equal "$arch: status of the first run" 0 "$status"
	lines "$out" >"$tmp/first"
	check "$arch: the run has events" test "$(wc -l <"$tmp/first")" -gt 100

	# Visits events in all parts of the run.
	for part in 20 50 80; do
		line=$(awk -v part=$part '{ line[NR] = $0 } END { print line[int(NR * part / 100)] }' "$tmp/first")
		id=$(printf '%s\n' "$line" | sed 's/^\[ *[0-9.]*\] \([0-9.]*\) .*/\1/')
		visit "$id"
		equal "$arch, $part %: status at event $id" 0 "$status"
		message_has "halted at 0."
		shows '^CPU [01]$'
		shows '^  0x[0-9a-f]* [a-z_]*+0x'
		lines "$tmp/goto.ktrx" >"$tmp/second"
		check "$arch, $part %: the trace has the event" grep -qF " $id CPU" "$tmp/second"
		time=$(printf '%s\n' "$line" | sed 's/^\[ *\([0-9.]*\)\].*/\1/')
		later=$(sed -n 's/^\[ *\([0-9.]*\)\] [0-9.]* CPU.*/\1/p' "$tmp/second" | awk -v time="$time" '$1 > time + 0.000002' | wc -l)
		equal "$arch, $part %: the trace has no later event" 0 "$later"
	done
done

visit --at 0.01 --cpu 0
equal "--at and --cpu: status" 0 "$status"
visit --thread 1 --backtrace --elf build/demo/riscv64/kernel.elf
equal "--thread and --elf: status" 0 "$status"
shows '(demo/.*\.c:[0-9]*)'
visit --registers
shows '^cpu 0 '

# gdb prints expressions and memory for each architecture.
for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	run --seed 7 -- $(demo $arch 2) -append run=echo
	visit --at 0.01 --print 1+1 --memory '&ktrace_state,4'
	equal "$arch, --print and --memory: status" 0 "$status"
	shows '= 2$'
	shows '^0x[0-9a-f]* <ktrace_state>:'
done
# What gdb cannot print is an error. All other expressions are printed nevertheless.
visit --at 0.01 --print '&ktrace_sttae' --print 1+1
equal "--print of an unknown name: status" 1 "$status"
message_has "--print: gdb cannot print '&ktrace_sttae'; did you mean ktrace_state"
shows '= 2$'
visit --at 0.01 --print 2+2 --print '1+' --memory 1,1
equal "--print of no expression: status" 1 "$status"
message_has "--print: gdb cannot print '1+'"
shows '= 4$'
visit --at 0.01 --print 1+1 --memory no_such_place,4 --registers
equal "--memory at an unknown name: status" 1 "$status"
message_has "--memory: gdb cannot print 'no_such_place,4'"
shows '^cpu 0 '
for range in 0 0,0 0,65537 0,-1 0,1x ,4; do
	visit --memory $range
	equal "--memory $range: status" 2 "$status"
	message_has "--memory: '$range' (ADDRESS,LENGTH, with a LENGTH from 1 to 65536)"
done
visit --at 0.01 --gdb
equal "--gdb with an empty input: status" 0 "$status"

# Makes a directory with all programs except gdb.
mkdir "$tmp/bin"
printf '%s\n' "$PATH" | tr : '\n' | while IFS= read -r folder; do
	find "$folder/" -maxdepth 1 ! -type d ! -name 'gdb*' -exec ln -s -t "$tmp/bin" {} + 2>/dev/null
done
path=$PATH
PATH=$tmp/bin
visit --at 0.01 --print 1+1
PATH=$path
equal "without gdb: status" 1 "$status"
message_has "gdb is missing: install gdb or gdb-multiarch"

# goto finds the events whose ids why and check print.
# With some seeds, the race comes so late or so early that it is not the verdict.
for seed in 3 5 $(seq 6 30); do
	# shellcheck disable=SC2046
	run --seed "$seed" --deadline 0.5 -- $(demo x86_64 2) -append run=wakeup-race
	"$ktrace" why "$out" >"$tmp/why" 2>/dev/null
	! grep -q '^wakeup-race (likely)' "$tmp/why" || break
done
lines "$out" >"$tmp/first"
id=$(sed -n 's/.* found no thread asleep, at .*\[\([0-9.]*\)\]$/\1/p; s/^      (.*wakeup_race.c:[0-9]*) \[\([0-9.]*\)\]$/\1/p' "$tmp/why" | head -n 1)
check "why: the id is that of the wakeup" grep -q "\] $id CPU.*sched.wake_nobody" "$tmp/first"
check "why: the id of a sleep is that of its event" sh -c "'$ktrace' why '$out' 2>/dev/null | tr '\n' ' ' |
	grep -o 'has waited [^[]*on mailbox[^[]*\[[0-9.]*\]' | head -n 1 | sed 's/.*\[//; s/\]//' | xargs -I{} grep -q '\] {} CPU.*sched.block' '$tmp/first'"
command=$(sed -n 's/^  to go there: ktrace goto //p' "$tmp/why" | head -n 1)
equal "why: the command goes to the event of the first line" "$id $out" "$command"
visit "$id"
equal "why: status of goto at the id" 0 "$status"
lines "$tmp/goto.ktrx" >"$tmp/second"
check "why: goto is at the event" grep -q "\] $id CPU.*sched.wake_nobody" "$tmp/second"
printf 'woken: never sched.wake_nobody\nin-time: every sched.wake_nobody then panic within 1ms\n' >"$tmp/rules"
"$ktrace" check --rules "$tmp/rules" "$out" >"$tmp/checked" 2>/dev/null
for rule in woken in-time; do
	id=$(sed -n "s/^$rule: VIOLATED .* \[\([0-9.]*\)\]\$/\1/p" "$tmp/checked")
	check "check: the id of the rule $rule is that of the wakeup" grep -q "\] $id CPU.*sched.wake_nobody" "$tmp/first"
	check "check: the command goes there" grep -qx "  to go there: ktrace goto $id $out" "$tmp/checked"
done
visit "$id"
equal "check: status of goto at the id" 0 "$status"

visit --where 'thread == 4000000'
equal "--where without such an event: status" 1 "$status"
visit --thread 4000000
equal "no such thread: status" 1 "$status"
message_has "no event is selected"
visit 0.99999999
equal "no such id: status" 1 "$status"
message_has "$out has no event with this id"
visit --at 0.01 1.2
equal "an event and --at: status" 2 "$status"
visit 1.2.3
equal "no event: status" 2 "$status"

# The input script is typed at virtual times, so a run with an input script can be repeated, too.
printf '0.01 hello\n0.02 you\n' >"$tmp/typed"
# shellcheck disable=SC2046
run --seed 7 --input "$tmp/typed" -- $(demo riscv64 2) -append run=echo
equal "--input: status" 0 "$status"
rm "$tmp/typed"
visit
equal "--input: status of goto" 0 "$status"
"$ktrace" run --timeout $limit -q -o "$tmp/again" --replay "$out" </dev/null >"$tmp/console" 2>"$tmp/err"
equal "--input: status of a replay" 0 $?
message_has "the same run"
printf 'now hello\n' >"$tmp/typed"
# shellcheck disable=SC2046
run --seed 7 --input "$tmp/typed" -- $(demo riscv64 2)
equal "--input without a time: status" 1 "$status"
message_has 'line 1: expected "SECONDS TEXT"'

# If the kernel's file has changed, the run would differ, so goto refuses to repeat the run. With --force,
# goto repeats it nevertheless.
cp build/demo/riscv64/kernel.elf "$tmp/kernel.elf"
# shellcheck disable=SC2046
KERNEL="$tmp/kernel.elf" run --seed 7 -- $(KERNEL="$tmp/kernel.elf" demo riscv64 2) -append run=echo
echo >>"$tmp/kernel.elf"
visit --at 0.01
equal "the kernel has changed: status" 1 "$status"
message_has "changed since the run was recorded"
visit --at 0.01 --force
equal "the kernel has changed, --force: status" 0 "$status"
done_testing
