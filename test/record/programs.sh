#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Records real programs. The number of calls equals the number that strace counts in another run.
. test/tap.sh
. test/record/record_support.sh

# These functions print "NAME COUNT" for each call in the output of strace or kdump. They leave out calls
# whose number differs between runs: futex (threads wait for each other), rt_sigreturn (one SIGCHLD may report
# several children), and calls that Linux restarts because a signal interrupted them.
strace_calls() {
	sed -nE 'h; s/^[0-9]+ +([a-z_0-9]+)\(.*/\1 1/p; g; s/^[0-9]+ +(<\.\.\. )?([a-z_0-9]+)[ (].*\? ERESTART.*/\2 -1/p' | count_calls
}
kdump_calls() {
	sed -nE 's/.* CALL +([a-z_0-9]+).*/\1 1/p; s/.* RET +([a-z_0-9]+) -1 errno [0-9]+ ERESTART.*/\1 -1/p' | count_calls
}
count_calls() { awk '$1 != "futex" && $1 != "rt_sigreturn" { n[$1] += $2 } END { for (name in n) if (n[name]) print name, n[name] }' | sort; }

equal "a call that is interrupted and restarted is counted once" "clone 1" "$(strace_calls <<'END'
12 clone(child_stack=NULL) = ? ERESTARTNOINTR (To be restarted)
12 clone(child_stack=NULL <unfinished ...>
12 <... clone resumed>) = ? ERESTARTNOINTR (To be restarted)
12 clone(child_stack=NULL) = 33
END
)"

# Prints "THREAD CAUGHT RETURNED" for each thread that caught a signal: the number of signals that it caught,
# and the number of its signal handlers that returned.
handlers() {
	awk '/ PSIG .* caught / { caught[$1]++ } / CALL +rt_sigreturn/ { returned[$1]++ }
		END { for (thread in caught) print thread, caught[thread], returned[thread] + 0 }'
}

# compare NAME COMMAND…: runs the command under strace and under ktrace record, and compares.
compare() {
	name=$1
	shift
	if ! command -v "$1" >"$tmp/which"; then
		skip "$name" "$1 is not installed"
		return
	fi
	# Runs strace under timeout(1), because record() uses timeout(1), too. timeout(1) resets ignored
	# signals to their defaults, so the program treats signals in the same way under strace and under
	# ktrace record.
	timeout -k 5 $kill_limit strace -f -qq -o "$tmp/strace" "$@" </dev/null >"$tmp/out.strace" 2>/dev/null
	strace_status=$?
	strace_calls <"$tmp/strace" >"$tmp/expected"
	record -i -f "$tmp/trace" "$@"
	build/bin/kdump -f "$tmp/trace" -t c | kdump_calls >"$tmp/calls"
	same "$name: each call is recorded as often as strace counts it" "$tmp/expected" "$tmp/calls"
	same "$name: the output is the same" "$tmp/out.strace" "$tmp/out"
	equal "$name: the recorder has the program's status" "$strace_status" "$status"
	build/bin/kdump -f "$tmp/trace" -t cs | handlers >"$tmp/handlers"
	check "$name: each handler of a signal returns" awk '$2 != $3 { print; wrong = 1 } END { exit wrong }' "$tmp/handlers"
	check "$name: every call returns, except those that end a program" sh -c '
		build/bin/kdump -f "$1" -t c | awk "/ CALL /{ c++ } / CALL +(exit|exit_group|rt_sigreturn)[( ]/ { e++ } / RET /{ r++ } END { print c, e, r; exit !(c > 10 && r >= c - e - 8 && r <= c) }"' - "$tmp/trace"
}

if ! command -v strace >"$tmp/which" || ! strace -qq true 2>"$tmp/err"; then
	skip "as many calls as strace counts" "strace is absent, or may not trace here"
	done_testing
fi
compare "a shell, pipes, children" sh -c 'for n in 1 2 3; do echo $n | cat; done; x=$(ls /); (exit 3)'
compare "bash" bash -c 'for n in 1 2 3; do echo $n | cat; done; x=$(ls /); (exit 3)'
check "bash: the trace has caught signals" test -s "$tmp/handlers"
# Uses Debian's python3. A wrapper with this name in PATH would first search for a python3, and during this
# search would read pipes in pieces of different sizes.
compare "python3" /usr/bin/python3 -S -c 'import os, json; print(json.dumps({"a": 1})); os.system("exit 2")'
git -C "$tmp" init -q repository && git -C "$tmp/repository" -c user.name=t -c user.email=t commit -q --allow-empty -m one
compare "git" git -C "$tmp/repository" --no-pager log --oneline
compare "threads" "$programs/threads"
done_testing
