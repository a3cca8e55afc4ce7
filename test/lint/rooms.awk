# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Input: paths of files, a line "--", then lines "FILE:#include …". Prints "FROM TO FILE" for each include of
# a header in another room. Looks for a header as compilers do: in the file's directory and in the directories of
# their search path. Ignores headers that it does not find: ktrace_port.h and headers that a build generates.
function room(path, part)
{
	split(path, part, "/")
	return part[1] "/" part[2]
}

$0 == "--" { reading = 1; next }
!reading { exists[$0] = 1; next }
{
	file = name = $0
	sub(/:.*/, "", file)
	sub(/^[^:]*:[^<"]*[<"]/, "", name)
	sub(/[>"].*/, "", name)
	folder = file
	sub(/[^\/]*$/, "", folder)
	found = ""
	n = split(folder " include/ include/user/ include/compat/ host/ ./", from, " ")
	for (i = 1; i <= n && found == ""; i++) {
		path = from[i] name
		sub(/^\.\//, "", path)
		while (sub(/[^\/]+\/\.\.\//, "", path))
			;
		if (path in exists)
			found = path
	}
	if (found != "" && room(found) != room(file))
		print room(file), room(found), file
}
