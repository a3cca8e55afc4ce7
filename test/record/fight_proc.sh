#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# ktrace record without /proc: children and threads are recorded, and a message says what is missing.
. test/tap.sh
. test/record/record_support.sh

without_proc() { unshare -m sh -c 'umount -l /proc && exec "$@"' - "$@"; }
if ! without_proc true 2>"$tmp/err"; then
	skip "/proc is not mounted" "it cannot be unmounted here"
	done_testing
fi

# record_without [OPTION…] COMMAND…
record_without() {
	status=0
	timeout -k 5 $kill_limit unshare -m sh -c 'umount -l /proc && exec "$@"' - "$ktrace" record "$@" </dev/null >"$tmp/out" 2>"$tmp/err" || status=$?
}

# lives FILE: "BEGINNINGS EXECS ENDS" that kdump shows.
lives() { echo "$(lines "$1" FORK) $(lines "$1" EXEC) $(lines "$1" EXIT)"; }

for name in bomb hundred vforks sibling outlive group_stop; do
	"$programs/fight" $name >"$tmp/plain"
	record -i -f "$tmp/$name" "$programs/fight" $name
	record_without -i -f "$tmp/$name.without" "$programs/fight" $name
	equal "$name: status" 0 "$status"
	same "$name: it prints the same" "$tmp/plain" "$tmp/out"
	equal "$name: as many processes as with /proc" "$(lives "$tmp/$name")" "$(lives "$tmp/$name.without")"
	check "$name: the file has all up to its end" sh -c 'build/bin/kdump -f "$1" | tail -n 1 | grep -q "END   closed: .* 0 lost"' - "$tmp/$name.without"
done
said "/proc is not mounted: names of programs, what descriptors lead to and waits are not recorded"

record_without -f "$tmp/threads" "$programs/threads"
equal "threads are recorded: as many as with /proc" \
	"$(record -f "$tmp/with" "$programs/threads" && build/bin/kdump -H -f "$tmp/with" -t c | awk '{ print $2 }' | sort -u | wc -l)" \
	"$(build/bin/kdump -H -f "$tmp/threads" -t c | awk '{ print $2 }' | sort -u | wc -l)"
record_without -f "$tmp/seven" sh -c 'exit 7'
equal "the command's status" 7 "$status"
record_without -f "$tmp/none" -p $$
equal "a running process: status" 1 "$status"
said "/proc: not mounted, and running processes are found by it"
check "the file is not made" test ! -e "$tmp/none"

for tool in "build/bin/kdump -f" "$ktrace show" "$ktrace why" "$ktrace doctor"; do
	$tool "$tmp/vforks.without" >"$tmp/with" 2>"$tmp/err"
	with=$?
	without_proc $tool "$tmp/vforks.without" >"$tmp/out" 2>"$tmp/err"
	equal "$tool: the same status without /proc" $with $?
	same "$tool: the same output without /proc" "$tmp/with" "$tmp/out"
done
done_testing
