# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# awk -f same_facts.awk OLD NEW: succeeds if both files have the same lines "TRACE JSON". A JSON object of NEW
# may have additional members, and its members may be in a different order.

# Stores the members of the JSON object `text` in member[path]. For example, the path ".args.path" means
# the member "path" of the object "args".
function members(text, member, i, c, depth, path, key, value, quoted) {
	split("", member)
	value = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (quoted) {
			value = value c
			if (c == "\\")
				value = value substr(text, ++i, 1)
			quoted = c != "\""
		} else if (c == "\"") {
			value = value c
			quoted = 1
		} else if (c == "{") {
			path[++depth] = key
			value = ""
		} else if (c == ":" && !list) {
			key = path[depth] "." value
			value = ""
		} else if (!list && (c == "," || c == "}")) {
			if (value != "")
				member[key] = value
			value = ""
			depth -= c == "}"
		} else {
			list += (c == "[") - (c == "]")
			value = value c
		}
	}
}

function differs(old, new, i, key) {
	if (old == new)
		return 0
	if (substr(old, 1, index(old, "{")) != substr(new, 1, index(new, "{")) || !index(old, "{"))
		return 1
	members(substr(old, index(old, "{")), was)
	members(substr(new, index(new, "{")), is)
	for (key in was)
		if (was[key] != is[key])
			return 1
	return 0
}

FNR == NR { old[NR] = $0; count = NR; next }
FNR <= count && differs(old[FNR], $0) { print "was: " old[FNR]; print "is:  " $0; bad = 1; exit }
END {
	if (!bad && FNR != count)
		print "was " count + 0 " lines, is " FNR
	exit bad || FNR != count || count == 0
}
