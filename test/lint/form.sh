# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Outward form: licence lines, formatting, file length, manual pages.
. test/tap.sh

git ls-files '*.c' '*.h' '*.S' '*.sh' '*.mk' '*.ld' Makefile .ci/run '*.rs' >"$tmp/sources"
# The list leaves out golden files and generated data, because they cannot contain a comment.
xargs grep -L 'SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause' <"$tmp/sources" >"$tmp/unlicensed" || :
check "every source file has its SPDX line: $(head -n 3 "$tmp/unlicensed")" test ! -s "$tmp/unlicensed"

grep '\.[ch]$' "$tmp/sources" >"$tmp/c"
# The sources are formatted by version 14. Other versions format some macros and initializers differently.
version=$(clang-format --version 2>/dev/null | sed 's/.*version \([0-9]*\).*/\1/')
if [ "$version" = 14 ]; then
	xargs clang-format --dry-run 2>&1 <"$tmp/c" | grep -o '^[^:]*\.[ch]:[0-9]*' | sort -u >"$tmp/form" || :
	check "clang-format agrees: $(head -n 3 "$tmp/form")" test ! -s "$tmp/form"
else
	skip "clang-format agrees" "clang-format 14 is not installed${version:+, only version $version}"
fi

xargs wc -l <"$tmp/c" | awk '$2 != "total" && $1 > 600 { print $2 " " $1 }' >"$tmp/long"
check "no file is longer than 600 lines: $(head -n 3 "$tmp/long")" test ! -s "$tmp/long"

printf '%0110d\n%0111d\n\t%0102d\n1234567\t%0102d\n\t%0103d\n%0109d\303\244\n%0110d\303\244\n' 0 0 0 0 0 0 0 >"$tmp/sample"
equal "lines that are too wide are found" "2 5 7" \
	"$(LC_ALL=C awk -f test/lint/wide.awk "$tmp/sample" | sed 's/.*://' | xargs)"
grep -E '^(host|kernel|include)/' "$tmp/sources" | grep -E '\.[chS]$' | LC_ALL=C xargs awk -f test/lint/wide.awk >"$tmp/wide"
check "no line of host, kernel and include is wider than 110 columns: $(head -n 3 "$tmp/wide")" test ! -s "$tmp/wide"

if command -v mandoc >/dev/null; then
	git ls-files 'man/*' | xargs -r mandoc -T lint -W warning >"$tmp/man" 2>&1 || :
	check "manual pages are clean: $(head -n 3 "$tmp/man")" test ! -s "$tmp/man"
else
	skip "manual pages are clean" "mandoc is not installed"
fi

done_testing
