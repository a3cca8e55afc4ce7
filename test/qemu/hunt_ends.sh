# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace hunt` keeps what it has found, and prints a summary, if a QEMU is killed, the disk is full, or Ctrl-C
# ends the hunt.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/hunt_support.sh

race="$(demo x86_64 2) -append run=wakeup-race"
fine="$(demo x86_64 2) -append run=echo"
deadline=0.2 # seconds of virtual time. Most seeds fail earlier.

# start DIRECTORY [OPTION…] -- COMMAND…: starts a hunt in the background. Stores its pid in $pid.
start() {
	folder=$tmp/$1
	shift
	"$ktrace" hunt --timeout $limit --out "$folder" "$@" </dev/null >"$tmp/summary" 2>"$tmp/err" &
	pid=$!
}

# has_failure SEED: succeeds if the results contain this seed and a failure. A trace in the directory does not
# show a failure, because the trace of each run is there while the run is judged.
has_failure() {
	grep -q "^{\"seed\":$1," "$folder/results.jsonl" 2>/dev/null && grep -q '"verdict":"wakeup-race"' "$folder/results.jsonl"
}

# trace_is_kept NAME: checks that the trace whose path is in the summary explains the failure.
trace_is_kept() {
	trace=$(sed -n 's/^  to see why: ktrace why //p' "$tmp/summary" | head -n 1)
	check "$1: the trace explains the failure" sh -c "'$ktrace' why '$trace' 2>/dev/null | grep -q '^wakeup-race'"
}

# ---- A QEMU that is killed

# has_booted: succeeds if a run has a RAM file, and its guest has booted.
has_booted() {
	ram=$(ls "$folder"/*.ram 2>/dev/null) && grep -q 'demo: 2 CPUs,' "${ram%.ktrx.*}.log"
}

# killed: after the run of seed 0 has ended, kills the QEMU of the current run if its guest has booted.
# Succeeds if the results contain a run whose QEMU was killed.
killed() {
	has_failure 0 || return 1
	guest=
	! has_booted || guest=$(qemu_of $pid | head -n 1)
	[ -z "$guest" ] || kill -9 "$guest" 2>/dev/null
	grep -q 'QEMU.* signal 9' "$folder/results.jsonl"
}

start killed --seeds 1000 -j 1 --deadline 1 -- $race
await killed
lines=$(wc -l <"$folder/results.jsonl")
more() { [ "$(wc -l <"$folder/results.jsonl")" -gt "$lines" ]; }
await more
kill -INT $pid
status=0
wait $pid || status=$?
equal "a killed QEMU: status" 10 "$status"
check "a killed QEMU: the run is not judged" grep -qE '^[0-9]+ of the runs could not be judged' "$tmp/summary"
summary_has ": wakeup-race"
trace_is_kept "a killed QEMU"

# ---- Ctrl-C after many seeds

# The file of results gets 10000 seeds: copies of the result of one run.
hunt many --seeds 1 -- $fine
equal "one run: status" 0 "$status"
line=$(grep '^{"seed":1,' "$folder/results.jsonl")
awk -v line="${line#*,}" 'BEGIN { for (seed = 2; seed <= 10000; seed++) print "{\"seed\":" seed "," line }' >>"$folder/results.jsonl"
start many --seeds 20000 --resume -- $fine
await sh -c "grep -q '^{\"seed\":10001,' '$folder/results.jsonl'"
kill -INT $pid
status=0
wait $pid || status=$?
equal "Ctrl-C after 10000 seeds: status" 130 "$status"
check "Ctrl-C after 10000 seeds: the summary has all runs" grep -qE '^100[0-9][0-9] runs, .*: none failed' "$tmp/summary"
check "Ctrl-C after 10000 seeds: all results are kept" test "$(wc -l <"$folder/results.jsonl")" -gt 10000
equal "Ctrl-C after 10000 seeds: no other file is left" results.jsonl "$(ls "$folder" | xargs)"

start found --seeds 10000 --deadline $deadline -- $race
await has_failure 1
kill -INT $pid
status=0
wait $pid || status=$?
equal "Ctrl-C after a failure: status" 10 "$status"
summary_has ": wakeup-race"
trace_is_kept "Ctrl-C after a failure"

# ---- A disk that becomes full during a hunt

# small DIRECTORY SIZE COMMAND…: runs the command with a file system of this size at the directory, in a namespace of
# its own.
small() {
	unshare -rm sh -c 'mount -t tmpfs -o size="$1" none "$0" && shift && exec "$@"' "$@"
}

mkdir "$tmp/disk" "$tmp/ram"
if ! small "$tmp/disk" 64k true 2>/dev/null; then
	skip "a full disk" "no file system can be mounted"
	done_testing
	exit
fi

# Fills the disk after the first failure. Then the trace of a later run cannot be written, and later its
# result cannot be written either. A long name of the guest makes the file of results almost as large as a
# page of memory: there is space for the results of about four runs. (The hunt above had the same first line,
# without the name.)
named=$(($(getconf PAGESIZE) - 1000 - $(head -n 1 "$folder/results.jsonl" | wc -c)))
long=$(printf "%${named}s" '' | tr ' ' x)
cat >"$tmp/full.sh" <<EOF
"$ktrace" hunt --timeout $limit --ram-dir "$tmp/ram" --seeds 1000 -j 1 --deadline $deadline --out "$tmp/disk/hunt" -- $race -name $long \\
	</dev/null >"$tmp/summary" 2>"$tmp/err" &
until grep '"verdict":"wakeup-race"' "$tmp/disk/hunt/results.jsonl" || [ ! -e /proc/\$! ]; do sleep 0.1; done
cat /dev/zero >"$tmp/disk/filler"
status=0
wait \$! || status=\$?
echo \$status >"$tmp/status"
cp "$tmp/disk/hunt/"*.ktrx "$tmp/kept.ktrx"
EOF
timeout -k 5 $((kill_limit * 4)) unshare -rm sh -c 'mount -t tmpfs -o size=16m none "$0" && exec sh "$1"' "$tmp/disk" "$tmp/full.sh" >"$tmp/log" 2>&1
equal "a full disk: status" 10 "$(cat "$tmp/status")"
message_has "the hunt ended early: $tmp/disk/hunt/results.jsonl: No space left on device"
check "a full disk: runs without a result are counted" grep -qE '^[0-9]+ of the runs could not be judged' "$tmp/summary"
summary_has ": wakeup-race"
check "a full disk: the trace of the failure is kept" sh -c "'$ktrace' why '$tmp/kept.ktrx' 2>/dev/null | grep -q '^wakeup-race'"
done_testing
