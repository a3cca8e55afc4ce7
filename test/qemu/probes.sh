# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Cost probes of the demo kernel, asked for by settings: each leaves its figure in the trace, on every architecture.
. test/tap.sh

for arch in x86_64 aarch64 riscv64; do
	timeout -k 2 90 build/bin/ktrace run -q --timeout 60 --out "$tmp/$arch" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append 'run=sleepers debug.ktr.testlogcnt=50 debug.ktr.testipicnt=5 debug.ktr.testcritcnt=100 debug.ktr.testspincnt=100' \
		>"$tmp/console" 2>"$tmp/err" </dev/null
	equal "$arch: it boots and ends" 0 $?
	build/bin/ktrace show --json --event probe.cost "$tmp/$arch" >"$tmp/costs"
	for probe in event 'ipi and back' ipi 'interrupts off and on' spinlock; do
		check "$arch: $probe costs something" grep -q "\"test\":\"$probe\",\"each\":[1-9][0-9]*,\"count\":[1-9]" "$tmp/costs"
	done
	equal "$arch: each probe ran once" 5 "$(wc -l <"$tmp/costs")"
	equal "$arch: six events back to back in each of 50 runs, and once to warm up" 306 \
		"$(build/bin/ktrace show --event probe.log "$tmp/$arch" 2>/dev/null | grep -c probe.log)"
done
done_testing
