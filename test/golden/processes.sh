#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Commands that read traces also read process traces: show, summary, stats, export; traces of the BSDs;
# damaged traces. test/qemu/proc_beside.sh tests a process trace together with a kernel's trace.
. test/tap.sh

ktrace=build/bin/ktrace
golden=test/golden/proc

$ktrace show $golden/ktrx.ktrace >"$tmp/shown" 2>"$tmp/err"
equal "show: status" 0 $?
[ -z "${UPDATE-}" ] || cp "$tmp/shown" test/golden/processes.txt
same "show prints the expected text" test/golden/processes.txt "$tmp/shown"
equal "every record of a call is shown" \
	"$(build/bin/kdump -f $golden/ktrx.ktrace 2>"$tmp/err" | grep -cE ' (CALL|RET ) ')" \
	"$(grep -cE 'syscall\.(enter|exit)' "$tmp/shown")"
check "lost records are shown where they are missing" grep -q -- '--- process trace: 7 records lost' "$tmp/shown"
check "hostile bytes are escaped" sh -c '! LC_ALL=C grep -q "[^[:print:]]" "$1"' - "$tmp/shown"

$ktrace summary $golden/ktrx.ktrace >"$tmp/out" 2>&1
check "summary names the kind of the trace" grep -q 'a process trace, x86_64' "$tmp/out"
check "summary counts lost records" grep -q 'loss .*7 unreadable' "$tmp/out"
$ktrace summary --json $golden/ktrx.ktrace >"$tmp/out" 2>&1
check "summary --json counts records" grep -q '"event":"syscall.enter","records":12' "$tmp/out"
check "show --pid shows fewer records" test "$($ktrace show --pid 100043 $golden/ktrx.ktrace | grep -c 'PID=')" -lt "$(grep -c 'PID=' "$tmp/shown")"
equal "show --event shows only these events" 2 "$($ktrace show --event proc.path $golden/ktrx.ktrace 2>"$tmp/err" | grep -c proc.path)"

$ktrace record -t c -f "$tmp/linux" true
$ktrace stats "$tmp/linux" >"$tmp/out" 2>&1
check "stats pairs calls although their CPU is unknown" grep -q '^syscall mmap .* us ' "$tmp/out"
for format in perfetto json; do
	$ktrace export --format $format -o "$tmp/exported" "$tmp/linux" 2>"$tmp/err"
	check "export --format $format writes a file" test -s "$tmp/exported"
done
check "spans of system calls are exported" grep -q '"mmap"' "$tmp/exported"

for format in dragonfly freebsd0 freebsd0-i386 freebsd1; do
	$ktrace show $golden/$format.ktrace >"$tmp/out" 2>&1
	check "$format is recognized by its content" grep -q 'proc.path .*"/etc/motd"' "$tmp/out"
	check "$format: calls have the names and types of its kernel" grep -qE 'syscall.enter +read\(3, 0x[0-9a-f]+, 1024\)' "$tmp/out"
	$ktrace summary --form proc $golden/$format.ktrace >"$tmp/out" 2>&1
	check "$format: summary --form proc counts records" grep -q '^syscall.exit' "$tmp/out"
done
check "records of unknown types are counted" sh -c '$1 summary $2/dragonfly.ktrace | grep -q "^proc.unknown"' - $ktrace $golden
$ktrace show "$tmp/linux" >"$tmp/out" 2>&1
check "calls of Linux have their names and types" grep -qE 'syscall.exit +openat = (3|-2 ENOENT)' "$tmp/out"

for bad in negative damaged sessions; do
	$ktrace show --form proc $golden/bad/$bad.ktrace >"$tmp/out" 2>"$tmp/err"
	check "$bad: the damage is reported with its offset" grep -q 'offset [0-9]' "$tmp/err"
	check "$bad: readable records are shown" grep -q PID= "$tmp/out"
	check "$bad: a gap is shown where records are missing" grep -q -- '--- process trace: .* lost' "$tmp/out"
	$ktrace summary --form proc $golden/bad/$bad.ktrace >"$tmp/out" 2>"$tmp/err"
	check "$bad: summary counts unreadable records" grep -qE '^loss .* [1-9][0-9]* unreadable' "$tmp/out"
done
# A gap is shown before the next valid record. Here the last records are damaged, so no valid record follows.
cp "$tmp/linux" "$tmp/end"
head -c 200 /dev/zero | tr '\000' '\377' | dd of="$tmp/end" bs=1 seek=$(($(stat -c %s "$tmp/linux") - 200)) conv=notrunc 2>"$tmp/err"
$ktrace summary "$tmp/end" >"$tmp/out" 2>"$tmp/err"
check "a damaged end is reported with its offset" grep -q 'offset [0-9]*: damaged' "$tmp/err"
check "a damaged end: summary counts one unreadable record" grep -qE '^loss .* 1 unreadable' "$tmp/out"
for bad in text zeroes undecided; do
	$ktrace show --form proc $golden/bad/$bad.ktrace >"$tmp/out" 2>"$tmp/err"
	equal "$bad: status" 1 $?
	check "$bad: the message has the reason" grep -q "$bad.ktrace: ." "$tmp/err"
done

$ktrace show --with $golden/ktrx.ktrace "$tmp/linux" >"$tmp/out" 2>"$tmp/err"
equal "--with is refused for a process trace" 1 $?
check "--with for a process trace: the message has the reason" grep -q 'can only be added to a trace of version 2' "$tmp/err"
$ktrace show --with "$tmp/nothing" $golden/ktrx.ktrace >"$tmp/out" 2>"$tmp/err"
equal "--with a file that does not exist is refused" 1 $?
done_testing
