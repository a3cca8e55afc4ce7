# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace hunt --minimise` looks for a smaller run of each failure, and prints the command that repeats it.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/hunt_support.sh

# part PATTERN: prints the text that the group in PATTERN matches in the line "smaller …" of the
# summary.
part() { sed -n "s/^  smaller .*$1.*/\\1/p" "$tmp/summary"; }

# smaller NAME STATUS VERDICT: checks the trace, the verdict and the exit status of the smaller run that the
# summary contains.
smaller() {
	small=$(sed -n 's/^  to repeat it: ktrace run --replay //p' "$tmp/summary" | tail -n 1)
	check "$1: the smaller run has a trace of its own" sh -c "test -s '$small' && echo '$small' | grep -q 'seed-[0-9]*-small[.]ktrx$'"
	runs=$(part 'after \([0-9]*\) more runs')
	check "$1: at most 66 runs were made for it, and some" sh -c "test $runs -gt 0 && test $runs -le 66"
	check "$1: it fails in the same way" sh -c "'$ktrace' why '$small' 2>/dev/null | grep -q '^$3'"
	check "$1: it is shorter" awk -v small="$(part 'ends at \([0-9.]*\) s')" \
		-v first="$(sed -n 's/^  first to end: .* at \([0-9.]*\) s of virtual time/\1/p' "$tmp/summary")" \
		'BEGIN { exit !(small > 0 && small < first) }'
	run --replay "$small"
	equal "$1: status of the replay" "$2" "$status"
	message_has "the same run as $small"
	check "$1: the directory of the search is removed" test ! -e "$folder/small"
}

# This race occurs with one CPU as well, and without forced switches.
hunt easy --seeds 2 -j 1 --deadline 1 --minimise --first -- $(demo aarch64 2) -append run=wakeup-race
equal "an easy race: status" 10 "$status"
message_has "looking for a smaller run that fails the same way: at most 66 runs"
check "an easy race: one CPU is enough" grep -qE '^  smaller .*seed 0, 1 CPU instead of 2, ends at' "$tmp/summary"
smaller "an easy race" 12 wakeup-race

# This race needs two CPUs and a forced switch in a time window of a few instructions. Which seed finds it depends
# on the kernel's code, so the search has many.
hunt rare --seeds 30-230 -j 1 --first --minimise -- $(demo aarch64 2) -append 'run=rare-wakeup seconds=1'
equal "a rare race: status" 10 "$status"
check "a rare race: it needs forced switches only up to a time" grep -qE '^  smaller .*switches forced until 0[.][0-9]* s only' "$tmp/summary"
check "a rare race: it needs both CPUs" sh -c "! grep -q 'CPUs* instead of' '$tmp/summary'"
smaller "a rare race" 12 wakeup-race

# ---- A failure without a smaller run; Ctrl-C during the search

hunt none --expect "a text that is not written" --first --minimise --json -- $no_ktrace
equal "nothing smaller: status" 10 "$status"
check "nothing smaller: the object is null" \
	python3 -c 'import json, sys; k, = json.load(sys.stdin)["kinds"]; assert k["smaller"] is None' <"$tmp/summary"

folder=$tmp/stopped
"$ktrace" hunt --timeout $limit --out "$folder" --seeds 1 --deadline 1 --minimise -- $(demo aarch64 2) -append run=wakeup-race \
	</dev/null >"$tmp/summary" 2>"$tmp/err" &
pid=$!
await grep -q 'looking for a smaller run' "$tmp/err"
await sh -c "ls '$folder'/small/*.ram"
kill -INT $pid
status=0
wait $pid || status=$?
equal "Ctrl-C during the search: status" 10 "$status"
summary_has ": wakeup-race"
check "Ctrl-C during the search: the directory of the search is removed" test ! -e "$folder/small"
done_testing
