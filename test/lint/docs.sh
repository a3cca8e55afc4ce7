# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Files that documents name, and files and headings to which they link, exist. A name in capitals means
# many files. Sample outputs name lines that exist, and samples of code are those of the example. The table of
# sources and tests is up to date.
. test/tap.sh

find . -name .git -prune -o -path ./build -prune -o -type f -print | sed 's|^\./||' >"$tmp/files"
pages=$(echo *.md doc/*.md doc/howto/*.md spec/*.md test/README.md kernel/transport/README.md)

printf 'a/b.c\na/bc.h\n' >"$tmp/sample-files"
echo '`b.c` `a/b.c` `a/*.c` `NAME.c` `build/x.c`, but `c.h` `bc.c` `b/*.c` `/a/b.c`' >"$tmp/sample"
equal "a missing file that a document names is found" "c.h bc.c b/*.c /a/b.c" \
	"$(LC_ALL=C awk -f test/lint/docs.awk "$tmp/sample-files" "$tmp/sample" | sed 's/.* //' | paste -sd ' ')"
# shellcheck disable=SC2086
LC_ALL=C awk -f test/lint/docs.awk "$tmp/files" $pages >"$tmp/absent"
for page in $pages; do
	absent=$(sed -n "s|^$page ||p" "$tmp/absent" | paste -sd ' ')
	equal "$page names only files that exist" '' "$absent"
done

# Checks links between documents, and links to headings in documents.
links=$(git ls-files '*.md')
printf '# A `b`, c\n```\n# no\n```\n[x](#a-b-c) [x](#no) [x](y.md) [x](../z) [x](https://a.b)\n' >"$tmp/links.md"
equal "a link without a target is found" "#no y.md ../z" \
	"$(LC_ALL=C awk -f test/lint/links.awk "$tmp/files" "$tmp/links.md" "$tmp/links.md" | sed 's/.* //' | paste -sd ' ')"
# shellcheck disable=SC2086
LC_ALL=C awk -f test/lint/links.awk "$tmp/files" $links $links >"$tmp/broken"
check "every link has a target: $(head -n 3 "$tmp/broken" | paste -sd ,)" test ! -s "$tmp/broken"

# Sample outputs name lines of the demo kernel. A change of the kernel's source moves these lines.
cat >"$tmp/moved.c" <<'..'
/* A comment. */
	spin_lock(&lock);
{
	i++;
..
cat >"$tmp/samples.md" <<'..'
  has waited 1 s for lock a (0x1), at f+0x6 (moved.c:2)
  at f+0x6 (moved.c:1)
  at f+0x6 (moved.c:3)
  taken at f+0x6 (moved.c:4)
  at f+0x6 (moved.c:4), at f+0x6 (absent.c:1)
  at f+0x6 (moved.c:5)
..
echo moved.c >"$tmp/sources"
lint=$PWD/test/lint
equal "a place in a sample output where the source has no code is found" "2 3 4 6" \
	"$(cd "$tmp" && LC_ALL=C awk -f "$lint/places.awk" sources samples.md | sed 's/^[^:]*:\([0-9]*\) .*/\1/' | xargs)"
# shellcheck disable=SC2086
LC_ALL=C awk -f test/lint/places.awk "$tmp/files" $pages man/*.[1-8] >"$tmp/moved"
check "lines of sources in sample outputs are those of the present sources (make docs; manual pages: by hand): $(head -n 5 "$tmp/moved" | paste -sd ,)" \
	test ! -s "$tmp/moved"

# Samples of code are parts of sources: `<!-- output: sed -n ... -->`. embed.sh runs only these commands here.
for page in $(grep -l '^<!-- output: sed -n ' $pages); do
	sed '/^<!-- output: sed -n /!s/^<!-- output: /<!-- other output: /' "$page" >"$tmp/code"
	cp "$tmp/code" "$tmp/new-code"
	sh scripts/embed.sh "$tmp/new-code" 2>"$tmp/embed"
	check "$page: each command for a sample of code succeeds" test ! -s "$tmp/embed"
	same "$page: samples of code are those of the sources (make docs)" "$tmp/code" "$tmp/new-code"
done

sh test/map.sh >"$tmp/map"
same "the table of sources and tests is up to date: make map writes it" test/README.md "$tmp/map"
done_testing
