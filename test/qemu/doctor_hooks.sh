# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace doctor on small kernels with typical mistakes in their hooks: doctor names the mistake and the line
# to change, and does not report a wrong clock instead.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/minimal_support.sh

virt="qemu-system-riscv64 -M virt -bios none -smp 2 -nographic -kernel"

# All kernels of this test are built from this copy of examples/minimal, and link the same compiled ktrace
# library.
cp -r examples/minimal "$tmp/port"
# All records of a hart have the id of the first of the hart's two threads.
echo '#define ktrace_arch_thread() ((uint32_t)(2 * ktrace_arch_cpu() + 1))' >>"$tmp/port/ktrace_port.h"
library=$tmp/library
check "the library builds" minimal_library "$tmp/port" "$library"

# kernel NAME "STATEMENTS": builds examples/minimal for two harts, each of which runs the statements thirty
# times, and runs doctor on it. The statements may use the variables `hart`, `n`, `a` and `b`.
kernel() {
	cp -r "$tmp/port" "$tmp/$1"
	sed -i 's/#define HARTS 4/#define HARTS 2/
		s/^static volatile uint32_t ready/#include "hooks.h"\n&/
		s/for (uint32_t n = 0; n < 1000; n++)/for (uint32_t n = 0; n < 30; n++)/
		s/KTRACE(example, count, n);/turn(hart, n);/' "$tmp/$1/kernel.c"
	cat >"$tmp/$1/hooks.h" <<END
KTRACE_EVENT(sched, switch, "%u -> %u, %u", (uint32_t, prev), (uint32_t, next), (uint32_t, state));
KTRACE_EVENT(sched, block, "%u on %u", (uint32_t, thread), (uint32_t, queue));
KTRACE_EVENT(sched, wake, "%u", (uint32_t, thread));
KTRACE_EVENT(irq, enter, "%u", (uint32_t, irq));
KTRACE_EVENT(irq, exit, "%u", (uint32_t, irq));
KTRACE_EVENT(syscall, enter, "%u", (uint32_t, nr));
KTRACE_EVENT(syscall, exit, "%u", (uint32_t, nr));
/* Threads a and b of a hart take turns and sleep; neither runs on the other hart. */
static void turn(uint32_t hart, uint32_t n)
{
	const uint32_t a = 2 * hart + 1, b = 2 * hart + 2;
	(void)a;
	(void)b;
	(void)n;
	$2
}
END
	check "$1: it builds" minimal_kernel "$tmp/$1" "$library"
	status=0
	timeout -k 5 $kill_limit "$ktrace" doctor --seconds $limit -- $virt "$tmp/$1/build/kernel.elf" </dev/null >"$tmp/report" 2>"$tmp/err" ||
		status=$?
}

# wrong NAME "STATEMENTS" ABOUT TEXT LINE: checks that doctor reports a mistake with the subject ABOUT and
# this text, and that it prints the line to change.
wrong() {
	kernel "$1" "$2"
	equal "$1: doctor finds a mistake" 10 "$status"
	check "$1: doctor names the mistake: $3 … $4" grep -qE "^wrong +$3 .*$4" "$tmp/report"
	check "$1: doctor prints the line to change: $5" grep -qF "$5" "$tmp/report"
	check "$1: doctor does not report a wrong clock" sh -c "! grep -qE '^wrong +(clock|order|skew)' '$tmp/report'"
}

sleep_and_wake='KTRACE(sched, block, a, 7); KTRACE(sched, switch, a, b, 1); KTRACE(sched, wake, a);
	KTRACE(sched, block, b, 7); KTRACE(sched, switch, b, a, 1); KTRACE(sched, wake, b);'

kernel sound "$sleep_and_wake"' KTRACE(irq, enter, 5); KTRACE(irq, exit, 5); KTRACE(syscall, enter, n); KTRACE(syscall, exit, n);'
equal "sound: doctor finds no mistake" 0 "$status"
check "sound: rules were checked" grep -qE '^ok +rules +none of' "$tmp/report"

wrong minus-one 'KTRACE(sched, switch, a, (uint32_t)-1, 1); KTRACE(sched, switch, (uint32_t)-1, a, 0);' \
	thread-ids 'of more than 22 bits, the first is -1' 'ids from 1 to 4194303'
wrong elsewhere 'KTRACE(sched, switch, a, b, 1); KTRACE(sched, block, a, 7); KTRACE(sched, wake, a);
	KTRACE(sched, switch, b, a, 1); KTRACE(sched, block, b, 7); KTRACE(sched, wake, b);' \
	sched.block 'does not run on that CPU' 'where a thread is about to wait: called by that thread, before it switches away'
wrong zero-state 'KTRACE(sched, block, a, 7); KTRACE(sched, switch, a, b, 0); KTRACE(sched, wake, a);
	KTRACE(sched, block, b, 7); KTRACE(sched, switch, b, a, 0); KTRACE(sched, wake, b);' \
	sched.switch 'state 0, all of them' 'with the state that prev goes into'
wrong no-irq-exit "$sleep_and_wake"' KTRACE(irq, enter, 5);' irq.exit 'began again' 'ktrace_interrupt_exit(irq);'
wrong no-irq-enter "$sleep_and_wake"' KTRACE(irq, exit, 5);' irq.enter 'where it had not begun' 'ktrace_interrupt_enter(irq);'
wrong no-syscall-exit "$sleep_and_wake"' KTRACE(syscall, enter, n);' syscall.exit 'hardly any return' \
	'KTRACE(syscall, exit, nr, result);'
wrong thread-zero 'KTRACE(sched, block, 0, 7); KTRACE(sched, switch, 0, a, 1); KTRACE(sched, wake, 0); KTRACE(sched, switch, a, 0, 0);' \
	thread-ids 'thread 0 sleeps or is woken' 'number threads from 1'
# This kernel does not measure the clocks of its harts, so the mistake is not certain.
kernel two-cpus 'KTRACE(sched, switch, a, 9, 1); for (volatile int i = 0; i < 10000000; i++) ; KTRACE(sched, switch, 9, a, 1);'
check "two-cpus: doctor reports a thread that seems to run on two harts" \
	grep -qE '^note +sched.switch +this holds only if .* on two CPUs at once' "$tmp/report"
check "two-cpus: doctor prints how to measure the clocks" grep -qF '.clocks = KTRACE_CLOCKS_ASKED' "$tmp/report"

# The port's thread number has more bits than a record stores: the records can be read nevertheless.
sed -i 's/^#define ktrace_arch_thread.*/#define ktrace_arch_thread() ((uint32_t)-1)/' "$tmp/port/ktrace_port.h"
library=$tmp/library-wide
check "port-minus-one: the library builds" minimal_library "$tmp/port" "$library"
wrong port-minus-one "$sleep_and_wake" thread-ids 'by a thread whose id is 22 ones: ktrace_arch_thread\(\) returns -1' 'current()->id : 0'
check "port-minus-one: no slot is unreadable" sh -c "! grep unreadable '$tmp/report'"

done_testing
