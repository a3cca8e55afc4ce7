# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Plain English: comments, messages, documents and manual pages do not contain the phrases of words.list.
# words.allow has the exceptions. `sh test/lint/words.sh list` prints all lines with such a phrase and what to
# write instead.
. test/tap.sh

# prose FILE…: prints lines in the form "file:line:text". Prints only those lines of a source that contain a
# comment or a string, and all lines of a document or manual page.
prose() {
	awk '
	function place() { print FILENAME ":" FNR ":" $0 }
	FNR == 1 { comment = 0; page = FILENAME ~ /\.(md|[1-8])$/ }
	page { place(); next }
	FILENAME ~ /\.(sh|mk|awk|list|rules)$|Makefile$/ { if (/#|"|\047/) place(); next }
	comment || /\/\*|\/\/|"/ { place() }
	/\/\*/ { comment = 1 }
	/\*\// { comment = 0 }
	' "$@"
}

# hits: reads the output of prose. Prints each line that has a phrase of words.list, unless words.allow allows
# it.
hits() {
	grep -v '^#' test/lint/words.list | cut -f 1 >"$tmp/patterns"
	grep -v '^#' test/lint/words.allow >"$tmp/allow"
	: >"$tmp/used"
	grep -E -f "$tmp/patterns" | awk -F '\t' -v used="$tmp/used" '
	FILENAME != "-" { file[++rules] = "^(" $1 "):"; text[rules] = $2; next }
	{
		colon = index($0, ":")
		for (n = 1; n <= rules; n++)
			if ($0 ~ file[n] && substr($0, colon + 1) ~ text[n]) { count[n]++; next }
		print
	}
	END { for (n = 1; n <= rules; n++) print count[n] + 0 >used }' "$tmp/allow" -
}

git ls-files '*.c' '*.h' '*.cc' '*.S' '*.rs' '*.sh' '*.mk' '*.awk' '*.rules' '*.md' 'man/*' Makefile |
	grep -vE '^test/golden/.*/|^test/lint/words' >"$tmp/files"
if [ "${1-}" = list ]; then
	# shellcheck disable=SC2046
	prose $(cat "$tmp/files") | hits
	exit 0
fi

printf '/*\n * Whoever holds it.\n */\nint whoever;\n/* the lock is held */\nputs("is told");\n' >"$tmp/sample.c"
equal "phrases are found in comments and strings, and nowhere else" "2 6" \
	"$(prose "$tmp/sample.c" | sed 's/Whoever/whoever/' | hits | sed "s|$tmp/sample.c:\([0-9]*\):.*|\1|" | xargs)"
# shellcheck disable=SC2046
prose $(cat "$tmp/files") | hits >"$tmp/hits"
check "no riddles (what to write: words.list): $(head -n 5 "$tmp/hits")" test ! -s "$tmp/hits"
equal "each exception of test/lint/words.allow is needed: number of rules without use" 0 "$(grep -cx 0 "$tmp/used")"
done_testing
