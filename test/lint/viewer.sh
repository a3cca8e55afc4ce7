# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The files of the page: licence lines, width, size, nothing that runs text of a trace as code or reads from the network.
. test/tap.sh

find viewer test/viewer -name '*.js' -o -name '*.mjs' -o -name '*.css' -o -name '*.html' | LC_ALL=C sort >"$tmp/files"
grep '^viewer/' "$tmp/files" >"$tmp/page"
xargs grep -L 'SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause' <"$tmp/files" >"$tmp/unlicensed" || :
check "every file has its SPDX line: $(head -n 3 "$tmp/unlicensed")" test ! -s "$tmp/unlicensed"

# Lines may be 120 columns wide with tabs of 4.
LC_ALL=C xargs awk '{
	width = 0
	for (i = 1; i <= length($0); i++) {
		letter = substr($0, i, 1)
		if (letter == "\t")
			width += 4 - width % 4
		else if (letter < "\200" || letter > "\277")
			width++
	}
	if (width > 120)
		print FILENAME ":" FNR }' <"$tmp/files" >"$tmp/wide"
check "no line is too wide: $(head -n 3 "$tmp/wide")" test ! -s "$tmp/wide"
xargs wc -l <"$tmp/files" | awk '$2 != "total" && $1 > 400 { print $2 " " $1 }' >"$tmp/long"
check "no file is longer than 400 lines: $(head -n 3 "$tmp/long")" test ! -s "$tmp/long"
check "the page has at most 4220 lines" test "$(xargs cat <"$tmp/page" | wc -l)" -le 4220

# Text of a trace must never be parsed as HTML or as code, and the page must not read from other machines.
xargs grep -nE 'innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|DOMParser|srcdoc|https?:|//[a-z]+\.' \
	<"$tmp/page" >"$tmp/forbidden" || :
check "nothing parses text as HTML or code, or names another machine: $(head -n 3 "$tmp/forbidden")" test ! -s "$tmp/forbidden"
# The script is assembled without lines that begin with "//": a string of several lines must not contain
# such a line.
grep -nE '^[^/]*`[^`]*$' $(grep '\.js$' "$tmp/page") >"$tmp/open" || :
check "no text extends over several lines: $(head -n 3 "$tmp/open")" test ! -s "$tmp/open"

if command -v node >/dev/null; then
	for file in $(grep 'js$' "$tmp/files"); do
		node --check "$file" 2>&1
	done >"$tmp/syntax"
	check "the syntax is correct: $(head -n 3 "$tmp/syntax")" test ! -s "$tmp/syntax"
else
	skip "the syntax is correct" "node is not installed"
fi
viewer/assemble.sh >"$tmp/page.html" 2>"$tmp/err"
check "the page is at most 150 kB without data" test "$(wc -c <"$tmp/page.html")" -le 153600
equal "the page has one line for the data" 1 "$(grep -c '^<!--data-->$' "$tmp/page.html")"
equal "all marks of the template were replaced" "" "$(grep -o '@[a-z]*@' "$tmp/page.html")"
check "the assembled page has all scripts" sh -c "! grep -v '^\$' viewer/files.list | while read -r name; do
	test -f viewer/\$name || echo \$name; done | grep ."
done_testing
