# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Reads `ktrace show --json` and prints the events that version 1 can represent, in the form of version 1:
# lines "CPU TIME THREAD EVENT WORD…". -v version=1 or 2: the version of the trace. With -v rest=1 and
# version=2, prints the times of all other events instead.

# carry: defines how an event of version 2 is represented in version 1. A word without a suffix is the name
# of a field. name:low and name:high are the halves of a 64-bit field. name:whole is a field that is
# hexadecimal in one version and decimal in the other. A number is a constant.
function carry(event, words, v1_event, v1_words) {
	name[version == 1 ? v1_event : event] = v1_event
	fields[v1_event] = version == 1 ? v1_words : words
}

BEGIN {
	carry("syscall.enter", "nr a1 a2", "SYSCALL_ENTER", "nr a1 a2")
	carry("syscall.exit", "nr result", "SYSCALL_EXIT", "nr result")
	carry("sched.switch", "prev next", "CTX_SWITCH", "from_pid to_pid")
	carry("sched.block", "queue:low", "WAITQ_SLEEP", "waitq")
	carry("mm.fault_enter", "address:whole ip:whole flags", "PAGE_FAULT", "addr:whole rip:whole reason")
	carry("signal.send", "signal thread 0 0 0", "SIGNAL_SEND", "d0 d1 d2 d3 d4")
	carry("signal.deliver", "signal handler:low handler:high 0 0", "SIGNAL_DELIVER", "d0 d1 d2 d3 d4")
	carry("net.connect", "socket address port result:low", "NET_CONNECT", "fd ip port result")
	carry("net.send", "socket length result:low", "NET_SEND", "fd len result")
	carry("net.recv", "socket length result:low", "NET_RECV", "fd len result")
	carry("net.poll", "socket readable events", "NET_POLL", "fd unused revents")
	carry("net.tx", "length protocol", "NET_TX_PACKET", "frame_len protocol")
	carry("net.rx", "length protocol", "NET_RX_PACKET", "frame_len protocol")
	carry("net.tcp_state", "socket old new", "NET_TCP_STATE", "handle old new")
	carry("net.dns_query", "id", "NET_DNS_QUERY", "id")
}

# Returns the value of a key in a JSON text.
function value(text, key) {
	if (!match(text, "\"" key "\":\"?[^\",}]*"))
		return "absent"
	text = substr(text, RSTART, RLENGTH)
	sub(/^"[^"]*":"?/, "", text)
	return text
}

function number(text, i, n) {
	if (text !~ /^0x/)
		return text + 0
	for (i = 3; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n + 0
}

function word(field, part, n) {
	if (field ~ /^[0-9]/)
		return field
	if (split(field, part, ":") == 1)
		return value(arguments, field)
	n = number(value(arguments, part[1]))
	if (n < 0)
		n += 4294967296
	return sprintf("%.0f", part[2] == "low" ? n % 4294967296 : part[2] == "high" ? int(n / 4294967296) : n)
}

{
	event = name[value($0, "event")]
	arguments = substr($0, index($0, "\"args\":"))
}
rest && !event { print value($0, "time") }
!rest && event {
	line = value($0, "cpu") " " value($0, "time") " " value($0, "thread") " " event
	count = split(fields[event], list, " ")
	for (i = 1; i <= count; i++)
		line = line " " word(list[i])
	print line
}
