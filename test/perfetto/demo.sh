# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Exports real traces of the demo kernel for Perfetto: the exported history must be possible, and must contain
# what the kernel did.
. test/tap.sh
. test/qemu/transport_support.sh
. test/qemu/loss_support.sh
. test/perfetto/engine.sh

# packets PATTERN: succeeds if the exported trace has packets that match PATTERN.
packets() {
	grep -q -e "$1" "$tmp/text"
}

# kernel_threads ARCH TRANSPORT: checks the export of a trace of kernel threads.
kernel_threads() {
	boot "$1" "$2" "run=sleepers,fault seconds=0"
	check "$1: the export succeeds" $ktrace export --format perfetto "$trace" -o "$tmp/perfetto"
	check "$1: the exported trace can be parsed" sh -c "build/test/perfetto-text '$tmp/perfetto' >'$tmp/text'"
	grep -e generic_kernel -e sched_waking "$tmp/text" | sort -s -t= -k2,2n |
		awk -f test/perfetto/legal.awk >"$tmp/history"
	check "$1: no thread runs on two CPUs, and none is woken while it runs: $(head -n 1 "$tmp/history")" \
		grep -q '^[1-9][0-9]* switches, [1-9][0-9]* wakes on 2 CPUs$' "$tmp/history"
	equal "$1: the check of the history prints only its totals" 1 "$(wc -l <"$tmp/history")"
	check "$1: idle threads are marked" packets 'comm="idle/1" is_main_thread=0 is_idle=1'
	check "$1: interrupts are spans on the tracks of CPUs" packets 'type=1 track_uuid=[0-9]* category_iids=[0-9]* name="timer"'
	check "$1: page faults are spans on the tracks of threads" packets 'type=1 .* name="page fault"'
	check "$1: changing numbers are counters" packets 'name="memory.free" counter{unit_name="pages"}'
	seen_by_perfetto "$1"
}

# flows EVENT FILE PATTERN: checks that FILE, the exported trace, has an arrow for each event. A line that
# matches PATTERN is the end of an arrow. The number of such lines must be the number of events with this
# name.
flows() {
	build/bin/ktrace show --event "$1" "$trace" >"$tmp/events" 2>>"$tmp/err"
	flows_kind=$1 flows_file=$2 flows_form=$3
	equal "$arch: every $flows_kind has its arrow in $(basename "$flows_file")" "$(grep -c "$flows_kind" "$tmp/events")" \
		"$(grep -c -e "$flows_form" "$flows_file")"
	check "$arch: the trace has $flows_kind events" test -s "$tmp/events"
}

# programs ARCH: checks the export of a complete trace of user programs.
programs() {
	arch=$1
	timeout -k 5 $kill_limit build/bin/ktrace run -q --timeout $limit --out "$trace" -- $(sh scripts/qemu.sh "$arch" 2) \
		-append "debug=ktrace slots=262144 run=pipeline,resolver,signals" </dev/null >"$console" 2>&1
	build/bin/ktrace summary "$trace" >"$tmp/summary" 2>>"$tmp/err"
	check "$arch: programs: no slots are lost" nothing_lost "$tmp/summary" 2
	check "$arch: programs: the export succeeds" $ktrace export --format perfetto "$trace" -o "$tmp/perfetto"
	check "$arch: programs: the export as JSON succeeds" $ktrace export --format json "$trace" -o "$tmp/json"
	check "$arch: programs: the exported trace can be parsed" sh -c "build/test/perfetto-text '$tmp/perfetto' >'$tmp/text'"
	check "$arch: system calls are spans on the tracks of threads, with interned names" \
		packets 'type=1 track_uuid=[0-9]* category_iids=[0-9]* name_iid=[0-9]* debug_annotations'
	check "$arch: system calls have the kernel's names" packets 'event_names{iid=[0-9]* name="sigaction"}'
	check "$arch: system calls have the types of their arguments" packets 'name="types" string_value="size, fd fd, data data, size size"'
	check "$arch: programs are processes with parents" \
		packets 'processes{pid=[1-9][0-9]* ppid=1 cmdline="/bin/resolver"}'
	check "$arch: a forked process has its program as parent" sh -c "parent=\$(sed -n \
		's/.*processes{pid=\([0-9]*\) ppid=1 cmdline=\"\/bin\/resolver.*/\1/p' '$tmp/text' | head -n 1)
		grep -q \"ppid=\$parent cmdline=.*/bin/resolver\" '$tmp/text'"
	check "$arch: main threads have the names of their programs" packets 'comm="pipeline" is_main_thread=1'
	for end in 'net.tx "s" packet' 'net.rx "f" packet' 'signal.deliver "f" signal'; do
		set -- $end
		flows "$1" "$tmp/json" "\"ph\":$2.*\"name\":\"$3\""
	done
	check "$arch: processes have names in JSON" \
		grep -q '"name":"process_name","pid":1[0-9]*,"args":{"name":"/bin/signals (' "$tmp/json"
	# The export for Perfetto has no arrows for wakeups: Perfetto itself draws arrows, from the scheduling
	# events.
	equal "$arch: both exports have the same arrows" "$(grep '"ph":"f"' "$tmp/json" | grep -vc '"name":"wakeup"')" \
		"$(grep -c ' terminating_flow_ids=' "$tmp/text")"
	seen_by_perfetto "$arch: programs"
}

# seen_by_perfetto NAME: checks that Perfetto itself reports no error. Perfetto may report lost records if
# the trace itself lacks records: a CPU may be in the middle of a record when another CPU switches the
# machine off.
seen_by_perfetto() {
	if [ -z "$engine" ]; then
		skip "$1: Perfetto reports no error" "$engine_absent"
		return
	fi
	"$ktrace" summary "$trace" >"$tmp/summary" 2>>"$tmp/err"
	allowed=$(grep -q '^loss  *none' "$tmp/summary" || echo ftrace_cpu_has_data_loss)
	node test/perfetto/query.mjs "$engine" "$tmp/perfetto" \
		"select name, value from stats where value > 0 and severity != 'info' and name != '$allowed'
		 union select 'wakeups without a waker', count(*) from thread_state
		       where waker_utid is not null and waker_id is null having count(*) > 0
		 union select 'overlap on CPU ' || cpu, count(*) from
		       (select cpu, ts + dur as ends, lead(ts) over (partition by cpu order by ts, id) as next
		        from sched_slice) where ends > next group by cpu" >"$tmp/errors" 2>&1
	check "$1: Perfetto reports no error: $(cat "$tmp/errors")" test ! -s "$tmp/errors"
}

kernel_threads x86_64 debugcon
kernel_threads aarch64 semihosting
kernel_threads riscv64 semihosting
for arch in x86_64 aarch64 riscv64; do
	programs $arch
done

done_testing
