# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Suggests names for an unknown name. Prints at most three, most similar first, separated by ", ":
#
#	printf '%s\n' NAME… | awk -v wanted=NAME [-v prefix=TEXT] -f scripts/suggest.awk
#
# Names are compared without the prefix. The unknown name may lack it.
function least(a, b) { return a < b ? a : b }

# Returns the edit distance of two words: the number of letters to insert, remove or replace.
function distance(left, right, row, i, n, diagonal, above) {
	for (i = 0; i <= length(right); i++)
		row[i] = i
	for (n = 1; n <= length(left); n++) {
		diagonal = row[0]
		row[0] = n
		for (i = 1; i <= length(right); i++) {
			above = row[i]
			row[i] = least(least(above, row[i - 1]) + 1, diagonal + (substr(left, n, 1) != substr(right, i, 1)))
			diagonal = above
		}
	}
	return row[length(right)]
}

function bare(name) { return index(name, prefix) == 1 ? substr(name, length(prefix) + 1) : name }

BEGIN { wanted = bare(wanted) }

{
	apart = distance(wanted, bare($0))
	if (apart <= (length(wanted) + 2) / 3)
		at[apart] = at[apart] (at[apart] == "" ? "" : "\n") $0
}

END {
	for (apart = 0; apart <= length(wanted); apart++) {
		count = split(at[apart], names, "\n")
		for (n = 1; n <= count && printed < 3; n++)
			printf "%s%s", printed++ ? ", " : "", names[n]
	}
	if (printed)
		print ""
}
