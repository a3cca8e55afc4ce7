# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Settings run the cost probes of the demo kernel. Each probe records its result in the trace, on every
# architecture.
. test/tap.sh

# probes ARCH SECONDS: runs a guest with all probes; stores the costs in $tmp/costs, the exit status in $status.
probes() {
	status=0
	timeout -k 2 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$tmp/$1" -- $(sh scripts/qemu.sh "$1" 2) \
		-append "run=sleepers seconds=$2 debug.ktr.testlogcnt=50 debug.ktr.testipicnt=5 debug.ktr.testcritcnt=100 debug.ktr.testspincnt=100" \
		>"$tmp/console" 2>"$tmp/err" </dev/null || status=$?
	build/bin/ktrace show --json --event probe.cost "$tmp/$1" >"$tmp/costs"
}

for arch in x86_64 aarch64 riscv64; do
	# CPU 0 runs the probes when it is idle. If the host stops it during them, the guest may end before the last one.
	for seconds in 1 4 16 64; do
		probes "$arch" $seconds
		! count_is_at_least 5 "$tmp/costs" '"event":"probe.cost"' || break
	done
	equal "$arch: the kernel boots and ends" 0 "$status"
	for probe in event 'ipi and back' ipi 'interrupts off and on' spinlock; do
		check "$arch: the probe of '$probe' records a cost" grep -q "\"test\":\"$probe\",\"each\":[1-9][0-9]*,\"count\":[1-9]" "$tmp/costs"
	done
	# Counts only the events: the output also has a line about loss if a CPU was stopped while it wrote
	# a record.
	equal "$arch: each probe ran once" 5 "$(grep -c '"event":"probe.cost"' "$tmp/costs")"
	equal "$arch: the probe records six events in each of 50 runs and in one warm-up run" 306 \
		"$(build/bin/ktrace show --event probe.log "$tmp/$arch" 2>/dev/null | grep -c probe.log)"
	build/bin/ktrace show "$tmp/$arch" 2>"$tmp/messages" >"$tmp/shown"
	check "$arch: show ends with the share of time that recording took" grep -q 'recording took [1-9].* of the time of 2 CPUs' "$tmp/messages"
	build/bin/ktrace summary "$tmp/$arch" >"$tmp/summary"
	# If a CPU was stopped while it wrote a record, the printed share is only a lower bound.
	check "$arch: summary has the cost of an event and the share of time" grep -qE '^cost +[1-9][0-9]*\.[0-9] ns an event, (at least )?[0-9.]+% of the time of 2 CPUs' "$tmp/summary"
	check "$arch: summary has the share of time of each CPU" grep -qE '^CPU0 .* [0-9.]+%$' "$tmp/summary"
	# With --subtract-cost, the times between the events of a probe are shorter than without it, but the
	# order of the events is the same.
	for take in '' --subtract-cost; do
		build/bin/ktrace show --json $take --event ktrace.probe "$tmp/$arch" |
			sed -n 's/{"time":\([0-9.]*\).*/\1/p' | awk 'NR == 1 { first = $1 } $1 < last { bad = 1 }
				{ last = $1 } END { if (!bad) printf "%d ", (last - first) * 1e9 }'
	done >"$tmp/spans"
	check "$arch: with --subtract-cost the probe takes less time: $(cat "$tmp/spans")" awk 'NF != 2 || $2 >= $1 { exit 1 }' "$tmp/spans"
	# Overwritten events also took time, but their number is unknown. However slow the host is, this guest records
	# more than fit into the rings.
	timeout -k 2 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$tmp/few" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append 'debug=ktrace slots=512 run=stress' >"$tmp/console" 2>"$tmp/err" </dev/null
	build/bin/ktrace summary "$tmp/few" >"$tmp/summary"
	check "$arch: the share of time is a lower bound if slots were overwritten" \
		grep -qE '^cost .*, (at least [0-9.]+% of the time|[0-9.]+% of .* in the time that each ring covers)' "$tmp/summary"
done
done_testing
