#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Tests records of system calls, signals and faults, of programs that call the functions of sys/ktrace.h, and of
# calls with invalid addresses.
. test/tap.sh
. test/record/record_support.sh

"$programs/speaker" "$tmp/other" >"$tmp/out"
equal "calls of sys/ktrace.h fail in a process that is not recorded" 12 "$(grep -c 'Function not implemented' "$tmp/out")"

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
process 1 -1 No such process
no operation -1 Invalid argument
no facility -1 Invalid argument
directory -1 Permission denied
END
same "calls of sys/ktrace.h return the expected results" "$tmp/expected" "$tmp/out"
shown "$tmp/trace" 'USER  "hello from user land"'
equal "two USER records in the first file" 2 "$(lines "$tmp/trace" USER)"
shown "$tmp/other" 'USER  "in the other file"'
equal "the second file has one session" 1 "$(grep -aoF KTRP "$tmp/other" | wc -l)"
equal "the second file has one USER record" 1 "$(lines "$tmp/other" USER)"
equal "a call after tracing of calls ended is not recorded" 1 \
	"$(calls "$tmp/other" | awk '$2 == "getppid" { print $1 }')"

# A recorder that runs as root performs requests with root's rights, so it refuses requests of other users.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >"$tmp/which"; then
	chmod 755 "$tmp"
	: >"$tmp/theirs" && chown 65534 "$tmp/theirs"
	record -i -f "$tmp/root" setpriv --reuid 65534 --regid 65534 --clear-groups "$programs/speaker" "$tmp/theirs"
	equal "requests of a program of another user are refused" 4 "$(grep -cE '^(set|clear calls|clearfile|process 1) -1 Operation not permitted' "$tmp/out")"
	equal "no records are written to the file of another user's program" 0 "$(wc -c <"$tmp/theirs")"
	equal "utrace() of a program of another user is recorded" 3 "$(lines "$tmp/root" USER)"
else
	skip "a program of another user" "only root can run one"
fi

record -t +w -f "$tmp/fault" "$programs/fault"
equal "a program with a fault dies of SIGSEGV" 139 "$status"
shown "$tmp/fault" "PSIG  SIGUSR1"
shown "$tmp/fault" "caught handler="
shown "$tmp/fault" "PSIG  SIGSEGV"
shown "$tmp/fault" "SIG_DFL"
shown "$tmp/fault" "PFLT"
equal "a call with a path at an invalid address has no path" 0 \
	"$(build/bin/kdump -f "$tmp/fault" | grep -A1 'CALL  open.*(.*0x10[,<]' | grep -c NAMI)"
check "a call with a path at an invalid address returns EFAULT" sh -c 'build/bin/kdump -f "$1" | grep -q "RET   open.* errno 14"' - "$tmp/fault"
done_testing
