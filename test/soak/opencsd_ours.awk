# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Converts the output of `ktrace hwt --json -o id,pc,event_type,event_payload,space` to the lines that opencsd_theirs.awk describes.
# Lines of unit N are written to the file FOLDER/ours.N.
#
# awk -v folder=DIRECTORY -f opencsd_ours.awk

function field(name,    text) {
	if (!match($0, "\"" name "\":(\"[^\"]*\"|[0-9]+)"))
		return ""
	text = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
	gsub(/"/, "", text)
	return text
}

function hex_of(text) {
	sub(/^0x0*/, "", text)
	return text == "" ? "0" : text
}

{
	type = field("event_type")
	payload = field("event_payload")
	pc = hex_of(field("pc"))
	out = ""
	if (payload ~ /^[0-9]+ instruction/) {
		last = pc
		if (match(payload, /at 0x[0-9a-f]+/))
			last = hex_of(substr(payload, RSTART + 3, RLENGTH - 3))
		out = "range " pc " " last " " (payload + 0) " " type (payload ~ /not taken/ ? ":not" : "") " " hex_of(field("space"))
	} else if (type == "interrupt") {
		out = "exception " pc
	} else if (type == "on") {
		out = $0 ~ /"pc"/ ? "on " pc : "on"
	} else if (type == "off" && $0 ~ /"pc"/) {
		out = "off " pc
	} else if (type == "gap" && payload ~ /no code is known/) {
		out = "unknown " pc
	} else if (type == "gap" && payload !~ /before the first A-Sync/) {
		out = payload ~ /damaged/ ? "lost" : "unread " pc
	}
	if (out != "")
		print out >(folder "/ours." field("id"))
}
