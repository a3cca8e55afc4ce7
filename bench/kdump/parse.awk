# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What strace -c would have said, out of the text of strace -f -T: calls, errors and time by call. Reads a call in one line,
# and one in two, "unfinished" and "resumed". With -v all=1 it takes arguments apart, too, as a parser does that others build
# on: strings and structs are one argument, whatever commas they hold.
function take_arguments(rest, n) {
	for (n = 0; rest != ""; n++) {
		if (!match(rest, /^"([^"\\]|\\.)*"(\.\.\.)?/) && !match(rest, /^\{[^{}]*\}/))
			match(rest, /^[^,]*/)
		argument[n] = substr(rest, 1, RLENGTH)
		rest = substr(rest, RLENGTH + 3)
	}
	return n
}
{
	at = index($0, "<... ")
	if (at > 0 && at < 24) {
		call = substr($0, at + 5)
		call = substr(call, 1, index(call, " ") - 1)
		at = index($0, "resumed>") + 7
	} else {
		at = index($0, "(")
		if (at == 0)
			next
		call = substr($0, 1, at - 1)
		sub(/^.* /, "", call)
		calls[call]++
	}
	if ($0 ~ /<unfinished \.\.\.>$/)
		next
	# The result stands behind the last ") = ", since strings may hold one, too.
	if (!match($0, /\) += [^"]*$/))
		next
	result = substr($0, RSTART)
	if (all)
		arguments += take_arguments(substr($0, at + 1, RSTART - at - 1))
	sub(/^\) += /, "", result)
	if (result ~ /^-1 E/)
		errors[call]++
	if (match(result, /<[0-9.]+>$/))
		seconds[call] += substr(result, RSTART + 1, RLENGTH - 2)
}
END {
	for (call in calls)
		printf "%s %d %d %.6f\n", call, calls[call], errors[call], seconds[call]
}
