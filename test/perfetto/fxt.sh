# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Perfetto's own trace processor finds the same contents in a trace exported as FXT and in the trace exported
# for Perfetto. It compares spans with times, depth and values; the times of threads on CPUs; names of threads
# and processes; and counters.
. test/tap.sh
. test/perfetto/engine.sh

# One query that returns a row for each compared object, so that each trace is read only once. FXT has
# neither a state for an idle thread nor units. The query leaves out thread 0, because readers treat it as
# the idle thread, and times of 1 ns, with which the export for Perfetto ends states. It also leaves out ids
# that are too large for threads, because both formats use them for CPUs.
query="
	select 'error', name, value, '', '', '' from stats
		where value > 0 and severity != 'info' and name != 'ftrace_cpu_has_data_loss'
	union all select 'span', name, ts, dur, category, depth from slice
	union all select 'runs', tid, ts, dur, cpu, replace(end_state, 'D', 'S') from sched_slice join thread using (utid)
		where tid > 0 and coalesce(thread.name, '') not like 'idle%' and dur != 1
	union all select 'thread', tid, t.name, pid, p.name, '' from thread t left join process p using (upid)
		where tid > 0 and tid < 4194304
	union all select 'counter', replace(name, ':', '.'), ts, value, '', '' from counter c
		join counter_track t on c.track_id = t.id
	union all select 'value', name, ts, replace(key, 'debug.', ''),
		replace(display_value, '18446744073709551615', '-1'), '' from slice
		join args using (arg_set_id) where key not like 'legacy_event.%'
	order by 1, 2, 3, 4, 5, 6"

if [ -z "$engine" ]; then
	skip "Perfetto reads Fuchsia traces" "$engine_absent"
	done_testing
fi

# exported NAME TRACE [OPTION]...: exports a trace in both formats.
exported() {
	name=$1 trace=$2
	shift 2
	for format in perfetto fxt; do
		build/bin/ktrace export --format $format "$@" "$trace" -o "$tmp/$name.$format" 2>"$tmp/err"
		equal "$name is exported as $format" 0 $?
	done
}

check "cmd-traces makes the traces" build/test/cmd-traces "$tmp"
exported v1 test/golden/perfetto/v1.ktrx --calls linux
for name in v2 hostile typed pairs written-over; do
	exported $name "$tmp/$name.ktrx"
done
node test/perfetto/query.mjs "$engine" "$tmp/v1.perfetto" "$query" "$tmp"/[!v]*.perfetto "$tmp/v2.perfetto" "$tmp"/*.fxt \
	>"$tmp/answers" 2>&1
awk '/^== / { file = substr($0, 4) ".rows"; next } { print >file }' "$tmp/answers"
for name in v1 v2 hostile typed pairs written-over; do
	check "$name: Perfetto finds spans" grep -q '^span|' "$tmp/$name.perfetto.rows"
	same "$name: Perfetto finds the same in both formats" "$tmp/$name.perfetto.rows" "$tmp/$name.fxt.rows"
done
od -An -v -tx8 -w8 "$tmp/v2.fxt" >"$tmp/words"
check "the provider reports lost records" grep -q '^ 0000000000130010$' "$tmp/words"
done_testing
