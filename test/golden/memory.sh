# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The commands that read traces need no more memory than ktrace(1), MEMORY states. It depends on the number of
# CPUs and threads, not on the length of the trace.
. test/tap.sh
used=build/test/memory-used

# The following numbers are in ktrace(1), MEMORY. base: KB for any trace, including libraries. per_cpu: KB for
# each CPU. per_thread COMMAND: prints the number of bytes for each thread, and the maximum number of threads
# about which the command stores data.
base=8192
! grep -q '^STATIC=0$' build/gen/libraries.asked || base=10240
per_cpu=5
per_thread() {
	case $1 in
	show\ --svg* | doctor) echo 1536 65536 ;;
	show* | export*stream*) echo 0 0 ;;
	summary) echo 160 1000000000 ;;
	stats | check | export*perfetto*) echo 1024 65536 ;;
	export*json*) echo 2048 65536 ;;
	why) echo 3072 16384 ;;
	esac
}

# fits THREADS TURNS CPUS COMMAND: checks the memory that the command needs for $tmp/trace.ktrx, which was
# made with these numbers.
fits() {
	threads=$1 cpus=$3 command=$4
	set -- $(per_thread "$command")
	[ "$threads" -lt "$2" ] && kept=$threads || kept=$2
	most=$((base + per_cpu * cpus + kept * $1 / 1024))
	# shellcheck disable=SC2086
	set -- $($used build/bin/ktrace $command "$tmp/trace.ktrx")
	case ${2-} in 0 | 1 | 10 | 11) ended=yes ;; *) ended="status ${2-none}" ;; esac
	equal "$command: the command succeeds" yes "$ended"
	check "$command: $1 KB for $threads threads and $cpus CPUs, at most $most" test "$1" -le "$most"
}

for size in "16 2000 4" "16 60000 4" "20000 1 4" "100000 1 4" "16 4000 1000"; do
	# shellcheck disable=SC2086
	build/test/memory-trace "$tmp/trace.ktrx" $size || exit 1
	for command in show "show --json" "show --svg -" summary stats check why doctor "export --format json -o /dev/null" \
		"export --format perfetto -o $tmp/out" "export --format stream -o $tmp/out"; do
		# shellcheck disable=SC2086
		fits $size "$command"
	done
done
done_testing
