# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Perfetto's own trace processor reads an exported trace as intended.
. test/tap.sh
. test/perfetto/engine.sh

if [ -z "$engine" ]; then
	skip "Perfetto reads exported traces" "$engine_absent"
	done_testing
fi

# rows NAME SQL EXPECTED-FILE: runs the query on $trace, and compares its result with the file.
rows() {
	node test/perfetto/query.mjs "$engine" "$trace" "$2" >"$tmp/rows" 2>&1
	same "$1" "$3" "$tmp/rows"
}

trace=$tmp/v1
build/bin/ktrace export --format perfetto --calls linux test/golden/perfetto/v1.ktrx -o "$trace" 2>/dev/null

: >"$tmp/expected"
rows "Perfetto reports no error in the trace" \
	"select name, value from stats where value > 0 and severity != 'info'" "$tmp/expected"

cat >"$tmp/expected" <<'.'
1000|1100|0|7|S
1200|2800|1|11|R
2100|1300|0|8|R
3400|1600|0|9|R
4000|800|1|8|R
4800|-1|1|11|
5000|1100|0|7|S
6100|2900|0|0|R
9000|-1|0|7|
.
rows "Perfetto knows each CPU's running thread" \
	"select ts, dur, cpu, tid, end_state from sched_slice join thread using (utid) order by ts" "$tmp/expected"

cat >"$tmp/expected" <<'.'
1000|1100|Running|
2100|500|S|
2600|2400|R|11
5000|1100|Running|
6100|1900|S|
8000|1000|R|11
9000|-1|Running|
.
rows "Perfetto knows a thread's states and its wakers" \
	"select ts, dur, state, w.tid from thread_state s join thread t using (utid)
	 left join thread w on w.utid = s.waker_utid where t.tid = 7 order by ts" "$tmp/expected"

cat >"$tmp/expected" <<'.'
7|write|1000|4200|0
7|PAGE_FAULT|1500|0|1
7|WAITQ_SLEEP|2000|0|1
8|read|3000|1500|0
7|WAITQ_SLEEP|6000|0|0
7|NET_SEND|9100|0|0
7|UNKNOWN(500)|9200|0|0
7|exit|9300|2|0
.
rows "Perfetto nests the events of a system call in the call, also across CPUs" \
	"select tid, s.name, s.ts, s.dur, s.depth from slice s join thread_track k on s.track_id = k.id
	 join thread using (utid) where tid < 10 order by s.ts" "$tmp/expected"

# From 320000 on, slots of CPU 1 are missing. Events there may have woken or moved any thread, so the states of threads
# that do not run are unknown from then on. Times are in microseconds; the export for Perfetto shows each thread for
# 1 ns on a CPU to end its state.
check "cmd-traces makes the traces" build/test/cmd-traces "$tmp"
cat >"$tmp/expected" <<'.'
6|106|214|R
6|320|to the end|
13|113|107|R
13|220|30|Running
13|250|70|R
13|320|to the end|
.
for format in perfetto fxt; do
	trace=$tmp/v2.$format
	build/bin/ktrace export --format $format "$tmp/v2.ktrx" -o "$trace" 2>/dev/null
	rows "$format: the state of a thread ends where slots of another CPU are missing" \
		"select tid, s.ts / 1000, iif(dur < 0, 'to the end', dur / 1000), replace(state, 'W', 'R')
		 from thread_state s join thread using (utid) where tid in (6, 13) and dur != 1 order by tid, s.ts" "$tmp/expected"
done

done_testing
