# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# One scenario of each kind; `make scenarios` runs them all.
. test/tap.sh

sh test/scenarios/run.sh abba/x86_64 self-irq/aarch64 ipi-lock/x86_64 lock-order/aarch64 >"$tmp/table"
grep -vE '^[0-9]+ passed' "$tmp/table" >"$tmp/runs"
while read -r name arch verdict result; do
	check "$name on $arch: $verdict $result" test "$result" = ok
done <"$tmp/runs"

done_testing
