# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The smallest integration builds and runs, and show prints every event that it recorded.
. test/tap.sh

check "it builds" make -s -C examples/minimal OUT="$tmp/minimal"
build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- qemu-system-riscv64 -M virt -bios none -smp 4 \
	-nographic -kernel "$tmp/minimal/kernel.elf" >"$tmp/console" 2>"$tmp/err" </dev/null
equal "it ends well" 0 $?
build/bin/ktrace show "$tmp/trace" >"$tmp/shown" 2>>"$tmp/err"
equal "every count of every hart is shown" 4000 "$(grep -c 'example.count' "$tmp/shown")"
equal "every hart said hello before it had a ring" 4 "$(grep -c 'example.hello.*from hart' "$tmp/shown")"

# On a busy machine both harts need longer until they wait.
for seconds in 3 12 48 $limit; do
	build/bin/ktrace run --timeout $seconds --out "$tmp/two" -- qemu-system-riscv64 -M virt -bios none -smp 2 \
		-nographic -kernel "$tmp/minimal/kernel.elf" >"$tmp/console" 2>"$tmp/err" </dev/null
	status=$?
	! grep -q 'events of 2 CPUs' "$tmp/err" || break
done
equal "two harts of four wait for the others" 12 "$status"
check "what ran is counted, not what there is room for" grep -q 'events of 2 CPUs' "$tmp/err"
check "the next command says what was wrong" grep -q 'next: ktrace why' "$tmp/err"
build/bin/ktrace why "$tmp/two" >"$tmp/why" 2>>"$tmp/err"
check "CPUs that never started are offline" grep -q '^CPUs 2 to 3 offline' "$tmp/why"
done_testing
