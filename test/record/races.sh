#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Tests `ktrace record` with threads that have ended before their creation is reported, that are created while
# the recorder attaches, or that are always busy.
. test/tap.sh
. test/record/record_support.sh

tracer_of() { awk '/^TracerPid/ { print $2 }' "/proc/$1/status"; }
# sessions_end FILE: succeeds if the file is complete and no records are lost.
sessions_end() { build/bin/kdump -f "$1" | tail -n 1 | grep -q 'END   closed: .* 0 lost'; }

record -i -t s -f "$tmp/births" "$programs/births" 40
equal "threads that end before their creation is reported: status" 0 "$status"
check "threads that end before their creation is reported: the file is complete" sessions_end "$tmp/births"
equal "each process has one FORK, and there are no others" 40 "$(lines "$tmp/births" FORK)"
equal "each process has an EXIT" 41 "$(lines "$tmp/births" EXIT)"

record -i -t cs -f "$tmp/execs" "$programs/execs" 100
equal "a thread other than the main thread calls exec: status" 0 "$status"
equal "each exec is recorded" 101 "$(lines "$tmp/execs" EXEC)"
equal "each exec returns" 101 "$(build/bin/kdump -f "$tmp/execs" | grep -c 'RET   execve 0')"
check "a thread other than the main thread calls exec: the file is complete" sessions_end "$tmp/execs"

# all_have_turns FILE: succeeds if 40 threads called getppid, each of them at least 100 times, and at least a
# tenth as often as the busiest thread.
all_have_turns() {
	build/bin/kdump -H -f "$1" | awk '/getppid/ { asked[$2]++ }
		END {
			for (thread in asked) {
				threads++
				if (threads == 1 || asked[thread] < least) least = asked[thread]
				if (asked[thread] > most) most = asked[thread]
			}
			print threads " threads asked, from " least " to " most " times"
			exit !(threads == 40 && least >= 100 && least * 10 >= most)
		}'
}

# attended NAME [COMMAND]: records the process $!, which has many busy threads, to test -p. Then runs
# COMMAND, and ends the recording by -c.
attended() {
	target=$!
	kill_at_end "$target"
	await sh -c 'test "$(ls /proc/'"$target"'/task | wc -l)" -gt 40'
	record -t c -f "$tmp/$1" -p "$target"
	equal "$1: -p: status" 0 "$status"
	check "$1: calls of the process are recorded" eventually sh -c 'build/bin/kdump -f '"$tmp/$1"' | grep -q getppid'
	check "$1: each of 40 busy threads makes progress" eventually all_have_turns "$tmp/$1"
	test $# = 1 || "$2"
	record -c -p "$target"
	equal "$1: -c: status" 0 "$status"
	check "$1: all threads of the process are detached" eventually sh -c '! grep -h ^TracerPid: /proc/'"$target"'/task/*/status 2>/dev/null | grep -qv "	0$"'
	check "$1: the file is complete" eventually sessions_end "$tmp/$1"
	kill -KILL "$target"
}

"$programs/crowd" &
attended crowd
"$programs/crowd" headless &
attended headless

# The kernel reports the end of a main thread to its tracer only when the other threads have ended, too.
end_main_thread() {
	kill -USR1 "$target"
	await grep -q '^State:	Z' "/proc/$target/status"
}
"$programs/crowd" beheaded &
attended beheaded end_main_thread

# The target is killed while it creates processes. Records that were made before must not be lost.
sh -c 'while :; do (:); done' &
target=$!
kill_at_end "$target"
record -i -t c -f "$tmp/killed" -p "$target"
await sh -c 'build/bin/kdump -f '"$tmp/killed"' | grep -q FORK'
kill -KILL "$target"
check "killed while it creates processes: the file is complete" eventually sessions_end "$tmp/killed"
done_testing
