# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The demo kernel's rare races: runs without a seed do not show them, `ktrace hunt` finds them, each failed
# run can be repeated, and the same work without the mistake does not fail.
#
#	sh test/soak/races.sh [table]		table: hunts only, and prints a Markdown table of the seeds needed
#
# Environment, to run a part: RACE, ARCH and NOISE (timers, hooks) are lists of names, PART a list of: plain, hunt,
# repeat, twin. N is the greatest number of runs in each of these (without it: 200 plain runs, 200 seeds, 20 repetitions,
# 500 seeds of the twin). JOBS is the number of QEMUs at a time.
. test/tap.sh
. test/qemu/run_support.sh
races=${RACE:-wakeup order free shootdown count}
noises=${NOISE:-timers hooks}
parts=${PART:-plain hunt repeat twin}
jobs=${JOBS:-$(nproc)}

# wants PART: succeeds if the user has selected this part of the test.
wants() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac }

# at_most NUMBER: prints the smaller of the number and N.
at_most() { if [ "${N:-$1}" -lt "$1" ]; then echo "$N"; else echo "$1"; fi; }

# hunt ARCH NAME SEEDS [OPTION…]: stores the directory in $folder, the status in $status.
hunt() {
	folder=$tmp/$1-$2 status=0 guest=$(demo "$1" 2) append="run=$2 seconds=1" seeds=$3
	shift 3
	rm -rf "$folder"
	# shellcheck disable=SC2086
	"$ktrace" hunt -q --timeout $limit --seeds "$seeds" --out "$folder" "$@" -- $guest -append "$append" </dev/null >"$tmp/summary" 2>"$tmp/err" ||
		status=$?
}

# found: prints the lowest seed that failed in the hunt.
found() { sed -n 's/^  first to end: seed \([0-9]*\), .*/\1/p' "$tmp/summary" | sort -n | head -n 1; }

# plain ARCH RACE: runs the guest without a seed, and checks that each run ends with status 0.
plain() {
	failed=0 count=$(at_most 200)
	for n in $(seq "$count"); do
		# shellcheck disable=SC2046
		run -q --stall 0 -- $(demo "$1" 2) -append "run=$2 seconds=1"
		[ "$status" -eq 0 ] || failed=$((failed + 1))
	done
	equal "$1 $2: of $count runs without a seed, these failed" 0 "$failed"
}

# repeat NAME: repeats the run whose trace the hunt has saved.
repeat() {
	trace=$(ls "$folder"/*.ktrx | head -n 1) equal=0 count=$(at_most 20)
	for n in $(seq "$count"); do
		"$ktrace" run -q --timeout $limit -o "$tmp/again.ktrx" --replay "$trace" </dev/null >"$tmp/console" 2>"$tmp/err"
		grep -q 'the same run as .*: all [0-9]* events that both traces have are equal' "$tmp/err" && equal=$((equal + 1))
	done
	equal "$1: of $count repetitions, these had the same events" "$count" "$equal"
}

if [ "${1-}" = table ]; then
	echo "| race | architecture | noise | seeds needed | failure |"
	echo "|---|---|---|---|---|"
fi
for race in $races; do
	for arch in ${ARCH:-x86_64 aarch64 riscv64}; do
		[ "${1-}" = table ] || ! wants plain || plain $arch rare-$race
		for noise in $noises; do
			name="$arch rare-$race, $noise"
			if [ "${1-}" = table ]; then
				# With one job, the first failure found is the failure with the
				# lowest seed.
				hunt $arch rare-$race "$(at_most 200)" --noise $noise --first --jobs 1
				failure=$(sed -n 's/^1 run: \([^:]*\).*/\1/p' "$tmp/summary")
				seed=$(found)
				echo "| \`rare-$race\` | $arch | $noise | ${seed:-none of $(at_most 200)} | ${failure:--} |"
				rm -rf "$folder"
				continue
			fi
			if wants hunt; then
				hunt $arch rare-$race "$(at_most 200)" --noise $noise --first --jobs "$jobs"
				# The time windows of these two races are not near a hook.
				case $noise-$race in
				hooks-shootdown | hooks-count) ;;
				*)
					equal "$name: status of the hunt: a run failed" 10 "$status"
					check "$name: seed $(found) fails, and seed 0 does not" test "$(found)" -gt 0
					;;
				esac
				! wants repeat || [ "$status" -ne 10 ] || repeat "$name"
			fi
			if wants twin; then
				hunt $arch no-rare-$race "$(at_most 500)" --noise $noise --jobs "$jobs"
				equal "$arch no-rare-$race, $noise: status of the hunt: no run failed" 0 "$status"
			fi
			rm -rf "$folder"
		done
	done
done
[ "${1-}" = table ] || done_testing
