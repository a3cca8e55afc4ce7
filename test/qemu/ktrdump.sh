# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests ktrdump on real guests: when ktrdump follows a guest from boot to end, it prints each event of the
# final trace once, in order of time, and the numbers of slots add up. A core with the kernel's file shows the
# same events as the RAM.
. test/tap.sh
. test/qemu/run_support.sh

ktrdump=build/bin/ktrdump

# follow ARCH "ARGUMENTS": runs a guest. Runs ktrdump on the guest's RAM as soon as the RAM file exists;
# stores its output in $tmp/live.
follow() {
	boot_beside "$1" "$2"
	followed=0
	timeout -k 5 $kill_limit "$ktrdump" -ls -tcip -M "$ram" -o "$tmp/live" 2>"$tmp/live.err" || followed=$?
	status=0
	wait "$guest" || status=$?
	equal "$1 $2: the guest ends with status 0" 0 "$status"
	equal "$1 $2: ktrdump ends with the guest" 0 "$followed"
}

# rows FILE: prints the rows of ktrdump's table without their numbers; omits notes and headers.
rows() { grep -v '^---\|^index\|^TSC' "$1" | cut -c9-; }

# summed SED-EXPRESSION: prints a number from the totals that ktrdump has printed at the end of its
# output.
summed() { sed -n "$1" "$tmp/live.err"; }

# compare NAME: compares what ktrdump printed while the guest ran with the final trace.
compare() {
	"$ktrdump" -s -tcip -M "$out" >"$tmp/final"
	rows "$tmp/live" >"$tmp/live.rows"
	rows "$tmp/final" | sort >"$tmp/final.sorted"
	sort "$tmp/live.rows" >"$tmp/live.sorted"
	comm -13 "$tmp/live.sorted" "$tmp/final.sorted" >"$tmp/missing"
	check "$1: every event of the final trace was printed: $(head -n 1 "$tmp/missing")" test ! -s "$tmp/missing"
	uniq -d "$tmp/final.sorted" >"$tmp/twice.final"
	uniq -d "$tmp/live.sorted" | comm -23 - "$tmp/twice.final" >"$tmp/twice"
	check "$1: no event was printed twice: $(head -n 1 "$tmp/twice")" test ! -s "$tmp/twice"
	grep -v '^\*\|^---\|^index\|^TSC' "$tmp/live" | awk '{ print $3 }' >"$tmp/stamps"
	check "$1: events are in order of time, except late ones" sort -n -c "$tmp/stamps"
	equal "$1: the totals count the late events" "$(grep -c '^\*' "$tmp/live" || :)" "$(summed 's/.* events, \([0-9]*\) .*/\1/p')"
	equal "$1: the totals count the overwritten slots" "$(awk '/^---/ { n += $5 } END { print n + 0 }' "$tmp/live")" \
		"$(summed 's/.* slots \([0-9]*\) were.*/\1/p')"
	# The final trace contains, for each ring, the number of slots that the guest has written.
	equal "$1: the totals count the slots that the guest produced" "$("$ktrace" summary --json "$out" | produced)" "$(summed 's/.*; of \([0-9]*\) slots.*/\1/p')"
}

# produced: reads a summary in JSON; prints how many slots the guest has written to all rings.
produced() { grep -o '"produced":[0-9]*' | awk -F: '{ n += $2 } END { print n }'; }

for arch in x86_64 aarch64 riscv64; do
	follow "$arch" seconds=1
	compare "$arch"
	# The rings are so small that slots may be overwritten between two reads.
	follow "$arch" "seconds=1 slots=512"
	compare "$arch, small rings"
done

# Tests the callers of events, the places where events were recorded, and the cost of recording.
for arch in x86_64 aarch64 riscv64; do
	run -q -- $(demo "$arch" 2) -append "debug=ktrace debug.ktr.stacktrace=2 debug.ktr.sites=1 seconds=0"
	"$ktrdump" -sfi -N "build/demo/$arch/kernel.elf" -M "$out" >"$tmp/places"
	line=$(grep -n 'ktrace_release_at(' demo/kern/lock.c | head -n 1)
	check "$arch: lock_release is recorded in demo/kern/lock.c:${line%%:*}" \
		grep -q "lock_release .*demo/kern/lock.c:${line%%:*} " "$tmp/places"
	"$ktrdump" -ix -N "build/demo/$arch/kernel.elf" -M "$out" >"$tmp/callers"
	check "$arch: ktrdump -x prints callers by name, the outer one first" \
		grep -q ' member_main+[0-9]* *fighter+[0-9]* *lock_release' "$tmp/callers"
	"$ktrdump" -xn -N "build/demo/$arch/kernel.elf" -M "$out" >"$tmp/callers"
	check "$arch: ktrdump -xn prints callers as numbers" grep -q ' 0x[0-9a-f]* *0x[0-9a-f]* *$' "$tmp/callers"
	"$ktrdump" -x -N build/bin/ktrace -M "$out" >"$tmp/callers" 2>"$tmp/err"
	check "$arch: -N with a file that is not the kernel's prints a message: $(cat "$tmp/err")" grep -qv 'order between CPUs' "$tmp/err"
	check "$arch: -N with a file that is not the kernel's shows all events" test "$(wc -l <"$tmp/callers")" -gt 1000
	"$ktrdump" -rs -A auto -M "$out" >"$tmp/less" 2>"$tmp/err"
	check "$arch: -A auto finds the cost in the trace" sh -c "! grep -v 'order between CPUs' '$tmp/err'"
	check "$arch: -A auto subtracts the cost" sh -c "! '$ktrdump' -rs -M '$out' | cmp -s - '$tmp/less'"
	rm -f "$out"
done

for arch in x86_64 aarch64 riscv64; do
	boot_for_core "$arch"
	kernel=build/demo/$arch/kernel.elf
	check "$arch: ktrdump -l reads the RAM of a guest that has ended" "$ktrdump" -las -N "$kernel" -M "$tmp/guest" -o "$tmp/from.ram"
	check "$arch: ktrdump reads a core" "$ktrdump" -as -N "$kernel" -M "$tmp/core" -o "$tmp/from.core"
	check "$arch: the core has events" grep -q sched_switch "$tmp/from.core"
	rows "$tmp/from.ram" >"$tmp/rows.ram"
	rows "$tmp/from.core" >"$tmp/rows.core"
	same "$arch: RAM and core show the same" "$tmp/rows.ram" "$tmp/rows.core"
	rm -f "$tmp/core" "$tmp/guest"
done

done_testing
