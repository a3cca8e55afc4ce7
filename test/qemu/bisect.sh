# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace bisect` repeats a failed run up to several points in time, and continues it with other seeds from
# there on.
. test/tap.sh
. test/qemu/run_support.sh

# search OPTION…: runs ktrace bisect. Stores its output in $tmp/shown, its messages in $tmp/err, and its
# exit status in $status.
search() {
	status=0
	timeout -k 5 $kill_limit "$ktrace" bisect "$@" "$out" </dev/null >"$tmp/shown" 2>"$tmp/err" || status=$?
}

# A seed with which the machine hangs.
for seed in 1 2 3 4 5 6 7 8; do
	# shellcheck disable=SC2046
	run --seed $seed --deadline 1 -- $(demo riscv64 2) -append "run=wakeup-race watch=12"
	[ "$status" -ne 12 ] || break
done
equal "the machine hangs with seed $seed" 12 "$status"
search --runs 2 --jobs 2 --ram-dir "$tmp"
equal "status" 0 "$status"
check "the failure is named" grep -q '^wakeup-race: ' "$tmp/shown"
check "all continuations fail from some time on" grep -q '^fails in 2 of 2 runs' "$tmp/shown"
message_has "of 2 continuations fail the same way"
search --runs 2 -j 1 --json --quiet --force
equal "--json: status" 0 "$status"
check "--json: the object is valid" python3 test/schema.py bisect "$tmp/shown"
check "--json: one object" sh -c "python3 -c 'import json, sys; assert json.load(sys.stdin)[\"verdict\"] == \"wakeup-race\"' <'$tmp/shown'"

TMPDIR=$tmp/absent search --runs 2
equal "TMPDIR is absent: status" 1 "$status"
message_has "$tmp/absent: no directory can be created there: No such file"

# interrupted NAME PATTERN: starts a search that takes long, waits for a RAM file whose name matches, and interrupts
# the search.
interrupted() {
	"$ktrace" bisect --runs 1000 -j 1 --ram-dir "$tmp" "$out" </dev/null >"$tmp/shown" 2>"$tmp/err" &
	pid=$!
	await sh -c 'ls "$0" | grep "$1"' "$tmp" "$2"
	kill -INT $pid
	status=0
	wait $pid || status=$?
	equal "SIGINT $1: status" 130 "$status"
	equal "SIGINT $1: no result" "" "$(cat "$tmp/shown")"
	message_has "there is no result so far"
}
rm -f "$tmp"/*.ram
interrupted "while the run is repeated" '^seed-.*[.]ram$'
interrupted "in the first continuations" '^seed-\([2-9]\|[0-9][0-9]\).*[.]ram$'

sed 's/"qemu":"./"qemu":"0/' "$out" >"$tmp/old.ktrx"
kept=$out out=$tmp/old.ktrx
search --runs 2
out=$kept
equal "another version of QEMU: status" 1 "$status"
message_has "the run could not be repeated: this QEMU is version"

# shellcheck disable=SC2046
run --seed 7 -- $(demo riscv64 2) -append run=echo
search --runs 2
equal "a run that does not fail: status" 17 "$status"
message_has "the run does not fail"
done_testing
