# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace hunt` finds a race, keeps one trace of it with its console output, and removes the files of other runs.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/hunt_support.sh

# ---- A hunt that finds a race

race="$(demo x86_64 2) -append run=wakeup-race"
hunt race --seeds 6 --deadline 3 -- $race
equal "a race: status" 10 "$status"
message_has ": wakeup-race"
summary_has "7 runs, "
summary_has "to see why: ktrace why $folder/seed-"
trace=$(sed -n 's/^  to repeat it: ktrace run --replay //p' "$tmp/summary" | head -n 1)
check "a race: there is a trace" test -s "$trace"
check "a race: the console is beside it" test -s "${trace%.ktrx}.log"
check "a race: each kind has one trace" test "$(ls "$folder"/*.ktrx | wc -l)" -eq "$(grep -c 'to see why' "$tmp/summary")"
check "a race: why finds it in the trace" sh -c "'$ktrace' why '$trace' 2>/dev/null | grep -q '^wakeup-race'"
equal "a race: each seed has a result" "0 1 2 3 4 5 6" "$(seeds race)"
run --replay "$trace"
equal "a race: status of the replay" 12 "$status"
message_has "the same run as $trace"

# ---- A hunt without a failure

mkdir "$tmp/ram"
fine="$(demo x86_64 2) -append run=echo"
hunt fine --seeds 2 -j 1 --noise 50us --ram-dir "$tmp/ram" --json --quiet -- $fine
equal "no failure: status" 0 "$status"
equal "no failure: the only file is the list of results" results.jsonl "$(ls "$folder" "$tmp/ram" | grep -v : | xargs)"
equal "no failure, --quiet: no message" "" "$(cat "$tmp/err")"
check "no failure: the summary is a valid JSON object" python3 test/schema.py hunt "$tmp/summary"
check "no failure: the object has the numbers" grep -qE '"runs": 3, "failures": 0, "not_judged": 0, .*"kinds": \[\]' "$tmp/summary"
hunt fine --seeds 2-3 --noise 50us -- $fine
equal "a directory with results, without --resume: status" 2 "$status"
message_has "has results of an earlier hunt: continue it with --resume"
equal "a directory with results, without --resume: they are kept" "0 1 2" "$(seeds fine)"
hunt fine --seeds 2-3 --jobs 2 --noise 50us --resume -- $fine
equal "--resume: status" 0 "$status"
equal "--resume runs only new seeds" "0 1 2 3" "$(seeds fine)"
summary_has "none failed"
check "--resume: the summary has results of both hunts" grep -q '^[34] runs, ' "$tmp/summary"

sed -i '/^{"seed":2,/s/"status":[0-9]*/"status":14/' "$folder/results.jsonl"
hunt fine --seeds 2-3 --jobs 2 --noise 50us --resume -- $fine
equal "--resume repeats a run that was not judged" "0 1 2 2 3" "$(seeds fine)"
check "--resume: all runs are judged" sh -c '! grep -q "not be judged" "$1"' sh "$tmp/summary"

# ---- A kernel that is rebuilt, if a script starts QEMU

cp build/demo/x86_64/kernel.elf "$tmp/kernel.elf"
# shellcheck disable=SC2046
echo exec $(KERNEL="$tmp/kernel.elf" demo x86_64 2) -append run=echo >"$tmp/start.sh"
hunt rebuilt --seeds 2 -- sh "$tmp/start.sh"
equal "a script: status" 0 "$status"
hunt rebuilt --seeds 3 --resume -- sh "$tmp/start.sh"
equal "a script, the same kernel: status" 0 "$status"
equal "a script, the same kernel: one more run" "0 1 2 3" "$(seeds rebuilt)"
echo >>"$tmp/kernel.elf"
hunt rebuilt --seeds 9 --resume -- sh "$tmp/start.sh"
equal "a script, another kernel: status" 1 "$status"
message_has "the results are of other files, such as the kernel, or of another version of QEMU"
equal "a script, another kernel: no summary" "" "$(cat "$tmp/summary")"
equal "a script, another kernel: no result is added" "0 1 2 3" "$(seeds rebuilt)"
equal "a script, another kernel: no other file is left" results.jsonl "$(ls "$folder" | xargs)"

# A kernel that is rebuilt during a hunt.
cat >"$tmp/rebuild.sh" <<EOF
echo >>"$tmp/kernel.elf"
. "$tmp/start.sh"
EOF
hunt changing --seeds 1 -- sh "$tmp/rebuild.sh"
equal "a rebuild during a hunt: status" 0 "$status"
message_has "WARNING: seed 1 ran with other files, such as the kernel, or with another version of QEMU, than earlier runs"
hunt changing --seeds 2 --resume -- sh "$tmp/rebuild.sh"
equal "a rebuild in each run, --resume: status" 0 "$status"
equal "a rebuild in each run, --resume: one more run" "0 1 2" "$(seeds changing)"

# ---- A failure in each run: seed 0 is the first

hunt unseen --page "$tmp/unseen.html" --expect "a text that is not written" --first --jobs 1 -- $fine
equal "--expect: status" 10 "$status"
summary_has "the expected text was not seen"
check "--page: the first failure is there as a page" grep -q 'class="ktrace-block"' "$tmp/unseen.html"
equal "--first ends the hunt" 0 "$(seeds unseen)"

# ---- A panic: its message decides which failures are the same

hunt panic --first --jobs 1 -- $(demo x86_64 2) -append run=panic
equal "a panic: status" 10 "$status"
message=$(sed -n 's/^panic on CPU 0, thread init: //p' "$folder/seed-0.log" | tr -d '\r')
check "a panic: the log has a message: $message" test -n "$message"
summary_has "panic: the kernel panicked on CPU 0, in thread 4 (init): $message"

# ---- Runs that cannot be judged

hunt refused --seeds 3 -- qemu-system-x86_64 -no-such-option
equal "QEMU does not start: status" 1 "$status"
message_has "QEMU did not start the guest; its output is in $folder/seed-0.log"
check "QEMU does not start: its message is in the file" grep -q -e -no-such-option "$folder/seed-0.log"
equal "QEMU does not start: no other seed is run" "" "$(seeds refused)"

cat >"$tmp/once.sh" <<EOF
[ ! -e "$tmp/was" ] || exec qemu-system-x86_64 -no-such-option
: >"$tmp/was"
exec $fine
EOF
hunt once --seeds 2 -- sh "$tmp/once.sh"
equal "only the run of seed 0 is judged: status" 1 "$status"
summary_has "2 of the runs could not be judged"

# ---- A signal to the hunt

# interrupt NAME CONDITION COMMAND…: starts a hunt, waits for the condition, and interrupts the hunt.
interrupt() {
	name=$1 folder=$tmp/$2 condition=$3
	shift 3
	"$ktrace" hunt --timeout $limit --out "$folder" "$@" -name "only-here-$$" </dev/null >"$tmp/summary" 2>"$tmp/err" &
	pid=$!
	await sh -c "$condition" "$folder"
	kill -INT $pid
	status=0
	wait $pid || status=$?
	equal "SIGINT $name: status" 130 "$status"
	check "SIGINT $name: the summary is printed" grep -qE '^[0-9]+ runs?, .*none failed' "$tmp/summary"
	check "SIGINT $name: no QEMU is left" sh -c "! grep -l 'name.*only-[h]ere-$$' /proc/[0-9]*/cmdline 2>/dev/null"
	equal "SIGINT $name: no other file is left" results.jsonl "$(ls "$folder" | xargs)"
}

interrupt "in the run of seed 0" first 'ls "$0"/*.ram' -- $(demo x86_64 2) -append run=forever
interrupt "in other runs" later 'grep "\"seed\":0" "$0/results.jsonl" && ls "$0"/*.ram' --seeds 1000 -- $fine


printf 'now x\n' >"$tmp/typed"
status=0
"$ktrace" hunt --input "$tmp/typed" --out "$tmp/typing" -- true >"$tmp/shown" 2>"$tmp/err" || status=$?
equal "--input without a time: status" 1 "$status"
message_has 'line 1: expected "SECONDS TEXT"'
done_testing
