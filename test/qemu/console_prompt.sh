# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests the debugger's prompt on the demo kernel's serial line, while the kernel runs and after a panic: `show
# ktr` prints there what the host shows of the same trace.
. test/tap.sh
. test/qemu/console_support.sh

# falling FILE: succeeds if the timestamps of `show ktr/v` decrease from line to line. If an interrupt
# occurs while an event is recorded, two lines may be in the opposite order.
falling() {
	awk '{ if (NR > 1 && $3 > last) up++; last = $3 } END { exit !(NR > 100 && up * 100 < NR) }' "$1"
}

for arch in x86_64 aarch64 riscv64; do
	# After the prompt, both CPUs record interrupts, which were off: so the guest continues. Then it is switched off,
	# because its time would otherwise have to be longer than a busy host takes for all this.
	boot "$arch" "debug=sched,ipi run=sleepers seconds=$limit slots=262144" records:50:sched.switch key:'\0034' \
		"show ktr/av sched.switch" "show ktr/ac1" "set -sched.*,-ipi.*" "show cpus" "show ktr/x" "show ktr/c99" "show ktr sched.swich" \
		"set -sched.wake" "set sched.swich=on" "show settings debug.b32" "show settings debug.ktr.verbos_" \
		"show settings" await:1:--More-- key:q "nonsense" "help" "set irq.enter=on" "c" records:5:irq.enter key:'\0034' halt
	equal "$arch, at run time: the guest continues after the prompt and ends" 0 "$status"
	# Without this, a fast guest would overwrite the shown records before its run ends.
	equal "$arch, at run time: set switches groups of events off" "" "$(answer "set -sched.*,-ipi.*")"
	answer "show ktr/av sched.switch" >"$tmp/verbose"
	plain <"$tmp/verbose" >"$tmp/shown"
	host --event sched.switch >"$tmp/host"
	check "$arch, at run time: show ktr/av prints switches" test "$(wc -l <"$tmp/shown")" -gt 10
	sort "$tmp/shown" >"$tmp/shown.sorted"
	sort "$tmp/host" >"$tmp/host.sorted"
	equal "$arch, at run time: all switches that show ktr/av prints are in the host's trace" 0 \
		"$(comm -23 "$tmp/shown.sorted" "$tmp/host.sorted" | wc -l)"
	answer "show ktr/ac1" | plain >"$tmp/shown"
	check "$arch, at run time: show ktr/ac1 prints events of CPU 1" test "$(wc -l <"$tmp/shown")" -gt 10
	equal "$arch, at run time: show ktr/ac1 prints no events of other CPUs" 0 "$(grep -vc '^cpu1 ' "$tmp/shown")"
	check "$arch, at run time: show cpus prints the state of each CPU" sh -c "grep -q '^cpu0 online .*at this prompt' '$tmp/lines' &&
		grep -q '^cpu1 online ' '$tmp/lines'"
	equal "$arch, at run time: an unknown modifier prints the usage" "show ktr[/v][a][c<CPU>] [PATTERN...]" \
		"$(answer "show ktr/x")"
	equal "$arch, at run time: an unknown CPU is refused" "no such CPU; try show cpus" "$(answer "show ktr/c99")"
	equal "$arch, at run time: show ktr refuses an unknown event and suggests a name" \
		"sched.swich: no such event; did you mean sched.switch?" "$(answer "show ktr sched.swich")"
	equal "$arch, at run time: set switches an event off" "" "$(answer "set -sched.wake")"
	equal "$arch, at run time: set refuses an unknown event and suggests a name" \
		"sched.swich=on: no such event; did you mean sched.switch?" "$(answer "set sched.swich=on")"
	equal "$arch, at run time: show settings PREFIX prints settings with that prefix" "debug.b32_0=0 debug.b32_31=0" \
		"$(answer "show settings debug.b32" | sort | xargs)"
	equal "$arch, at run time: show settings refuses an unknown prefix and suggests a name" \
		"debug.ktr.verbos_: no such setting; did you mean debug.ktr.verbose?" \
		"$(answer "show settings debug.ktr.verbos_")"
	equal "$arch, at run time: show settings prints one page, then waits" 23 "$(answer "show settings" | grep -c =)"
	"$ktrace" show --settings "$tmp/trace" >"$tmp/states" 2>/dev/null
	check "$arch, at run time: the trace has the event's new state" grep -qE '^ *[0-9]+ +sched\.wake +off' "$tmp/states"
	equal "$arch, at run time: an unknown command is refused" "no such command; try help" "$(answer nonsense)"
	check "$arch, at run time: help lists the commands" grep -q '^show ktr  ' "$tmp/lines"

	boot "$arch" "debug=ktrace ktrace=schd.swich run=ktr,panic panic=prompt" "show ktr/av" "show ktr/av lease" \
		"show ktr" await:1:--More-- key:' ' await:2:--More-- key:'\0015' await:3:--More-- key:q \
		"show settings debug.ktr.version" "set debug.ktr.panic_goes_on=1" "show settings debug.ktr.panic_goes_on" \
		"set debug.ktr.testlogcnt=1" c halt
	equal "$arch, after a panic: halt ends the machine as a panic without prompt does" 10 "$status"
	check "$arch, after a panic: a message names the boot argument that was not understood" grep -q \
		'boot arguments: schd.swich: no such event; did you mean sched.switch?$' "$tmp/lines"
	answer "show ktr/av" >"$tmp/verbose"
	plain <"$tmp/verbose" >"$tmp/shown"
	host >"$tmp/host"
	check "$arch, after a panic: the panic is among the newest events, whichever CPU it was on" sh -c "head -n 5 '$tmp/shown' |
		grep -qxE 'cpu[01] ktrace_panic asked for by run=panic'"
	answer "show ktr/av lease" | sed -n 's/.*\(demo[^ ]* [^ ]*\).*/\1/p' >"$tmp/shown.places"
	grep -n '	KTR_[COND_]*LOG(' demo/kern/work/ktr.c | sed '4,$d; s/\([0-9]*\):.*(\([a-z_]*\).*/demo\/kern\/work\/ktr.c:\1 \2/' |
		tac >"$tmp/places"
	same "$arch, after a panic: show ktr/av prints the line of each KTR_LOG" "$tmp/places" "$tmp/shown.places"
	check "$arch, after a panic: show ktr/av prints the newest event first" falling "$tmp/verbose"
	sort "$tmp/host" >"$tmp/host.sorted"
	sort "$tmp/shown" >"$tmp/shown.sorted"
	same "$arch, after a panic: console and host show the same events with the same texts" "$tmp/host.sorted" "$tmp/shown.sorted"
	equal "$arch, after a panic: the pager shows two pages and a line" 47 "$(answer "show ktr" | plain | wc -l)"
	answer "show ktr" | plain >"$tmp/pages"
	head -n 47 "$tmp/shown" >"$tmp/first"
	same "$arch, after a panic: the pager omits no event" "$tmp/first" "$tmp/pages"
	equal "$arch, after a panic: show settings prints a setting" "debug.ktr.version=2" "$(answer "show settings debug.ktr.version")"
	equal "$arch, after a panic: set changes a setting" "debug.ktr.panic_goes_on=1" \
		"$(answer "show settings debug.ktr.panic_goes_on")"
	equal "$arch, after a panic: set refuses to run probes" "probes do not run after a panic" \
		"$(answer "set debug.ktr.testlogcnt=1")"
	equal "$arch, after a panic: c refuses to continue" "cannot continue after a panic" "$(answer c)"
done
done_testing
