# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Outward form: licence lines, formatting, file length, manual pages.
. test/tap.sh

git ls-files '*.c' '*.h' '*.S' '*.sh' '*.mk' '*.ld' Makefile .ci/run '*.rs' >"$tmp/sources"
# Golden and generated data have no room for a comment.
xargs grep -L 'SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause' <"$tmp/sources" >"$tmp/unlicensed" || :
check "every source file has its SPDX line: $(head -n 3 "$tmp/unlicensed")" test ! -s "$tmp/unlicensed"

grep '\.[ch]$' "$tmp/sources" >"$tmp/c"
if command -v clang-format >/dev/null; then
	xargs clang-format --dry-run 2>&1 <"$tmp/c" | grep -o '^[^:]*\.[ch]:[0-9]*' | sort -u >"$tmp/form" || :
	check "clang-format agrees: $(head -n 3 "$tmp/form")" test ! -s "$tmp/form"
else
	skip "clang-format agrees" "clang-format is not installed"
fi

xargs wc -l <"$tmp/c" | awk '$2 != "total" && $1 > 800 { print $2 " " $1 }' >"$tmp/long"
check "no file is longer than 800 lines: $(head -n 3 "$tmp/long")" test ! -s "$tmp/long"

grep -E '^(host|kernel|include)/' "$tmp/sources" | grep -E '\.[chS]$' | while read -r file; do
	expand "$file" | LC_ALL=C.UTF-8 grep -nE '^.{111}' | sed "s|:.*||; s|^|$file:|"
done >"$tmp/wide" || :
check "no line of host, kernel and include is wider than 110 columns: $(head -n 3 "$tmp/wide")" test ! -s "$tmp/wide"

if command -v mandoc >/dev/null; then
	git ls-files 'man/*' | xargs -r mandoc -T lint -W warning >"$tmp/man" 2>&1 || :
	check "manual pages are clean: $(head -n 3 "$tmp/man")" test ! -s "$tmp/man"
else
	skip "manual pages are clean" "mandoc is not installed"
fi

done_testing
