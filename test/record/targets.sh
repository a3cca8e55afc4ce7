#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Tests the options -p, -g, -d, -c and -C of `ktrace record`: running processes are recorded in the
# background.
. test/tap.sh
. test/record/record_support.sh

# The target is a process that makes calls in a loop, and has a child.
setsid sh -c 'sh -c "while :; do sleep 0.05; done" & while :; do sleep 0.05; done' >/dev/null 2>&1 &
target=$!
kill_at_end "-$target"
await sh -c 'test "$(pgrep -P '$target' | wc -l)" -ge 1'

tracer_of() { awk '/^TracerPid/ { print $2 }' "/proc/$1/status"; }
untraced() { [ "$(tracer_of "$target")" -eq 0 ]; }

record -f "$tmp/p" -p "$target"
equal "-p returns at once: status" 0 "$status"
check "the target is traced" test "$(tracer_of "$target")" -ne 0
recorder=$(tracer_of "$target")
check "-p: calls of the target arrive in the file" eventually sh -c 'build/bin/kdump -f '"$tmp/p"' | grep -q "CALL *wait4"'
record -f "$tmp/p2" -p "$target"
equal "a second recorder of the same process is refused" 1 "$status"
message_has "is traced already"
record -c -p 1
equal "-c -p of a process that is not recorded: status" 1 "$status"
message_has "none of your recorders records this process, group or file"
record -c -p "$target"
equal "-c -p: status" 0 "$status"
check "-c -p detaches the target" eventually untraced
check "-c -p: the target continues to run" kill -0 "$target"
check "-c -p: the recorder ends" eventually sh -c '! kill -0 '"$recorder"
build/bin/kdump -f "$tmp/p" >"$tmp/out" 2>"$tmp/err"
equal "-c -p: the file can be read" 0 "$?"
shown "$tmp/p" "wait4"

record -d -f "$tmp/d" -p "$target"
await sh -c 'test "$(build/bin/kdump -f '"$tmp/d"' -t c | awk "{ print \$1 }" | sort -u | wc -l)" -ge 2'
check "-d records descendants, too" test "$(build/bin/kdump -f "$tmp/d" -t c | awk '{ print $1 }' | sort -u | wc -l)" -ge 2
record -c -f "$tmp/d"
equal "-c -f: status" 0 "$status"
check "-c -f detaches all processes of the file" eventually untraced

record -g "$target" -f "$tmp/g"
equal "-g: status" 0 "$status"
check "-g traces the group" test "$(tracer_of "$target")" -ne 0
record -C
equal "-C: status" 0 "$status"
check "-C detaches all processes" eventually untraced

# The paths of sockets are limited to 107 bytes.
long=$tmp/$(printf '%0100d' 0)
mkdir "$long"
export XDG_RUNTIME_DIR="$long"
record -f "$tmp/long" -p "$target"
record -c -p "$target"
equal "-c finds a recorder if XDG_RUNTIME_DIR is longer than the path of a socket: status" 0 "$status"
check "-c detaches the target then" eventually untraced
export XDG_RUNTIME_DIR="$tmp"

# The child is in another process group than its parent.
setsid sh -c 'setsid sh -c "while :; do sleep 0.05; done" & wait' >/dev/null 2>&1 &
family=$!
kill_at_end "-$family"
await sh -c 'pgrep -P '"$family"
child=$(pgrep -P "$family")
kill_at_end "-$child"
await sh -c 'test "$(ps -o pgid= -p '"$child"' | tr -d " ")" -eq '"$child"
record -g "$family" -f "$tmp/g"
equal "-g without -d does not trace a child in another group" 0 "$(tracer_of "$child")"
record -c -g "$family"
await sh -c 'grep -q "^TracerPid:.0$" /proc/'"$family"'/status'
record -d -g "$family" -f "$tmp/dg"
check "-d -g traces processes that the group has created, too" test "$(tracer_of "$child")" -ne 0
record -c -t c -d -g "$family"
equal "-c -t c: status" 0 "$status"
# Records that were made before -c may reach the file after -c. When the file has three more signals, it also
# has all records from before -c.
has_more_signals() { [ "$(lines "$tmp/dg" PSIG)" -gt "$((signals + 2))" ]; }
signals=$(lines "$tmp/dg" PSIG)
await has_more_signals
calls=$(lines "$tmp/dg" CALL) signals=$(lines "$tmp/dg" PSIG)
check "-c -t c: signals are recorded as before" eventually has_more_signals
equal "-c -t c: calls are no longer recorded" "$calls" "$(lines "$tmp/dg" CALL)"
record -c -d -g "$family"
equal "-c -d -g: status" 0 "$status"
check "-c -d -g detaches all processes" eventually sh -c 'grep -q "^TracerPid:.0$" /proc/'"$child"'/status'
record -C
equal "-C without a recorder succeeds" 0 "$status"

# The target continues after every kind of end of the recorder.
record -f "$tmp/k" -p "$target"
kill -KILL "$(tracer_of "$target")"
check "recorder killed: the target is not traced" eventually untraced
record -f "$tmp/k" -p "$target"
check "recorder killed: another one can start" test "$status" -eq 0
kill -TERM "$(tracer_of "$target")"
check "recorder ended by SIGTERM: the target is not traced" eventually untraced
check "recorder ended by SIGTERM: the target continues to run" kill -0 "$target"
check "recorder ended by SIGTERM: the target is not stopped" eventually grep -q '^State:.[SR]' "/proc/$target/status"

# While the target is recorded, a signal stops it, and SIGCONT continues it.
record -f "$tmp/s" -p "$target"
kill -STOP "$target"
# Waits until SIGSTOP is recorded, for two reasons: a stop by the tracer looks like a stop by the signal,
# and a SIGCONT would cancel a SIGSTOP that was not delivered yet.
check "SIGSTOP is recorded" eventually sh -c 'build/bin/kdump -f '"$tmp/s"' | grep -q "PSIG  SIGSTOP"'
check "SIGSTOP stops the target" eventually sh -c 'grep -q "^State:.[tT]" /proc/'"$target"'/status'
kill -CONT "$target"
check "SIGCONT resumes the target" eventually sh -c 'grep -q "^State:.[SR]" /proc/'"$target"'/status'
record -c -p "$target"
await untraced
cp "$tmp/s" "$tmp/kept"
record -f "$tmp/s" -p 4194303
equal "-p of a missing process is refused" 1 "$status"
message_has "does not exist"
same "-p of a missing process leaves an existing file unchanged" "$tmp/kept" "$tmp/s"
done_testing
