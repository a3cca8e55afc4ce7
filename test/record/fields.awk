# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# fields.awk STRACE KDUMP: compares the output of `strace -f -v -y` and of `kdump --oneline` for the same program. Prints each argument for
# which strace, in successful calls, shows what it points to, and kdump always shows an address. The path of a descriptor in a struct or a
# list is compared separately. With counts=1, prints calls for which kdump shows a number of arguments that strace never shows.

# has_path TEXT: returns true if TEXT has a descriptor with its path, outside of quotation marks.
function has_path(text) {
	gsub(/"([^"\\]|\\.)*"/, "", text)
	return text ~ /[0-9]<[^<]/
}

# form TEXT: returns how an argument is shown: as a path, content, an address or a value.
function form(text) {
	if (text ~ /^-?[A-Za-z0-9_]+<[^<]/) return "path"
	if (text ~ /^~?[[{]/) return has_path(text) ? "content with a path" : "content"
	if (text ~ /^@?"/) return "content"
	return text ~ /^0x[0-9a-f]+$/ ? "address" : "value"
}

# take TEXT: splits the text after a call's opening parenthesis into argument[1] to argument[n] and `result`. Returns n.
function take(text,    at, c, depth, quoted, n) {
	n = 1
	argument[1] = result = ""
	for (at = 1; at <= length(text); at++) {
		c = substr(text, at, 1)
		if (quoted && c == "\\") {
			argument[n] = argument[n] c
			c = substr(text, ++at, 1)
		} else if (c == "\"") {
			quoted = !quoted
		} else if (!quoted && index("([{", c)) {
			depth++
		} else if (!quoted && depth == 0 && c == ")") {
			result = substr(text, at + 1)
			break
		} else if (!quoted && index(")]}", c)) {
			depth--
		} else if (!quoted && depth == 0 && c == ",") {
			argument[++n] = ""
			at += substr(text, at + 1, 1) == " "
			continue
		}
		argument[n] = argument[n] c
	}
	sub(/^ *= */, "", result)
	return argument[1] == "" ? 0 : n
}

{
	ours = FILENAME == ARGV[2]
	thread = $1
	line = $0
	sub(/^[0-9:]+ +/, "", line)
	if (line ~ /<unfinished \.\.\.>/) {
		sub(/ *<unfinished \.\.\.>.*/, "", line)
		begun[ours, thread] = line
		next
	}
	if (line ~ /^<\.\.\. /) {
		sub(/^<\.\.\. [^>]*resumed>/, "", line)
		line = begun[ours, thread] line
	}
	if (line ~ /^--- SIG[A-Z0-9]+ \{.*\} ---/) {
		match(line, /si_code=[A-Z0-9_]+/)
		signal = line
		sub(/ \{.*/, " " substr(line, RSTART, RLENGTH), signal)
		sub(/^--- /, "", signal)
		if (ours) called[signal]++
		while (match(line, /si_[a-z]+=/)) {
			field = substr(line, RSTART, RLENGTH - 1)
			line = substr(line, RSTART + RLENGTH)
			seen[ours, signal, field, "field"]++
			if (!ours) {
				shown[signal, field] = "field"
				example[signal, field] = field
			}
		}
		next
	}
	if (line !~ /^[a-z0-9_]+\(/) next
	call = line
	sub(/\(.*/, "", call)
	sub(/^[a-z0-9_]+\(/, "", line)
	count = take(line)
	if (ours && call == "_llseek") { # the offset is two words, which strace shows as one number
		count--
		for (n = 2; n <= count; n++) argument[n] = argument[n + 1]
	}
	if (counts && call != "clone" && call != "exit_group") {
		key = call == "futex" || call == "fcntl" || call == "ioctl" ? argument[2] : ""
		sub(/\|FUTEX_PRIVATE_FLAG/, "_PRIVATE", key)
		known[ours, call, key] = 1
		counted[ours, call, key, count] = line
	}
	if (result ~ /^(-1|\?)/) next
	if (ours) called[call]++
	else often[call]++
	for (n = 1; n <= count; n++) {
		seen[ours, call, n, form(argument[n])]++
		if (form(argument[n]) ~ /path$/) seen[ours, call, n, "content"]++
		if (!ours && form(argument[n]) != "value" && form(argument[n]) != "address") {
			shown[call, n] = form(argument[n])
			example[call, n] = substr(argument[n], 1, 60)
		}
	}
	if (result ~ /^[0-9]+</ && result !~ /^[0-9]+ </) {
		seen[ours, call, 0, "path"]++
		if (!ours) {
			shown[call, 0] = "path"
			example[call, 0] = result
		}
	}
}

END {
	if (counts) {
		for (key in counted) {
			split(key, part, SUBSEP)
			if (part[1] && (0, part[2], part[3]) in known && !((0, part[2], part[3], part[4]) in counted))
				print part[2], part[3], part[4] " arguments, kdump: " counted[key]
		}
		exit
	}
	for (key in shown) {
		split(key, part, SUBSEP)
		if (called[part[1]] && !seen[1, part[1], part[2], shown[key]])
			print part[1], part[2] == 0 ? "result" : "argument " part[2], "strace: " example[key]
	}
}
