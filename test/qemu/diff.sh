# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace diff` on runs of the demo kernel with different seeds: for a healthy kernel, diff reports no
# difference; for a lost wakeup, diff reports which wakeup is missing. DIFF_ARCHES: architectures to test.
. test/tap.sh
. test/qemu/run_support.sh

# boot ARCH SEED FILE "BOOT ARGUMENTS": runs a guest with two CPUs; stores the trace in $tmp/FILE.
boot() {
	# shellcheck disable=SC2046
	run --quiet --seed "$2" --deadline 3 -- $(demo "$1" 2) -append "$4"
	mv "$out" "$tmp/$3"
}

# differ A B: runs diff on both traces. Stores the report in $tmp/report and the exit status in
# $status.
differ() {
	status=0
	"$ktrace" diff "$tmp/$1" "$tmp/$2" >"$tmp/report" 2>"$tmp/err" || status=$?
}

# lose_wakeup ARCH: runs guests with different seeds until a wakeup is lost. Stores the last trace of a healthy
# run in $tmp/good, and the trace of the failed run in $tmp/bad. Which seeds lose a wakeup depends on the kernel's code;
# those that did so last come first.
lose_wakeup() {
	rm -f "$tmp/good" "$tmp/bad"
	for seed in 3 12 32 $(seq 4 200); do
		boot "$1" "$seed" run 'run=rare-wakeup seconds=1'
		if "$ktrace" why "$tmp/run" 2>/dev/null | grep -q '^wakeup-race '; then
			mv "$tmp/run" "$tmp/bad"
		else
			mv "$tmp/run" "$tmp/good"
		fi
		[ ! -e "$tmp/good" ] || [ ! -e "$tmp/bad" ] || return 0
	done
}

for arch in ${DIFF_ARCHES:-x86_64 aarch64}; do
	boot "$arch" 1 good1 'run=same'
	boot "$arch" 2 good2 'run=same'
	check "$arch: the two runs are not equal event by event" \
		sh -c '"$1" show "$2" >"$4/1" 2>&1; "$1" show "$3" >"$4/2" 2>&1; ! cmp -s "$4/1" "$4/2"' - "$ktrace" "$tmp/good1" "$tmp/good2" "$tmp"
	differ good1 good2
	equal "$arch: two seeds of a healthy kernel: status" 0 "$status"
	check "$arch: hundreds of steps are equal" grep -qE '^same: [0-9]{3,} equal steps of [0-9]+ threads$' "$tmp/report"
	check "$arch: noise is counted" grep -qE '^noise, .*interrupts [0-9]+, scheduling [0-9]+' "$tmp/report"

	boot "$arch" 1 good1 'run=signals'
	boot "$arch" 2 good2 'run=signals'
	differ good1 good2
	equal "$arch: two seeds of a program with signals: status" 0 "$status"
	check "$arch: hundreds of steps are equal: $(tail -n 1 "$tmp/report")" \
		grep -qE '^same: [0-9]{3,} equal steps of [0-9]+ threads$' "$tmp/report"

	lose_wakeup "$arch"
	differ good bad
	equal "$arch: a lost wakeup: status" 1 "$status"
	check "$arch: the thread that sleeps is named" \
		grep -qE '^first difference: thread disk/0 \(B [0-9]+\) sleeps to the end of B, because it does not get a wakeup$' "$tmp/report"
	check "$arch: in the good run the thread is woken" \
		sh -c 'sed "/^  B/,\$d" "$1" | grep -qE "^    > .* sched\.wake  *[0-9]+ .*\(disk/0\)"' - "$tmp/report"
	check "$arch: in the bad run the wakeup finds no thread asleep" \
		sh -c 'sed "1,/^  B/d" "$1" | grep -qE "^    > .*\(disk/1\) .*sched\.wake_nobody"' - "$tmp/report"
	id=$(sed -n '/^  B/,$s/^    > \[ *[0-9.]*\] \([0-9.]*\) .*/\1/p' "$tmp/report")
	check "$arch: ktrace why finds the same event: $id" \
		sh -c '"$1" why "$2" 2>&1 | grep -qF "[$3]"' - "$ktrace" "$tmp/bad" "$id"
	"$ktrace" export --format stream -o "$tmp/stream" "$tmp/bad" 2>"$tmp/err"
	"$ktrace" diff "$tmp/bad" "$tmp/stream" >"$tmp/report" 2>&1
	equal "$arch: a dump and its stream are the same: status" 0 $?
done
done_testing
