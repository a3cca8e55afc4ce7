# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace why` on a running machine, over QMP and over gdb's protocol: the machine continues afterwards. Also
# at the end of a run, and with a kernel file of a different build. test/scenarios checks what it reports for
# each bug.
. test/tap.sh
. test/qemu/run_support.sh

# why NAME STATUS OPTION…: checks the exit status; stores the output in $tmp/report, the messages in $tmp/err.
why() {
	what=$1 expected=$2
	shift 2
	"$ktrace" why "$@" >"$tmp/report" 2>"$tmp/err"
	equal "$what: exit status" "$expected" $?
}

# report_has PATTERN: checks that a line of the last output matches.
report_has() { check "$what: the report has $1" grep -qE -- "$1" "$tmp/report"; }

is_found() { "$ktrace" why --qmp "$tmp/qmp" 2>/dev/null | grep -qE '^(self-)?deadlock \(certain\)'; }

# Guests whose CPUs spin but need not do so at the same time share a thread of the host.
one_thread='-accel tcg,thread=single'

# boot ARGUMENTS [OPTIONS OF QEMU]: starts a guest with a bug and waits until why finds the bug.
boot() {
	# shellcheck disable=SC2086
	boot_open x86_64 "$1" ${2-}
	await is_found
}

boot run=abba "$one_thread"
why "QMP" 10 --qmp "$tmp/qmp" --elf build/demo/x86_64/kernel.elf
report_has '^deadlock \(certain\).*abba/[01].*abba/[01]'
report_has 'transfer\.c:[0-9]+'
report_has '^ +at [a-z_]+\+0x[0-9a-f]+ \(.*:[0-9]+\)$'
why "gdb's protocol" 10 --gdb "$tmp/gdb" --elf build/demo/x86_64/kernel.elf
report_has '^deadlock \(certain\)'
objcopy --remove-section .note build/demo/x86_64/kernel.elf "$tmp/nameless.elf"
"$ktrace" why --align --qmp "$tmp/qmp" --elf "$tmp/nameless.elf" >"$tmp/report" 2>"$tmp/err"
equal "QMP: a file without build id is reported once" 1 "$(grep -c 'has no build id' "$tmp/err")"
check "QMP: messages name the machine, not a temporary file" grep -q '^ktrace why: the machine: --align: ' "$tmp/err"
why "JSON" 10 --json --qmp "$tmp/qmp"
report_has '^\{"schema":"ktrace-why/1","strings":"untrusted","version":1,"verdict":"deadlock",'
# The message of extract that it paused the machine shows that the machine was running after why.
check "the machine runs after why" sh -c "'$ktrace' extract --json --qmp '$tmp/qmp' -o '$out' 2>'$tmp/err' | grep -q '\"paused\":true'"
check "why leaves no temporary files" sh -c '! ls "$0" | grep -q ktrace-' "$tmp"
shut_down

# No CPU records anything, so only a command that watches the machine can find out how much time has passed. The
# second CPU hangs some time after the first.
stands_still() {
	"$ktrace" why --qmp "$tmp/qmp" >"$tmp/report" 2>/dev/null
	grep -q 'it may have been stopped for longer' "$tmp/report" && grep -qE 'has waited [1-9][0-9]*\.[0-9]+ s' "$tmp/report"
}
boot run=self-irq
await stands_still
for how in qmp gdb; do
	why "a machine that hangs as a whole, by $how" 10 --$how "$tmp/$how" --elf build/demo/x86_64/kernel.elf
	report_has '^self-deadlock \(certain\)'
	report_has 'has waited [1-9][0-9]*\.[0-9]+ s'
	report_has 'it may have been stopped for longer'
done
shut_down

# In the RAM file of a running machine, the newest timestamp may be older than the current time. `ktrace
# live`, which watches the file, reports the same hang.
boot_beside x86_64 run=self-irq
hangs() {
	"$ktrace" why "$ram" >"$tmp/report" 2>/dev/null
	grep -q 'may have been stopped for longer' "$tmp/report" && grep -q '^self-deadlock (certain)' "$tmp/report"
}
await hangs
why "the RAM of a machine that hangs as a whole" 10 "$ram"
report_has '^self-deadlock \(certain\).* has waited [1-9][0-9]*\.[0-9]+ s'
report_has 'it may have been stopped for longer'
report_has '\(demo/kern/bug/[a-z_]+\.c:[0-9]+\)' # the kernel is the one on QEMU's command line
"$ktrace" live --lines "$ram" >"$tmp/live" 2>/dev/null &
watcher=$!
check "live reports the CPU of a machine that hangs as a whole as stuck" eventually grep -q 'STUCK for [1-9]' "$tmp/live"
kill "$watcher"
wait "$watcher" 2>/dev/null
cp --sparse=always "$ram" "$tmp/dead.ram"
kill $guest
wait $guest 2>/dev/null
# The certainty depends on the time from the beginning of the wait to the newest timestamp. This time is 0 if
# the wait is the newest event.
"$ktrace" why "$tmp/dead.ram" >"$tmp/report" 2>"$tmp/err"
check "the RAM of a machine that has ended: why reports the deadlock" grep -qE '^self-deadlock \((certain|possible)\)' "$tmp/report"
check "the RAM of a machine that has ended: why suggests --elf" grep -qF -- '(--elf KERNEL)' "$tmp/err"
check "the RAM of a machine that has ended: why does not report a longer stop" sh -c '! grep -q "may have been stopped for longer" "$0"' "$tmp/report"

cp build/demo/x86_64/kernel.elf "$tmp/kernel.elf"
KERNEL=$tmp/kernel.elf
export KERNEL
# shellcheck disable=SC2046
run_until 'grep -q "deadlock (certain)" "$tmp/err"' --why --stall 2 -- $(demo x86_64 2) $one_thread -append run=abba-spin
check "run --why: a deadlock" grep -qE '^(self-)?deadlock \(certain\)' "$tmp/err"
check "run --why: the message has the place" grep -qE 'balance\.c:[0-9]+' "$tmp/err"

why "the kernel that was booted" 10 "$out"
report_has 'balance\.c:[0-9]+'
id=$("$ktrace" summary "$out" | sed -n 's/^build id *//p')
digits=$(od -An -v -tx1 "$tmp/kernel.elf" | tr -d ' \n' | grep -obF "$id" | cut -d : -f 1)
printf 'other' | dd of="$tmp/kernel.elf" conv=notrunc bs=1 seek=$((digits / 2)) 2>/dev/null
why "the kernel that was booted, built anew" 10 "$out"
message_has "is of another build than the traced kernel: addresses are shown without names"
check "the kernel that was booted, built anew: the report has no names" sh -c '! grep -q "balance\.c" "$0"' "$tmp/report"
rm "$tmp/kernel.elf"
mkfifo "$tmp/kernel.elf"
why "a pipe in place of the kernel" 10 "$out"
rm "$tmp/kernel.elf"
why "the kernel that was booted, removed" 10 "$out"
equal "the kernel that was booted, removed: no message is printed" "" "$(cat "$tmp/err")"
unset KERNEL

# shellcheck disable=SC2046
run --why --page "$tmp/run.html" -- $(demo x86_64 2) -append run=mix
equal "run --why: a run that ends well has status 0" 0 "$status"
check "run --why: no verdict is printed for a run that ends well" sh -c '! grep -q "^[a-z-]* (" "$0"' "$tmp/err"
check "run --page: the trace is there as a page" grep -q 'class="ktrace-block"' "$tmp/run.html"
done_testing
