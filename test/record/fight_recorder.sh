#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Tests the end of the recorder of `ktrace record`: in each case, the recorded programs continue, and the file
# can be read.
case ${TMPDIR-} in /dev/shm/*) unset TMPDIR ;; esac # it is often mounted with nosuid, and the test has set-id programs
. test/tap.sh
. test/record/record_support.sh

reads_well() { build/bin/kdump -f "$1" >"$tmp/read" 2>"$tmp/read.err"; }

# begin CASE: starts a recorder, which starts the program of the case. The standard input of both stays open.
# Stores the process id of the recorder in $recorder, and that of the program in $target.
begin() {
	mkfifo "$tmp/in.$1"
	exec 8<>"$tmp/in.$1"
	"$ktrace" record -i -f "$tmp/$1" "$programs/fight" "${1%.*}" <"$tmp/in.$1" >"$tmp/out.$1" 2>"$tmp/err.$1" 8<&- &
	recorder=$!
	kill_at_end "$recorder"
	await pgrep -P $recorder -x fight
	target=$(pgrep -P $recorder -x fight)
	kill_at_end "$target"
}
has_ended() { ! grep -q '^State:.[^ZX]' "/proc/$recorder/status"; }
# ended NAME: checks that the recorder ends without being killed. NAME is the name of the check.
ended() {
	check "$1" eventually has_ended
	kill -KILL "$recorder" 2>"$tmp/kill"
	wait "$recorder" 2>"$tmp/wait"
}
is_state() { grep -q "^State:.[$1]" "/proc/$target/status"; }
sigstop_is_recorded() { build/bin/kdump -f "$1" | grep -q 'PSIG  SIGSTOP'; }
is_untraced() { grep -q '^TracerPid:.0$' "/proc/$target/status"; }

for signal in TERM HUP KILL; do
	begin waits_in_vfork.$signal
	await grep -q waits "$tmp/out.waits_in_vfork.$signal"
	kill -$signal $recorder
	ended "SIG$signal ends a recorder whose program waits for its vforked child"
	check "SIG$signal to the recorder: the program continues to run" kill -0 "$target"
	check "SIG$signal to the recorder: the program is not traced" is_untraced
	echo >&8
	check "SIG$signal to the recorder: the program runs to its end" eventually grep -q 'child: status 1' "$tmp/out.waits_in_vfork.$signal"
	check "SIG$signal to the recorder: the file can be read" reads_well "$tmp/waits_in_vfork.$signal"

	# At each system call, the recorder stops the program for a moment. Such a stop looks like the stop by the
	# signal, so the test waits until SIGSTOP is recorded. When the recorder ends, the kernel lets the program
	# run until it reaches the stop by the signal.
	begin stops.$signal
	await sigstop_is_recorded "$tmp/stops.$signal"
	await is_state tT
	kill -$signal $recorder
	ended "SIG$signal ends a recorder whose program is stopped"
	check "SIG$signal to the recorder: a stopped program stays stopped" eventually is_state T
	check "SIG$signal to the recorder: a stopped program did not run before SIGCONT" test ! -s "$tmp/out.stops.$signal"
	kill -CONT "$target"
	check "SIG$signal to the recorder: a stopped program continues after SIGCONT" eventually grep -q 'went on' "$tmp/out.stops.$signal"
	check "SIG$signal to the recorder, stopped program: the file can be read" reads_well "$tmp/stops.$signal"
done
exec 8>&-

# The standard input, output and error are closed. The recorder must not open its own files in their place.
sh -c 'while :; do sleep 0.05; done' &
target=$!
kill_at_end "$target"
"$ktrace" record -f "$tmp/closed" -p "$target" <&- >&- 2>&-
equal "-p with all standard files closed: status" 0 "$?"
check "-p with all standard files closed: records arrive in the file" eventually sh -c 'build/bin/kdump -f "$1" | grep -q "RET   wait4"' - "$tmp/closed"
"$ktrace" record -c -p "$target"
check "-p with all standard files closed: -c detaches the program" eventually is_untraced
check "-p with all standard files closed: the file is complete" eventually sh -c 'build/bin/kdump -f "$1" | grep -q "END   closed"' - "$tmp/closed"

# Runs set-id programs: some gain rights, others do not gain rights, because they are traced.
unprivileged() {
	status=0
	XDG_RUNTIME_DIR=$tmp/unprivileged timeout $kill_limit setpriv --reuid 65534 --regid 65534 --clear-groups "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
}
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >"$tmp/which"; then
	skip "programs that gain rights" "only root can create one"
	done_testing
fi
chmod 755 "$tmp"
mkdir "$tmp/unprivileged" && chown 65534 "$tmp/unprivileged"
mkdir -m 755 "$tmp/bin"
cp "$programs/fight" "$tmp/bin/fight"
cp "$(command -v id)" "$tmp/bin/set-id" && chmod 4755 "$tmp/bin/set-id"
printf '#!/bin/sh\nid -u\n' >"$tmp/bin/script" && chmod 4755 "$tmp/bin/script"
printf '#!%s -u\n' "$tmp/bin/set-id" >"$tmp/bin/interpreted" && chmod 755 "$tmp/bin/interpreted"

unprivileged "$ktrace" record -i -f "$tmp/unprivileged/undumpable" "$tmp/bin/fight" undumpable
equal "undumpable: status" 0 "$status"
message_has "only root may read a program that does not allow core dumps"
build/bin/kdump --oneline -f "$tmp/unprivileged/undumpable" >"$tmp/oneline"
equal "a descriptor that cannot be looked up has no path, not even an earlier one" 1 "$(grep -c ' write(3, ' "$tmp/oneline")"
shown "$tmp/unprivileged/undumpable" 'FD    3 unknown'
check "JSON: a path that is unknown is null" sh -c 'build/bin/kdump --json -f "$1" | grep -q "\"fd\":3,\"path\":null"' - "$tmp/unprivileged/undumpable"

unprivileged "$ktrace" record -f "$tmp/unprivileged/t" "$tmp/bin/script"
equal "a set-id script gains no rights" 65534 "$(cat "$tmp/out")"
check "a set-id script is recorded" test "$(lines "$tmp/unprivileged/t" CALL)" -gt 10
unprivileged "$ktrace" record -f "$tmp/unprivileged/t" "$tmp/bin/interpreted"
message_has "gained privileges"
unprivileged "$ktrace" record -f "$tmp/unprivileged/t" setpriv --no-new-privs "$tmp/bin/set-id" -u
equal "a set-id program under no_new_privs gains no rights" 65534 "$(cat "$tmp/out")"
equal "a set-id program under no_new_privs is not reported as having gained rights" '' "$(cat "$tmp/err")"
shown "$tmp/unprivileged/t" 'CALL  geteuid'

# Builds a 32-bit program that executes the program in its argument.
cat >"$tmp/old.c" <<'END'
__asm__(".globl _start\n_start: mov 8(%esp), %ebx\n lea 8(%esp), %ecx\n xor %edx, %edx\n mov $11, %eax\n int $0x80\n hlt");
END
if gcc -m32 -nostdlib -static -o "$tmp/bin/old" "$tmp/old.c" 2>"$tmp/err" && "$tmp/bin/old" /bin/true; then
	unprivileged "$ktrace" record -f "$tmp/unprivileged/t" "$tmp/bin/old" "$tmp/bin/set-id" -u
	equal "a set-id program that a 32-bit one executes gets its rights" 0 "$(cat "$tmp/out")"
	message_has "gained privileges"
	unprivileged "$ktrace" record -f "$tmp/unprivileged/t" "$tmp/bin/old" /bin/true
	shown "$tmp/unprivileged/t" 'RET   execve 0'
	shown "$tmp/unprivileged/t" 'RET   execve 0'
	shown "$tmp/unprivileged/t" 'FD    3 "/etc/ld.so.cache"'
else
	skip "32-bit programs" "cannot be built or run here"
fi
cp "$(command -v cat)" "$tmp/bin/capable"
if setcap cap_net_raw+ep "$tmp/bin/capable" 2>"$tmp/err"; then
	unprivileged "$ktrace" record -f "$tmp/unprivileged/t" "$tmp/bin/capable" /proc/self/status
	equal "a program with capabilities gets them" 0000000000002000 "$(awk '/^CapEff/ { print $2 }' "$tmp/out")"
	message_has "gained privileges"
else
	skip "programs with capabilities" "setcap is absent, or the file system has none"
fi
done_testing
