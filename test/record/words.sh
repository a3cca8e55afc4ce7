#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Calls of sys/ktrace.h, signals, faults, and invalid addresses.
. test/tap.sh
. test/record/record_support.sh

"$programs/speaker" "$tmp/other" >"$tmp/out"
equal "untraced, all calls fail" 12 "$(grep -c 'Function not implemented' "$tmp/out")"

: >"$tmp/other"
record -f "$tmp/trace" "$programs/speaker" "$tmp/other"
cat >"$tmp/expected" <<END
word 0 
most 0 
more -1 Invalid argument
nowhere -1 Bad address
set 0 
there 0 
clear calls 0 
clearfile 0 
nobody -1 No such process
no operation -1 Invalid argument
no facility -1 Invalid argument
directory -1 Permission denied
END
same "answers" "$tmp/expected" "$tmp/out"
shown "$tmp/trace" 'USER  "hello from user land"'
equal "two USER records in the first file" 2 "$(lines "$tmp/trace" USER)"
shown "$tmp/other" 'USER  "in the other file"'
equal "one session in it" 1 "$(grep -aoF KTRP "$tmp/other" | wc -l)"
equal "one in the other" 1 "$(lines "$tmp/other" USER)"
equal "only the first of two equal calls: then calls were not traced any more" 1 \
	"$(calls "$tmp/other" | awk '$2 == "getppid" { print $1 }')"

# A recorder of root carries requests out with root's rights, and so refuses requests of other users.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >"$tmp/which"; then
	chmod 755 "$tmp"
	: >"$tmp/theirs" && chown 65534 "$tmp/theirs"
	record -i -f "$tmp/root" setpriv --reuid 65534 --regid 65534 --clear-groups "$programs/speaker" "$tmp/theirs"
	equal "a program of another user may change nothing" 4 "$(grep -cE '^(set|clear calls|clearfile|nobody) -1 Operation not permitted' "$tmp/out")"
	equal "nothing is written to its file" 0 "$(wc -c <"$tmp/theirs")"
	equal "but may use utrace()" 3 "$(lines "$tmp/root" USER)"
else
	skip "a program of another user" "only root can run one"
fi

record -t +w -f "$tmp/fault" "$programs/fault"
equal "it dies of SIGSEGV" 139 "$status"
shown "$tmp/fault" "PSIG  SIGUSR1"
shown "$tmp/fault" "caught handler="
shown "$tmp/fault" "PSIG  SIGSEGV"
shown "$tmp/fault" "SIG_DFL"
shown "$tmp/fault" "PFLT"
equal "no path at an invalid address" 0 \
	"$(build/bin/kdump -f "$tmp/fault" | grep -A1 'CALL  open.*(.*0x10[,<]' | grep -c NAMI)"
check "the call returns EFAULT" sh -c 'build/bin/kdump -f "$1" | grep -q "RET   open.* errno 14"' - "$tmp/fault"
done_testing
