# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Input: the paths of all files, then documents. Prints the document and the name for each file that a
# document names and that does not exist. A name may be the end of a path. * matches anything between two
# slashes. Names in capitals mean many files and are not checked.
FNR == NR {
	path[++paths] = $0
	for (end = $0; ; end = substr(end, at + 1)) {
		there[end] = 1
		at = index(end, "/")
		if (!at)
			break
	}
	next
}

function is_there(name, i)
{
	if (name !~ /\*/)
		return name in there
	gsub(/\./, "[.]", name)
	gsub(/\*/, "[^/]*", name)
	for (i = 1; i <= paths; i++)
		if (path[i] ~ "^" name "$")
			return 1
	return 0
}

{
	line = $0
	while (match(line, /`[A-Za-z0-9_.\/*-]+\.(c|h|mk|sh|awk|md|S)`/)) {
		name = substr(line, RSTART + 1, RLENGTH - 2)
		line = substr(line, RSTART + RLENGTH)
		if (name !~ /[A-Z][A-Z]|^build\/|^\*/ && !((FILENAME, name) in seen) && !is_there(name))
			print FILENAME, name
		seen[FILENAME, name] = 1
	}
}
