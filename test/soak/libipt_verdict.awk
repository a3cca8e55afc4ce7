# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Counts the results of test/soak/libipt.sh: awk -f libipt_verdict.awk KNOWN RESULTS
# Prints lines "count ...", "differs ..." for known differences, "wrong ..." for others, and "stale ..." for unused reasons.
#
# Each line of KNOWN begins with the name of a stream, in which * matches any text.

FILENAME == ARGV[1] {
	if ($0 ~ /^#/ || NF < 3)
		next
	pattern = $1
	gsub(/[.+]/, "\\\\&", pattern)
	gsub(/\*/, ".*", pattern)
	patterns[++knowns] = "^" pattern "$"
	kinds[knowns] = $2
	said[knowns] = $1 " " $2
	$1 = $2 = ""
	sub(/^ +/, "")
	reasons[knowns] = $0
	next
}
$2 == "file" { next }
{
	streams[$1]
	total[$2]++
}
$3 == "same" {
	same[$2]++
	if (NF > 3)
		partly[$2]++
	next
}
{
	for (n = 1; n <= knowns; n++)
		if (kinds[n] == $2 && $1 ~ patterns[n])
			break
	if (n > knowns) {
		print "wrong " $0
		next
	}
	used[n]++
	differing[$2 ": " reasons[n]]++
}
END {
	print "count streams: " length(streams)
	for (kind in total)
		printf "count %s: %d compared, %d same%s, %d differ\n", kind, total[kind], same[kind],
			partly[kind] ? " (" partly[kind] " but for events of event trace and triggers)" : "", total[kind] - same[kind]
	for (reason in differing)
		printf "differs %d %s\n", differing[reason], reason | "sort"
	close("sort")
	for (n = 1; n <= knowns; n++)
		if (!used[n])
			print "stale " said[n]
}
