# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Input: pages of the manual, whose names end in a digit, then files help-NAME with the output of --help, each
# after an argument page=PAGE. Prints the page and each section that it lacks, and each exit status that
# --help names and its EXIT STATUS does not. EXAMPLES without a display counts as missing. --help names exit
# statuses from "status:" to the end of that paragraph.
function names_of(text, words, count, i, found)
{
	found = ""
	count = split(text, words, /[^0-9A-Za-z+]+/)
	for (i = 1; i <= count; i++)
		if (words[i] ~ /^[0-9]+$/)
			found = found " " words[i]
	return found
}

FNR == 1 {
	section = ""
	statuses = 0
}

FILENAME ~ /[0-9]$/ {
	if (FNR == 1)
		pages[++page_count] = FILENAME
	if (/^\.Sh /)
		section = substr($0, 5)
	if (section != "EXAMPLES" || /^\.(Bd|Dl)/)
		has[FILENAME, section] = 1
	if (section == "EXIT STATUS" && !/^\.Xr/) {
		count = split(names_of($0), number, " ")
		for (i = 1; i <= count; i++)
			documented[FILENAME, number[i]] = 1
	}
	next
}

{
	line = $0
	if (match(line, /[Ss]tatus:/)) {
		statuses = 1
		line = substr(line, RSTART + RLENGTH)
	}
	if (line == "")
		statuses = 0
	if (!statuses)
		next
	count = split(names_of(line), number, " ")
	for (i = 1; i <= count; i++)
		if (!((page, number[i]) in documented))
			print page, "status " number[i]
}

END {
	for (n = 1; n <= page_count; n++) {
		wanted = "NAME,SYNOPSIS,DESCRIPTION,EXAMPLES,SEE ALSO"
		if (pages[n] ~ /[18]$/)
			wanted = wanted ",EXIT STATUS"
		if (pages[n] ~ /2$/)
			wanted = wanted ",RETURN VALUES"
		if (pages[n] ~ /[24]$/)
			wanted = wanted ",ERRORS"
		count = split(wanted, sections, ",")
		for (i = 1; i <= count; i++)
			if (!((pages[n], sections[i]) in has))
				print pages[n], sections[i]
	}
}
