# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What strace -c would have said, out of the text of strace -f -T: calls, errors and time by call. Reads a call in one line,
# and one in two, "unfinished" and "resumed".
{
	who = $1
	at = index($0, "<... ")
	if (at > 0 && at < 24) {
		call = substr($0, at + 5)
		call = substr(call, 1, index(call, " ") - 1)
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
	rest = substr($0, RSTART)
	sub(/^\) += /, "", rest)
	if (rest ~ /^-1 E/)
		errors[call]++
	if (match(rest, /<[0-9.]+>$/))
		seconds[call] += substr(rest, RSTART + 1, RLENGTH - 2)
}
END {
	for (call in calls)
		printf "%s %d %d %.6f\n", call, calls[call], errors[call], seconds[call]
}
