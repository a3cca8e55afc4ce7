#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints doc/verdicts-demo.md: what `ktrace why` prints for bugs of the demo kernel, one for each verdict that
# doc/verdicts.md does not have.
#	make scenarios SCENARIOS="$(sh scripts/verdicts_demo.sh --list)" && sh scripts/verdicts_demo.sh >doc/verdicts-demo.md
set -eu
cd "$(dirname "$0")/.."

verdicts() {
	cat <<'END'
lost-wakeup lost-wakeup A thread sleeps on, because the event that it waits for came before it slept.
wakeup-race wakeup-race A wakeup came while the thread was on its way to sleep, and found no thread.
missing-eoi no-eoi A CPU gets no more interrupts, because the end of the last one was never signalled.
irq-storm irq-storm An interrupt comes again and again.
dead-timer dead-timer The timer of a CPU has stopped, and sleeps on this CPU do not end.
sleep-in-atomic sleep-spin A thread sleeps while it holds a spinlock.
user-spin user-spin A program spins in user mode.
kernel-spin kernel-spin A thread spins in the kernel.
fault-loop fault-loop The same page fault comes again and again.
syscall-loop syscall-loop A program repeats a system call that fails.
stack-overflow stack A thread has used more than its kernel stack.
slow slow-disk Nothing is stuck, but a device answers slowly.
panic null-call The kernel has called a null pointer.
triple-fault triple The machine has reset itself.
END
}

if [ "${1-}" = --list ]; then
	verdicts | awk '{ printf "%s%s/x86_64", NR > 1 ? " " : "", $2 } END { print "" }'
	exit
fi
cat <<'END'
# Verdicts of the demo kernel

This page has the first lines of the output of `ktrace why` for bugs of the demo kernel, one for each verdict that [the
gallery of simulated machines](verdicts.md) does not have. `make scenarios` runs these bugs, and many more;
`sh scripts/verdicts_demo.sh` makes this page from its output. A test checks that the page has what the scenarios
expect. [Asking why](why.md) explains what each verdict needs.
END
verdicts | while read -r verdict scenario what; do
	printf '\n## %s\n\n%s\n\n```\n$ ktrace why %s.ktrx\n' "$verdict" "$what" "$scenario"
	sed '/^$/,$d' "build/scenarios/$scenario-x86_64.why"
	echo '```'
done
