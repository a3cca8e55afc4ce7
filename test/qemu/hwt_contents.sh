# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What hwt of the demo kernel puts into its file, as the host reads it: one function alone, also where a copy of it is run
# that the program has mapped; calls as a tree; what is lost where the buffer is too small for what is taken too seldom.
# HWT_ARCHES: which (default: x86_64 aarch64).
. test/tap.sh

ktrace=build/bin/ktrace

# boot_any ARCH WORDS…: runs that, which leaves /tmp/trace, which becomes $tmp/trace.
boot_any() {
	arch=$1
	shift
	rm -f "$tmp/trace"
	timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --trace-unit --out "$tmp/rings" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append "run=$(echo "$*" | tr ' ' :),give:/tmp/trace" </dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/console"
	"$ktrace" take -d "$tmp" "$tmp/console" 2>>"$tmp/err"
}

# boot ARCH WORDS…: what hwt wrote of that.
boot() {
	arch=$1
	shift
	boot_any "$arch" hwt -w /tmp/trace "$@"
}

hwt() { "$ktrace" hwt -R "build/demo/$arch/root" "$@" "$tmp/trace" 2>"$tmp/said"; }

for arch in ${HWT_ARCHES:-x86_64 aarch64}; do
	boot "$arch" -f collatz mapped
	equal "$arch: one function" "mapped collatz" "$(hwt --functions | tr '\n' ' ' | sed 's/ $//')"
	hwt -o pc,symbol >"$tmp/steps"
	check "$arch: in the program" grep -qE '^0x18[0-9a-f]{8} +collatz' "$tmp/steps"
	check "$arch: and in the copy" grep -qE '^0x1f[0-9a-f]{8} +collatz' "$tmp/steps"
	# 111 steps from 27 down to 1, each a turn of the loop; the program calls it once, its copy ten times.
	hwt --durations >"$tmp/durations"
	equal "$arch: nothing is missing, though it was told anew what is traced" "" "$(cat "$tmp/said")"
	check "$arch: eleven calls" awk '/collatz/ { for (i = 1; i <= NF; i++) n += $i == 11 } END { exit !n }' "$tmp/durations"

	# Each kind of record that it makes, in the order in which it made them.
	"$ktrace" kdump -f "$tmp/trace" >"$tmp/records"
	equal "$arch: what it became, mapped, was called and unmapped" "HEXE HMAP HNAM HUNM" \
		"$(awk '$2 ~ /^H(EXE|MAP|NAM|UNM)$/ && !/"\/bin\/hwt"/ { print $2 }' "$tmp/records" | tr '\n' ' ' | sed 's/ $//')"
	check "$arch: by which name" grep -q 'HNAM.*copied' "$tmp/records"
	check "$arch: and that its thread was there, what was traced, and how much it was" awk '
		{ seen[$2] = 1 } END { exit !(seen["HTHR"] && seen["HCTX"] && seen["HBUF"] && seen["HDAT"]) }' "$tmp/records"

	boot "$arch" recursion
	hwt --calls >"$tmp/calls"
	check "$arch: calls as a tree" awk '
		/main/ { depth = match($0, /main/) } /place_queens/ && match($0, /place_queens/) > depth { deeper = 1 }
		END { exit !depth || !deeper }' "$tmp/calls"
	# Six queens: so many ways to put none to six of them row by row.
	hwt --durations >"$tmp/durations"
	check "$arch: each call is there" awk '/place_queens/ { for (i = 1; i <= NF; i++) n += $i == 153 } END { exit !n }' \
		"$tmp/durations"
	sed -n '/place_queens/s/^/# /p' "$tmp/durations"
	all=$(awk '$NF == "sort" { print $1 }' "$tmp/durations")
	check "$arch: kdump passes over it" "$ktrace" kdump -f "$tmp/trace"
	hwt --functions >"$tmp/functions"
	equal "$arch: nothing from before the command was there" "" "$(grep -v '^recursion ' "$tmp/functions")"
	check "$arch: all from its start on" grep -qx 'recursion _start' "$tmp/functions"

	# Of a process that runs already, in code that it mapped before anybody looked.
	boot_any "$arch" mapped late -w /tmp/trace
	check "$arch: it was traced" grep -qx 'init: mapped: status 0' "$tmp/console"
	hwt -o pc,symbol >"$tmp/steps"
	equal "$arch: traced late, nothing is missing" "" "$(cat "$tmp/said")"
	check "$arch: traced late, in code mapped before" grep -qE '^0x1f[0-9a-f]{8} +collatz' "$tmp/steps"
	equal "$arch: traced late, all code has a name" "" "$(awk '$1 != "-" && $2 == "-"' "$tmp/steps" | head -n 3)"

	# It calls itself, and others by a pointer, so that it is left and entered again within calls.
	boot "$arch" -f sort recursion
	hwt --durations >"$tmp/durations"
	equal "$arch: one function that calls others: as often as among all" "${all:-no calls}" \
		"$(awk '$NF == "sort" { print $1 }' "$tmp/durations")"
	sed 's/^/# /' "$tmp/said"
done
done_testing
