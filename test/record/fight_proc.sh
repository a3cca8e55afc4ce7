#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# ktrace record without /proc: children and threads are recorded, and a message lists what is missing.
. test/tap.sh
. test/record/record_support.sh

without_proc() { unshare -m sh -c 'umount -l /proc && exec "$@"' - "$@"; }
if ! without_proc true 2>"$tmp/err"; then
	skip "/proc is not mounted" "it cannot be unmounted here"
	done_testing
fi

# record_without [OPTION…] COMMAND…: runs ktrace record without /proc.
record_without() {
	status=0
	timeout -k 5 $kill_limit unshare -m sh -c 'umount -l /proc && exec "$@"' - "$ktrace" record "$@" </dev/null >"$tmp/out" 2>"$tmp/err" || status=$?
}

# lives FILE: prints the numbers of FORK, EXEC and EXIT records in the file.
lives() { echo "$(lines "$1" FORK) $(lines "$1" EXEC) $(lines "$1" EXIT)"; }

for name in bomb hundred vforks sibling outlive group_stop; do
	"$programs/fight" $name >"$tmp/plain"
	record -i -f "$tmp/$name" "$programs/fight" $name
	record_without -i -f "$tmp/$name.without" "$programs/fight" $name
	equal "$name: status" 0 "$status"
	same "$name: the output is the same without /proc" "$tmp/plain" "$tmp/out"
	equal "$name: as many processes are recorded as with /proc" "$(lives "$tmp/$name")" "$(lives "$tmp/$name.without")"
	check "$name: the file is complete" sh -c 'build/bin/kdump -f "$1" | tail -n 1 | grep -q "END   closed: .* 0 lost"' - "$tmp/$name.without"
done
message_has "/proc is not mounted, or of another PID namespace: names of programs, files of descriptors and waits are not recorded"

record_without -f "$tmp/threads" "$programs/threads"
equal "as many threads are recorded as with /proc" \
	"$(record -f "$tmp/with" "$programs/threads" && build/bin/kdump -H -f "$tmp/with" -t c | awk '{ print $2 }' | sort -u | wc -l)" \
	"$(build/bin/kdump -H -f "$tmp/threads" -t c | awk '{ print $2 }' | sort -u | wc -l)"
record_without -f "$tmp/seven" sh -c 'exit 7'
equal "without /proc the recorder has the command's status" 7 "$status"
record_without -f "$tmp/none" -p $$
equal "without /proc -p is refused" 1 "$status"
message_has "/proc: not mounted, or of another PID namespace: it is needed to find running processes"
check "a refused -p creates no file" test ! -e "$tmp/none"

# The recorder runs in a new PID namespace, but /proc shows the process ids of the outer namespace, in which 1
# and 2 are other processes.
if unshare -p -f true 2>"$tmp/err"; then
	status=0
	timeout -k 5 $kill_limit unshare -p -f "$ktrace" record -i -f "$tmp/inner" sh -c 'cat </dev/null; exit 7' >"$tmp/out" 2>"$tmp/err" || status=$?
	equal "a PID namespace: status" 7 "$status"
	message_has "/proc is not mounted, or of another PID namespace: names"
	equal "a PID namespace: no names of others" 'parent 1 "" parent 2 ""' \
		"$(build/bin/kdump -f "$tmp/inner" | sed -n 's/.* EXEC *\(parent .*\)/\1/p' | sort -u | xargs -d '\n')"
	equal "a PID namespace: no descriptors of others" 0 "$(lines "$tmp/inner" FD)"
	unshare -p -f --mount-proc "$ktrace" record -i -f "$tmp/inner" sh -c 'cat </dev/null; exit 7' >"$tmp/out" 2>"$tmp/err"
	equal "a PID namespace with its /proc: no message" '' "$(cat "$tmp/err")"
	equal "a PID namespace with its /proc: names" '"cat" "sh"' "$(build/bin/kdump -f "$tmp/inner" | awk '$3 == "EXEC" { print $NF }' | sort -u | xargs -d '\n')"
	# Now the recorder is outside of the program's namespace. Records have process ids of the recorder's
	# namespace. Arguments and results of calls have process ids of the program's namespace.
	record -i -f "$tmp/outer" unshare -p -f sh -c 'echo $$ >"$0"; cat </dev/null; exit 7' "$tmp/number"
	equal "a program in a new PID namespace: its process id there" 1 "$(cat "$tmp/number")"
	check "a program in a new PID namespace: the child's process id for the recorder" sh -c '
		build/bin/kdump -f "$1" | awk "\$3 == \"FORK\" && \$1 < 3 { wrong = 1 } \$3 == \"FORK\" { births++ } END { exit wrong || births != 2 }"' - "$tmp/outer"
	shown "$tmp/outer" 'fork 2'

	# Two recorders both have process id 1, each in its own PID namespace. Each one records a program
	# with process id 2.
	for name in one two; do
		mkfifo "$tmp/in.$name"
		unshare -p -f "$ktrace" record -f "$tmp/$name" sh -c 'echo >"$0"; read -r line' "$tmp/begun.$name" <>"$tmp/in.$name" 2>"$tmp/err.$name" &
		await test -e "$tmp/begun.$name"
	done
	record -c -p 2
	equal "-c -p 2 of another namespace: status" 1 "$status"
	message_has "none of your recorders records this process, group or file"
	# has_ended NAME: succeeds if the recording has ended.
	has_ended() { build/bin/kdump -f "$tmp/$1" 2>"$tmp/read" | tail -n 1 | grep -q 'END   closed'; }
	record -C
	for name in one two; do
		check "-C ends the recorder $name, although both have the same process id" eventually has_ended $name
		echo >"$tmp/in.$name"
	done
	wait
else
	skip "a PID namespace" "cannot be created here"
fi

for tool in "build/bin/kdump -f" "$ktrace show" "$ktrace why" "$ktrace doctor"; do
	$tool "$tmp/vforks.without" >"$tmp/with" 2>"$tmp/err"
	with=$?
	without_proc $tool "$tmp/vforks.without" >"$tmp/out" 2>"$tmp/err"
	equal "$tool: the same status without /proc" $with $?
	same "$tool: the same output without /proc" "$tmp/with" "$tmp/out"
done
done_testing
