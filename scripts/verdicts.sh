#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints doc/verdicts.md: what `ktrace why` prints for traces of simulated machines, one for each verdict.
# Usage: sh scripts/verdicts.sh DIRECTORY; the directory has the traces of build/test/why-traces.
set -eu
cat <<'END'
# A gallery of verdicts

This page has the first lines of the output of `ktrace why` for one machine per verdict. The machines are simulated:
the tests of `ktrace why` use the same traces. `sh scripts/verdicts.sh DIR` makes this page, and a test compares it.
[Asking why](why.md) explains what each verdict needs. All other verdicts are shown, with the demo kernel under QEMU, in
[Verdicts of the demo kernel](verdicts-demo.md).
END
while read -r verdict trace what; do
	printf '\n## %s\n\n%s\n\n```\n$ ktrace why %s.ktrx\n' "$verdict" "$what" "$trace"
	(cd "$1" && "${KTRACE-ktrace}" why "$trace.ktrx" 2>/dev/null || :) | sed '/^$/,$d'
	echo '```'
done <<'END'
self-deadlock self-deadlock The CPU waits for a lock that it holds itself.
deadlock deadlock Three threads wait for each other's locks.
dead-owner dead-owner A thread ended and did not release its lock.
priority-inversion inversion A thread of high priority waits for a lock. The thread that holds the lock does not get a CPU.
starvation starved A thread is runnable and does not run.
livelock retry-given-up Two threads give up their locks and try again, again and again.
irqs-off answer-off Interrupts are disabled and stay disabled.
overdue stuck-device A device does not answer any more.
lock-order order Two locks are taken in both orders: a deadlock is possible, but did not happen.
bookkeeping lost A thread is runnable, and the scheduler has lost it.
busy ended-recorded The CPUs work. Nothing is known to be wrong, but a listed thread may have missed its wakeup.
idle right-states Nothing is wrong: the machine has nothing to do.
ended ended-well Nothing is wrong: the run ended by itself, and the kernel records hardly anything.
unknown lies The trace explains nothing.
END
