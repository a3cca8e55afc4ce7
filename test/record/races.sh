#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# ktrace record: threads that are gone before their birth is told, that are born meanwhile, that never rest.
. test/tap.sh
. test/record/record_support.sh
kills=
trap 'kill -KILL $kills 2>/dev/null; rm -rf "$tmp"' EXIT

tracer_of() { awk '/^TracerPid/ { print $2 }' "/proc/$1/status"; }
# sessions_end FILE: is nothing of it lost, down to its last record?
sessions_end() { build/bin/kdump -f "$1" | tail -n 1 | grep -q 'END   closed: .* 0 lost'; }

record -i -t s -f "$tmp/births" "$programs/births" 40
equal "threads that do not live to be told of: status" 0 "$status"
check "the file has all up to its end" sessions_end "$tmp/births"
equal "each process has one beginning, and no other has any" 40 "$(lines "$tmp/births" FORK)"
equal "each ends" 41 "$(lines "$tmp/births" EXIT)"

record -i -t cs -f "$tmp/execs" "$programs/execs" 100
equal "another thread than the first calls exec: status" 0 "$status"
equal "each exec is recorded" 101 "$(lines "$tmp/execs" EXEC)"
equal "each exec returns" 101 "$(build/bin/kdump -f "$tmp/execs" | grep -c 'RET   execve 0')"
check "the file has all up to its end" sessions_end "$tmp/execs"

# all_have_turns FILE: do 40 threads ask, and the one that asks least a tenth as often as the one that asks most?
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

# attended NAME [COMMAND]: -p, COMMAND, -c of the process in $!, whose threads are many and busy.
attended() {
	target=$!
	kills="$kills $target"
	await sh -c 'test "$(ls /proc/'"$target"'/task | wc -l)" -gt 40'
	record -t c -f "$tmp/$1" -p "$target"
	equal "$1: -p: status" 0 "$status"
	check "$1: it is recorded" eventually sh -c 'build/bin/kdump -f '"$tmp/$1"' | grep -q getppid'
	check "$1: each of its 40 busy threads has its turn" eventually all_have_turns "$tmp/$1"
	test $# = 1 || "$2"
	record -c -p "$target"
	equal "$1: -c: status" 0 "$status"
	check "$1: all of it is let go" eventually sh -c '! grep -h ^TracerPid: /proc/'"$target"'/task/*/status 2>/dev/null | grep -qv "	0$"'
	check "$1: the file has all up to its end" eventually sessions_end "$tmp/$1"
	kill -KILL "$target"
}

"$programs/crowd" &
attended crowd
"$programs/crowd" headless &
attended headless

# The kernel tells the tracer of a main thread that has ended only when the other threads have ended, too.
end_main_thread() {
	kill -USR1 "$target"
	await grep -q '^State:	Z' "/proc/$target/status"
}
"$programs/crowd" beheaded &
attended beheaded end_main_thread

# Killed while births are told of: what came before is not lost.
sh -c 'while :; do (:); done' &
target=$!
kills="$kills $target"
record -i -t c -f "$tmp/killed" -p "$target"
await sh -c 'build/bin/kdump -f '"$tmp/killed"' | grep -q FORK'
kill -KILL "$target"
check "killed among births: the file has all up to its end" eventually sessions_end "$tmp/killed"
done_testing
