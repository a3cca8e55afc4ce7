# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A healthy run of the demo kernel and its programs violates no default rule, on each architecture. Every rule
# is checked, and most rules find events to which they apply.
. test/tap.sh
. test/qemu/run_support.sh

for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	run -- $(demo "$arch" 2) -append "debug=ktrace slots=131072 run=pipeline,echo"
	equal "$arch: the run" 0 "$status"
	"$ktrace" check "$out" >"$tmp/rules" 2>"$tmp/err" || cat "$tmp/rules"
	check "$arch: all default rules hold" "$ktrace" check "$out"
	equal "$arch: every rule is checked" 0 "$(grep -c 'not checked' "$tmp/rules")"
	for rule in switch-in-interrupt run-without-wake run-after-death run-twice eoi-twice syscall-in-syscall \
		fault-unfinished return-with-lock exit-twice switch-with-lock switch-with-preemption-off \
		switch-in-handler unlock-unheld lock-held; do
		check "$arch: $rule had something to decide" \
			grep -qE "^$rule: holds, [1-9]" "$tmp/rules"
	done
done

# shellcheck disable=SC2046
run --stall 2 -- $(demo x86_64 2) -append "debug=ktrace run=sleep-spin"
"$ktrace" check "$out" >"$tmp/rules" 2>"$tmp/err"
equal "a thread that sleeps with a spinlock held breaks a rule" 1 $?
check "which is told with its lock" grep -q '^switch-with-lock: VIOLATED 1 time, .*logger/.*, lock 0x' "$tmp/rules"
check "and with what went before" grep -q 'logger/.* sched.block ' "$tmp/rules"

printf 'no-wake: never sched.wake\n' >"$tmp/rule"
check "a rule that does not hold there is found" sh -c "! '$ktrace' check --rules '$tmp/rule' '$out'"

done_testing
