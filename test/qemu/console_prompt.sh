# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests the debugger's prompt on the demo kernel's serial line, while the kernel runs and after a panic: `show
# ktr` prints there what the host shows of the same trace.
. test/tap.sh
. test/qemu/console_support.sh

# falling FILE: succeeds if the timestamps of `show ktr/v` decrease from line to line. An interrupt during a
# record may swap two.
falling() {
	awk '{ if (NR > 1 && $3 > last) up++; last = $3 } END { exit !(NR > 100 && up * 100 < NR) }' "$1"
}

for arch in x86_64 aarch64 riscv64; do
	boot "$arch" "debug=sched,ipi run=mix seconds=5 slots=262144" records:50:sched.switch key:'\0034' \
		"show ktr/av sched.switch" "show ktr/ac1" "show cpus" "show ktr/x" "show ktr/c99" "show ktr sched.swich" \
		"set -sched.wake" "set sched.swich=on" "show settings debug.b32" "show settings debug.ktr.verbos_" \
		"show settings" await:1:--More-- key:q "nonsense" "help" "c"
	equal "$arch, at run time: it goes on to its end" 0 "$status"
	answer "show ktr/av sched.switch" >"$tmp/verbose"
	plain <"$tmp/verbose" >"$tmp/shown"
	host --event sched.switch >"$tmp/host"
	check "$arch, at run time: there are switches to see" test "$(wc -l <"$tmp/shown")" -gt 10
	sort "$tmp/shown" >"$tmp/shown.sorted"
	sort "$tmp/host" >"$tmp/host.sorted"
	equal "$arch, at run time: all of them are in the host's trace" 0 \
		"$(comm -23 "$tmp/shown.sorted" "$tmp/host.sorted" | wc -l)"
	answer "show ktr/ac1" | plain >"$tmp/shown"
	check "$arch, at run time: one CPU has events" test "$(wc -l <"$tmp/shown")" -gt 10
	equal "$arch, at run time: and no other is shown" 0 "$(grep -vc '^cpu1 ' "$tmp/shown")"
	check "$arch, at run time: what the CPUs do" sh -c "grep -q '^cpu0 online .*at this prompt' '$tmp/lines' &&
		grep -q '^cpu1 online ' '$tmp/lines'"
	equal "$arch, at run time: a modifier that does not exist" "show ktr[/v][a][c<CPU>] [PATTERN...]" \
		"$(answer "show ktr/x")"
	equal "$arch, at run time: a CPU that does not exist" "there is no such CPU; try show cpus" "$(answer "show ktr/c99")"
	equal "$arch, at run time: an event that does not exist" \
		"sched.swich: no such event; did you mean sched.switch?" "$(answer "show ktr sched.swich")"
	equal "$arch, at run time: events are set, too" "" "$(answer "set -sched.wake")"
	equal "$arch, at run time: but not those that do not exist" \
		"sched.swich=on: no such event; did you mean sched.switch?" "$(answer "set sched.swich=on")"
	equal "$arch, at run time: settings by what they begin with" "debug.b32_0=0 debug.b32_31=0" \
		"$(answer "show settings debug.b32" | sort | xargs)"
	equal "$arch, at run time: none begins with that" \
		"debug.ktr.verbos_: no such setting; did you mean debug.ktr.verbose?" \
		"$(answer "show settings debug.ktr.verbos_")"
	equal "$arch, at run time: a page of settings" 23 "$(answer "show settings" | grep -c =)"
	"$ktrace" show --settings "$tmp/trace" >"$tmp/states" 2>/dev/null
	check "$arch, at run time: what was set is so in the trace" grep -qE '^ *[0-9]+ +sched\.wake +off' "$tmp/states"
	equal "$arch, at run time: a command that does not exist" "no such command; try help" "$(answer nonsense)"
	check "$arch, at run time: help" grep -q '^show ktr  ' "$tmp/lines"

	boot "$arch" "debug=ktrace ktrace=schd.swich run=ktr,panic panic=prompt" "show ktr/av" "show ktr/av lease" \
		"show ktr" await:1:--More-- key:' ' await:2:--More-- key:'\0015' await:3:--More-- key:q \
		"show settings debug.ktr.version" "set debug.ktr.panic_goes_on=1" "show settings debug.ktr.panic_goes_on" \
		"set debug.ktr.testlogcnt=1" c halt
	equal "$arch, after a panic: the machine ends as it does without a prompt" 10 "$status"
	check "$arch, after a panic: a boot argument that was not understood" grep -q \
		'boot arguments: schd.swich: no such event; did you mean sched.switch?$' "$tmp/lines"
	answer "show ktr/av" >"$tmp/verbose"
	plain <"$tmp/verbose" >"$tmp/shown"
	host >"$tmp/host"
	check "$arch, after a panic: the newest are the panic's, whichever CPU it was on" sh -c "head -n 5 '$tmp/shown' |
		grep -qxE 'cpu[01] ktrace_panic asked for by run=panic'"
	answer "show ktr/av lease" | sed -n 's/.*\(demo[^ ]* [^ ]*\).*/\1/p' >"$tmp/shown.places"
	grep -n '	KTR_[COND_]*LOG(' demo/kern/work/ktr.c | sed '4,$d; s/\([0-9]*\):.*(\([a-z_]*\).*/demo\/kern\/work\/ktr.c:\1 \2/' |
		tac >"$tmp/places"
	same "$arch, after a panic: the line of each KTR_LOG" "$tmp/places" "$tmp/shown.places"
	check "$arch, after a panic: newest first" falling "$tmp/verbose"
	sort "$tmp/host" >"$tmp/host.sorted"
	sort "$tmp/shown" >"$tmp/shown.sorted"
	same "$arch, after a panic: the same events in the same words as on the host" "$tmp/host.sorted" "$tmp/shown.sorted"
	equal "$arch, after a panic: two pages and a line" 47 "$(answer "show ktr" | plain | wc -l)"
	answer "show ktr" | plain >"$tmp/pages"
	head -n 47 "$tmp/shown" >"$tmp/first"
	same "$arch, after a panic: the pager leaves nothing out" "$tmp/first" "$tmp/pages"
	equal "$arch, after a panic: a setting" "debug.ktr.version=2" "$(answer "show settings debug.ktr.version")"
	equal "$arch, after a panic: a setting changed" "debug.ktr.panic_goes_on=1" \
		"$(answer "show settings debug.ktr.panic_goes_on")"
	equal "$arch, after a panic: no probes" "probes need the machine to run, and it does not any more" \
		"$(answer "set debug.ktr.testlogcnt=1")"
	equal "$arch, after a panic: no way back" "there is no way back from a panic" "$(answer c)"
done
done_testing
