# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Input: the paths of all files, then all Markdown pages twice. Prints the page and the target of each link
# whose file or heading does not exist. The anchor of a heading is formed as on GitHub.
FNR == 1 { block = 0; if (++times[FILENAME] == 1) page++ }

page == 1 {
	there[$0] = 1
	for (path = $0; sub("/[^/]*$", "", path);)
		there[path] = 1
	next
}

/^ *```/ { block = !block; next }
block { next }

times[FILENAME] == 1 {
	if (/^#+ /) {
		name = tolower($0)
		sub(/^#+ /, "", name)
		gsub(/[^a-z0-9_ \200-\377-]/, "", name)
		gsub(/ /, "-", name)
		heading[FILENAME, name] = 1
	}
	next
}

# Returns the path of a link's target. The link is relative to the page that contains it.
function target_of(from, link, parts, count, i, path)
{
	if (link == "")
		return from
	sub("/$", "", link)
	sub("[^/]*$", "", from)
	count = split(from link, parts, "/")
	path = ""
	for (i = 1; i <= count; i++) {
		if (parts[i] == "..") {
			if (path !~ "/")
				path = ""
			else
				sub("/[^/]*$", "", path)
		} else if (parts[i] != "." && parts[i] != "") {
			path = path (path == "" ? "" : "/") parts[i]
		}
	}
	return path
}

{
	line = $0
	gsub(/`[^`]*`/, "", line)
	while (match(line, /\]\([^) ]+\)/)) {
		link = substr(line, RSTART + 2, RLENGTH - 3)
		line = substr(line, RSTART + RLENGTH)
		if (link ~ /^[a-z]+:/)
			continue
		anchor = link ~ /#/ ? substr(link, index(link, "#") + 1) : ""
		file = link
		sub(/#.*/, "", file)
		path = target_of(FILENAME, file)
		if (file != "" && !(path in there))
			print FILENAME, link
		else if (anchor != "" && !((file == "" ? FILENAME : path, anchor) in heading))
			print FILENAME, link
	}
}
