# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The commands of doc/try.md run and print what the page states. The page has each command twice: for the
# reader, and in the comment from which `make docs` writes the output.
. test/tap.sh
unset PC_OPTIONS # the reader boots the usual PC

page=doc/try.md
export ACCEL=tcg
awk '/^```/ { block = !block } !block && sub(/^    /, "")' "$page" >"$tmp/shown"
sed -n 's/^<!-- output: \(.*\) -->$/\1/p' "$page" >"$tmp/run"
same "commands for the reader are those that print the output" "$tmp/shown" "$tmp/run"
equal "number of commands in the page" 6 "$(wc -l <"$tmp/run")"
sed "s|build/try|$tmp/try|g; s|\$PWD/$tmp|$tmp|g" "$tmp/run" >"$tmp/here"

# output N: runs the N-th command, stores its output in $tmp/out, and checks that it succeeds.
output() {
	sed -n "$1p" "$tmp/here" >"$tmp/command"
	timeout -k 5 $kill_limit sh "$tmp/command" >"$tmp/out" 2>"$tmp/err"
	equal "command $1: status" 0 $?
}

output 1
for side in include/ktrace kernel/core host/ktread; do
	check "$side includes the header" grep -qE "^ +[1-9][0-9]* $side\$" "$tmp/out"
done
output 2
awk '/^<!-- output: / { count++ } /^```/ { block = !block; next } block && count == 2' "$page" >"$tmp/block"
same "the compiler's error about a wider field is that of the page" "$tmp/block" "$tmp/out"
output 3
check "stress: threads, interrupts and NMIs record" grep -qE '^stress: [1-9][0-9]* records from threads, [1-9][0-9]* from interrupts, [1-9][0-9]* from NMIs' "$tmp/out"
check "stress: no record is wrong or missing" grep -qE '^checked=[1-9][0-9]+ wrong=0 jumps=0 produced=[1-9][0-9]+ invalid=[0-9]+$' "$tmp/out"
output 4
check "a record of an NMI is shown among others" awk '/ nmi stress/ { nmi++ } END { exit !(nmi && NR > 2) }' "$tmp/out"
output 5
check "the clock's frequency is in the trace" grep -qE '^clock +[1-9][0-9]+ Hz' "$tmp/out"
output 6
check "a coarse clock is reported as coarse" grep -qE '^clock +100 Hz: coarse' "$tmp/out"
done_testing
