# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Reads the output of `ktrace show --json`, and counts effects that precede their cause: a thread that runs
# though it sleeps and was not woken, or while it runs on another CPU; an interrupt that arrives though it was
# not sent. Shares no code with the tools' own analysis. Prints four numbers: switches, wrong switches,
# interrupts, wrong interrupts.
#
# doubt: the stated uncertainty of the order between CPUs in seconds; 0 if not given. An effect whose cause
# follows within that time is not wrong.
#
# If two interrupts were sent before one arrives, the second one may still be on its way: it counts as sent.

function number(name) {
	return match($0, "\"" name "\":[0-9.]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : -1
}

# Must be called for each cause. Returns 1 if the effect is in the trace before the cause, but at most
# `doubt` seconds earlier.
function excuses(key) {
	while (first[key] < last[key])
		if (number("time") - early[key, first[key]++] <= doubt) {
			excused[key]++
			return 1
		}
	return 0
}

function is_early(key) { early[key, last[key]++ + 0] = number("time"); seen[key]++ }

# When a thread begins to run, this function takes one wakeup from the list. Drops the other wakeups, unless
# they are so recent that they may belong to a later sleep.
function uses_wake(thread) {
	if (used[thread] < wakes[thread]) used[thread]++
	while (used[thread] < wakes[thread] && number("time") - woken[thread, used[thread] + 0] >= doubt) used[thread]++
}

/"event":"sched.wake"/ {
	thread = $0; sub(/.*"args":\{"thread":/, "", thread); thread += 0
	if (!excuses("woken " thread)) woken[thread, wakes[thread]++ + 0] = number("time")
}

/"event":"sched.switch"/ {
	cpu = number("cpu"); prev = number("prev"); next_ = number("next"); state = number("state")
	switches++
	# If the trace has already shown the thread on another CPU, its switch away from this CPU
	# comes too late in the trace.
	late = excuses("left " prev " " cpu)
	if (!late) {
		delete at[prev]; delete asleep[prev]
		if (state != 0) asleep[prev] = 1
	}
	if ((next_ in at) && at[next_] != cpu) is_early("left " next_ " " at[next_])
	else if ((next_ in asleep) && used[next_] + 0 == wakes[next_] + 0) is_early("woken " next_)
	at[next_] = cpu
	delete asleep[next_]
	uses_wake(next_)
}

/"event":"ipi.send"/ {
	to = $0; sub(/.*"args":\{"cpu":/, "", to); what = number("what")
	if (!excuses("sent " to + 0 " " what)) sent[to + 0, what, sends[to + 0, what]++ + 0] = number("time")
}

/"event":"ipi.receive"/ {
	cpu = number("cpu"); what = number("what")
	for (bit = 1; bit <= 8; bit *= 2) {
		if (int(what / bit) % 2 == 0) continue
		arrived++
		if (taken[cpu, bit] + 0 == sends[cpu, bit] + 0) is_early("sent " cpu " " bit)
		else taken[cpu, bit]++
		while (taken[cpu, bit] + 1 < sends[cpu, bit] && number("time") - sent[cpu, bit, taken[cpu, bit] + 0] >= doubt)
			taken[cpu, bit]++
	}
}

END {
	for (key in seen)
		if (key ~ /^sent/) interrupts_wrong += seen[key] - excused[key]
		else wrong += seen[key] - excused[key]
	print switches + 0, wrong + 0, arrived + 0, interrupts_wrong + 0
}
