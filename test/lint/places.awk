# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Input: the paths of all files, then documents. Prints each place of the form (FILE:LINE) in a sample output
# for which this line of the file contains no code. If the sample reports where a lock was taken or waited
# for, this line must contain "lock". Places in files that are not in the list are not checked.
FNR == NR {
	there[$0] = 1
	next
}

# Returns line `number` of a file, or "" if the file has fewer lines.
function line_of(file, number, text, count)
{
	if (!(file in lines)) {
		count = 0
		while ((getline text <file) > 0)
			source[file, ++count] = text
		close(file)
		lines[file] = count
	}
	return number <= lines[file] ? source[file, number] : ""
}

match($0, /\([a-z][A-Za-z0-9_.\/]*\.(c|h|S):[0-9]+\)/) {
	place = substr($0, RSTART + 1, RLENGTH - 2)
	file = number = place
	sub(/:.*/, "", file)
	sub(/.*:/, "", number)
	if (!(file in there))
		next
	text = line_of(file, number + 0)
	if (text !~ /[A-Za-z]/ || text ~ /^[ \t]*(\/\*|\*)/ || (/ for lock |taken at /  && text !~ /lock/))
		print FILENAME ":" FNR, place
}
