# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace live on running guests: it shows rates and CPUs of a busy guest, reports an idle CPU as idle, and a
# CPU that spins with interrupts off as stuck. When a guest ends, it waits for the next one; a guest that is
# reset is shown again. Also tests the screen on terminals.
. test/tap.sh
. test/qemu/run_support.sh

live="$PWD/$ktrace live"

# Busy guests whose CPUs need not run at the same time share a thread of the host.
one_thread='-accel tcg,thread=single'

# start ARCH APPEND…: starts a guest whose RAM file is in the directory in which `ktrace live` looks for it.
# $options: more options for QEMU.
options=
start() {
	: >"$tmp/console"
	arch=$1
	shift
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --out "$tmp/ktrace.ktrx" -- $(demo "$arch" 2) $options -append "debug=ktrace $*" \
		</dev/null >"$tmp/console" 2>"$tmp/err" &
	guest=$!
}

# await_kernel: waits until the guest's kernel runs on both CPUs.
await_kernel() {
	eventually grep -q 'demo: 2 CPUs,' "$tmp/console" ||
		echo "gave up: $arch: not two CPUs, but: $(tail -n 5 "$tmp/console")" >>"$tmp/.gave_up"
}

# watch COUNT OPTION…: runs live for COUNT intervals; stores its output in $tmp/live, its exit status in
# $status.
watch() {
	count=$1
	shift
	status=0
	(cd "$tmp" && timeout -k 5 $kill_limit $live --count "$count" "$@") >"$tmp/live" 2>"$tmp/live.err" || status=$?
}

# watched_until NAME CONDITION: runs live until a line of its JSON output satisfies the awk condition. On a
# busy host, a guest may not have run at all in an interval. In the condition, value(KEY, N) is the N-th
# value of this key.
watched_until() {
	(cd "$tmp" && exec timeout -k 5 $kill_limit $live --json --interval 200ms) >"$tmp/live" 2>"$tmp/live.err" &
	watcher=$!
	check "$1" eventually any_line "$2"
	kill -TERM "$watcher"
	wait "$watcher"
}

# any_line CONDITION: succeeds if a line of live's output satisfies the condition.
any_line() {
	awk 'function value(key, n,    rest, found) {
			for (rest = $0; n-- > 0; rest = substr(rest, RSTART + RLENGTH)) {
				if (!match(rest, "\"" key "\":[0-9.]+")) return ""
				found = substr(rest, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
			}
			return found
		}
		'"$1"' { met = 1; exit }
		END { exit !met }' "$tmp/live"
}

guest_is_busy='value("events_per_second", 1) + 0 >= 100 && value("kernel", 1) + 0 >= 0.001'

# CPU 0 has no work, and CPU 1 has interrupts off.
second_cpu_is_stuck='value("idle", 1) + 0 >= 0.8 && value("stuck", 2) + 0 >= 0.9 && value("stuck", 1) == "0.000"'

# await_line PATTERN: waits until `ktrace live` has written a line that matches.
await_line() { await grep -q "$1" "$tmp/live"; }

# shows_switches OPTION…: runs live, and succeeds if it shows a context switch among the newest events. On a busy
# host, a guest may not have run at all in an interval.
shows_switches() {
	watch 2 --interval 200ms --tail 3 "$@"
	grep -q ' CPU[01] .* sched.switch ' "$tmp/live"
}

shows_waits() {
	watch 1 --interval 100ms
	grep -q '| 0:.* waits for lock buffer pool (0x[0-9a-f]*) of CPU 1 .*| 1:.* of CPU 0' "$tmp/live"
}

for arch in x86_64 aarch64 riscv64; do
	start "$arch" run=forever
	await_kernel
	watch 4 --json --interval 100ms
	equal "$arch: live finds a running guest" 0 "$status"
	equal "$arch: live prints one line for each interval" 4 "$(wc -l <"$tmp/live")"
	equal "$arch: live shows both CPUs as online" 2 "$(tail -n 1 "$tmp/live" | grep -o '"online":true' | wc -l)"
	watched_until "$arch: live shows the rate of events and time in the kernel" "$guest_is_busy"
	check "$arch: live names the most frequent events" grep -q '"event":"lock.acquire"' "$tmp/live"
	check "$arch: live --tail --event shows events" eventually shows_switches --event sched.switch
	check "$arch: live prints lines with rate and CPUs" grep -q ' events/s, .* | 0: ' "$tmp/live"
	equal "$arch: live --tail --event shows only these events" "sched.switch" \
		"$(awk '$2 ~ /^CPU/ { print $4 }' "$tmp/live" | sort -u | xargs)"
	check "$arch: live --tail --where shows events" eventually shows_switches \
		--where 'event == "sched.switch" and cpu == 1'
	equal "$arch: live --tail --where shows only these events" "CPU1 sched.switch" \
		"$(awk '$2 ~ /^CPU/ { print $2, $4 }' "$tmp/live" | sort -u | xargs)"
	watch 1 --interval 200ms --tail 3 --where 'shced.switch.prev == 1'
	check "$arch: live --where with an unknown name fails" grep -q 'column 1' "$tmp/live.err"
	watch 1 --interval 200ms --tail 3 --event shced
	check "$arch: live --event with an unknown name suggests a name" \
		grep -q "no event 'shced'; did you mean sched?" "$tmp/live.err"
	end_guest

	start "$arch" run=hang
	await_kernel
	watched_until "$arch: a CPU without work is reported as idle and not as stuck, one with interrupts off as stuck" \
		"$second_cpu_is_stuck"
	check "$arch: live names the thread on a stuck CPU" grep -q '"name":"hang"' "$tmp/live"
	end_guest

	start "$arch" run=abba-spin
	await_kernel
	check "$arch: live shows which locks of each other two CPUs wait for" eventually shows_waits
	end_guest
done

# The memory of live is bounded, however many events it has read. Each of the 4 rings has a buffer for the
# slots that wait to be shown. A read adds at most 512 slots, and live waits at least 100 ms for an
# unfinished slot. So a buffer grows to at most 16384 slots of 72 bytes. All buffers take less than 5 MB;
# libraries and tables take 4 MB. A busy host reaches peaks that a quiet one does not, so the growth
# between two moments proves nothing. memory: prints the resident memory of live in kB.
memory() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$watcher/status"; }
# shown COUNT: waits until live has printed COUNT lines.
shown() { await count_is_at_least "$1" "$tmp/live" ''; }
options=$one_thread
start x86_64 run=stress seconds=$limit
: >"$tmp/live"
await_ram "$tmp"
"$ktrace" live --json --interval 100ms >"$tmp/live" 2>"$tmp/live.err" --machine x86_64 "$ram" &
watcher=$!
shown 32
after=$(memory)
check "live takes a bounded amount of memory: $after kB" test "$after" -le 9216
# On a busy host, the guest may be slow for some time, so that live reads all slots.
check "live reads a guest with a high rate of events" eventually any_line 'value("events_per_second", 1) + 0 >= 10000'
check "live counts slots that it did not read" eventually any_line 'value("slots_not_looked_at", 1) + 0 >= 1'
kill -TERM "$watcher"
wait "$watcher"
end_guest

# QEMU ends, and the test starts another QEMU.
: >"$tmp/live" # removes the lines of an earlier watcher
(cd "$tmp" && exec timeout -k 5 $kill_limit $live --json --interval 100ms) >"$tmp/live" 2>"$tmp/live.err" &
watcher=$!
for boot in 1 2; do
	start x86_64 run=forever
	await_line "\"state\":\"running\",\"boot\":$boot"
	end_guest
done
await_line '"state":"ended","boot":2'
kill -TERM "$watcher"
status=0
wait "$watcher" || status=$?
equal "a signal ends live with status 0" 0 "$status"
check "live shows a second guest, and its end" sh -c "tail -n 1 '$tmp/live' | grep -q '\"state\":\"ended\",\"boot\":2'"

# A guest that is reset boots again in the same memory.
for arch in x86_64 aarch64 riscv64; do
	: >"$tmp/live"
	# shellcheck disable=SC2046
	{
		await_line '"state":"running","boot":1'
		echo system_reset
		await_line '"boot":2,"events_per_second":[1-9]'
		echo quit
	} | timeout -k 5 $kill_limit $(demo "$arch" 2 | sed 's/-nographic/-display none/; s/-no-reboot//; s/-m 128M//') $one_thread \
		$("$ktrace" qemu-args "$arch" --ram "$tmp/reset.ram" | sed 's/-no-reboot//') \
		-append "debug=ktrace run=forever" -serial null -monitor stdio >/dev/null 2>"$tmp/err" &
	guest=$!
	"$ktrace" live --json --interval 100ms --machine "$arch" "$tmp/reset.ram" >"$tmp/live" 2>"$tmp/live.err" &
	watcher=$!
	wait "$guest"
	kill -TERM "$watcher"
	wait "$watcher"
	check "$arch: live shows a guest that was reset again, with events" \
		grep -q '"state":"running","boot":2,"events_per_second":[1-9]' "$tmp/live"
	rm -f "$tmp/reset.ram"
done

watch 1 --lines "$tmp/none.ram"
equal "live on a missing file fails" 1 "$status"
check "live on a missing file: a message says that no guest was seen" grep -q 'no guest was seen' "$tmp/live.err"
check "live on a missing file waits for a guest" grep -q 'waiting for a guest' "$tmp/live"
watch 1 "$tmp/ktrace.ktrx"
equal "live refuses a trace" 1 "$status"
check "live on a trace: a message says that it is not a running guest's memory" grep -q 'not the memory of a running guest, but a trace or a core' "$tmp/live.err"

# painted ROWS FILE: copies the screen to FILE. Succeeds if the screen shows the stuck CPU, and has the list
# of keys in row ROWS.
painted() {
	$tmux capture-pane -p >"$2"
	grep -q '^CPU1 *\[!' "$2" && sed -n "$1p" "$2" | grep -q '^q quit'
}

# has_bars ROWS FILE: like painted, but the screen also shows that CPU 0 is idle, and CPU 1 was stuck for the whole
# interval. The bars show something else while the guest boots, or if it did not run in an interval.
has_bars() { painted "$@" && grep -q '^CPU0 *\[.*\.\.\.' "$2" && grep -q '^CPU1 *\[!!!.* STUCK' "$2"; }

# screen COLUMNS ROWS: runs live in a terminal of this size. Stores the screen in $tmp/screen, the screen
# after two changes of size in $tmp/resized, and live's exit status after the key q in $tmp/status.
screen() {
	rm -f "$tmp/status" "$tmp/stty"
	tmux_of "$1"
	$tmux new-session -d -x "$1" -y "$2" "cd $tmp && $live --interval 200ms; echo \$? >status; stty -a >stty; sleep 30"
	await has_bars "$2" "$tmp/screen"
	$tmux resize-window -x "$2" -y "$1"
	$tmux send-keys e sched Enter
	await painted "$1" "$tmp/resized"
	$tmux resize-window -x "$1" -y "$2"
	await has_bars "$2" "$tmp/resized"
	$tmux send-keys q
	await test -s "$tmp/stty"
	$tmux kill-server
}

# tmux_of NAME: chooses a server of its own for the following terminals. A server that is asked to end still accepts
# connections for a moment.
tmux_of() { tmux="tmux -S $tmp/tmux-$1 -f /dev/null"; }

if command -v tmux >/dev/null; then
	options=
	start x86_64 run=halt
	await_ram "$tmp" # other guests of this user must not be shown instead
	for size in '80 24' '40 10'; do
		# shellcheck disable=SC2086
		screen $size
		check "$size: the idle CPU has an idle bar: $(sed -n 3p "$tmp/screen")" grep -q '^CPU0 *\[.*\.\.\.' "$tmp/screen"
		check "$size: the stuck CPU has a stuck bar: $(sed -n 4p "$tmp/screen")" grep -q '^CPU1 *\[.*!!!.* STUCK' "$tmp/screen"
		check "$size: the screen shows the keys" grep -q '^q quit' "$tmp/screen"
		check "$size: the bars are right after changes of size" grep -q '^CPU1 *\[!!!' "$tmp/resized"
		equal "$size: q ends live with status 0" 0 "$(cat "$tmp/status")"
		check "$size: the terminal echoes again after live" grep -q ' echo ' "$tmp/stty"
	done
	end_guest

	# live finds a guest whose RAM file is in another directory. The following checks test the tables on
	# the screen, the keys and the mouse.
	mkdir "$tmp/else where"
	: >"$tmp/console"
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --out "$tmp/else where/a,b.ktrx" -- $(demo x86_64 2) $one_thread -append "debug=ktrace run=forever" \
		</dev/null >"$tmp/console" 2>"$tmp/err" &
	guest=$!
	await_kernel
	await_ram "$tmp/else where"
	$live --list >"$tmp/list" 2>&1
	check "live --list names a guest elsewhere" grep -qF "$tmp/else where/a,b.ktrx." "$tmp/list"
	check "live --list names its kernel" grep -q 'else where/a,b.*	[0-9]*	.*/x86_64/' "$tmp/list"
	# shows TEXT: succeeds if the screen contains the text; copies the screen to $tmp/screen.
	shows() {
		$tmux capture-pane -p >"$tmp/screen"
		grep -q -e "$1" "$tmp/screen"
	}
	# key KEY NAME TEXT: types a key, and checks that the screen then shows the text.
	key() {
		$tmux send-keys "$1"
		check "$2: $1 shows $3" eventually shows "$3"
	}
	mkdir "$tmp/empty"
	rm -f "$tmp/status"
	tmux_of tables
	$tmux new-session -d -x 120 -y 30 "cd $tmp/empty && LC_ALL=C.UTF-8 $live --interval 200ms; echo \$? >../status"
	await shows '^q quit'
	# choose_guest: chooses the guest of this test in the list, and succeeds if the screen then shows this guest.
	# Other tests may start or end guests at any time, so the list on the screen can be older than the list in
	# which the keys move.
	choose_guest() {
		$tmux send-keys Escape g
		await shows 'choose a guest, Escape'
		cp "$tmp/screen" "$tmp/guests"
		for _ in $(seq "$(sed -n '/RAM FILE/,/else where.a,b/p' "$tmp/guests" | sed 1,2d | wc -l)"); do
			$tmux send-keys Down
		done
		$tmux send-keys Enter
		await shows '^CPU0 '
		sed 1q "$tmp/screen" | grep -q 'events/s.* a,b\.ktrx\.[0-9]*\.ram'
	}
	check 'the list of guests: Enter shows the chosen guest' eventually choose_guest
	check 'the list of guests contains the guest' grep -q 'else where.a,b' "$tmp/guests"
	check 'threads: a table with states' eventually shows 'idle/0 .* \(running\|runnable\|sleeping\) '
	key 2 locks '^LOCK  *HOLDER'
	check 'locks: rates' eventually shows '^0x[0-9a-f]* .* [1-9][0-9]* '
	key 3 interrupts ' 0 timer .* us '
	key Tab calls '^ *NR CALL'
	key 5 events 'lock.acquire  *[0-9]*/s  *[▁▂▃▄▅▆▇█]'
	key '?' help 'choose a table'
	key '?' 'leaving help' 'lock.acquire'
	$tmux send-keys -H 1b 5b 4d 20 23 "$(printf %x $((32 + $(grep -n '1 Threads' "$tmp/screen" | cut -d: -f1))))"
	check 'the mouse: a click on a tab' eventually shows '^ *ID NAME'
	$tmux send-keys / idle/0 Enter
	check 'search: only rows with the text' eventually sh -c "$tmux capture-pane -p | grep -q 'only: idle/0' && ! $tmux capture-pane -p | grep -q 'idle/1 '"
	key r 'no search' 'idle/1 '
	$tmux send-keys q
	await test -s "$tmp/status"
	equal "the screen ends with status 0" 0 "$(cat "$tmp/status")"
	end_guest
else
	skip "the screen" "tmux is absent"
fi
done_testing
