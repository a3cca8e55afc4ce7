# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Reads the output of perfetto-text, sorted by time, and checks that the history is possible. Prints a line
# for each contradiction, then "N switches, N wakes on N CPUs".
function value(name) {
	return match($0, "[{ ]" name "=[0-9]+") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : ""
}
function wrong(what) { print "at " time ": " what }

{ time = value("timestamp") }

/generic_kernel_process_tree/ { sub(/.*threads/, ""); known[value("tid")] = 1 }

/generic_kernel_task_state_event/ {
	cpu = value("cpu"); tid = value("tid"); state = value("state")
	if (tid != 0 && !known[tid]) wrong("thread " tid " is not in the process tree")
	if (state == 3) {
		if (tid != 0 && tid in on) wrong("thread " tid " runs on CPU " cpu " and on CPU " on[tid])
		# Another thread replaces the running thread. The new state of the replaced thread is not
		# recorded, so it may run on any CPU from now on.
		if (cpu in runs && runs[cpu] != 0) delete on[runs[cpu]]
		runs[cpu] = tid; on[tid] = cpu; cpus[cpu] = 1; switches++
	} else {
		if (tid in on && on[tid] != cpu && tid != 0) wrong("thread " tid " leaves CPU " cpu " but ran on " on[tid])
		if (tid in on && runs[on[tid]] == tid) delete runs[on[tid]]
		delete on[tid]
	}
}

/sched_waking/ {
	sub(/.*sched_waking/, ""); tid = value("pid"); wakes++
	if (tid in on) wrong("thread " tid " is woken while it runs")
}

END { for (cpu in cpus) n++; printf "%d switches, %d wakes on %d CPUs\n", switches, wakes, n }
