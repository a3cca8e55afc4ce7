# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Reads the output of strace -f -T, and computes the table that strace -c prints: calls, errors and time for
# each call. A call may be on one line, or on two lines, "unfinished" and "resumed". With -v all=1 it also
# splits the arguments, as a parser for other programs does: a string or a struct is one argument, even if it
# contains commas.
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
	# The result is after the last ") = ": an earlier one may be part of a string argument.
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
