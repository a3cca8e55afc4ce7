#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Traces real programs with `strace -v -y` and with ktrace. Where strace shows what an argument points to,
# kdump must show it, too.
. test/tap.sh
. test/record/record_support.sh

if ! command -v strace >"$tmp/which" || ! strace -qq true 2>"$tmp/err"; then
	skip "arguments are shown as strace shows them" "strace is absent, or may not trace here"
	done_testing
fi

# missing OPTION…: prints the arguments whose content strace shows, but kdump with these options does not.
missing() {
	build/bin/kdump --oneline "$@" -f "$tmp/trace" >"$tmp/kdump"
	awk -f test/record/fields.awk "$tmp/strace" "$tmp/kdump" | sort
}

# surplus: prints the calls for which kdump shows a number of arguments that strace never shows for this
# call. Requires: the program makes the same calls in each run.
surplus() { awk -v counts=1 -f test/record/fields.awk "$tmp/strace" "$tmp/kdump" | sort; }

# compare NAME COMMAND…: checks that kdump shows everything about arguments that strace shows.
compare() {
	name=$1
	shift
	command -v "$1" >/dev/null || {
		skip "$name" "$1 is not installed"
		return
	}
	strace -f -v -y -o "$tmp/strace" "$@" </dev/null >"$tmp/out.strace" 2>&1
	record -i -f "$tmp/trace" "$@"
	equal "$name: kdump shows all arguments that strace shows" '' "$(missing)"
	calls=$((${calls:-0} + $(sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' "$tmp/strace" | sort -u | wc -l)))
}

mkdir "$tmp/work"
echo 'int main(void) { return 0; }' >"$tmp/work/empty.c"
compare shell bash -c 'ls /usr | head -n 2; echo hello >"$0/file"; cat "$0/file"; (exit 3); trap : USR1; kill -USR1 $$; sleep 0.01' "$tmp/work"
compare git git -C . log -n 3 --stat
compare compiler gcc -o "$tmp/work/empty" "$tmp/work/empty.c"
compare python python3 -c '
import os, select, signal, socket, resource, sys
link = sys.argv[1]
a, b = socket.socketpair()
a.sendmsg([b"one", b"two"])
b.recvmsg(10)
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.getsockname(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
e = select.epoll(); e.register(a, select.EPOLLOUT); e.poll(0)
select.select([b], [a], [], 0); p = select.poll(); p.register(a); p.poll(0)
r, w = os.pipe(); os.writev(w, [b"x", b"y"]); os.readv(r, [bytearray(2)])
os.uname(); os.statvfs("/"); os.times(); os.getresuid(); os.getgroups(); os.sched_getaffinity(0); os.getcwd(); os.listdir("/proc/self/fd")
resource.getrlimit(resource.RLIMIT_NOFILE); resource.getrusage(resource.RUSAGE_SELF)
signal.setitimer(signal.ITIMER_REAL, 100, 0); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.symlink("to", link); os.readlink(link); os.unlink(link)
if os.fork() == 0: os._exit(3)
os.wait()
' "$tmp/work/link"
compare threads build/test/record/threads
compare "a runtime without libc" build/test/record/runtime
equal "a runtime without libc: no call has too many or too few arguments" '' "$(surplus)"
cp "$tmp/kdump" "$tmp/kdump.runtime"
# show FILE: prints "COUNT NAME" for each system call in FILE, with the names that ktrace show prints.
show() { build/bin/ktrace show "$1" | sed -n 's/.* syscall\.enter *\([a-z_0-9]*\)[ 0-9]*(.*/\1/p' | sort | uniq -c | awk '{ print $1, $2 }'; }
# A kernel without support for 32-bit programs cannot execute this one: env(1) then reads it as a shell script.
: >"$tmp/compat32"
env build/test/record/compat32 >"$tmp/compat32" 2>&1 || :
if ! grep -q "Syntax error" "$tmp/compat32"; then
compare "a 32-bit program" build/test/record/compat32
check "a 32-bit program: fields have the width of 32-bit programs" grep -q "sendmsg(.*namelen=0, iovlen=2, controllen=0, " "$tmp/kdump"
shows() { check "a 32-bit program: kdump shows $1" grep -q -- "$1" "$tmp/kdump"; }
shows ' select([0-9]*, \[[0-9]*<pipe.*= 1'
shows ' mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x'
shows ' getresgid(\[[0-9]*\], \[[0-9]*\], \[[0-9]*\])'
shows ' setgroups(2, \[10, 20\])'
shows ' sendmmsg(.*, \[{iov=\[{base="many", len=4}\], .*, len=4}, {iov=\[{base="many", len=4}, .*\], 2, 0) = 2'
shows ' recvmmsg(.*, \[{iov=\[{base="many", len=4}\], .*, len=4}\], 1, MSG_DONTWAIT, {sec=1, nsec=0} => {sec=.*}) = 1'
shows ' recvmmsg_time64(.*, \[{iov=\[{base="many".*, len=[0-9]*}\], 1, MSG_DONTWAIT, {sec=1, nsec=0} => {sec=.*}) = 1'
shows ' ipc(SEMCTL, [0-9]*, 0, SETVAL|IPC_64, \[0x1\]) = 0'
shows ' ipc(SEMTIMEDOP, [0-9]*, 2, \[{num=0, op=-1, flg=0x800}, {num=0, op=1, flg=0}\], {sec=0, nsec=1000}) = 0'
shows ' ipc(SHMAT, [0-9]*, 0, \[0x[0-9a-f]*\], NULL) = 0'
shows ' ipc(MSGRCV|0x10000, [0-9]*, 4, 0, 0x[0-9a-f]*, 7) = 4'
equal "a 32-bit program: as many timeouts of waits are shown as strace shows" "$(grep -c '= 0 (Timeout)' "$tmp/strace")" "$(grep -c '= 0 (Timeout)' "$tmp/kdump")"
equal "a 32-bit program: ktrace show has the same names" "$(calls "$tmp/trace")" "$(show "$tmp/trace")"
else
	skip "a 32-bit program is recorded" "this machine's kernel executes no 32-bit programs"
fi
compare "32-bit calls of a 64-bit program" build/test/record/compat64
compare client curl -s -m $limit http://127.0.0.1:1/
# many PATTERN: checks that kdump's line for a call that transfers many messages matches PATTERN.
many() { check "messages that one call transfers: $1" grep -q "$1" "$tmp/kdump.runtime"; }
many ' sendmmsg(.*, \[{iov=\[{base="first", len=5}, {base="and", len=3}\], .*, len=8}, {iov=\[{base="second", len=6}\], .*, len=6}\], 2, 0) = 2'
many ' recvmmsg(.*, \[{iov=\[{base="firstand", len=8}\], .*, len=8}, {iov=\[{base="second", len=8}\], .*, len=6}\], 3, MSG_DONTWAIT, '
many ' sendmmsg(.*, \[{iov=.*}, \.\.\.\], 70, 0) = 70'
many ' sendmmsg(-1, \[{namelen=0, .*\], 2, 0) = -1 EBADF'
check "strings that cross pages are complete" grep -q ' execve("/nowhere/crossing", \["crossing", "last"\], \[\]) = -1 ENOENT' "$tmp/kdump.runtime"
check "a signal's return shows the mask that it restores" grep -q " rt_sigreturn({mask=\[" "$tmp/kdump.runtime"
check "many different calls were compared: $calls" test "$calls" -ge 100
check "the comparison would see an address" test -n "$(missing -n)"
done_testing
