#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs tests that print TAP. The last line is "N passed, N failed, N skipped". Runs one test more at a time
# than there are CPUs, because many tests wait for guests. TEST_JOBS: number of jobs to use instead.
# TMPDIR: directory for files of tests (default: in memory if there is plenty, otherwise /tmp).
# TEST_TIMEOUT: seconds for each test (default: 1800). Only a test that hangs takes so long: with 14 busy
# processes on two CPUs, the longest test took 580 s. A test that dies, times out, or prints fewer results
# than planned counts as a failure. Prints the reasons for skips and the output of failed tests. build/check/
# has the output of all tests. NAME.times there has the seconds of CPU time of the test and its child
# processes.
set -u
unset ACCEL # guests are the same on every machine; a test that needs KVM selects it
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS # a make that a test starts must not use the job server of the make that runs the tests
log=build/check
limit=${TEST_TIMEOUT:-1800}
mkdir -p "$log"

if [ "${1-}" = --one ]; then
	test=$2
	name=$(printf '%s' "$test" | tr '/' '_')
	case $test in
	*.sh) set -- sh "$test" ;;
	*) set -- "$test" ;;
	esac
	start=$(date +%s)
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$limit" "$@" >"$log/$name.tap" 2>"$log/$name.err" </dev/null
	status=$?
	times >"$log/$name.times" # a line for this shell, and a line for its child processes
	seconds=$(awk 'NR == 2 { split($1, user, /[ms]/); split($2, kernel, /[ms]/)
		printf "%.2f", 60 * (user[1] + kernel[1]) + user[2] + kernel[2] }' "$log/$name.times")
	echo "$seconds" >"$log/$name.times"
	echo "$status" >"$log/$name.status"
	bad=$(grep -c '^not ok' "$log/$name.tap")
	good=$(grep -c '^ok' "$log/$name.tap")
	printf '%-52s %3d ok %3d not ok %4ds%s\n' "$test" "$good" "$bad" "$(($(date +%s) - start))" \
		"$([ "$status" -eq 0 ] || echo "  exit status $status")"
	exit 0
fi

# Two runs of a test at the same time would write the same files.
twice=$(for test; do printf '%s\n' "$test"; done | sort | uniq -d)
if [ -n "$twice" ]; then
	echo "run.sh: a makefile lists these tests more than once:" $twice >&2
	exit 2
fi

# Files of tests are in memory if 8 GiB of memory are free and programs there can be executed. On a disk, the file
# system takes a sixth of the CPU time of a guest whose memory is a file.
memory_is_plenty() {
	for free in "$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')" \
		"$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)"; do
		[ "${free:-0}" -ge $((8 << 20)) ] || return
	done
	probe=$(mktemp /dev/shm/ktrace-probe.XXXXXX) || return
	printf '#!/bin/sh\n' >"$probe"
	chmod +x "$probe"
	"$probe" 2>/dev/null
	set -- $?
	rm -f "$probe"
	return "$1"
}
if [ -z "${TMPDIR-}" ] && memory_is_plenty; then
	TMPDIR=$(mktemp -d /dev/shm/kt.XXXXXX) || exit
	trap 'rm -rf "$TMPDIR"' EXIT
	trap 'exit 130' INT TERM
	export TMPDIR
fi

# Removes the results of an earlier run.
for test; do
	name=$(printf '%s' "$test" | tr '/' '_')
	rm -f "$log/$name.status" "$log/$name.times" "$log/$name.tap" "$log/$name.err"
done

for test; do printf '%s\n' "$test"; done | xargs -n 1 -P "${TEST_JOBS:-$(($(nproc) + 1))}" sh "$0" --one

passed=0 failed=0 skipped=0
for test; do
	name=$(printf '%s' "$test" | tr '/' '_')
	tap=$log/$name.tap
	status=$(cat "$log/$name.status" 2>/dev/null || echo missing)
	s=$(grep -c '^ok.*# SKIP' "$tap")
	p=$(($(grep -c '^ok' "$tap") - s))
	f=$(grep -c '^not ok' "$tap")
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$tap" | awk '{ n += $1 } END { print n + 0 }')
	if [ "$f" -eq 0 ] && { [ "$status" != 0 ] || [ "$plan" -ne $((p + s)) ] || [ "$plan" -eq 0 ]; }; then
		f=1
		printf '\n%s: exit status %s, %d of %d results (124: timed out after %d s)\n' \
			"$test" "$status" $((p + s)) "$plan" "$limit"
	fi
	if [ "$f" -gt 0 ]; then
		printf '\n--- %s\n' "$test"
		grep -v '^ok' "$tap" | tail -n 60
		tail -n 40 "$log/$name.err"
	fi
	sed -n 's/^ok[^-]*- \(.*\) # SKIP \(.*\)/skipped: \1: \2/p' "$tap"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
