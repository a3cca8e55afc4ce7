#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Shows the rings and a process trace of one boot in one timeline.
# PROC_ARCHES: architectures to test (default: all three).
. test/tap.sh
. test/qemu/proc_support.sh

boot_events=debug=syscall,process
for arch in $arches; do
	boot "$arch" 2 ktrace:-f:/tmp/trace:ls:/etc give:/tmp/trace
	$ktrace show --with "$tmp/given/trace" "$tmp/rings" >"$tmp/both" 2>"$tmp/err"
	equal "$arch: show --with: status" 0 $?
	check "$arch: show --with prints one timeline in order of time" sh -c 'sed -n "s/^\[ *\([0-9.]*\)\].*/\1/p" "$1" | sort -nc' - "$tmp/both"
	# In the output, the kernel's event of a system call is directly before or after the process trace's
	# record of the same call.
	check "$arch: a call is shown by an event of the kernel and a record of the process" awk '
		/ syscall.enter +open\(/ { event = $1 $2; next }
		/ proc.call +open\(/ && event { near++ }
		{ event = "" }
		END { exit near < 1 }' "$tmp/both"
	equal "$arch: show --with has every record of the process trace" \
		"$("$kdump" -f "$tmp/given/trace" -t c | grep -cE ' (CALL|RET ) ')" "$(grep -cE ' proc\.(call|return) ' "$tmp/both")"
	equal "$arch: show --with has every event of the rings" "$($ktrace show --event syscall "$tmp/rings" | grep -c syscall.enter)" \
		"$(grep -c 'syscall.enter' "$tmp/both")"
	$ktrace summary --with "$tmp/given/trace" "$tmp/rings" >"$tmp/out" 2>&1
	check "$arch: summary --with counts events and records" sh -c 'grep -q "^syscall.enter" "$1" && grep -q "^proc.call" "$1" && grep -q "^process " "$1"' - "$tmp/out"
	$ktrace export --format perfetto --with "$tmp/given/trace" -o "$tmp/perfetto" "$tmp/rings" 2>"$tmp/err"
	check "$arch: export --with has events and records" sh -c 'grep -aq "/etc" "$1" && grep -aq fork "$1"' - "$tmp/perfetto"
	[ "$arch" = "${before:-$arch}" ] || {
		$ktrace show --with "$tmp/before" "$tmp/rings" >"$tmp/out" 2>"$tmp/err"
		equal "$arch: show --with refuses a process trace of another boot" 1 $?
		check "$arch: show --with a process trace of another boot: the message has the reason" grep -q 'is of another boot' "$tmp/err"
	}
	before=$arch
	cp "$tmp/given/trace" "$tmp/before"
done
done_testing
