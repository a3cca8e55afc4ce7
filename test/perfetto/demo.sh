# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Real traces of the demo kernel: the history that Perfetto is told must be one that can have been, and must have
# in it what the kernel did.
. test/tap.sh
. test/qemu/transport_support.sh

# packets PATTERN: whether the trace has such packets.
packets() {
	grep -q -e "$1" "$tmp/text"
}

# of ARCH TRANSPORT
of() {
	boot "$1" "$2" "run=sleepers,fault seconds=0"
	check "$1: is exported" $ktrace export --format perfetto "$trace" -o "$tmp/perfetto"
	check "$1: reads back" sh -c "build/test/perfetto-text '$tmp/perfetto' >'$tmp/text'"
	grep -e generic_kernel -e sched_waking "$tmp/text" | sort -s -t= -k2,2n |
		awk -f test/perfetto/legal.awk >"$tmp/history"
	check "$1: no thread is in two places, none is woken while it runs: $(head -n 1 "$tmp/history")" \
		grep -q '^[1-9][0-9]* switches, [1-9][0-9]* wakes on 2 CPUs$' "$tmp/history"
	equal "$1: nothing else was said of its history" 1 "$(wc -l <"$tmp/history")"
	check "$1: idle threads are marked" packets 'comm="idle/1" is_main_thread=0 is_idle=1'
	check "$1: interrupts are slices by CPU" packets 'type=1 track_uuid=[0-9]* category_iids=[0-9]* name="timer"'
	check "$1: page faults are slices by thread" packets 'type=1 .* name="page fault"'
	check "$1: numbers that change are counters" packets 'name="memory.free" counter{unit_name="pages"}'
	seen_by_perfetto "$1"
}

# Where Perfetto itself is at hand (see trace_processor.sh): it has nothing to complain of.
seen_by_perfetto() {
	[ -n "${PERFETTO_ENGINE:-}" ] || return 0
	node test/perfetto/query.mjs "$PERFETTO_ENGINE" "$tmp/perfetto" \
		"select name, value from stats where value > 0 and severity != 'info'
		 union select 'wakes by nobody', count(*) from thread_state
		       where waker_utid is not null and waker_id is null having count(*) > 0
		 union select 'overlap on CPU ' || cpu, count(*) from
		       (select cpu, ts + dur as ends, lead(ts) over (partition by cpu order by ts, id) as next
		        from sched_slice) where ends > next group by cpu" >"$tmp/complaints" 2>&1
	check "$1: Perfetto has no complaint: $(cat "$tmp/complaints")" test ! -s "$tmp/complaints"
}

of x86_64 debugcon
of aarch64 semihosting
of riscv64 semihosting

done_testing
