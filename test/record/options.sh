#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Tests `ktrace record COMMAND`: the file, the types of records in it, and the exit status.
case ${TMPDIR-} in /dev/shm/*) unset TMPDIR ;; esac # it is often mounted with nosuid, and the test has set-id programs
. test/tap.sh
. test/record/record_support.sh

echo "some text" >"$tmp/text"
record -f "$tmp/a" dd status=none if="$tmp/text"
equal "record has the command's status" 0 "$status"
same "recording does not change the command's output" "$tmp/text" "$tmp/out"
equal "the trace has mode 600" 600 "$(stat -c %a "$tmp/a")"
shown "$tmp/a" "NAMI  \"$tmp/text\""
shown "$tmp/a" 'some text'
shown "$tmp/a" 'STRU  struct stat'
equal "the trace has one session" 1 "$(grep -aoF KTRP "$tmp/a" | wc -l)"

(cd "$tmp" && "$OLDPWD/$ktrace" -t c true)
check "ktrace -t c COMMAND records into ktrace.out" test -s "$tmp/ktrace.out"
equal "-t c records no paths" 0 "$(lines "$tmp/ktrace.out" NAMI)"
check "-t c records calls" test "$(lines "$tmp/ktrace.out" CALL)" -gt 10
record -t n -f "$tmp/n" dd status=none if="$tmp/text"
equal "-t n records no calls" 0 "$(lines "$tmp/n" CALL)"
check "-t n records paths" test "$(lines "$tmp/n" NAMI)" -gt 2
record -t i -f "$tmp/i" dd status=none if="$tmp/text"
check "-t i records data" test "$(lines "$tmp/i" GIO)" -ge 2
record -t + -f "$tmp/plus" true
equal "-t + records no waits" 0 "$(lines "$tmp/plus" CSW)"
record -t w -f "$tmp/w" sleep 0.2
check "-t w records a sleep as a wait" test "$(lines "$tmp/w" CSW)" -ge 1
record -t x true
equal "-t x is refused" 2 "$status"
message_has "contains the letter 'x', which is not one of cnisutfwpy+"

# Tests the recording of children.
record -f "$tmp/alone" sh -c 'cat /dev/null; cat /dev/null'
equal "without -i only the command is recorded" 1 "$(build/bin/kdump -f "$tmp/alone" -t c | awk '{ print $1 }' | sort -u | wc -l)"
record -i -f "$tmp/all" sh -c 'cat /dev/null; cat /dev/null; :'
equal "-i records children, too" 3 "$(build/bin/kdump -f "$tmp/all" -t c | awk '{ print $1 }' | sort -u | wc -l)"

# Tests appending to a file.
record -a -f "$tmp/a" true
equal "-a appends a second session" 2 "$(grep -aoF KTRP "$tmp/a" | wc -l)"
shown "$tmp/a" "NAMI  \"$tmp/text\""
record -a -f "$tmp/new" true
check "-a creates a missing file" test -s "$tmp/new"
cp "$tmp/text" "$tmp/other"
record -a -f "$tmp/other" true
equal "-a to a file that is not a trace is refused" 1 "$status"
message_has "contains something other than a trace"
same "a refused -a leaves the file unchanged" "$tmp/text" "$tmp/other"

# Tests output files that are not regular files.
ln -s "$tmp/text" "$tmp/link"
mkdir "$tmp/folder"
mkfifo "$tmp/fifo"
for kind in link folder fifo; do
	record -f "$tmp/$kind" true
	equal "a $kind as the output file is refused" 1 "$status"
	message_has "$tmp/$kind: not a regular file"
	record -a -f "$tmp/$kind" true
	equal "-a to a $kind is refused" 1 "$status"
done
check "a link as the output file is not replaced" test -L "$tmp/link"
record -f "$tmp/no/where" true
equal "a missing directory is an error" 1 "$status"

# Tests the exit status.
record -f "$tmp/f" sh -c 'exit 7'
equal "record has status 7 if the command has" 7 "$status"
record -f "$tmp/f" sh -c 'kill -TERM $$'
equal "record has status 143 if SIGTERM killed the command" 143 "$status"
shown "$tmp/f" "PSIG  SIGTERM"
record -f "$tmp/f" "$tmp/nothing"
equal "a missing command: status 127" 127 "$status"
message_has "$tmp/nothing: No such file or directory"
record -f "$tmp/f" "$tmp/text"
equal "a file that cannot be executed: status 126" 126 "$status"
record
equal "record without a command or process is refused" 2 "$status"
record -p 1 true
equal "record with a command and a process is refused" 2 "$status"

# The disk becomes full: the command continues, the file can be read, and ktrace record reports the
# loss.
(ulimit -f 64 && exec timeout -k 5 $kill_limit "$ktrace" record -f "$tmp/full" cat /usr/bin/* >/dev/null 2>"$tmp/err")
equal "full disk: record has status 1" 1 "$?"
message_has "File too large"
message_has " lost"
build/bin/kdump -f "$tmp/full" >"$tmp/out" 2>"$tmp/err"
equal "full disk: the trace can be read" 0 "$?"
check "full disk: the trace has records" test "$(wc -l <"$tmp/out")" -gt 20
check "full disk: the END record has the error and the number of lost records" sh -c 'tail -n 1 "$1" | grep -q "END   error 27 .* [1-9][0-9]* lost"' - "$tmp/out"

# A set-id program gets its rights, and is no longer recorded after its exec.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >"$tmp/which"; then
	chmod 755 "$tmp"
	cp "$(command -v id)" "$tmp/id" && chmod 4755 "$tmp/id"
	mkdir "$tmp/unprivileged" && chown 65534 "$tmp/unprivileged"
	XDG_RUNTIME_DIR=$tmp/unprivileged timeout $kill_limit setpriv --reuid 65534 --regid 65534 --clear-groups "$ktrace" record -f "$tmp/unprivileged/t" "$tmp/id" -u >"$tmp/out" 2>"$tmp/err"
	equal "a set-id program: record succeeds" 0 "$?"
	equal "a set-id program gets its rights" 0 "$(cat "$tmp/out")"
	message_has "gained privileges"
	equal "a set-id program: no calls after its exec are recorded" 1 "$(lines "$tmp/unprivileged/t" CALL)"
	XDG_RUNTIME_DIR=$tmp/unprivileged timeout $kill_limit setpriv --reuid 65534 --regid 65534 --clear-groups "$ktrace" record -f "$tmp/unprivileged/t" -p $$ >"$tmp/out" 2>"$tmp/err"
	equal "-p of another user's process is refused" 1 "$?"
	message_has "belongs to another user"
else
	skip "set-id programs" "only root can create one"
fi
done_testing
