#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Process traces of a program with several threads: each record has the id of its thread. The rings of the
# same boot have the same calls of the same threads, and the threads' names. PROC_ARCHES: architectures to
# test (default: all three).
. test/tap.sh
. test/qemu/proc_support.sh

# calls_in_trace PID: prints the id and the number of calls of each thread of the process, except the first
# thread, from the process trace.
# calls_in_rings PID: prints the same from the kernel's rings.
calls_in_trace() {
	awk '$1 == pid && $2 != pid && $4 == "CALL" { n[$2]++ } END { for (t in n) print t, n[t] }' "pid=$1" "$tmp/text" | sort -n
}
calls_in_rings() {
	calls_in_trace "$1" | while read -r thread _; do
		"$ktrace" show --json --event syscall.enter "$tmp/rings" 2>/dev/null | grep -c "\"thread\":$thread[,}]" | sed "s/^/$thread /"
	done
}

boot_events=debug=syscall,process,sched
for arch in $arches; do
	boot "$arch" 2 ktrace:-i:-f:/tmp/threads:threads give:/tmp/threads
	equal "$arch: the program's own checks pass" 1 "$(grep -c '^init: ktrace: status 0' "$tmp/console")"
	"$kdump" -f "$tmp/given/threads" -H >"$tmp/text"
	pid=$(awk '$4 == "SET" { print $1; exit }' "$tmp/text")
	check "$arch: thread_self returns the thread id of its record" awk '
		$4 == "RET" && $5 == "thread_self" { n++; bad += $6 + 0 != $2 }
		END { exit n < 15 || bad }' "$tmp/text"
	check "$arch: a thread's calls and returns alternate" awk '
		$4 == "CALL" { bad += open[$2] != ""; open[$2] = $5; sub(/\(.*/, "", open[$2]) }
		$4 == "RET" && open[$2] { bad += open[$2] != $5; open[$2] = "" }
		END { exit bad }' "$tmp/text"
	calls_in_trace "$pid" >"$tmp/one"
	calls_in_rings "$pid" >"$tmp/other"
	check "$arch: the trace has calls of at least 14 threads" [ "$(wc -l <"$tmp/one")" -ge 14 ]
	same "$arch: trace and rings have the same number of calls of each thread" "$tmp/one" "$tmp/other"
	equal "$arch: each process has one EXIT record, however many threads end" "1" "$(grep -c " EXIT " "$tmp/text" |
		awk -v processes="$(awk '$1 + 0 { print $1 }' "$tmp/text" | sort -u | wc -l)" '{ print $1 == processes }')"
	check "$arch: after exec by a thread that is not the first, all records have its thread id" awk '
		$1 != $2 && $4 == "EXEC" { pid = $1; thread = $2; next }
		pid == $1 { n++; bad += $2 != thread }
		END { exit !n || bad }' "$tmp/text"
	check "$arch: a thread's new name does not change the name of the process" awk '
		$4 == "CALL" && $5 ~ /^setname/ { n++; thread = $2 }
		n && $1 == pid { bad += $3 != "threads"; names += $2 == thread }
		END { exit n != 1 || !names || bad }' "pid=$pid" "$tmp/text"
	"$ktrace" show --event syscall.enter,sched.create "$tmp/rings" >"$tmp/rings.text" 2>/dev/null
	for name in adder waiter taker counter parent; do
		check "$arch: the rings have the creation of thread $name" grep -qE "sched\.create +[0-9]+ of process $pid, $name" "$tmp/rings.text"
	done
	check "$arch: events of a renamed thread have the new name" grep -qE '=[0-9]+\(counting\) +syscall.enter +thread_exit' "$tmp/rings.text"
	check "$arch: events of a thread have its name" grep -qE '=[0-9]+\(adder\) +syscall.enter +thread_exit' "$tmp/rings.text"
done
done_testing
