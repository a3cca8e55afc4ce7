# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# One run, two traces: at its end the kernel dumps KTRX version 1 through a transport, and leaves version 2 in
# memory. A reader of version 1 finds the same facts as a reader of version 2: each event that version 1 can
# represent, in order. The CPU, the thread, the time and the arguments of the event are the same, too. The
# number of omitted events is the one that the writer recorded. UNIX_ARCHES: architectures to test (default:
# all three).
. test/tap.sh
. test/qemu/transport_support.sh
. test/qemu/loss_support.sh
PC_OPTIONS=$usual_firmware # virtio is on the PCI bus

programs=pipeline,faultwalk,echo,resolver,signals,make
v1=$trace v2=$tmp/v2

run_once() {
	rm -f "$v1" "$v2"
	timeout -k 5 $kill_limit $ktrace run -q --timeout $limit --out "$v2" -- $(sh scripts/qemu.sh "$1" 2) $(device "$1" virtio) \
		-append "debug=syscall,sched,mm,net,signal,process,vfs slots=131072 transport=virtio dump=v1 run=$programs" \
		</dev/null >"$console" 2>"$tmp/err"
}

# facts VERSION TRACE: prints the facts of the trace (see unix_v1.awk), sorted by CPU.
facts() { $ktrace show --json "$2" | awk -v version="$1" -f test/qemu/unix_v1.awk | sort -s -n -k 1,1; }

# as_many FIRST SECOND: for each CPU, counts the facts in FIRST, and prints the same number of facts from
# the beginning of SECOND. A CPU may continue to record after its part of the dump was written.
as_many() { awk 'FNR == NR { left[$1]++; next } left[$1]-- > 0' "$1" "$2"; }

without_time() { awk '{ $2 = ""; print }' "$1"; }

# same_times FIRST SECOND: succeeds if the times of all facts differ by the same constant. Times count from
# the first event of a trace, and the two traces begin with different events. Times are rounded to 1 ns.
same_times() {
	paste -d ' ' "$1" "$2" | awk '{
		width = NF / 2; distance = $(width + 2) - $2
		if (NR == 1) first = distance
		if (distance - first > 3e-9 || first - distance > 3e-9) { print; exit 1 }
	}'
}

# v1_counts: prints the number of events of each type in the version 1 dump.
v1_counts() {
	build/bin/ktrace-decode --summary "$v1" | awk '/^Events by type/ { on = 1; next } !NF { on = 0 } on { print $1, $2 }'
}

# omitted_fits: checks the number of events that the version 1 dump omits, because version 1 cannot represent
# them. The root of the version 2 trace has this number. The omitted events were recorded before the end of
# the dump.
omitted_fits() {
	omitted=$(od -An -tu4 -j116 -N4 "$v2" | tr -d ' ')
	last=$(sort -n -k 2,2 "$tmp/v2.facts" | awk 'END { print $2 }')
	$ktrace show --json "$v2" | awk -v version=2 -v rest=1 -f test/qemu/unix_v1.awk |
		awk -v last="$last" -v omitted="$omitted" '{ before += $1 <= last } END {
			printf "%d left out; %d up to the last fact, %d in all\n", omitted, before, NR
			exit !(before > 0 && before <= omitted && omitted <= NR) }'
}

for arch in ${UNIX_ARCHES:-x86_64 aarch64 riscv64}; do
	check "$arch: the machine ends by itself" run_once "$arch"
	$ktrace summary "$v2" >"$tmp/summary" 2>>"$tmp/err"
	check "$arch: no slots are lost" nothing_lost "$tmp/summary" 2
	facts 1 "$v1" >"$tmp/v1.facts"
	facts 2 "$v2" >"$tmp/v2.all"
	as_many "$tmp/v1.facts" "$tmp/v2.all" >"$tmp/v2.facts"
	without_time "$tmp/v1.facts" >"$tmp/v1.words"
	without_time "$tmp/v2.facts" >"$tmp/v2.words"
	awk '{ n[$4]++ } END { for (event in n) print event, n[event] }' "$tmp/v2.facts" | sort >"$tmp/v2.counts"
	v1_counts | sort >"$tmp/v1.counts"

	check "$arch: the version 1 dump has all 15 types of events" test "$(wc -l <"$tmp/v1.counts")" -eq 15
	same "$arch: ktrace-decode counts as many events of each type as version 2 has" "$tmp/v2.counts" "$tmp/v1.counts"
	same "$arch: both versions have the same $(wc -l <"$tmp/v1.facts") facts" "$tmp/v2.words" "$tmp/v1.words"
	check "$arch: both versions have the same times" same_times "$tmp/v1.facts" "$tmp/v2.facts"
	check "$arch: the version 1 dump omits only events that version 1 cannot represent" omitted_fits
	sed 's/^/# /' "$tmp/.check"
	echo "# recorded after the dump: $(($(wc -l <"$tmp/v2.all") - $(wc -l <"$tmp/v2.facts"))) facts"
done
done_testing
