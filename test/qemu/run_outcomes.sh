# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace run` reports how each guest ended and writes a trace, on each architecture.
. test/tap.sh
. test/qemu/run_support.sh

first_timeout=1 # a guest that hangs keeps a CPU of the host busy until the timeout

# outcome ARCH STATUS "BOOT ARGUMENTS" [OPTION…]: runs a guest; checks the exit status and that the trace has
# events. $ending: function that runs the guest.
ending=run
outcome() {
	arch=$1 wanted=$2 arguments=$3
	shift 3
	rm -f "$out"
	# shellcheck disable=SC2046,SC2086
	$ending "$@" -- $(demo "$arch" 2) -append "debug=ktrace $arguments"
	equal "$arch, $arguments: status" "$wanted" "$status"
	events=$("$ktrace" show "$out" 2>/dev/null | wc -l)
	check "$arch, $arguments: the trace has events" test "$events" -gt 10
}

# has_caller FUNCTION: succeeds if a stack in the trace has this caller. Stores the registers in $tmp/registers.
has_caller() {
	"$ktrace" show --registers --elf "build/demo/$arch/kernel.elf" "$out" >"$tmp/registers" 2>/dev/null
	grep -qE "^    [0-9a-f]+ $1[+]0x[0-9a-f]+ .*[.][cS]:" "$tmp/registers"
}

# is_captured: succeeds if the trace has a stack with kmain and a CPU that hangs. If it fails, the guest had not
# yet booted far enough to hang, or the idle CPU was in the first instructions of a trap, where it has no callers.
is_captured() { has_caller kmain && grep -q '^cpu [01] .*pc=[0-9a-f]* hang+' "$tmp/registers"; }

# is_stalled: succeeds if the run ended because a CPU hangs, not because the host hardly ran the guest, and if the
# idle CPU has callers.
is_stalled() { [ "$status" = 11 ] && grep -q 'no heartbeat of CPU' "$tmp/err" && has_caller kmain; }

# captured ARCH NOTE CALLER: checks that the trace has registers of both CPUs, the note with this name, and a
# stack with this caller.
captured() {
	check "$1, $2: $3 is a caller in a stack" has_caller "$3"
	equal "$1, $2: the trace has registers of both CPUs" 2 "$(grep -cE '^cpu [01] .*pc=[0-9a-f]+ [a-z_]+' "$tmp/registers")"
	check "$1, $2: the trace's note has '$2: yes'" grep -qa "^$2: yes$" "$out"
	check "$1, $2: summary reports registers and stacks" sh -c "'$ktrace' summary '$out' | grep -q '^CPUs .*registers and stacks'"
}

for arch in x86_64 aarch64 riscv64; do
	outcome "$arch" 0 "seconds=0"
	outcome "$arch" 1 "seconds=0 exit=3"
	message_has "status 3"
	outcome "$arch" 10 "run=panic"
	outcome "$arch" 13 "run=triple"
	captured "$arch" reset work_triple
	# Without --stall 0, a long run would end with a stall before the timeout.
	ending='run_until is_captured'
	outcome "$arch" 12 "run=hang" --stall 0
	captured "$arch" timeout kmain
	# A CPU that halts takes no CPU time of the host. On one architecture, the second CPU spins.
	ending=run
	outcome "$arch" 11 "run=halt cpus=1" --stall 1
	ending='run_until is_stalled'
	outcome "$arch" 11 "run=$([ "$arch" = aarch64 ] && echo hang || echo halt)" --stall 1
	ending=run
	message_has "no heartbeat of CPU"
	captured "$arch" stalled kmain
	# The trace covers the whole hang: CPU 1 has no more events, but CPU 0 continues to record timer
	# ticks.
	for cpu in 0 1; do
		"$ktrace" show --json --cpu $cpu "$out" 2>/dev/null | sed -n '$s/^{"time":\([0-9.]*\).*/\1/p'
	done >"$tmp/last"
	check "$arch: the last event is from the CPU that still ticks: $(xargs <"$tmp/last")" \
		awk '{ last[NR] = $1 } END { exit NR != 2 || last[1] <= last[2] }' "$tmp/last"
done

run -- $no_ktrace
equal "a guest without ktrace: status 15" 15 "$status"
echo "another run's" >"$out"
run -- $no_ktrace
message_has "this file is from an earlier run: $out"
equal "a guest without ktrace: the file of an earlier run is unchanged" "another run's" "$(cat "$out")"
rm -f "$out"
message_has "no ktrace in the guest"

done_testing
