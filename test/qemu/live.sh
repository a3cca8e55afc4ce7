# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace live on running guests: it shows rates and CPUs of a busy guest, reports an idle CPU as idle, and a
# CPU that spins with interrupts off as stuck. When a guest ends, it waits for the next one; a guest that is
# reset is shown again. Also tests the screen on terminals.
. test/tap.sh
. test/qemu/run_support.sh

live="$PWD/$ktrace live"

# start ARCH APPEND…: starts a guest whose RAM file is where `ktrace live` looks for it.
start() {
	: >"$tmp/console"
	arch=$1
	shift
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --out "$tmp/ktrace.ktrx" -- $(demo "$arch" 2) -append "debug=ktrace $*" \
		</dev/null >"$tmp/console" 2>"$tmp/err" &
	guest=$!
}

# await_kernel: waits until the guest's kernel runs on both CPUs.
await_kernel() { await grep -q 'demo: 2 CPUs,' "$tmp/console"; }

finish() {
	kill -INT "$guest"
	wait "$guest"
}

# watch COUNT OPTION…: runs live for COUNT intervals; leaves its output in $tmp/live, its exit status in
# $status.
watch() {
	count=$1
	shift
	status=0
	(cd "$tmp" && timeout -k 5 $kill_limit $live --count "$count" "$@") >"$tmp/live" 2>"$tmp/live.err" || status=$?
}

# last KEY [N]: prints the N-th (default: first) value of this key in the last JSON line.
last() { tail -n 1 "$tmp/live" | grep -o "\"$1\":[0-9.]*" | sed -n "${2-1}s/.*://p"; }

# await_line PATTERN: waits until `ktrace live` has written a line that matches.
await_line() { await grep -q "$1" "$tmp/live"; }

at_least() { awk -v value="$1" -v least="$2" 'BEGIN { exit !(value >= least) }'; }

for arch in x86_64 aarch64 riscv64; do
	start "$arch" run=forever
	await_kernel
	watch 4 --json --interval 500ms
	equal "$arch: a guest was seen" 0 "$status"
	equal "$arch: a line an interval" 4 "$(wc -l <"$tmp/live")"
	check "$arch: events come: $(last events_per_second)" at_least "$(last events_per_second)" 100
	equal "$arch: both CPUs are there" 2 "$(tail -n 1 "$tmp/live" | grep -o '"online":true' | wc -l)"
	check "$arch: the kernel is at work: $(last kernel)" at_least "$(last kernel)" 0.001
	check "$arch: the most frequent events have names" grep -q '"event":"lock.acquire"' "$tmp/live"
	watch 2 --interval 500ms --tail 3 --event sched.switch
	check "$arch: lines for people" grep -q ' events/s, .* | 0: ' "$tmp/live"
	equal "$arch: the tail has what is asked for" "sched.switch" \
		"$(awk '$2 ~ /^CPU/ { print $4 }' "$tmp/live" | sort -u | xargs)"
	watch 1 --interval 500ms --tail 3 --event shced
	check "$arch: a pattern that no event fits is named" \
		grep -q "no event 'shced'; did you mean sched?" "$tmp/live.err"
	finish

	start "$arch" run=hang
	await_kernel
	watch 4 --json
	check "$arch: a CPU without work idles: $(last idle 1)" at_least "$(last idle 1)" 0.8
	check "$arch: one with interrupts off is stuck: $(last stuck 2)" at_least "$(last stuck 2)" 0.9
	equal "$arch: and nobody else: $(last stuck 1)" 0.000 "$(last stuck 1)"
	check "$arch: its thread is named" grep -q '"name":"hang"' "$tmp/live"
	finish

	start "$arch" run=abba-spin
	await_kernel
	watch 3
	check "$arch: of CPUs that wait for each other's locks it is said" \
		grep -q '| 0:.* waits for lock buffer pool (0x[0-9a-f]*) of CPU 1 .*| 1:.* of CPU 0' "$tmp/live"
	finish
done

# The memory of live is bounded, however many events it has read. Each of 4 rings has a buffer that doubles
# until it holds the slots that wait to be shown: at most 16384 slots of 72 bytes, which are 512 in each read
# for the 100 ms or more for which live waits for an unfinished slot. That is less than 5 MB; 4 MB are
# libraries and tables. A busy host reaches peaks that a quiet one does not, so growth between two moments
# proves nothing.
memory() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$watcher/status"; }
# shown COUNT: waits until live has printed so many lines.
shown() { await count_is_at_least "$1" "$tmp/live" ''; }
start x86_64 run=stress seconds=40
: >"$tmp/live"
await_ram "$tmp"
"$ktrace" live --json --interval 100ms >"$tmp/live" 2>"$tmp/live.err" --machine x86_64 "$ram" &
watcher=$!
shown 64
after=$(memory)
# In one interval the guest may not have run at all.
rate=$(grep -o '"events_per_second":[0-9.]*' "$tmp/live" | cut -d: -f2 | sort -n | tail -n 1)
check "events by the million: $rate" at_least "$rate" 10000
check "take a bounded amount of memory: $after kB" test "$after" -le 9216
check "those not looked at are counted: $(last slots_not_looked_at)" at_least "$(last slots_not_looked_at)" 1
kill -TERM "$watcher"
wait "$watcher"
finish

# QEMU ends and another QEMU is started.
: >"$tmp/live" # an earlier watcher's lines are not this one's
(cd "$tmp" && exec timeout -k 5 $kill_limit $live --json --interval 250ms) >"$tmp/live" 2>"$tmp/live.err" &
watcher=$!
for boot in 1 2; do
	start x86_64 run=forever
	await_line "\"state\":\"running\",\"boot\":$boot"
	finish
done
await_line '"state":"ended","boot":2'
kill -TERM "$watcher"
status=0
wait "$watcher" || status=$?
equal "a signal ends it" 0 "$status"
check "the second guest was shown, too, and its end" sh -c "tail -n 1 '$tmp/live' | grep -q '\"state\":\"ended\",\"boot\":2'"

# A guest that is reset boots again in the same memory.
for arch in x86_64 aarch64 riscv64; do
	: >"$tmp/live"
	# shellcheck disable=SC2046
	{
		await_line '"state":"running","boot":1'
		echo system_reset
		await_line '"boot":2,"events_per_second":[1-9]'
		echo quit
	} | timeout -k 5 $kill_limit $(demo "$arch" 2 | sed 's/-nographic/-display none/; s/-no-reboot//; s/-m 128M//') \
		$("$ktrace" qemu-args "$arch" --ram "$tmp/reset.ram" | sed 's/-no-reboot//') \
		-append "debug=ktrace run=forever" -serial null -monitor stdio >/dev/null 2>"$tmp/err" &
	guest=$!
	"$ktrace" live --json --interval 250ms --machine "$arch" "$tmp/reset.ram" >"$tmp/live" 2>"$tmp/live.err" &
	watcher=$!
	wait "$guest"
	kill -TERM "$watcher"
	wait "$watcher"
	check "$arch: the guest that was reset is shown again, with events" \
		grep -q '"state":"running","boot":2,"events_per_second":[1-9]' "$tmp/live"
	rm -f "$tmp/reset.ram"
done

watch 1 --lines "$tmp/none.ram"
equal "no guest was seen" 1 "$status"
check "which is said" grep -q 'no guest was seen' "$tmp/live.err"
check "and that one is waited for" grep -q 'waiting for a guest' "$tmp/live"
watch 1 "$tmp/ktrace.ktrx"
equal "a trace is no guest" 1 "$status"
check "which is said, too" grep -q 'not the memory of a running guest, but a trace or a core' "$tmp/live.err"

# painted ROWS FILE: copies the screen to FILE; succeeds if it shows the stuck CPU, and the keys in row ROWS.
painted() {
	$tmux capture-pane -p >"$2"
	grep -q '^CPU1 *\[!' "$2" && sed -n "$1p" "$2" | grep -q '^q quit'
}

# screen COLUMNS ROWS: runs live in a terminal of this size. Leaves the screen in $tmp/screen, the screen
# after two changes of size in $tmp/resized, the exit status after q in $tmp/status.
screen() {
	rm -f "$tmp/status" "$tmp/stty"
	tmux="tmux -S $tmp/tmux -f /dev/null"
	$tmux new-session -d -x "$1" -y "$2" "cd $tmp && $live; echo \$? >status; stty -a >stty; sleep 30"
	await painted "$2" "$tmp/screen"
	$tmux resize-window -x "$2" -y "$1"
	$tmux send-keys e sched Enter
	await painted "$1" "$tmp/resized"
	$tmux resize-window -x "$1" -y "$2"
	await painted "$2" "$tmp/resized"
	$tmux send-keys q
	await test -s "$tmp/stty"
	$tmux kill-server
}

if command -v tmux >/dev/null; then
	for size in '80 24' '40 10'; do
		start x86_64 run=hang
		# shellcheck disable=SC2086
		screen $size
		finish
		check "$size: the idle CPU's bar: $(sed -n 3p "$tmp/screen")" grep -q '^CPU0 *\[.*\.\.\.' "$tmp/screen"
		check "$size: the stuck CPU's bar: $(sed -n 4p "$tmp/screen")" grep -q '^CPU1 *\[.*!!!.* STUCK' "$tmp/screen"
		check "$size: the keys" grep -q '^q quit' "$tmp/screen"
		check "$size: the bars after other sizes" grep -q '^CPU1 *\[!!!' "$tmp/resized"
		equal "$size: q ends it" 0 "$(cat "$tmp/status")"
		check "$size: the terminal echoes again" grep -q ' echo ' "$tmp/stty"
	done
else
	skip "the screen" "tmux is absent"
fi
done_testing
