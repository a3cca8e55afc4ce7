# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Output of `ktrace diff` for the text of strace, for process traces, and for input that is damaged.
. test/tap.sh
. test/golden/golden.sh

golden=test/golden/diff
cp $golden/a.strace "$tmp/a"

# change NAME SED-EXPRESSION: makes the file NAME, a copy of `a` with a change.
change() { sed -E "$2" $golden/a.strace >"$tmp/$1"; }

# diff does not report different process ids, times and descriptors, nor a different order of the two
# processes.
sed -E 's/^100/7/; s/^101/9/; s/ = 101$/ = 9/; s/= 100$/= 7/; s/1700000000/1700009999/; s/ = 3$/ = 5/; s/\((3)([,)])/(5\2/' \
	$golden/a.strace | sed '6{h;d};7G' >"$tmp/same"
golden same ktrace diff a same
change result 's/^(.*read.3.*= )6$/\15/'
golden result ktrace diff a result
change error 's/ENOENT \(No such file or directory\)/EACCES (Permission denied)/'
golden error ktrace diff a error
change missing '/unlink/d'
golden missing ktrace diff a missing
golden extra ktrace diff missing a
change path 's,/etc/motd,/etc/mod,'
golden path-json ktrace diff --json a path
sed '3{h;d};4G' $golden/a.strace >"$tmp/order"
golden order ktrace diff a order
change killed 's/^(100.*)exited with 0/\1killed by SIGSEGV (core dumped)/'
golden killed ktrace diff a killed
change no-child '/^101/d'
golden no-child ktrace diff a no-child

# Without the option -f, strace does not print process ids.
sed 's/^[0-9]* *//' $golden/a.strace | grep -v 'child\|resumed\|unfinished' >"$tmp/plain"
sed 's/= -1 ENOENT.*/= 0/' "$tmp/plain" >"$tmp/plain-changed"
golden plain ktrace diff plain plain-changed

# A damaged line is treated as a gap: diff cannot decide whether a call is missing there.
change cut 's/^(.*unlink\().*/\1"\/tm/'
golden cut ktrace diff a cut
change garbage '/unlink/s/.*/\x01\x1b[31mgarbage/'
golden garbage ktrace diff a garbage
change no-result 's/^(.*read.3.*= )6$/\1/'
golden no-result ktrace diff a no-result
change bad-result 's/^(.*read.3.*= )6$/\1six/'
golden bad-result ktrace diff bad-result a
head -c 500 "$tmp/a" >"$tmp/short"
golden short ktrace diff a short
change backwards 's/^100   1700000000.0005/100   1600000000.0005/'
golden backwards ktrace diff a backwards
change hostile 's,"/etc/motd","/etc/\x1b]0;evil\\u0007<script>",'
golden hostile ktrace diff a hostile
golden hostile-json ktrace diff --json a hostile
: >"$tmp/empty"
golden empty ktrace diff a empty
golden absent ktrace diff a absent
golden one ktrace diff a

# A line without an end must not make diff use more and more memory.
{ head -n 12 "$tmp/a"; printf "100   1700000000.000520 unlink("; } >"$tmp/long"
truncate -s 256M "$tmp/long"
(cd "$tmp" && ulimit -v 200000 && ktrace diff a long) >"$tmp/output" 2>&1
equal "a line of 256 MiB: status" 4 $?
check "a line of 256 MiB counts as damaged" grep -qF '(lost: A 0, B 1)' "$tmp/output"

# The damaged line may contain a step that is missing in the other trace.
{ cat "$tmp/a"; echo garbage; } >"$tmp/lost-end"
(cd "$tmp" && ktrace diff a lost-end) >"$tmp/output" 2>&1
equal "a damaged line after the last step: status" 4 $?
check "a damaged line after the last step: the result is undecided" grep -q '^undecided: .* 1 undecided$' "$tmp/output"

# One of the programs makes no call at all.
printf '%s\n' '100 1700000000.000000 +++ exited with 0 +++' >"$tmp/no-calls"
{
	awk 'BEGIN { for (n = 0; n < 50; n++) printf "100 1600000000.%06d read(3, \"a\", 1) = 1\n", n }'
	cat "$tmp/no-calls"
} >"$tmp/calls"
golden no-calls ktrace diff calls no-calls
golden calls ktrace diff no-calls calls

# Tests that diff compares large numbers correctly.
for result in 9223372036854775807 18446744073709551615 5; do
	printf '5 1700000000.000000 lseek(3, 0, SEEK_END) = %s\n5 1700000000.000001 +++ exited with 0 +++\n' \
		$result >"$tmp/end-$result"
done
golden large ktrace diff end-9223372036854775807 end-5
golden larger ktrace diff end-9223372036854775807 end-18446744073709551615

# diff finds calls that take twice as long, if there are enough of them.
awk 'BEGIN { for (n = 0; n < 40; n++) printf "5 1700000000.%06d getppid() = 1 <0.%06d>\n", n * 1000, 100 + n % 7 }' >"$tmp/fast"
sed 's/<0.0001/<0.0002/' "$tmp/fast" >"$tmp/slow"
golden slower ktrace diff --slower 50 fast slow
golden not-slower ktrace diff --slower 150 fast slow

# compares A B STATUS "TEXT": runs diff on two outputs of strace without times, and checks the exit status
# and the last line of the report.
compares() {
	for text in "$1" "$2"; do
		awk '{ printf "%s 1700000000.%06d %s\n", $1, NR, substr($0, length($1) + 2) }' "$tmp/$text.calls" >"$tmp/$text"
	done
	ktrace diff "$tmp/$1" "$tmp/$2" >"$tmp/output" 2>&1
	equal "$1 and $2: status" "$3" $?
	check "$1 and $2: $(tail -n 1 "$tmp/output")" sh -c 'tail -n 1 "$0" | grep -qF "$1"' "$tmp/output" "$4"
}

# diff ignores a failed call that the program repeats after a pause. It does not ignore what the program
# does between the attempts.
cat >"$tmp/once.calls" <<'END'
100 openat(AT_FDCWD, "/lock", O_RDONLY) = 3
100 wait4(101, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], WNOHANG, NULL) = 101
100 connect(4, {sa_family=AF_INET, sin_port=htons(81), sin_addr=inet_addr("10.0.0.2")}, 16) = 0
100 exit_group(0) = ?
100 +++ exited with 0 +++
END
pause='100 nanosleep({tv_sec=1, tv_nsec=0}, NULL) = 0'
{
	printf '%s\n' '100 openat(AT_FDCWD, "/lock", O_RDONLY) = -1 ENOENT (No such file or directory)' "$pause"
	head -n 1 "$tmp/once.calls"
	printf '%s\n' '100 wait4(101, 0x7ffc51fe, WNOHANG, NULL) = 0' '100 poll(NULL, 0, 10) = 0 (Timeout)'
	tail -n +2 "$tmp/once.calls"
} >"$tmp/again.calls"
compares again once 0 'same: 5 equal steps'
sed '1a100 unlink("/tmp/important") = 0' "$tmp/again.calls" >"$tmp/unlink.calls"
compares unlink once 1 'differs: 5 equal steps of 1 thread, 1 missing'
{
	head -n 2 "$tmp/once.calls"
	printf '%s\n' '100 connect(4, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.1")}, 16) = -1 ECONNREFUSED (Connection refused)' "$pause"
	tail -n +3 "$tmp/once.calls"
} >"$tmp/server.calls"
compares server once 1 'differs: '

# ending NAME CALLS "LAST CALL OF 100" "END OF 101": writes strace output in which process 101 makes calls
# and is then killed.
ending() {
	{
		echo '100 clone(child_stack=NULL, flags=SIGCHLD) = 101'
		awk -v calls="$2" 'BEGIN { for (n = 0; n < calls; n++) print "101 write(1, \"a\", 1) = 1" }'
		printf '%s\n' "$3" "$4" '100 exit_group(0) = ?' '100 +++ exited with 0 +++'
	} >"$tmp/$1.calls"
}

# A fault occurs after the same calls in each run. But a signal from another process may come at any
# time.
for calls in 0 3 500; do
	ending fault$calls $calls '101 --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL} ---' '101 +++ killed by SIGSEGV +++'
	ending sent$calls $calls '100 kill(101, SIGKILL) = 0' '101 +++ killed by SIGKILL +++'
	ending outside$calls $calls '100 getpid() = 100' '101 +++ killed by SIGKILL +++'
	ending itself$calls $calls '101 tgkill(101, 101, SIGTERM) = 0' '101 +++ killed by SIGTERM +++'
done
# A fault of one thread ends all threads of its process. The other threads may then have made any
# number of calls.
for calls in 0 3 500; do
	{
		echo '100 clone(child_stack=0x7f51c000, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 101'
		awk -v calls=$calls 'BEGIN { for (n = 0; n < calls; n++) print "101 write(1, \"a\", 1) = 1" }'
		echo '100 --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL} ---'
		printf '%s +++ killed by SIGSEGV +++\n' 101 100
	} >"$tmp/threads$calls.calls"
done
compares threads3 threads0 0 'same: 3 equal steps of 2 threads'
compares threads500 threads0 4 ' 500 undecided'
compares fault500 fault0 1 'differs: 4 equal steps of 2 threads, 500 missing'
compares fault0 fault3 1 'differs: 4 equal steps of 2 threads, 3 extra'
compares sent3 sent0 0 'same: 5 equal steps of 2 threads'
compares sent500 sent0 4 ' 500 undecided'
compares outside3 outside0 4 ' 3 undecided'
compares itself3 itself0 1 'differs: 5 equal steps of 2 threads, 3 missing'

# Two tracers of Linux record the same program.
cat >"$tmp/program.c" <<'END'
#include <fcntl.h>
#include <unistd.h>

int main(int count, char **word)
{
	char bytes[64];
	int file = open(word[1], O_RDONLY);

	while (read(file, bytes, sizeof(bytes)) > 0)
		;
	return lseek(file, -1, SEEK_SET) != -1 || close(file) != 0 || count != 2;
}
END
cc -O1 -o "$tmp/program" "$tmp/program.c"
ktrace record -f "$tmp/linux" "$tmp/program" "$tmp/a"
if strace -f -ttt -o "$tmp/strace" "$tmp/program" "$tmp/a" 2>"$tmp/err"; then
	ktrace diff "$tmp/linux" "$tmp/strace" >"$tmp/output" 2>&1
	equal "ktrace record and strace of the same program: status" 0 $?
	check "dozens of calls are equal" grep -qE '^same: [3-9][0-9] equal steps of 1 thread$' "$tmp/output"
	sed 's/= -1 EINVAL.*/= 0/' "$tmp/strace" >"$tmp/changed"
	ktrace diff "$tmp/linux" "$tmp/changed" >"$tmp/output" 2>&1
	equal "another result of one call: status" 1 $?
	check "this call is the first difference" sh -c 'grep -A20 "^first" "$1" | grep -q "> line .*lseek(3, -1, SEEK_SET).* = 0"' - "$tmp/output"
else
	skip "ktrace record and strace of the same program" "strace cannot trace here"
fi
done_testing
