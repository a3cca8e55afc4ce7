# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Runs each bench once on little input, without judging its figures: its exit status is 0, and each line on
# stdout is a JSON object that names its bench. build/bench/runs lists the benches, one command per line.
. test/tap.sh

BENCH_SHORT=1
export BENCH_SHORT
check "build/bench/runs lists benches" test -s build/bench/runs
while read -r run; do
	status=0
	sh -c "$run" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	equal "$run ends well" 0 "$status"
	[ "$status" -eq 0 ] || sed 's/^/#   /' "$tmp/err"
	check "$run prints figures" grep -qE '^\{"bench": ?"[a-z_-]+", ?.*\}$' "$tmp/out"
	check "$run prints nothing else" sh -c '! grep -qvE "^\{\"bench\": ?\"[a-z_-]+\", ?.*\}$" "$1"' sh "$tmp/out"
	check "$run prints numbers" sh -c '! grep -qE ":? (-?nan|-?inf)\b" "$1"' sh "$tmp/out"
done <build/bench/runs
done_testing
