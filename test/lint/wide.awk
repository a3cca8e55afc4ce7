# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints FILE:LINE of each line that is wider than 110 columns. A tab extends to the next multiple of 8
# columns; a character in UTF-8 counts as one column. Run with LC_ALL=C.
{
	if (/[\200-\277]/)
		gsub(/[\200-\277]/, "")
	while (at = index($0, "\t"))
		$0 = substr($0, 1, at - 1) sprintf("%" (8 - (at - 1) % 8) "s", "") substr($0, at + 1)
	if (length($0) > 110)
		print FILENAME ":" FNR
}
