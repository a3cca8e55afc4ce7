# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Finds which tests call functions of which sources. Input: sources of host/ and kernel/, tests, and scripts.
# Prints a row of a table for each source: the unit tests that name one of its functions; for a subcommand,
# the scripts that run it; otherwise the sources through which tests reach it.
function append(list, name)
{
	return index(", " list ",", ", " name ",") ? list : list == "" ? name : list ", " name
}

# Returns the first `most` names of a list, followed by the number of the other names.
function first(list, most, part, n, i, text)
{
	n = split(list, part, ", ")
	for (i = 1; i <= n && i <= most; i++)
		text = text (i > 1 ? ", " : "") part[i]
	return n > most ? text " and " n - most " more" : text
}

# Returns the line of C without its comments, and strings as "". `in_comment` is kept from line to line.
function code_of(line, code, at)
{
	if (!in_comment)
		gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	for (code = ""; line != ""; line = substr(line, at + 2)) {
		at = index(line, in_comment ? "*/" : "/*")
		if (!in_comment)
			code = code (at ? substr(line, 1, at - 1) : line)
		if (!at)
			break
		in_comment = !in_comment
	}
	return code
}

FNR == 1 {
	in_comment = 0
	is_source = FILENAME ~ /^(host|kernel)\//
	is_unit = FILENAME ~ /^test\/unit\//
	if (is_source)
		source[++sources] = FILENAME
}

# The definition of an exported function begins in the first column, with its type.
is_source && /^[a-z][A-Za-z0-9_ ]*[ *][a-z][a-z0-9_]*\(/ && !/^(static|typedef|extern|return|else)/ {
	name = $0
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	defined[name] = FILENAME
}

{
	line = FILENAME ~ /\.c$/ ? code_of($0) : $0
	while (match(line, /[a-z_][a-z0-9_]*\(/)) {
		name = substr(line, RSTART, RLENGTH - 1)
		line = substr(line, RSTART + RLENGTH)
		if (!((FILENAME, name) in seen)) {
			seen[FILENAME, name] = 1
			uses[++count] = FILENAME " " name
		}
	}
}

# In scripts, a command is "$ktrace" show, build/bin/ktrace show or ktrace show.
!is_source && !is_unit {
	line = $0
	while (match(line, /(ktrace"?|\$KTRACE"?) [a-z-]+/)) {
		name = substr(line, RSTART, RLENGTH)
		sub(/.* /, "", name)
		gsub(/-/, "_", name)
		run["host/cmd/" name ".c"] = append(run["host/cmd/" name ".c"], short(FILENAME))
		line = substr(line, RSTART + RLENGTH)
	}
}

function short(path)
{
	sub(/^test\//, "", path)
	return path
}

END {
	for (i = 1; i <= count; i++) {
		split(uses[i], part, " ")
		if (!(part[2] in defined) || defined[part[2]] == part[1])
			continue
		if (part[1] ~ /^test\/unit\/support\//)
			helper[defined[part[2]]] = append(helper[defined[part[2]]], short(part[1]))
		else if (part[1] ~ /^test\/unit\//)
			called[defined[part[2]]] = append(called[defined[part[2]]], short(part[1]))
		else if (part[1] ~ /^(host|kernel)\//)
			through[defined[part[2]]] = append(through[defined[part[2]]], part[1])
	}
	for (i = 1; i <= sources; i++) {
		path = source[i]
		text = called[path] != "" ? first(called[path], 6) : run[path] != "" ? first(run[path], 6) : \
			helper[path] != "" ? first(helper[path], 3) : through[path] != "" ? "through " first(through[path], 3) : "through its room"
		print "| " path " | " text " |"
	}
}
