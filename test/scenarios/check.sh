# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs a few scenarios from another directory. `make scenarios` runs all.
. test/tap.sh
unset PC_OPTIONS # users boot the usual PC

(cd test && sh scenarios/run.sh abba/x86_64 self-irq/aarch64 ipi-lock/x86_64 lock-order/aarch64) >"$tmp/table"
grep -vE '^[0-9]+ passed' "$tmp/table" >"$tmp/runs"
while read -r name arch verdict result; do
	check "$name on $arch: $verdict $result" test "$result" = ok
done <"$tmp/runs"
equal "all four scenarios were run" 4 "$(wc -l <"$tmp/runs")"
equal "the last line counts the scenarios" "4 passed, 0 failed" "$(tail -n 1 "$tmp/table")"

sh test/scenarios/run.sh abba/x86_64 abba/vax >"$tmp/table" 2>"$tmp/err"
equal "an unknown scenario is refused" 2 $?
equal "an unknown scenario: no other scenario is run" "" "$(cat "$tmp/table")"
check "an unknown scenario: the message names it" grep -q 'no scenario abba/vax' "$tmp/err"

done_testing
