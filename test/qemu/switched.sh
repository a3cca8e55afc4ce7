# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Events are disabled and enabled again while a guest runs, and all recording is stopped and started. The trace
# records the time of each change. No duration is measured across a change, and no rule is checked across it.
# Durations before a stop are measured. Events that are off at the end are checked for the time in which they
# were on.
. test/tap.sh
. test/qemu/run_support.sh

# control CHANGE…: changes events in the guest whose RAM file is $ram, as soon as the guest answers.
control() {
	eventually sh -c '"$@" 2>"$0/messages" >"$0/changed"' "$tmp" "$ktrace" control --timeout $limit "$ram" "$@"
}

# ids EVENT: prints the ids of the events whose names begin with EVENT.
# moments EVENT: prints "seconds state" for each recorded change of the first of these events, in order.
ids() { "$ktrace" summary --json "$out" | grep -o "{\"id\":[0-9]*,\"event\":\"$1" | grep -o '[0-9]*' | sort -n; }
moments() {
	id=$(ids "$1" | head -n 1)
	"$ktrace" show --json --event ktrace.switched "$out" 2>>"$tmp/messages" |
		sed -n 's/.*"time":\([0-9.]*\).*"first":\([0-9]*\),"last":\([0-9]*\),"state":\([0-9]*\).*/\1 \2 \3 \4/p' |
		awk -v id="$id" '$2 <= id && id <= $3 { print $1, $4 % 2 }'
}

# recorded EVENT: prints the ring and the place in it of each event of this name of CPU 0. Places are not used again.
recorded() {
	"$ktrace" show --ids --cpu 0 --event "$1" "$ram" 2>>"$tmp/messages" | sed -n 's/^\[ *[0-9.]*\] \([0-9]*\)\.\([0-9]*\) .*/\1 \2/p'
}

# has_more EVENT: succeeds if the guest has recorded at least 100 events of this name after those in $tmp/before.
# The number of events in the rings would not show this: new events overwrite old ones.
has_more() {
	recorded "$1" | awk 'FILENAME != "-" { newest[$1] = $2; next } $2 > newest[$1] + 0 { n++ } END { exit n < 100 }' \
		"$tmp/before" -
}

# await_more EVENT: waits until the guest has recorded a hundred more events of this name.
await_more() {
	recorded "$1" | awk '$2 > newest[$1] + 0 { newest[$1] = $2 } END { for (ring in newest) print ring, newest[ring] }' \
		>"$tmp/before"
	eventually has_more "$1"
}

# none_over_gap FILE [MOMENTS]: succeeds if no line "begin duration" of FILE, in microseconds, covers the whole
# time in which the event was off, which begins and ends at the two times in MOMENTS, or else $tmp/moments.
none_over_gap() {
	awk 'NR == FNR { at[$2] = $1 * 1000000; next } $1 < at[0] && $1 + $2 > at[1] { print; bad = 1 } END { exit bad }' \
		"${2:-$tmp/moments}" "$1"
}

for arch in x86_64 aarch64 riscv64; do
	boot_beside "$arch" "slots=131072 run=forever"
	check "$arch: the guest answers" control 'lock.*=on'
	await_more lock.acquire
	check "$arch: events of locks are switched off" control 'lock.*=off'
	check "$arch: other events are recorded while events of locks are off" await_more sched.switch
	check "$arch: events of locks are switched on again" control 'lock.*=on'
	await_more lock.release
	check "$arch: lock.release is switched off until the end" control 'lock.release=off'
	check "$arch: lock.acquire is recorded while lock.release is off" await_more lock.acquire
	check "$arch: sched.switch is switched off" control sched.switch=off
	check "$arch: lock.acquire is recorded while sched.switch is off" await_more lock.acquire
	check "$arch: sched.switch is switched on again" control sched.switch=on
	check "$arch: sched.switch is recorded again" await_more sched.switch
	check "$arch: all recording is stopped" control stop
	check "$arch: all recording is started again" control start
	check "$arch: sched.switch is recorded after the start" await_more sched.switch
	end_guest

	moments lock.acquire | sed '$d' >"$tmp/moments" # without the start at the end
	equal "$arch: the trace records that events of locks were switched off and on" "0 1" "$(awk '{ print $2 }' "$tmp/moments" | tail -n 2 | xargs)"
	off=$(awk '$2 == 0 { print $1 }' "$tmp/moments" | tail -n 1)
	on=$(awk '$2 == 1 { print $1 }' "$tmp/moments" | tail -n 1)
	"$ktrace" stats --json "$out" >"$tmp/stats" 2>"$tmp/messages"
	sed -n 's/.*"kind":"lock [a-z]*".*"longest":{"begin":\([0-9.]*\),"end":\([0-9.]*\).*/\1 \2/p' "$tmp/stats" >"$tmp/longest"
	check "$arch: stats has durations of locks" test -s "$tmp/longest"
	check "$arch: no duration spans the time from $off to $on, in which events were off: $(xargs <"$tmp/longest")" \
		awk -v off="$off" -v on="$on" '$1 < off && $2 > off || $1 < on && $2 > on { bad = 1 } END { exit bad }' "$tmp/longest"
	moments sched.switch >"$tmp/all_moments"
	tail -n 1 "$tmp/all_moments" >"$tmp/started"
	sed '$d' "$tmp/all_moments" >"$tmp/moments"
	equal "$arch: the trace records that sched.switch was switched off and on" "0 1" "$(awk '{ print $2 }' "$tmp/moments" | tail -n 2 | xargs)"
	"$ktrace" show --json --event ktrace.stopped "$out" 2>>"$tmp/messages" >"$tmp/stops"
	check "$arch: the trace records the stop" grep -q '"until":[1-9]' "$tmp/stops"
	started=$(sed -n 's/.*"time":\([0-9.]*\).*/\1/p' "$tmp/stops" | head -n 1)
	check "$arch: the trace records the start after it, at $started" \
		awk -v from="$started" '{ good = $1 >= from && $2 == 1 } END { exit !good }' "$tmp/started"
	# a moment at which recording was stopped, and the start; in the form of $tmp/moments
	awk -v at="$started" 'BEGIN { printf "%.6f 0\n%.6f 1\n", at - 0.000002, at }' >"$tmp/stop_moments"
	on=$(awk '$2 == 1 { print $1 }' "$tmp/moments" | tail -n 1)
	"$ktrace" stats --json --since "$on" --until "$started" "$out" 2>>"$tmp/messages" |
		sed -n 's/.*"kind":"run queue".*"count":\([0-9]*\).*"no_end":\([0-9]*\),"switched":\([0-9]*\).*/\1 \2 \3/p' >"$tmp/queue"
	check "$arch: most durations in the run queue before the stop are measured: $(cat "$tmp/queue")" \
		awk '{ good = $1 >= 10 && $1 > 4 * ($2 + $3) } END { exit !good }' "$tmp/queue"
	"$ktrace" export -f json -o "$tmp/json" "$out" 2>"$tmp/messages"
	sed -n 's/.*"ph":"X","ts":\([0-9.]*\),"pid":0,.*"dur":\([0-9.]*\),.*/\1 \2/p' "$tmp/json" >"$tmp/slices"
	check "$arch: the JSON has slices of threads that run: $(wc -l <"$tmp/slices")" test -s "$tmp/slices"
	check "$arch: the JSON has no slice over the time in which switches were off" none_over_gap "$tmp/slices"
	check "$arch: the JSON has no slice over the stop" none_over_gap "$tmp/slices" "$tmp/stop_moments"
	"$ktrace" show --svg "$tmp/svg" "$out" 2>"$tmp/messages"
	sed -n 's/.*<title>thread [^,]*, \([0-9.]* [a-z]*\) from \([0-9.]*\).*/\1 \2/p' "$tmp/svg" |
		awk '{ print $3 * 1000000, $1 * ($2 == "s" ? 1000000 : $2 == "ms" ? 1000 : $2 == "us" ? 1 : 0) }' >"$tmp/boxes"
	check "$arch: the picture has boxes of threads that run: $(wc -l <"$tmp/boxes")" test -s "$tmp/boxes"
	check "$arch: the picture has no box over the time in which switches were off" none_over_gap "$tmp/boxes"
	check "$arch: the picture has no box over the stop" none_over_gap "$tmp/boxes" "$tmp/stop_moments"
	"$ktrace" check "$out" >"$tmp/rules" 2>"$tmp/messages"
	equal "$arch: no rule is violated" 0 $?
	grep VIOLATED "$tmp/rules"
	equal "$arch: rules are checked for events that were on for a part of the run" 0 "$(grep -c 'lock.*was not recorded' "$tmp/rules")"
	grep -E '^(exit|return)-with-lock' "$tmp/rules" | sed 's/^/# /'
done

done_testing
