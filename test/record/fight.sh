#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Tests `ktrace record` with programs that are difficult for a tracer: they behave as they do without a
# tracer, and the trace shows what happened.
. test/tap.sh
. test/record/record_support.sh

ends_well() { build/bin/kdump -f "$1" | tail -n 1 | grep -q 'END   closed: .* 0 lost'; }

# run_case PROGRAM CASE: runs a case three times: without recording (output in $tmp/plain), recorded (trace in
# $tmp/CASE.own), and recorded with its children (trace in $tmp/CASE).
run_case() {
	plain=0
	timeout -k 5 $kill_limit "$programs/$1" "$2" </dev/null >"$tmp/plain" 2>"$tmp/err" || plain=$?
	record -f "$tmp/$2.own" "$programs/$1" "$2"
	cp "$tmp/out" "$tmp/own"
	own=$status
	record -i -f "$tmp/$2" "$programs/$1" "$2"
}

# same_case PROGRAM CASE: runs a case and checks that recording does not change its output and status.
same_case() {
	run_case "$1" "$2"
	equal "$2: the status is the same with and without recording" "$plain $plain" "$own $status"
	same "$2: the output is the same when recorded" "$tmp/plain" "$tmp/own"
	same "$2: the output is the same when recorded with -i" "$tmp/plain" "$tmp/out"
	check "$2: both files are complete" eval 'ends_well "$tmp/'"$2"'" && ends_well "$tmp/'"$2"'.own"'
}

# A process can have only one tracer: if a second program tries to trace the process, it gets EPERM.
for name in traceme trace_parent; do
	run_case fight $name
	equal "$name: the status is the same with and without recording" "$plain $plain" "$own $status"
	equal "$name: the kernel refuses a second tracer" 1 "$(grep -c ': EPERM' "$tmp/own" | grep -c '[12]')"
done
run_case fight debugger
equal "a debugger recorded without -i has the same status" "$plain" "$own"
same "a debugger may trace its children without -i" "$tmp/plain" "$tmp/own"
equal "a debugger with -i is refused" 'PTRACE_SEIZE: EPERM' "$(head -n 1 "$tmp/out")"
shown "$tmp/debugger" 'ptrace -1 errno 1 Operation not permitted'
run_case fight debuggers
same "children that are not recorded are never traced" "$tmp/plain" "$tmp/own"

for name in kill_process kill_thread trap refuse ask_tracer notify strict undumpable group_stop killed_in_call deaf hundred vforks \
	clones sibling bomb outlive; do
	same_case fight $name
done
for name in breakpoint single_step old_call edges vanishing others_memory closes_all execs ring x32; do
	same_case odd $name
done

shown "$tmp/kill_process" 'EXIT  SIGSYS'
shown "$tmp/strict" 'EXIT  SIGKILL'
shown "$tmp/trap" 'PSIG  SIGSYS caught'
shown "$tmp/refuse" 'RET   getppid -1 errno 18'
shown "$tmp/ask_tracer" 'RET   getppid -1 errno 38'
shown "$tmp/notify" 'RET   getppid 12345'
shown "$tmp/group_stop" 'PSIG  SIGSTOP'
shown "$tmp/breakpoint" 'PSIG  SIGTRAP caught'
shown "$tmp/execs" 'RET   execve -1 errno 2 '
shown "$tmp/outlive" 'NAMI  "/nowhere/outlived"'
equal "outlive: without -i, the daemon is not recorded" 0 "$(build/bin/kdump -f "$tmp/outlive.own" | grep -c outlived)"

# The following results are valid for kernels with and without support for x32.
if test "$(uname -m)" = x86_64; then
	build/bin/kdump --oneline -f "$tmp/x32" >"$tmp/oneline"
	# x32_shows PATTERN: checks that kdump shows a call of x32.
	x32_shows() { check "x32: kdump shows $1" grep -q -- " $1" "$tmp/oneline"; }
	x32_shows '__X32_SYSCALL_BIT|getppid() *= '
	x32_shows '__X32_SYSCALL_BIT|access("/nowhere/x32", R_OK) = -1 EN'
	x32_shows '__X32_SYSCALL_BIT|ioctl(0xf*, 0, 0, .*) = -1 E'
	x32_shows '\[1073742824\](.*) = -1 ENOSYS'
	shown "$tmp/x32" 'CALL  __X32_SYSCALL_BIT|access(0x'
	check "x32: ktrace show has the name" sh -c 'build/bin/ktrace show "$1" | grep -qF "__X32_SYSCALL_BIT|getppid"' - "$tmp/x32"
	check "x32: JSON has the name" sh -c 'build/bin/kdump --json -f "$1" | grep -qF "\"call\":\"__X32_SYSCALL_BIT|getppid\""' - "$tmp/x32"
fi

# lives CASE: prints the numbers of FORK, EXEC and EXIT records in the trace of the case.
lives() { echo "$(lines "$tmp/$1" FORK) $(lines "$tmp/$1" EXEC) $(lines "$tmp/$1" EXIT)"; }
equal "hundred: the records have one process and two execs" "0 2 1" "$(lives hundred)"
equal "vforks: the records have three children" "3 2 4" "$(lives vforks)"
equal "sibling: a child that is created as a sibling is recorded" "2 1 3" "$(lives sibling)"
equal "bomb: each process is recorded" "200 1 201" "$(lives bomb)"
equal "bomb: without -i only the first process is recorded" "0 1 1" "$(lives bomb.own)"
count=3
test "$(id -u)" -ne 0 || count=6
equal "clones: each child is recorded, except one that must not be traced" $count "$(lines "$tmp/clones" FORK)"

# If the kernel could not read an argument's memory, kdump shows the argument's address.
build/bin/kdump --oneline -f "$tmp/edges" >"$tmp/oneline"
for call in openat writev nanosleep; do
	equal "$call of memory that ends: no more is shown than can be read" 0 \
		"$(grep " $call(" "$tmp/oneline" | grep EFAULT | grep -cv " $call(\(3[^,]*, \|AT_FDCWD[^,]*, \)\{0,1\}0x")"
done
# In a kernel without support for 32-bit calls, int 0x80 is a fault: the program ends with SIGSEGV (139).
old_call=0
(build/test/record/odd old_call) >/dev/null 2>&1 || old_call=$?
if [ "$old_call" -ne 139 ]; then
	shown "$tmp/old_call" 'RET   close -1 errno 9'
else
	skip "a call by int 0x80 is shown" "this machine's kernel has no 32-bit calls"
fi

# counted CASE…: checks that each call was recorded as often as strace counts it in another run.
counted() {
	for name; do
		strace -f -qq -o "$tmp/strace" "$programs/fight" "$name" </dev/null >"$tmp/out" 2>&1
		sed -nE '/resumed>/d; s/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p' "$tmp/strace" | sort | uniq -c >"$tmp/expected"
		build/bin/kdump -f "$tmp/$name" | sed -nE 's/.* CALL +([a-z_0-9]+).*/\1/p' | sort | uniq -c >"$tmp/calls"
		same "$name: each call is recorded as often as strace counts it" "$tmp/expected" "$tmp/calls"
	done
}
if command -v strace >"$tmp/which" && strace -qq true 2>"$tmp/err"; then
	counted kill_process trap refuse ask_tracer strict undumpable deaf vforks outlive
else
	skip "as many calls as strace counts" "strace is absent, or may not trace here"
fi
done_testing
