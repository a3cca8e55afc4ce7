# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Noise, on each architecture: repetitions of an event are folded, and none of them is missing in the counts.
# Events in the ring for rare events survive a hundred laps of the other rings.
. test/tap.sh
. test/qemu/run_support.sh

# boot ARCH ARGUMENTS: runs a guest; stores the trace in $out and its summary in JSON in $tmp/summary.
boot() {
	# shellcheck disable=SC2046
	run -q -- $(demo "$1" 2) -append "$2"
	equal "$1 $2: the kernel ran to its end" 0 "$status"
	$ktrace summary --json "$out" >"$tmp/summary" 2>"$tmp/messages"
}

# of EVENT KEY: prints the value of this key in the event's line of the summary.
of() { sed -n "s/.*\"event\":\"$1\".*\"$2\":\([0-9]*\)[,}].*/\1/p" "$tmp/summary"; }

# early EVENT: prints how many events of this name are in the boot ring. The kernel recorded these events
# before it read its arguments and began to count events.
early() { $ktrace show --hex --event "$1" "$out" 2>/dev/null | grep -c '^  ring 0 '; }

for arch in x86_64 aarch64 riscv64; do
	boot $arch 'run=spin ktrace=lock.acquire=both+fold,lock.release=both+fold'
	for event in lock.acquire lock.release; do
		check "$arch: $event is folded: $(of $event folded)" test "$(of $event folded)" -gt 0
		counted=$(($(of $event fired) + $(early $event)))
		if grep -q 'were being changed' "$tmp/messages"; then # the other CPU was stopped during the change
			check "$arch: $event: recorded and folded events are no more than were counted" test "$(of $event occurred)" -le "$counted"
		else
			# A CPU first counts an event and then records it. When one CPU switches the machine
			# off, the other CPU may be between the two steps.
			missing=$((counted - $(of $event occurred)))
			check "$arch: $event: recorded and folded events are all that were counted, or one less: $missing" \
				test "$missing" -ge 0 -a "$missing" -le 1
		fi
	done
	check "$arch: show prints how often an event was repeated, and in what time" sh -c "$ktrace show $out 2>/dev/null |
		grep -qE 'ktrace\.repeat +lock\.(acquire|release): [0-9]+ more in 0\.[0-9]{6} s$'"

	# On a busy host, a CPU needs longer for a hundred laps.
	for seconds in 1 4 16 64; do
		boot $arch "run=stress seconds=$seconds slots=512 ktrace=sched.create=rare"
		laps=$(sed -n 's/.*"cpu":0,"slots":512,"produced":\([0-9]*\),.*/\1/p' "$tmp/summary")
		[ "$((laps / 512))" -le 100 ] || break
	done
	check "$arch: CPU 0's ring was overwritten a hundred times: $laps slots" test "$((laps / 512))" -gt 100
	check "$arch: the creation of init is still in the ring for rare events" sh -c "$ktrace show --event sched.create $out 2>/dev/null |
		grep -q 'CPU0 .*sched\.create .* init$'"
	check "$arch: no slot of the ring for rare events is overwritten" \
		grep -qE '"cpu":null,"slots":512,"produced":[0-9]+,"overwritten":0,' "$tmp/summary"
done

# Starts and ends of programs go into the ring for rare events, so they are still in the trace after system
# calls have overwritten the older events of the other rings.
boot x86_64 'run=echo slots=512'
equal "x86_64: the trace has the start of a program and the ends of all five processes" 6 \
	"$($ktrace show "$out" 2>/dev/null | grep -cE 'process\.(exec .* runs /bin/echo$|exit .* with status 0$)')"
done_testing
