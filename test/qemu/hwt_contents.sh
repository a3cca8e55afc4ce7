# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Checks what the host reads from files that hwt of the demo kernel wrote. The files show: one function alone,
# also in a copy of it that the program has mapped; calls as a tree; a process that ran before it was traced.
# HWT_ARCHES: architectures to test (default: x86_64 aarch64).
. test/tap.sh

ktrace=build/bin/ktrace

# boot_any ARCH WORDS…: runs a program in the guest that writes /tmp/trace, and copies this file to
# $tmp/trace.
boot_any() {
	arch=$1
	shift
	rm -f "$tmp/trace"
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --trace-unit --out "$tmp/rings" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append "run=$(echo "$*" | tr ' ' :),give:/tmp/trace" </dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/console"
	"$ktrace" take -d "$tmp" "$tmp/console" 2>>"$tmp/err"
}

# boot ARCH WORDS…: runs the program under hwt in the guest, and copies /tmp/trace to $tmp/trace.
boot() {
	arch=$1
	shift
	boot_any "$arch" hwt -w /tmp/trace "$@"
}

hwt() { "$ktrace" hwt -R "build/demo/$arch/root" "$@" "$tmp/trace" 2>"$tmp/messages"; }

for arch in ${HWT_ARCHES:-x86_64 aarch64}; do
	boot "$arch" -f collatz mapped
	equal "$arch: hwt -f records only this function" "mapped collatz" "$(hwt --functions | tr '\n' ' ' | sed 's/ $//')"
	hwt -o pc,symbol >"$tmp/steps"
	check "$arch: the function is recorded in the program" grep -qE '^0x18[0-9a-f]{8} +collatz' "$tmp/steps"
	check "$arch: the function is recorded in its mapped copy" grep -qE '^0x1f[0-9a-f]{8} +collatz' "$tmp/steps"
	# The argument of the function is 27, and its loop runs 111 times until the value is 1. The program
	# calls the function once, and a copy of the function ten times.
	hwt --durations >"$tmp/durations"
	equal "$arch: no code is missing, though the set of traced code changed during the run" "" "$(cat "$tmp/messages")"
	check "$arch: hwt --durations counts eleven calls" awk '/collatz/ { for (i = 1; i <= NF; i++) n += $i == 11 } END { exit !n }' "$tmp/durations"

	# The trace must contain each type of record, in the order in which hwt must write them.
	"$ktrace" kdump -f "$tmp/trace" >"$tmp/records"
	equal "$arch: records of exec, mapping, naming and unmapping are in order" "HEXE HMAP HNAM HUNM" \
		"$(awk '$2 ~ /^H(EXE|MAP|NAM|UNM)$/ && !/"\/bin\/hwt"/ { print $2 }' "$tmp/records" | tr '\n' ' ' | sed 's/ $//')"
	check "$arch: the record of naming has the name of the mapping" grep -q 'HNAM.*copied' "$tmp/records"
	check "$arch: the file has records of the thread, the context, the buffer and the data" awk '
		{ seen[$2] = 1 } END { exit !(seen["HTHR"] && seen["HCTX"] && seen["HBUF"] && seen["HDAT"]) }' "$tmp/records"

	boot "$arch" recursion
	hwt --calls >"$tmp/calls"
	check "$arch: hwt --calls shows nested calls deeper than main" awk '
		/main/ { depth = match($0, /main/) } /place_queens/ && match($0, /place_queens/) > depth { deeper = 1 }
		END { exit !depth || !deeper }' "$tmp/calls"
	# With six queens, place_queens() is called 153 times: once for each valid position of zero to six
	# queens, which are placed row by row.
	hwt --durations >"$tmp/durations"
	check "$arch: hwt --durations counts every call" awk '/place_queens/ { for (i = 1; i <= NF; i++) n += $i == 153 } END { exit !n }' \
		"$tmp/durations"
	sed -n '/place_queens/s/^/# /p' "$tmp/durations"
	all=$(awk '$NF == "sort" { print $1 }' "$tmp/durations")
	check "$arch: kdump reads a file of hardware trace" "$ktrace" kdump -f "$tmp/trace"
	hwt --functions >"$tmp/functions"
	equal "$arch: no function from before the program's start is recorded" "" "$(grep -v '^recursion ' "$tmp/functions")"
	check "$arch: the program's first function is recorded" grep -qx 'recursion _start' "$tmp/functions"

	# Traces a process that is already running: the process maps its code before the trace
	# starts.
	boot_any "$arch" mapped late -w /tmp/trace
	check "$arch: a running process was traced" grep -qx 'init: mapped: status 0' "$tmp/console"
	hwt -o pc,symbol >"$tmp/steps"
	equal "$arch: traced late, no code is missing" "" "$(cat "$tmp/messages")"
	check "$arch: traced late, code mapped before is recorded" grep -qE '^0x1f[0-9a-f]{8} +collatz' "$tmp/steps"
	equal "$arch: traced late, all code has a name" "" "$(awk '$1 != "-" && $2 == "-"' "$tmp/steps" | head -n 3)"

	# sort() calls itself, and calls other functions through a pointer. So the traced function is left and
	# entered again before it returns.
	boot "$arch" -f sort recursion
	hwt --durations >"$tmp/durations"
	equal "$arch: hwt -f of a function that calls others counts its calls as hwt without -f does" "${all:-no calls}" \
		"$(awk '$NF == "sort" { print $1 }' "$tmp/durations")"
	sed 's/^/# /' "$tmp/messages"
done
done_testing
