# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The commands that read traces need no more memory than ktrace(1), MEMORY states. It depends on the number of
# CPUs, threads and locks; for diff, sql and sqlite also on the length of the trace, but for no other command.
. test/tap.sh
used=build/test/memory-used

# The following numbers are in ktrace(1), MEMORY. base: KB for every trace, including libraries.
# per_cpu COMMAND: prints the additional KB for each CPU. per_thread COMMAND: prints the number of bytes for
# each thread, and the maximum number of threads for which the command stores data. per_lock COMMAND: the same
# for locks.
base=9216
! grep -q -e '-ldw' build/gen/libraries || base=11264
per_cpu() {
	case $1 in
	why | html*) echo 9 ;;
	*) echo 5 ;;
	esac
}

per_thread() {
	case $1 in
	show\ --svg* | doctor) echo 1536 65536 ;;
	show* | life* | ktrdump* | export*stream* | export*ctf*) echo 0 0 ;;
	summary) echo 160 1000000000 ;;
	stats | check | diff* | sql | export*perfetto* | export*fxt* | export*parquet* | export*sqlite*) echo 1024 65536 ;;
	export*json* | export*folded* | export*speedscope*) echo 2048 65536 ;;
	why) echo 3200 16384 ;;
	html*) echo 5120 65536 ;;
	esac
}

# Prints the KB that a command needs in addition to those of all commands.
in_addition() {
	case $1 in
	html* | export*parquet*) echo 49152 ;;
	*) echo 0 ;;
	esac
}

per_lock() {
	case $1 in
	why | html*) echo 2560 16384 ;;
	doctor) echo 512 65536 ;;
	*) echo 0 0 ;;
	esac
}

# per_event COMMAND: prints the number of bytes for each event of the traces, and the number of traces.
per_event() {
	case $1 in
	diff*) echo 256 2 ;;
	sql | export*sqlite*) echo 256 1 ;;
	*) echo 0 0 ;;
	esac
}

# kilobytes NUMBER BYTES MOST: prints the KB for NUMBER threads or locks, of BYTES bytes each. At most MOST
# of them need memory.
kilobytes() {
	[ "$1" -lt "$3" ] && kept=$1 || kept=$3
	echo $((kept * $2 / 1024))
}

# fits COMMAND THREADS TURNS CPUS [LOCKS]: checks the memory that the command needs for $tmp/trace.ktrx,
# which was generated with these numbers of threads, turns, CPUs and locks.
fits() {
	command=$1 threads=$2 cpus=$4 locks=${5:-0}
	# shellcheck disable=SC2046
	most=$((base + $(in_addition "$command") + $(per_cpu "$command") * cpus +
		$(kilobytes "$threads" $(per_thread "$command")) +
		$(kilobytes "$locks" $(per_lock "$command"))))
	# shellcheck disable=SC2046
	set -- $(per_event "$command")
	most=$((most + events * $1 * $2 / 1024))
	query=
	[ "$command" != sql ] || query='SELECT count(*) FROM slices, (SELECT count(*) FROM thread_states)'
	# shellcheck disable=SC2086
	set -- $($used build/bin/ktrace $command "$tmp/trace.ktrx" ${query:+"$query"})
	case ${2-} in 0 | 1 | 4 | 10 | 11) ended=yes ;; *) ended="status ${2-none}" ;; esac
	equal "$command: the command succeeds" yes "$ended"
	check "$command: $1 KB for $threads threads, $cpus CPUs and $locks locks, at most $most" test "$1" -le "$most"
}

for size in "16 2000 4" "16 9000 4" "20000 1 4" "100000 1 4" "16 1000 1000" "16 500 4 8000" "16 6000 4 96000"; do
	# shellcheck disable=SC2086
	build/test/memory-trace "$tmp/trace.ktrx" $size || exit 1
	events=$(build/bin/ktrace summary "$tmp/trace.ktrx" | awk '$1 == "events" { print $2 }')
	for command in show "show --json" "show --svg -" summary stats check why doctor "export --format json -o /dev/null" \
		"export --format perfetto -o $tmp/out" "export --format stream -o $tmp/out" "export --format fxt -o $tmp/out" \
		"export --format folded -o $tmp/out" "export --format speedscope -o $tmp/out" \
		"export --format ctf -o $tmp/folder" "export --format parquet -o $tmp/folder" "export --format sqlite -o $tmp/database" \
		"html -o $tmp/out" "diff $tmp/trace.ktrx" sql "life thread 5" "ktrdump -M"; do
		rm -rf "$tmp/folder" "$tmp/database"
		# shellcheck disable=SC2086
		fits "$command" $size
	done
done
done_testing
