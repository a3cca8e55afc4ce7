# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Exported traces are balanced: every end closes a beginning with the same name on its track, and no span
# stays open. This is true even if events are lost, moved to another CPU or overwritten, or if threads sleep.
# Checks all golden traces, and version 1 dumps like those of a busy kernel.
. test/tap.sh
ktrace=$PWD/build/bin/ktrace
decode=$PWD/build/bin/ktrace-decode
checker=$PWD/build/test/chrome-check

# Tests that chrome-check detects unbalanced traces.
head='{"traceEvents":[{"ph":"B","ts":1,"pid":1,"tid":1,"name":"a"},{"ph":"B","ts":2,"pid":1,"tid":1,"name":"b"},'
# unbalanced NAME JSON: checks that chrome-check refuses the trace.
unbalanced() {
	printf '%s' "$2" >"$tmp/bad.json"
	"$checker" "$tmp/bad.json" >"$tmp/messages"
	equal "chrome-check refuses $1" 1 $?
}
echo "$head"'{"ph":"E","ts":3,"pid":1,"tid":1,"name":"b"},{"ph":"E","ts":4,"pid":1,"tid":1,"name":"a"}]}' >"$tmp/good.json"
check "chrome-check accepts two spans" "$checker" "$tmp/good.json"
unbalanced "an end of another name" "$head"'{"ph":"E","ts":3,"pid":1,"tid":1,"name":"a"},{"ph":"E","ts":4,"pid":1,"tid":1,"name":"b"}]}'
unbalanced "an end on another track" "$head"'{"ph":"E","ts":3,"pid":1,"tid":2,"name":"b"}]}'
unbalanced "spans that never end" "$head"'{"ph":"E","ts":3,"pid":1,"tid":1,"name":"b"}]}'
unbalanced "an end without a name" "$head"'{"ph":"E","ts":3,"pid":1,"tid":1},{"ph":"E","ts":4,"pid":1,"tid":1,"name":"a"}]}'
unbalanced "an end before its beginning" "$head"'{"ph":"E","ts":1,"pid":1,"tid":1,"name":"b"},{"ph":"E","ts":4,"pid":1,"tid":1,"name":"a"}]}'
unbalanced "spans that overlap" '{"traceEvents":[{"ph":"X","ts":1,"dur":5,"pid":1,"tid":1},{"ph":"X","ts":3,"dur":5,"pid":1,"tid":1}]}'
unbalanced "a flow without a beginning" '{"traceEvents":[{"ph":"f","ts":1,"pid":1,"tid":1,"id":3}]}'
unbalanced "invalid JSON" '{"traceEvents":[{"ph":"i","ts":1,"pid":1,"tid":1,}]}'
unbalanced "a control character" '{"traceEvents":[{"ph":"i","ts":1,"pid":1,"tid":1,"name":"'"$(printf '\302\233')"'"}]}'

# native_is_balanced FILE: succeeds if FILE, a trace for Perfetto, is balanced: on each track, in the order of
# time, each begin (type 1) has an end (type 2).
native_is_balanced() {
	build/test/perfetto-text "$1" |
		sed -n 's/^packet{timestamp=\([0-9]*\) .*track_event{type=\([12]\) track_uuid=\([0-9]*\).*/\1 \2 \3/p' | sort -s -n -k 1,1 |
		awk '{ depth[$3] += $2 == 1 ? 1 : -1; if (depth[$3] < 0) { print "closes nothing: " $0; bad = 1 } }
			END { for (track in depth) if (depth[track]) { print "track " track ": " depth[track] " never end"; bad = 1 }
				exit bad }'
}

# balanced NAME TRACE [OPTION…]: exports the trace in both formats and checks the exports.
balanced() {
	name=$1 trace=$2
	shift 2
	"$ktrace" export --format json "$@" "$trace" -o "$tmp/json" 2>"$tmp/err"
	check "$name: the export as JSON is balanced" "$checker" "$tmp/json"
	"$ktrace" export --format perfetto "$@" "$trace" -o "$tmp/native" 2>"$tmp/err"
	check "$name: the export for Perfetto is balanced" native_is_balanced "$tmp/native"
}

# has NAME N PATTERN: checks that at least N lines of $tmp/json match.
has() { check "the export has $1: $(grep -c "$3" "$tmp/json") of $3" test "$(grep -c "$3" "$tmp/json")" -ge "$2"; }

mkdir "$tmp/made" "$tmp/kept" "$tmp/danger"
build/test/cmd-traces "$tmp/made" || exit 1
build/test/danger-traces "$tmp/danger" >"$tmp/messages" || exit 1
for trace in "$tmp"/made/* test/golden/ktread/*.ktrx test/golden/perfetto/v1.ktrx "$tmp/danger/3.ktrx" "$tmp/danger/3.ktrace"; do
	case $trace in */bare.ktrx) continue ;; esac
	balanced "$(basename "$trace")" "$trace"
done
for trace in test/corpus/*/*.ktrx.zst test/corpus/*/*.v1.zst test/corpus/*/*.ktrace.zst; do
	balanced "$(basename "$trace")" "$trace"
done
balanced "events of one CPU" "$tmp/made/v2.ktrx" --cpu 0
mkdir "$tmp/script" && ln -s "$PWD/build/test/ktrace-script" "$tmp/script/ktrace" || exit 1
ktrace=$tmp/script/ktrace
for steps in beside beside-thread anchor; do
	balanced "functions beside events, $steps" "$tmp/made/v2.ktrx" --with "test/golden/hwt_views/$steps.steps"
	has "functions, $steps" 1 '"ph":"E".*"pid":4,'
done
ktrace=$PWD/build/bin/ktrace

for seed in 1 2 3 4 5 6; do
	lost=$(((seed - 1) % 3 * 8))
	build/test/v1-mix "$tmp/mix.bin" $((seed + 1)) 512 $seed $lost
	balanced "version 1, $((seed + 1)) CPUs, $lost % lost" "$tmp/mix.bin"
	balanced "version 1, $((seed + 1)) CPUs, $lost % lost, a part" "$tmp/mix.bin" --since 0.0001 --until 0.0002
	"$decode" --perfetto "$tmp/json" "$tmp/mix.bin" 2>"$tmp/err"
	check "ktrace-decode --perfetto is balanced, $((seed + 1)) CPUs, $lost % lost" "$checker" "$tmp/json"
	has "calls" 100 '"ph":"B".*"cat":"syscall"'
	has "switches" 50 '"ph":"X".*"pid":0,'
	has "sleeps" 20 '"ph":"X".*"name":"\(sleep\|wait\)"'
	has "wakes" 20 '"name":"WAITQ_WAKE"'
	has "arrows" 20 '"ph":"f".*"name":"wakeup"'
	equal "the export has every wakeup" "$("$ktrace" show --event WAITQ_WAKE "$tmp/mix.bin" 2>"$tmp/err" | wc -l)" "$(grep -c '"name":"WAITQ_WAKE"' "$tmp/json")"
done
done_testing
