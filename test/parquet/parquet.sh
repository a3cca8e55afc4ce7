# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# hyparquet reads the tables of traces exported as Parquet: the same events, system calls and numbers of lost slots
# as `ktrace show` and `ktrace sql` print. Hostile names stay text.
. test/tap.sh
ktrace=build/bin/ktrace
reader=build/test/parquet/node_modules/hyparquet

if [ ! -d "$reader" ]; then
	skip "hyparquet reads exported traces" "$(cat build/test/parquet/reason 2>/dev/null || echo "make parquet-reader was not run")"
	done_testing
fi

# exported NAME TRACE: exports the trace into $tmp/NAME, and reads the exported tables.
exported() {
	"$ktrace" export --format parquet "$2" -o "$tmp/$1" >"$tmp/out" 2>&1
	equal "$1 is exported" 0 $?
	for kind in event sched syscall; do
		node test/parquet/read.mjs "$reader" "$tmp/$1"/run=*/kind=$kind/part-*.parquet >"$tmp/$1.$kind" 2>&1
		equal "$1: hyparquet reads kind=$kind" 0 $?
	done
}

check "cmd-traces makes the traces" build/test/cmd-traces "$tmp"
check "danger-traces makes the traces" sh -c 'build/test/danger-traces "$1" >"$1/log"' - "$tmp"
# linux.ktrx is a process trace, so its events have no CPU.
cp test/corpus/5b0a6ef/linux.ktrace.zst "$tmp/linux.ktrx"
# In the traces of these kernels, rings overwrote slots of times in which calls and threads began.
for name in virtio exit; do
	zstd -qdc test/corpus/5b0a6ef/$name.ktrx.zst >"$tmp/$name.ktrx"
done
for name in v2 typed pairs linux virtio exit; do
	exported $name "$tmp/$name.ktrx"
	"$ktrace" show --json "$tmp/$name.ktrx" >"$tmp/shown" 2>"$tmp/err"
	"$ktrace" sql --json "$tmp/$name.ktrx" 'SELECT * FROM syscalls' >"$tmp/calls" 2>"$tmp/err"
	"$ktrace" sql --json "$tmp/$name.ktrx" "SELECT * FROM thread_states WHERE state = 'running'" >"$tmp/states" 2>"$tmp/err"
	python3 test/parquet/compare.py "$tmp/shown" "$tmp/calls" "$tmp/states" "$tmp/$name.event" "$tmp/$name.sched" \
		"$tmp/$name.syscall" \
		>"$tmp/differences" 2>&1
	equal "$name: the tables are what show and sql print" '' "$(cat "$tmp/differences")"
done
exported hostile "$tmp/3.ktrx"
equal "hostile names: all events" "$("$ktrace" show --json "$tmp/3.ktrx" 2>"$tmp/err" | grep -c '"event"')" \
	"$(wc -l <"$tmp/hostile.event")"

# The boot ring refused records, so returns of system calls may be missing. Both the export and ktrace sql
# must leave out the durations of these calls.
exported refused "$tmp/hostile.ktrx"
equal "records that the boot ring refused: the durations are those of sql" \
	"$("$ktrace" sql --json "$tmp/hostile.ktrx" 'SELECT duration FROM syscalls' 2>"$tmp/err" | grep -o '"duration":[^,}]*' | sort)" \
	"$(grep -o '"duration":[^,}]*' "$tmp/refused.syscall" | sort)"

# A directory may contain the exports of several runs, which readers see as one table. The export refuses a
# run that is already in the directory.
"$ktrace" export --format parquet "$tmp/v1.bin" -o "$tmp/v2" 2>"$tmp/err"
equal "a second run is added to the directory" 0 $?
equal "the directory has two runs" 2 "$(ls "$tmp/v2" | wc -l)"
"$ktrace" export --format parquet "$tmp/v2.ktrx" -o "$tmp/v2" 2>"$tmp/err"
equal "a run that is in the directory is refused" 1 $?
check "the message has the reason" grep -q 'File exists' "$tmp/err"

# Tests a table with more rows than fit into one row group.
build/test/memory-trace "$tmp/long.ktrx" 16 1000 4
exported long "$tmp/long.ktrx"
equal "a table of several row groups: all events" \
	"$("$ktrace" sql "$tmp/long.ktrx" --json 'SELECT count(*) AS n FROM events' 2>"$tmp/err" | sed 's/.*"n"://; s/}//')" \
	"$(wc -l <"$tmp/long.event")"
done_testing
