# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints what each process did: lines "PID calls=… bytes=… packets=… children=… faults=…". With -v
# source=console the numbers are those that the process printed on the console, with source=trace those in the
# output of `ktrace show --json`. Actions of threads count for their process. The first file is the console in
# both cases: it has the pids of the processes, and for each the range of addresses in which faults count.

function value(key, text) {
	if (!match($0, "[ \"{]" key "(\":\"?|=)[^\", }]*"))
		return ""
	text = substr($0, RSTART, RLENGTH)
	sub(/^.[^=:]*[=:]"?/, "", text)
	return text
}

function forget(pid) { calls[pid] = bytes[pid] = packets[pid] = children[pid] = faults[pid] = 0 }

NR == FNR && $1 == "account" {
	pid = value("pid")
	from[pid] = value("from") + 0
	to[pid] = value("to") + 0
	if (source == "console") {
		calls[pid] = value("calls"); bytes[pid] = value("bytes"); packets[pid] = value("packets")
		children[pid] = value("children"); faults[pid] = value("faults")
	}
}
NR == FNR { next }

source == "trace" {
	pid = value("thread")
	if (pid in process)
		pid = process[pid]
	event = value("event")
}
event == "sched.create" && match($0, /"args":.*/) {
	split(substr($0, RSTART, RLENGTH), field, /[:,]/) # "args":{"thread":8,"process":6,…
	process[field[3]] = field[5]
}
event == "syscall.enter" { calls[pid]++ }
event == "syscall.exit" {
	nr = value("nr"); result = value("result")
	if (nr == 1 && result > 0) # fork
		children[pid]++
	if (nr == 2 && result == 0) # execve: the new program does not print what the old one did
		forget(pid)
	if (result > 0 && (nr == 32 || nr == 33 || nr == 65 || nr == 66)) # read, write, sendto, recvfrom
		bytes[pid] += result
}
event == "net.tx" && value("protocol") == 17 { packets[pid]++ }
event == "mm.fault_enter" && (pid in from) {
	address = value("address") + 0
	faults[pid] += address >= from[pid] && address < to[pid]
}

END {
	for (pid in from)
		printf "%d calls=%d bytes=%d packets=%d children=%d faults=%d\n", pid, calls[pid], bytes[pid], packets[pid],
			children[pid], faults[pid]
}
