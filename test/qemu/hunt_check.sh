# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace hunt --check` also judges runs by rules.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/hunt_support.sh

fine="$(demo x86_64 2) -append run=echo"

printf 'no-switch: never sched.switch\n' >"$tmp/violated.rules"
hunt violated --seeds 1 -j 1 --check "$tmp/violated.rules" -- $fine
equal "a violated rule: status" 10 "$status"
message_has "seed 0: rule no-switch: VIOLATED"
summary_has "2 runs: rule no-switch: VIOLATED"
summary_has "to see why: ktrace check --rules $tmp/violated.rules $folder/seed-"
check "a violated rule: no other command explains it" sh -c "! grep -q 'ktrace why' '$tmp/summary'"
command=$(sed -n 's/^  to see why: //p' "$tmp/summary")
(PATH=build/bin:$PATH && $command >"$tmp/shown" 2>/dev/null)
equal "a violated rule: status of the command that explains it" 1 $?
check "a violated rule: the command names it" grep -q '^no-switch: VIOLATED' "$tmp/shown"
check "a violated rule: the results have it" grep -q '"rule":"no-switch","violation":"VIOLATED' "$folder/results.jsonl"
hunt violated --seeds 1 --resume --check "$tmp/violated.rules" --json -- $fine
equal "a violated rule, --resume: status" 10 "$status"
check "a violated rule, --json: the cause is the rule" \
	python3 -c 'import json, sys; k, = json.load(sys.stdin)["kinds"]; assert k["cause"] == "rule" and k["key"] == "rule no-switch"' <"$tmp/summary"

hunt default --seeds 1 -j 1 --check default -- $fine
equal "the default rules hold: status" 0 "$status"

hunt both --seeds 1 -j 1 --deadline 3 --check "$tmp/violated.rules" -- $(demo x86_64 2) -append run=wakeup-race
equal "a race and a violated rule: status" 10 "$status"
summary_has ": wakeup-race"
summary_has "to see why: ktrace why $folder/seed-"
summary_has "it also violates the rule no-switch: ktrace check --rules $tmp/violated.rules $folder/seed-"

printf 'x: never no.such\n' >"$tmp/unbound.rules"
hunt unbound --seeds 1 --check "$tmp/unbound.rules" -- $fine
equal "a rule without its event: status" 1 "$status"
message_has "the rules could not be checked; its output is in $folder/seed-0.log"
check "a rule without its event: the file explains it" grep -qF "$tmp/unbound.rules:1:" "$folder/seed-0.log"

printf 'no-switch never\n' >"$tmp/invalid.rules"
hunt invalid --check "$tmp/invalid.rules" -- $fine
equal "an invalid rule: status" 2 "$status"
message_has "$tmp/invalid.rules:1:"
check "an invalid rule: nothing is run" test ! -e "$folder"

hunt absent --check default -- $no_ktrace
equal "a guest without ktrace: status" 1 "$status"
message_has "no rule can be checked"
done_testing
