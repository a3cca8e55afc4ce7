# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace doctor on traces: its reports and exit statuses. Its table of views is the same as in doc/porting.md,
# and the functions and macros in it exist.
. test/tap.sh
. test/golden/golden.sh

golden=test/golden/doctor
build/test/cmd-traces "$tmp" || exit 1

build/test/why-traces "$tmp" >/dev/null 2>&1 || exit 1

golden plain ktrace doctor v2.ktrx
golden json ktrace doctor --json v2.ktrx
golden hostile ktrace doctor hostile.ktrx
golden beats ktrace doctor beats.ktrx
golden v1 ktrace doctor v1.bin
golden none ktrace doctor
golden two ktrace doctor v2.ktrx v2.ktrx
golden both ktrace doctor v2.ktrx -- true
golden after ktrace doctor v2.ktrx --seconds 3
golden absent ktrace doctor none.ktrx
golden seconds ktrace doctor --seconds soon v2.ktrx
golden no-qemu ktrace doctor -- true
golden refused ktrace doctor -- qemu-system-x86_64 -snapshot -mem-path /dev/shm/x -m 1X -kernel none.elf

build/bin/ktrace doctor --json "$tmp/v2.ktrx" >"$tmp/before" 2>&1
build/bin/ktrace doctor "$tmp/v2.ktrx" --json >"$tmp/after" 2>&1
same "an option may follow the trace" "$tmp/before" "$tmp/after"
build/bin/ktrace doctor --elf "$tmp/none.elf" "$tmp/v2.ktrx" >"$tmp/before" 2>&1
build/bin/ktrace doctor "$tmp/v2.ktrx" --elf "$tmp/none.elf" >"$tmp/after" 2>&1
same "an option with a value may follow the trace" "$tmp/before" "$tmp/after"

build/bin/ktrace doctor "$tmp/stateless.ktrx" >"$tmp/report" 2>&1
check "a CPU that QEMU does not have is reported as wrong" grep -qE '^wrong +CPU numbers +there is CPU 1, but QEMU has 1 CPU:' "$tmp/report"
check "a state that is always 0 is reported as wrong" grep -qE '^wrong +sched.switch +36 switches have state 0' "$tmp/report"
check "a state that is always 0 is reported with the line to change" grep -qF 'ktrace_switch(prev, next, state); with the state that prev goes into: 0 runnable' "$tmp/report"
build/bin/ktrace doctor "$tmp/crowd.ktrx" >"$tmp/report" 2>&1
equal "doctor fails if the table of threads was full" 10 $?
check "a table of threads that was full is reported as wrong" grep -qE '^wrong +holders +the table is too small: it had no entry for 8 calls of hooks' "$tmp/report"
check "a table of threads that was full is reported with the line to change" grep -qF '.holders = 32, or more' "$tmp/report"
check "a run without joins gets the line for them" sh -c 'build/bin/ktrace doctor "$1" | grep -A 1 "^note *join" | grep -qF "KTRX_WAIT_THREAD, 0);"' - "$tmp/deadlock.ktrx"
check "joins that were recorded are lit" sh -c 'build/bin/ktrace doctor "$1" | grep -qE "^ok *lit.* join,"' - "$tmp/lies.ktrx"
check "a table of threads with room is not reported" sh -c '! build/bin/ktrace doctor "$1" | grep "too small"' - "$tmp/deadlock.ktrx"
for story in always-4 always-1 xv6-numbers; do
	build/bin/ktrace doctor "$tmp/$story.ktrx" >"$tmp/$story" 2>&1
	equal "$story: doctor fails" 10 $?
	check "$story: the line to change lists the numbers of states" \
		grep -qF 'ktrace_switch(prev, next, state); with the state that prev goes into: 0 runnable, 1 or 2 asleep' "$tmp/$story"
	check "$story: rules about sleeping and dead threads are not reported as violated" sh -c '! grep "^wrong *rules" "$1"' - "$tmp/$story"
done
build/bin/ktrace doctor "$tmp/mixed-up.ktrx" >"$tmp/report" 2>&1
equal "doctor fails if a CPU could not come online" 10 $?
check "a CPU that could not come online is reported, with both causes" grep -qE '^wrong +CPU numbers +ktrace_cpu_online\(1\) failed .* not defined in ktrace_port.h, .* before ktrace_port.h existed: remove all objects' "$tmp/report"
check "names without .threads are reported with the line to add" sh -c 'grep -A 1 "^dark *names *without .threads" "$1" | grep -qF ".threads = 256, … ktrace_thread_name(id, name);"' - "$tmp/report"
check "a table of threads that no thread used is not dark" grep -qE '^note +holders +the table exists' "$tmp/report"
check "views that this run did not use are in one line" grep -qE '^note +not seen +not seen in this run: callers, exit, panic ' "$tmp/report"
check "a CPU that could not come online is not the only one" sh -c '! grep "not needed with one CPU" "$1"' - "$tmp/report"
build/bin/ktrace doctor "$tmp/ended-well.ktrx" >"$tmp/report" 2>&1
check "views about several CPUs are not needed with one CPU" grep -qE '^note +one CPU +not needed with one CPU: ipi, ipi-state, clocks$' "$tmp/report"
check "views about several CPUs are not dark with one CPU" sh -c '! grep -E "^dark +(ipi|ipi-state|clocks) " "$1"' - "$tmp/report"
build/bin/ktrace doctor "$tmp/no-init.ktrx" >"$tmp/report" 2>&1
equal "doctor does not fail without ktrace_init()" 0 $?
equal "the first line states with which views to begin" "Begin with: rings, thread-ids, holders, wake-nobody, lock-state" "$(head -n 1 "$tmp/report")"
check "without ktrace_init(), rings states it" grep -qE '^dark +rings +ktrace_init\(\) was not called in this run' "$tmp/report"
check "without ktrace_init(), rings has both lines" grep -qF 'KTRACE_INIT(1 << 20, .cpus = 4, .threads = 256, .holders = 256); … ktrace_cpu_online(cpu);' "$tmp/report"
check "without ktrace_init(), thread-ids refers to rings" grep -qE '^dark +thread-ids .*first do what rings needs' "$tmp/report"
golden timeout ktrace doctor --timeout 3 v2.ktrx
check "a state that is always 4 is reported as wrong" \
	grep -qE '^wrong +sched.switch +191 switches leave a thread in state 4, which means dead, but .* ran again: it is a constant or' "$tmp/always-4"
check "a state that is always 1 is reported as wrong" \
	grep -qE '^wrong +sched.switch +191 switches have state 1, all of them, .* some threads were preempted' "$tmp/always-1"
check "a state above 4 is reported as wrong" grep -qE '^wrong +sched.switch +1 switch with a state above 4, the first is 5:' "$tmp/xv6-numbers"
check "a state for preempted threads that means stopped is reported as wrong" \
	grep -qE '^wrong +sched.switch +63 switches leave a thread in state 3, which means stopped' "$tmp/xv6-numbers"
build/bin/ktrace doctor "$tmp/right-states.ktrx" >"$tmp/report" 2>&1
check "states that are right are not reported" sh -c '! grep "^wrong *sched.switch" "$1"' - "$tmp/report"
build/bin/ktrace doctor "$tmp/written-over.ktrx" >"$tmp/report" 2>&1
equal "doctor fails if the trace's memory was overwritten" 10 $?
check "overwritten memory is reported as wrong" grep -qE "^wrong +memory +the trace's memory was overwritten: the descriptions of 1 of 3 rings" "$tmp/report"
build/bin/ktrace summary "$tmp/written-over.ktrx" >"$tmp/report" 2>&1
check "summary counts rings that cannot be read" grep -qE "^loss +all records of 1 of the 3 rings: " "$tmp/report"
build/bin/ktrace summary --json "$tmp/written-over.ktrx" >"$tmp/json" 2>&1
check "summary --json counts rings that cannot be read" grep -qF '"unusable_rings":1,' "$tmp/json"
check "summary counts the readable events of a trace whose memory was overwritten" grep -qE "^events +1 " "$tmp/report"
head -c 3000 "$tmp/v2.ktrx" >"$tmp/short.ktrx"
build/bin/ktrace doctor "$tmp/short.ktrx" >"$tmp/report" 2>&1
check "a trace that is cut short: rules are checked only before its end" \
	grep -qE '^note +rules +none of the [0-9]+ .* before the trace is cut short' "$tmp/report"
check "a trace that is cut short: missing slots are explained by that" grep -qE '^note +loss +[0-9]+ slots are unreadable: the trace is cut short' \
	"$tmp/report"

build/bin/ktrace doctor --list >"$tmp/views"
grep -A 1000 '^| view | where | line | enables |$' doc/porting.md | sed '/^$/,$d' >"$tmp/documented"
same "doc/porting.md has the table of doctor --list" "$tmp/views" "$tmp/documented"
check "no row of the table refers to the place of another row" sh -c '! grep -E "the same (three )?place" "$0"' "$tmp/views"
cat include/ktrace/*.h >"$tmp/headers"
for name in $(grep -o '\(ktrace_\|KTRACE_\|KTRX_\)[A-Za-z_0-9]*' "$tmp/views" | sort -u); do
	check "$name of the table exists in the headers" grep -qw "$name" "$tmp/headers" include/ktrx/v2.h include/ktrx/state.h
done
done_testing
