# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Files that documents name are there; a name in capitals stands for many files. The table of sources and tests is up to date.
. test/tap.sh

find . -name .git -prune -o -path ./build -prune -o -type f -print | sed 's|^\./||' >"$tmp/files"
sed 's|.*/||' "$tmp/files" | sort -u >"$tmp/names"
for page in README.md doc/*.md spec/*.md test/README.md kernel/transport/README.md; do
	grep -oE '`[A-Za-z0-9_./*-]+\.(c|h|mk|sh|awk|md|S)`' "$page" | tr -d '`' | grep -v '[A-Z][A-Z]\|^build/\|^\*' | sort -u >"$tmp/named" || :
	while read -r name; do
		case $name in
		*'*'*) grep -qE "^$(printf '%s' "$name" | sed 's/[.]/\\./g; s/\*/[^\/]*/g')\$" "$tmp/files" ;;
		*/*) grep -qxE "(.*/)?$(printf '%s' "$name" | sed 's/[.]/\\./g')" "$tmp/files" ;;
		*) grep -qxF "$name" "$tmp/names" ;;
		esac || echo "$name"
	done <"$tmp/named" >"$tmp/absent"
	check "$page names files that are there: $(paste -sd ' ' "$tmp/absent")" test ! -s "$tmp/absent"
done

sh test/map.sh >"$tmp/map"
same "the table of sources and tests is up to date: make map writes it" test/README.md "$tmp/map"
done_testing
