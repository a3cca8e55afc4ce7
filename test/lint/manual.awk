# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Input: pages of the manual, whose names end in a digit, then files help-NAME with the output of --help, each
# after an argument page=PAGE. Prints the page and the option for each option of --help that is not described
# in its page, nor in ktrace(1) or ktrace-show(1) if the page refers to these. Long options in mdoc(7) are "Fl
# -json", "Fl \-\-json" or "Fl Fl json".
FNR == 1 {
	described_here = 0
}

FILENAME ~ /[0-9]$/ {
	if (/^\.Sh DESCRIPTION/)
		described_here = 1
	if (/Xr ktrace 1/)
		refers[FILENAME, "man/ktrace.1"] = 1
	if (/Xr ktrace-show 1/)
		refers[FILENAME, "man/ktrace-show.1"] = 1
	gsub(/Fl Fl /, "Fl -")
	gsub(/Fl \\-\\-/, "Fl -")
	line = described_here ? $0 : ""
	while (match(line, /Fl [^ ]+/)) {
		described[FILENAME, substr(line, RSTART + 3, RLENGTH - 3)] = 1
		line = substr(line, RSTART + 3)
	}
	next
}

function check(option)
{
	sub(/\[.*/, "", option)
	word = substr(option, 2)
	if (!((page, word) in described) && !((page, "man/ktrace.1") in refers && ("man/ktrace.1", word) in described) &&
	    !((page, "man/ktrace-show.1") in refers && ("man/ktrace-show.1", word) in described))
		print page, option
	options[page]++
}

# Lines with options: "  -n, --limit N", "  -n", "      --limit N".
/^  -/ {
	check($1 ~ /,$/ ? substr($1, 1, length($1) - 1) : $1)
	if ($1 ~ /,$/)
		check($2)
}

END {
	for (page in options)
		print "options", page, options[page]
}
