# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A healthy run of the demo kernel and its programs violates no default rule, on each architecture. Every rule
# is checked, and most rules find events to which they apply.
. test/tap.sh
. test/qemu/run_support.sh

for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	run -- $(demo "$arch" 2) -append "debug=ktrace slots=131072 run=pipeline,echo"
	equal "$arch: the run ends well" 0 "$status"
	"$ktrace" check "$out" >"$tmp/rules" 2>"$tmp/err" || cat "$tmp/rules"
	check "$arch: all default rules hold" "$ktrace" check "$out"
	equal "$arch: every rule is checked" 0 "$(grep -c 'not checked' "$tmp/rules")"
	for rule in switch-in-interrupt run-without-wake run-after-death run-twice eoi-twice syscall-in-syscall \
		fault-unfinished return-with-lock exit-twice switch-with-lock switch-with-preemption-off \
		switch-in-handler unlock-unheld lock-held; do
		check "$arch: $rule applies to some events" \
			grep -qE "^$rule: holds, [1-9]" "$tmp/rules"
	done
done

# In virtual time, so that no thread is late: a first mistake without consequences would be followed by a second one.
# shellcheck disable=SC2046
run --deterministic --deadline 0.1 -- $(demo x86_64 2) -append "debug=ktrace run=sleep-spin"
"$ktrace" check "$out" >"$tmp/rules" 2>"$tmp/err"
equal "a thread that sleeps while it holds a spinlock violates a rule" 1 $?
check "the violation names the thread and its lock" grep -q '^switch-with-lock: VIOLATED 1 time, .*logger/.*, lock 0x' "$tmp/rules"
check "the violation shows the events before it" grep -q 'logger/.* sched.block ' "$tmp/rules"

printf 'no-wake: never sched.wake\n' >"$tmp/rule"
check "check --rules reports a violated rule" sh -c "! '$ktrace' check --rules '$tmp/rule' '$out'"

done_testing
