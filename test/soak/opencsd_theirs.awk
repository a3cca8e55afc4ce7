# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Converts the output of OpenCSD's trc_pkt_lister for one trace source of one buffer to lines;
# opencsd_ours.awk makes the same lines from ktrace's output:
#
#   range FIRST LAST COUNT HOW SPACE     instructions in sequence; HOW the last one continues
#   on FIRST, off AT                     trace begins and ends
#   exception AT                         an exception before the instruction at AT
#   unknown AT                           no code is known there
#   unread FIRST                         instructions whose path is not in the trace (Q elements)
#   lost                                 bytes that are not a packet
#
# awk -v id=10 -v buffer=ETB_0 -f opencsd_theirs.awk SNAPSHOT.ppl

function flush() {
	if (held != "")
		print held (held_how == "" ? "" : " " held_how " " space_then)
	held = held_how = ""
}

# Must be called for each element that has an address. If no address was known before, the trace
# begins at this element.
function arrive(at) {
	flush()
	if (begins)
		print "on " at
	begins = 0
}

function begin() {
	flush()
	if (begins)
		print "on"
	begins = traces = 1
}

function hex_of(text) {
	sub(/^0x0*/, "", text)
	sub(/^0+/, "", text)
	return text == "" ? "0" : text
}

# Subtracts a small number from an address in hexadecimal digits. Returns the difference in the same form.
function less(a, small,    i, digit, out) {
	out = ""
	for (i = length(a); i > 0; i--) {
		digit = index("0123456789abcdef", substr(a, i, 1)) - 1 - small
		small = digit < 0
		out = substr("0123456789abcdef", digit + 16 * small + 1, 1) out
	}
	return hex_of(out)
}

# Returns the word that ktrace uses for the type of branch that ends a range.
function how(text,    word) {
	word = "run"
	if (text ~ /<cond>/)
		word = "conditional"
	else if (text ~ / iBR b\+link/)
		word = "indirect_call"
	else if (text ~ / iBR (A64:ret|V7:impl ret)/)
		word = "return"
	else if (text ~ / iBR A64:eret/)
		word = "leave_kernel"
	else if (text ~ / iBR/)
		word = "indirect"
	else if (text ~ / BR +b\+link/)
		word = "call"
	else if (text ~ / BR/)
		word = "jump"
	return word (text ~ /\(ISA=[A-Z0-9]*\) N / ? ":not" : "")
}

/ as trace source$/ { current = $2 }
/^####### Multi Session decode: / {
	current = $NF
	sub(/\.$/, "", current)
}

/OCSD_GEN_TRC_ELEM_/ {
	if (!match($0, /ID:[0-9a-f]+;/) || substr($0, RSTART + 3, RLENGTH - 4) != id || current != buffer)
		next
	element = $0
	sub(/.*OCSD_GEN_TRC_ELEM_/, "", element)
	name = element
	sub(/[( ].*/, "", name)
	if (name == "INSTR_RANGE") {
		split(element, part, /exec range=0x|:\[0x|\] num_i\(|\) last_sz\(|\) \(ISA/)
		if (!traces)
			begin()
		arrive(hex_of(part[2]))
		held = "range " hex_of(part[2]) " " less(part[3], part[5]) " " part[4]
		held_end = hex_of(part[3])
		held_how = how(element)
		space_then = space == "" ? "0" : space
	} else if (name == "EXCEPTION") {
		split(element, part, /addr:0x|;|num \(0x|\)| /)
		match(element, /addr:0x[0-9a-f]+/)
		at = hex_of(substr(element, RSTART + 5, RLENGTH - 5))
		match(element, /num \(0x[0-9a-f]+/)
		number = hex_of(substr(element, RSTART + 5, RLENGTH - 5))
		if (number == "2" && held != "" && held_end == at) {
			held_how = "enter_kernel"
			flush()
		} else {
			arrive(at)
			print (number == "1" ? "off " : "exception ") at
			if (number == "1")
				traces = 0
		}
	} else if (name == "ADDR_NACC") {
		match(element, /0x[0-9a-f]+/)
		at = hex_of(substr(element, RSTART, RLENGTH))
		arrive(at)
		print "unknown " at
	} else if (name == "I_RANGE_NOPATH") {
		match(element, /0x[0-9a-f]+/)
		at = hex_of(substr(element, RSTART, RLENGTH))
		arrive(at)
		print "unread " at
	} else if (name == "TRACE_ON") {
		begin()
	} else if (name == "NO_SYNC" && element ~ /bad-packet/) {
		flush()
		print "lost"
		traces = 0
	} else if (name == "PE_CONTEXT" && match(element, /CTXTID=0x[0-9a-f]+/)) {
		space = hex_of(substr(element, RSTART + 7, RLENGTH - 7))
	}
}

END {
	flush()
	if (begins)
		print "on"
}
