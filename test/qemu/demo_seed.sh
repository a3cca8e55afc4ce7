# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `make demo SEED=N` runs the demo kernel with this seed, and repeats the run: all events are equal.
. test/tap.sh

check "make demo passes SEED on" sh -c "make -s -n demo SEED=7 | grep -q \"SEED='7' ACCEL='[a-z]*' sh scripts/demo.sh\""

status=0
SEED=7 ACCEL=auto sh scripts/demo.sh riscv64 </dev/null >"$tmp/shown" 2>&1 || status=$?
equal "status" 0 "$status"
check "the first run has the seed" grep -q 'ktrace run: seed 7 ended at 0\.' "$tmp/shown"
recorded=$(sed -n 's/^ktrace run: clean exit; .* s, \([0-9]*\) events of 4 CPUs, .*/\1/p' "$tmp/shown")
check "the run records thousands of events: $recorded" test "$recorded" -gt 10000
equal "the second run has the same events" "$recorded" \
	"$(sed -n 's/.*the same run as build.*: all \([0-9]*\) events that both traces have are equal$/\1/p' "$tmp/shown")"
check "the timeline is printed" grep -q '^\$ ktrace show' "$tmp/shown"
equal "the timeline has 40 events" 40 "$(sed -n '/^\$ ktrace show/,/^$/p' "$tmp/shown" | grep -c '^\[')"
done_testing
