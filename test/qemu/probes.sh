# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Settings run the cost probes of the demo kernel. Each probe records its result in the trace, on every
# architecture.
. test/tap.sh

for arch in x86_64 aarch64 riscv64; do
	timeout -k 2 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$tmp/$arch" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append 'run=sleepers debug.ktr.testlogcnt=50 debug.ktr.testipicnt=5 debug.ktr.testcritcnt=100 debug.ktr.testspincnt=100' \
		>"$tmp/console" 2>"$tmp/err" </dev/null
	equal "$arch: it boots and ends" 0 $?
	build/bin/ktrace show --json --event probe.cost "$tmp/$arch" >"$tmp/costs"
	for probe in event 'ipi and back' ipi 'interrupts off and on' spinlock; do
		check "$arch: $probe costs something" grep -q "\"test\":\"$probe\",\"each\":[1-9][0-9]*,\"count\":[1-9]" "$tmp/costs"
	done
	# Count the events only: the output may have a line about loss if a CPU was stopped in the middle of a
	# record.
	equal "$arch: each probe ran once" 5 "$(grep -c '"event":"probe.cost"' "$tmp/costs")"
	equal "$arch: six events back to back in each of 50 runs, and once to warm up" 306 \
		"$(build/bin/ktrace show --event probe.log "$tmp/$arch" 2>/dev/null | grep -c probe.log)"
	build/bin/ktrace show "$tmp/$arch" 2>"$tmp/said" >"$tmp/shown"
	check "$arch: so has a whole timeline, at its end" grep -q 'recording took [1-9].* of the time of 2 CPUs' "$tmp/said"
	build/bin/ktrace summary "$tmp/$arch" >"$tmp/summary"
	# The share is a lower bound if a CPU was stopped in the middle of a record.
	check "$arch: the summary has what the trace cost" grep -qE '^cost +[1-9][0-9]*\.[0-9] ns an event, (at least )?[0-9.]+% of the time of 2 CPUs' "$tmp/summary"
	check "$arch: and by CPU" grep -qE '^CPU0 .* [0-9.]+%$' "$tmp/summary"
	# The events of a probe are closer together without the cost of recording, and in the same order.
	for take in '' --subtract-cost; do
		build/bin/ktrace show --json $take --event ktrace.probe "$tmp/$arch" |
			sed -n 's/{"time":\([0-9.]*\).*/\1/p' | awk 'NR == 1 { first = $1 } $1 < last { bad = 1 }
				{ last = $1 } END { if (!bad) printf "%d ", (last - first) * 1e9 }'
	done >"$tmp/spans"
	check "$arch: subtracted, probes take less: $(cat "$tmp/spans")" awk 'NF != 2 || $2 >= $1 { exit 1 }' "$tmp/spans"
	# Overwritten events also took time, but their number is unknown.
	timeout -k 2 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$tmp/few" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append 'debug=sched slots=512 run=pingpong,sleepers seconds=1' >"$tmp/console" 2>"$tmp/err" </dev/null
	build/bin/ktrace summary "$tmp/few" >"$tmp/summary"
	check "$arch: of a trace that lost slots it is a lower bound" \
		grep -qE '^cost .*, at least [0-9.]+% of the time' "$tmp/summary"
done
done_testing
