# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The smallest integration builds and runs, and show prints every event that it recorded.
. test/tap.sh

check "examples/minimal builds" make -s -C examples/minimal OUT="$tmp/minimal"
build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- qemu-system-riscv64 -M virt -bios none -smp 4 \
	-nographic -kernel "$tmp/minimal/kernel.elf" >"$tmp/console" 2>"$tmp/err" </dev/null
equal "examples/minimal ends with status 0" 0 $?
build/bin/ktrace show "$tmp/trace" >"$tmp/shown" 2>>"$tmp/err"
equal "every count of every hart is shown" 4000 "$(grep -c 'example.count' "$tmp/shown")"
equal "the event that every hart recorded before it had a ring is shown" 4 "$(grep -c 'example.hello.*from hart' "$tmp/shown")"

# On a busy machine, both harts need more time until they have finished and wait.
for seconds in 3 12 48 $limit; do
	build/bin/ktrace run --timeout $seconds --out "$tmp/two" -- qemu-system-riscv64 -M virt -bios none -smp 2 \
		-nographic -kernel "$tmp/minimal/kernel.elf" >"$tmp/console" 2>"$tmp/err" </dev/null
	status=$?
	! grep -q 'events of 2 CPUs' "$tmp/err" || break
done
equal "with two harts instead of four, the kernel waits until the timeout" 12 "$status"
check "the message counts the CPUs that ran, not those that the kernel has room for" grep -q 'events of 2 CPUs' "$tmp/err"
check "the message suggests ktrace why as the next command" grep -q 'next: ktrace why' "$tmp/err"
build/bin/ktrace why "$tmp/two" >"$tmp/why" 2>>"$tmp/err"
check "why reports CPUs that never started as offline" grep -q '^CPUs 2 to 3 offline' "$tmp/why"
done_testing
