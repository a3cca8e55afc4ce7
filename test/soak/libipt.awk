# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Compares the output of `ktrace hwt` for a stream with what libipt's tests expect of its tools, and prints the first difference:
#
#	awk -f libipt.awk -v what=packets EXPECTED-OF-PTDUMP OUTPUT-OF-hwt-g
#	awk -f libipt.awk -v what=flow -v ip=1 EXPECTED-OF-PTXED OUTPUT-OF-hwt--json
#
# Both are converted to one form: a packet to "OFFSET NAME PAYLOAD", an event to "NAME KEY=ADDRESS...", an instruction to "at
# ADDRESS", a run of instructions to "run COUNT FIRST LAST". With ip=1, the tool was asked to print all addresses of events.

{ side = FILENAME == ARGV[1] ? 1 : 2 }
{ sub(/\r$/, ""); sub(/[ \t]+$/, "") }
/^$/ { next }
what == "packets" { side == 1 ? dumped($0) : packet($0) }
what == "flow" { side == 1 ? followed($0) : step($0) }

function put(text) {
	if (side == 1)
		want[++wants] = text
	else
		have[++haves] = text
}

# ---- Comparison of packets --------------------------------------------------------------------------

# Reads a line of ptdump. After the payload, the line may contain a time, the last address, or the name of a
# type.
function dumped(line,    n, word, name, text, from, offset) {
	if (line ~ /^\[.*(calibrat|updating time|printing time)/ || line ~ /^\[.*failed to determine errata/)
		return # about its clock, not about a packet
	if (line ~ /^\[/) {
		put("error")
		return
	}
	n = split(line, word, /[ \t]+/)
	from = 1
	offset = "-"
	if (word[1] ~ /^[0-9a-f]+$/ && length(word[1]) == 16)
		offset = hexadecimal(word[from++])
	else
		no_offset = 1
	if (word[from] ~ /^[0-9a-f]+$/ && length(word[from]) % 2 == 0)
		from++ # skip the bytes of --raw
	name = word[from]
	text = offset " " name
	if (name == "ptw")
		word[from + 1] = "" # size of the payload in bytes
	n = payload_words(name, word[from + 1], word[from + 2], word[from + 3])
	for (from++; n-- > 0; from++) {
		if (word[from] == "type")
			break
		if (word[from] == "")
			continue
		gsub(/,/, "", word[from])
		text = text " " (word[from] ~ /^[36]:$/ ? "full:" : word[from]) # a full address, of 6 or 8 bytes
	}
	put(text)
}

# Returns the number of words of the payload.
function payload_words(name, first, second, third) {
	if (name ~ /^(tip|tip\.pge|tip\.pgd|fup|tma|mwait)$/)
		return 2
	if (name == "ptw")
		return second ~ /,$/ ? 3 : 2
	if (name == "pwrx")
		return 3
	if (name ~ /^mode/) # none, one or two of these
		return (first ~ /^(cs\.[dl]|if|intx|abrt),?$/) + (second ~ /^(cs\.[dl]|if|intx|abrt),?$/)
	if (name == "exstop")
		return first == "ip"
	if (name == "pwre")
		return first ~ /,$/ ? 2 : 1
	if (name == "pip")
		return first ~ /,$/ ? 2 : 1
	if (name ~ /^(cfe|evd|trig)$/)
		return 9 # up to "type"
	return name ~ /^(tnt|tsc|cbr|mtc|cyc|vmcs|mnt)/ ? 1 : 0
}

# Reads a line of `ktrace hwt -g`.
function packet(line,    word, n, offset, name, text, value) {
	n = split(substr(line, 2), word, /[ \t]+/)
	if (line !~ /^ *[0-9]+  /)
		return
	sub(/^ +/, "", line)
	n = split(line, word, /[ \t]+/)
	offset = word[1] + 0
	name = tolower(word[2])
	if (name == "gap" && line ~ /before the first PSB/)
		return
	if (name == "gap" || name == "damage") {
		put("error")
		return
	}
	value = word[3]
	if (name == "tnt") {
		name = length(value) > 6 ? "tnt.64" : "tnt.8"
		gsub(/T/, "!", value)
		gsub(/N/, ".", value)
		text = value
	} else if (name ~ /^(tip|fup)/) {
		text = address(line, value)
	} else if (name == "mode") {
		name = "mode." (value == "transaction" ? "tsx" : "exec")
		text = line ~ / inside/ ? "intx" : line ~ / aborted/ ? "abrt" : line ~ /64 bits/ ? "cs.l" : line ~ /32 bits/ ? "cs.d" : ""
		if (line ~ /interrupts enabled/)
			text = text (text == "" ? "" : " ") "if"
	} else if (name == "pip") {
		text = word[4] (line ~ / of a guest/ ? " nr" : "")
	} else if (name ~ /^(tsc|cbr|mtc|cyc)$/) {
		text = sprintf("%x", value)
	} else if (name == "tma") {
		text = sprintf("%x %x", word[4], word[6])
	} else if (name ~ /^(vmcs|mnt)$/) {
		text = value
	} else if (name == "exstop") {
		text = value == "with" ? "ip" : ""
	} else if (name == "mwait") {
		text = padded(word[4]) " " padded(word[6])
	} else if (name == "pwre") {
		text = tolower(value) (line ~ /by hardware/ ? " hw" : "")
	} else if (name == "pwrx") {
		sub(/,$/, "", value)
		text = (line ~ /interrupt/ ? "int:" : line ~ /store/ ? "st:" : line ~ /by hardware/ ? "hw:" : "?") " " tolower(value) " " tolower(word[6])
		sub(/,$/, "", text)
	} else if (name == "cfe") {
		text = line ~ /(interrupt|SIPI) [0-9]+/ ? value ": " vector(line) : value
		text = text (line ~ /with address/ ? " ip" : "")
	} else if (name == "evd") {
		text = value ": " word[n]
	} else if (name == "trig") {
		sub(/,$/, "", value)
		text = value (line ~ /with address/ ? " ip" : "") (line ~ /several/ ? " mult" : "")
		if (match(line, /[0-9]+ instructions/))
			text = text sprintf(" icnt: %d", substr(line, RSTART, RLENGTH))
	} else if (name == "ptw") {
		text = value (line ~ /with address/ ? " ip" : "")
	} else {
		for (n = 3; n in word; n++)
			text = text (n > 3 ? " " : "") word[n]
	}
	if (name == "invalid")
		name = "<invalid>"
	put((no_offset ? "-" : offset) " " name (text == "" ? "" : " " text))
}

# Returns an address such as "..1002" in the form of ptdump, with ? for missing digits.
function address(line, value,    digits) {
	if (line ~ /no address/)
		return "0: ????????????????"
	digits = value
	sub(/^\.\./, "", digits)
	if (value ~ /^\.\./)
		return (length(digits) == 4 ? 1 : length(digits) == 8 ? 2 : 4) ": " substr("????????????????", 1, 16 - length(digits)) digits
	return "full: " digits
}

function vector(line) {
	match(line, /(interrupt|SIPI) [0-9]+/)
	line = substr(line, RSTART, RLENGTH)
	return line ~ /^SIPI/ ? sprintf("%x", substr(line, 6)) : substr(line, index(line, " ") + 1)
}

function padded(value) {
	sub(/^0x/, "", value)
	return substr("00000000", 1, 8 - length(value)) value
}

function hexadecimal(text,    n, value) {
	for (n = 1; n <= length(text); n++)
		value = value * 16 + index("0123456789abcdef", substr(text, n, 1)) - 1
	return value + 0
}

# ---- Comparison of the control flow -----------------------------------------------------------------

# Reads a line of ptxed.
function followed(line) {
	sub(/^\? /, "", line) # within a transaction
	if (line ~ /^[0-9a-f]+$/) {
		put("at " plain(line))
		return
	}
	# ktrace has no events for these lines: modes and times are part of its steps, and only ptxed
	# prints blocks and statistics.
	if (line ~ /^insn:/)
		total = substr(line, 6) + 0
	if (line ~ /^\[(exec mode|end of trace|block|cbr)/ || line ~ /tick\]$/ || line ~ /^(insn|blocks|time):/)
		return
	sub(/^\[[0-9a-f]+  /, "[", line)
	gsub(/^\[|\]$/, "", line)
	if (line ~ /^(interrupt [0-9]|interrupts |iret|smi|rsm|sipi|init|vmentry|vmexit|shutdown|uintr|uiret|swintr|syscall|trig)/) {
		newer = 1
		return
	}
	if (line ~ /error/)
		put("error")
	else if (line ~ /^(resumed|enabled)/)
		put("enabled" keys(line))
	else if (line ~ /^pwrx/)
		put(substr(line, 1, index(line, "(") - 2) " " substr(line, index(line, "(") + 1, length(line) - index(line, "(") - 1))
	else
		put(substr(line, 1, index(line ",", ",") - 1) keys(line))
}

# Converts ", ip: ADDRESS, ..." to " ip=ADDRESS...".
function keys(line,    i, n, part, text) {
	n = split(line, part, ", ")
	for (i = 2; i <= n; i++)
		if (part[i] == "nr")
			text = text " nr"
		else
			text = text " " substr(part[i], 1, index(part[i], ":") - 1) "=" plain(substr(part[i], index(part[i], ":") + 2))
	return text
}

function plain(text) {
	sub(/^(0x)?0*/, "", text)
	return text == "" ? "0" : text
}

function field(line, name,    at) {
	if (!match(line, "\"" name "\":\"[^\"]*\""))
		return ""
	return substr(line, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
}

# Reads a line of `ktrace hwt --json`.
function step(line,    type, payload, pc, to) {
	type = field(line, "event_type")
	payload = field(line, "event_payload")
	pc = field(line, "pc")
	pc = pc == "" ? "" : plain(pc)
	if (payload ~ /^[0-9]+ instruction/) {
		put("run " (payload + 0) " " pc " " (match(payload, /at 0x[0-9a-f]+/) ? plain(substr(payload, RSTART + 3, RLENGTH - 3)) : pc))
		return
	}
	if (type == "interrupt") {
		to = payload ~ /^to / ? plain(substr(payload, 4, length(payload) - 3)) : ""
		sub(/ .*/, "", to)
		put("interrupt from=" pc (to == "" ? "" : " to=" to))
	} else if (type == "off" && haves && have[haves] ~ /^interrupt/) {
		# ptxed prints one event for an interrupt whose handler is not traced.
		sub(/^interrupt from/, "disabled at", have[haves])
		sub(/ to=/, " ip=", have[haves])
	} else if (type == "off") {
		put("disabled" (pc == "" ? "" : " ip=" pc))
	} else if (type == "on") {
		put("enabled" (pc == "" ? "" : " ip=" pc))
	} else if (type == "gap") {
		put("error")
	} else if (type == "space") {
		put("paging cr3=" plain(payload) (payload ~ /guest/ ? " nr" : "") (pc == "" ? "" : " ip=" pc))
	} else if (type == "note") {
		note(payload, pc == "" ? "" : " ip=" pc)
	} else {
		put(type (pc == "" ? "" : " ip=" pc))
	}
}

function note(payload, ip,    word) {
	split(payload, word, /[ ,]+/)
	if (payload ~ /^transaction/)
		put((word[2] == "aborted" ? "aborted" : word[2] == "begun" ? "begin transaction" : "committed") ip)
	else if (payload ~ /^ptwrite/)
		put("ptwrite: " plain(word[2]) ip)
	else if (payload ~ /^mwait/)
		put("mwait " plain(word[3]) " " plain(word[5]) ip)
	else if (payload ~ /^power state left/)
		put("pwrx " (payload ~ /interrupt/ ? "int: " : payload ~ /store/ ? "st: " : payload ~ /by hardware/ ? "hw: " : "") tolower(word[4]) " " tolower(word[7]))
	else if (payload ~ /^power state/)
		put("pwre " tolower(word[3]) (payload ~ /by hardware/ ? " hw" : ""))
	else if (payload ~ /^VMCS/)
		put("vmcs base=" plain(word[2]) ip)
	else if (payload ~ /^maintenance/)
		put("mnt: " plain(word[3]))
	else if (payload == "trace stopped")
		put("stopped")
	else if (payload == "execution stopped")
		put("exstop" ip)
	else
		put(payload ip)
}

# ---- Functions that compare two events or runs ------------------------------------------------------

# Returns true if ktrace's event contains all expected words. The event may also contain addresses that the
# other tool did not print. But if the other tool prints an address (`ip`) for the event, ktrace may print
# further addresses only for the events "disabled" and "interrupt".
function agrees(expected, got,    i, n, part) {
	n = split(expected, part, " ")
	for (i = 1; i <= n; i++)
		if (index(" " got " ", " " part[i] " ") == 0)
			return 0
	return bare(expected) == bare(got) && (!ip || expected ~ /^(disabled|interrupt)/ || expected == got)
}

function bare(text) {
	gsub(/ (at|from|to|ip)=[0-9a-f]+/, "", text)
	return text
}

function differ(w, h) {
	printf "expected: %s; got: %s\n", w <= wants ? want[w] : "the end", h <= haves ? have[h] : "the end"
	found = 1
	exit 1
}

# Compares the run of instructions in `text` with the expected instructions from want[w] on. Returns the
# number of instructions in the run, or 0 if they differ.
function run_agrees(w, text,    i, part) {
	split(text, part, " ")
	if (want[w] != "at " part[3] || want[w + part[2] - 1] != "at " part[4])
		return 0
	for (i = 1; i < part[2]; i++)
		if (want[w + i] !~ /^at /)
			return 0
	return part[2]
}

END {
	if (found)
		exit 1
	w = h = 1
	if (what == "flow" && wants == 0 && total) { # --quiet: only the sum is known
		for (; h <= haves; h++)
			if (split(have[h], part, " ") && part[1] == "run")
				total -= part[2]
		if (total != 0)
			printf "instructions expected: %d more\n", total
		exit total != 0
	}
	while (w <= wants || h <= haves) {
		n = 1
		if (w > wants || h > haves)
			differ(w, h)
		if (what == "packets") {
			if (want[w] != have[h])
				differ(w, h)
		} else if (have[h] ~ /^run /) {
			n = run_agrees(w, have[h])
			if (n == 0)
				differ(w, h)
		} else if (want[w] == "error" && have[h] == "error") {
			# For consecutive errors, ktrace reports one gap, and an event when tracing resumes
			# after the gap.
			while (want[w + 1] == "error")
				w++
			if (have[h + 1] ~ /^enabled/ && want[w + 1] !~ /^enabled/)
				h++
		} else if (!agrees(want[w], have[h])) {
			differ(w, h)
		}
		w += n
		h++
	}
	if (newer)
		print "but for events of event trace and triggers"
}
