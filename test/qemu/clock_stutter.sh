# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The host stops the guest's CPU again and again while the guest measures the frequency of its counters. Each
# stop takes 60 ms, in which the reference clock of the measurement wraps around. The measured frequencies
# must be right nevertheless.
. test/tap.sh
. test/qemu/run_support.sh

frequency() { "$ktrace" summary --json "$out" 2>/dev/null | sed -n 's/.*"frequency":\([0-9]*\).*/\1/p'; }

# shellcheck disable=SC2046
run -q -- $(demo x86_64 1) -append "seconds=0"
equal "undisturbed, the guest boots and ends" 0 "$status"
alone=$(frequency)

# shellcheck disable=SC2046
timeout -k 5 $kill_limit "$ktrace" run -q --timeout $limit --out "$out" -- $(demo x86_64 1) -append "seconds=0" \
	</dev/null >"$tmp/console" 2>"$tmp/err" &
pid=$!
guest=
while [ -z "$guest" ] && kill -0 "$pid" 2>/dev/null; do
	guest=$(qemu_of "$pid" | head -n 1)
done
for _ in $(seq 60); do
	kill -STOP "$guest" 2>/dev/null || break
	sleep 0.06
	kill -CONT "$guest"
	sleep 0.004
done
status=0
wait "$pid" || status=$?
equal "while it is stopped again and again, the guest boots and ends" 0 "$status"
stuttering=$(frequency)
check "the frequency measured with stops, $stuttering Hz, is close to the one without: $alone Hz" \
	awk -v a="$alone" -v b="$stuttering" 'BEGIN { exit !(a > 0 && b > a / 2 && b < a * 2) }'

done_testing
