# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Which rooms include headers of which. Input: names of files, a line "--", then lines "FILE:#include …". Prints "ROOM ROOM FILE"
# for each include from one room into another. A name is looked for as the compilers do, beside the file and in the folders that
# are on their paths; ktrace_port.h and headers that a build makes are found nowhere.
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
