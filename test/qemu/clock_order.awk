# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Reads `ktrace show --json` and counts effects that come before their cause: a thread that runs though it sleeps and
# nobody woke it, or while it runs elsewhere; an interrupt that arrives though nobody sent it. Shares nothing with
# the tools' own analysis. Prints: switches, of these wrong; interrupts, of these wrong.
#
# Of two interrupts sent before one arrives the second may still be on its way, so it counts as one that was sent.

function number(name) {
	return match($0, "\"" name "\":[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : -1
}

/"event":"sched.wake"/ {
	thread = $0; sub(/.*"args":\{"thread":/, "", thread)
	awake[thread + 0] = 1
}

/"event":"sched.switch"/ {
	cpu = number("cpu"); prev = number("prev"); next_ = number("next"); state = number("state")
	if (next_ in at && at[next_] != cpu) wrong++
	else if ((next_ in asleep) && !(next_ in awake)) wrong++
	switches++
	delete at[prev]; delete asleep[prev]
	if (state != 0) asleep[prev] = 1
	at[next_] = cpu
	delete asleep[next_]; delete awake[next_]
}

/"event":"ipi.send"/ {
	to = $0; sub(/.*"args":\{"cpu":/, "", to); what = number("what")
	sent[to + 0, what]++
}

/"event":"ipi.receive"/ {
	cpu = number("cpu"); what = number("what")
	for (bit = 1; bit <= 8; bit *= 2) {
		if (int(what / bit) % 2 == 0) continue
		arrived++
		if (!sent[cpu, bit]) early++
		sent[cpu, bit] = sent[cpu, bit] > 1 ? 1 : 0
	}
}

END { print switches + 0, wrong + 0, arrived + 0, early + 0 }
