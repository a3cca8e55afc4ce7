# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# debug.ktr.verbose: the demo kernel prints events on its serial line as it records them. The host shows the
# same events from the trace.
. test/tap.sh
. test/qemu/console_support.sh

groups=sched,irq,ipi,ktrace
of_groups="$(echo "$groups" | sed 's/,/|/g')"

# The boot arguments enable events before they set the level of console output. So the records of these
# changes are not printed on the console.
shown() { host "$@" | grep -v '^cpu[0-9]* ktrace_switched '; }

for arch in x86_64 aarch64 riscv64; do
	boot "$arch" "debug=$groups debug.ktr.verbose=1 run=panic cpus=1"
	equal "$arch, verbose=1: the guest panics" 10 "$status"
	sed -nE "s/^(($of_groups)_[^ ]+)  (.*)$/\1 \3/p" "$tmp/lines" | sort >"$tmp/put"
	shown --event "$groups" | cut -d' ' -f2- | sort >"$tmp/host"
	check "$arch, verbose=1: the trace has events" test "$(wc -l <"$tmp/host")" -gt 10
	same "$arch, verbose=1: console and host show the same names and texts" "$tmp/host" "$tmp/put"

	# Each CPU runs sleeping threads before the panic, because a CPU that has just started may not have recorded
	# any event. The panic may cut off the last line of the other CPU.
	boot "$arch" "debug=$groups debug.ktr.verbose=2 run=sleepers,panic"
	sed -nE "s/^(cpu[0-9]+) [0-9]+ [^ ]+:[0-9]+ (($of_groups)_[^ ]+)  (.*)$/\1 \2 \4/p" "$tmp/lines" | sort >"$tmp/put"
	shown --event "$groups" | sort >"$tmp/host"
	cpu=$(sed -n 's/^\(cpu[0-9]*\) .* ktrace_panic  asked for by.*/\1/p' "$tmp/lines" | head -n 1)
	grep "^${cpu:-none} " "$tmp/put" >"$tmp/put.0"
	grep "^${cpu:-none} " "$tmp/host" >"$tmp/host.0"
	same "$arch, verbose=2: console and host show the same events of the panicking CPU" "$tmp/host.0" "$tmp/put.0"
	equal "$arch, verbose=2: every event on the console is in the host's trace" 0 "$(comm -13 "$tmp/host" "$tmp/put" | wc -l)"
	check "$arch, verbose=2: the console shows events of the other CPU, too" grep -qv "^$cpu " "$tmp/put"
	check "$arch, verbose=2: the console shows the file and line of an event" grep -qE '^cpu[0-9]+ [0-9]+ kernel/core/control.c:[0-9]+ ktrace_panic  asked for by' \
		"$tmp/lines"

	boot "$arch" "debug=sched run=panic"
	equal "$arch, verbose=0: the console shows no events" 0 "$(grep -c '^sched_' "$tmp/lines")"
done
done_testing
