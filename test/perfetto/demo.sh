# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Exports real traces of the demo kernel for Perfetto: the exported history must be possible, and must contain
# what the kernel did.
. test/tap.sh
. test/qemu/transport_support.sh
. test/qemu/loss_support.sh
. test/perfetto/engine.sh

# packets PATTERN: succeeds if the exported trace has packets that match.
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

# flows EVENT FILE PATTERN: checks that the exported file has as many ends of arrows that match as the trace
# has such events.
flows() {
	build/bin/ktrace show --event "$1" "$trace" >"$tmp/events" 2>>"$tmp/err"
	flows_kind=$1 flows_file=$2 flows_form=$3
	equal "$arch: every $flows_kind has its arrow in $(basename "$flows_file")" "$(grep -c "$flows_kind" "$tmp/events")" \
		"$(grep -c -e "$flows_form" "$flows_file")"
	check "$arch: there are some" test -s "$tmp/events"
}

# of_programs ARCH: user programs whose trace is complete.
of_programs() {
	arch=$1
	timeout -k 5 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$trace" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append "debug=ktrace slots=262144 run=pipeline,resolver,signals" </dev/null >"$console" 2>&1
	build/bin/ktrace summary "$trace" >"$tmp/summary" 2>>"$tmp/err"
	check "$arch: programs: nothing is lost" nothing_lost "$tmp/summary" 2
	check "$arch: programs: exported" $ktrace export --format perfetto "$trace" -o "$tmp/perfetto"
	check "$arch: programs: exported as JSON" $ktrace export --format json "$trace" -o "$tmp/json"
	check "$arch: programs: reads back" sh -c "build/test/perfetto-text '$tmp/perfetto' >'$tmp/text'"
	check "$arch: calls are slices by thread, called as the kernel calls them" \
		packets 'type=1 track_uuid=[0-9]* category_iids=[0-9]* name_iid=[0-9]* debug_annotations'
	check "$arch: calls have names" packets 'event_names{iid=[0-9]* name="sigaction"}'
	check "$arch: calls say what their arguments are" packets 'name="types" string_value="size, fd fd, data data, size size"'
	check "$arch: programs are processes, with parents" \
		packets 'processes{pid=[1-9][0-9]* ppid=1 cmdline="/bin/resolver"}'
	check "$arch: what they fork is theirs" sh -c "parent=\$(sed -n \
		's/.*processes{pid=\([0-9]*\) ppid=1 cmdline=\"\/bin\/resolver.*/\1/p' '$tmp/text' | head -n 1)
		grep -q \"ppid=\$parent cmdline=.*/bin/resolver\" '$tmp/text'"
	check "$arch: threads are called after programs" packets 'comm="pipeline" is_main_thread=1'
	for end in 'net.tx "s" packet' 'net.rx "f" packet' 'signal.deliver "f" signal'; do
		set -- $end
		flows "$1" "$tmp/json" "\"ph\":$2.*\"name\":\"$3\""
	done
	check "$arch: processes have names in JSON" \
		grep -q '"name":"process_name","pid":1[0-9]*,"args":{"name":"/bin/signals (' "$tmp/json"
	# Perfetto draws the arrows of wakeups itself, from the scheduling events.
	equal "$arch: both exports have the same arrows" "$(grep '"ph":"f"' "$tmp/json" | grep -vc '"name":"wakeup"')" \
		"$(grep -c ' terminating_flow_ids=' "$tmp/text")"
	seen_by_perfetto "$arch: programs"
}

# seen_by_perfetto NAME: checks that Perfetto itself reports no error. It may report lost records if the trace
# has lost records:
# a CPU may be in the middle of a record when another CPU switches the machine off.
seen_by_perfetto() {
	if [ -z "$engine" ]; then
		skip "$1: Perfetto has no complaint" "$engine_absent"
		return
	fi
	"$ktrace" summary "$trace" >"$tmp/summary" 2>>"$tmp/err"
	allowed=$(grep -q '^loss  *none' "$tmp/summary" || echo ftrace_cpu_has_data_loss)
	node test/perfetto/query.mjs "$engine" "$tmp/perfetto" \
		"select name, value from stats where value > 0 and severity != 'info' and name != '$allowed'
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
for arch in x86_64 aarch64 riscv64; do
	of_programs $arch
done

done_testing
