#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Prints counts of the sources and the aim for each. Counts only files that git tracks: add new files to git
# first.
set -u
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ktrace-figures.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# figure VALUE AIM WHAT: prints a line with the value, its target, and a description of the value.
figure() { printf '%9s  %9s  %s\n' "$1" "$2" "$3"; }

# sources DIRECTORY…: prints the C, C++, header and assembler files in the directories.
sources() { git ls-files -- "$@" | grep -E '\.(c|h|S|cc)$'; }

# lines PATH…: prints the total number of lines of the tracked files at these paths.
lines() { git ls-files -z -- "$@" | xargs -0 cat | wc -l; }

# Writes all quoted includes, one per line: the including file, and the included name.
sources host kernel include | xargs grep -H '^[ 	]*#[ 	]*include[ 	]*"' | sed 's/^\([^:]*\):.*"\(.*\)".*/\1 \2/' >"$tmp/includes"

# Prints the headers that at most one file includes. The source with the same name as the header is not
# counted.
lone_headers() {
	sources host kernel | grep '\.h$' | while read -r header; do
		base=${header##*/} own=${header%.h}.c
		awk -v base="$base" -v own="$own" -v header="$header" '{
			n = split($2, part, "/")
			if (part[n] == base && $1 != own && $1 != header && index(header, n > 1 ? part[n - 1] "/" base : base))
				seen[$1] = 1
		} END { for (file in seen) count++; exit count > 1 }' "$tmp/includes" && echo "$header"
	done
}

# Prints the number of bytes that the declaration and one use of an event add to the preprocessed text of a
# source that already includes the headers.
event_bytes() {
	printf '#include "ktrace/ktrace.h"\n' >"$tmp/without.c"
	{
		cat "$tmp/without.c"
		echo 'KTRACE_EVENT(sched, switch, "%u -> %u", (uint32_t, prev), (uint32_t, next));'
		echo 'void f(void); void f(void) { KTRACE(sched, switch, 1, 2); }'
	} >"$tmp/with.c"
	for file in with without; do # from standard input: the name of the file is text of the event, too
		gcc -std=c11 -E -P -ffreestanding -Iinclude -Ikernel/arch/x86_64 -x c - <"$tmp/$file.c" | wc -c
	done | xargs | awk '{ print $1 - $2 }'
}

# Prints functions of more than 60 lines. This relies on clang-format, which puts the outer braces of a
# function into the first column.
long_functions() {
	sources host kernel include | grep '\.[ch]$' | xargs awk 'FNR == 1 { begun = 0 } /^\{/ { begun = FNR }
		/^\}/ { if (begun && FNR - begun - 1 > 60) print FILENAME ":" begun; begun = 0 }'
}

# Counts the cycles of headers that include each other. Searches for an included file in the directory of the
# including file, then in include/ and host/.
cycles() {
	while read -r from name; do
		for place in "${from%/*}/$name" "include/$name" "host/$name"; do
			[ -f "$place" ] && { echo "$from $(realpath --relative-to=. "$place")"; break; }
		done
	done <"$tmp/includes" | grep '\.h .*\.h$' | tsort 2>&1 >"$tmp/sorted" | grep -c 'input contains a loop'
}

echo '    today        aim  what'
figure "$(git ls-files host | wc -l)" 420 'files below host/'
figure "$(git ls-files kernel include | wc -l)" 130 'files below kernel/ and include/'
figure "$(git ls-files '*.mk' | wc -l)" 30 'makefile fragments (*.mk)'
figure "$(lone_headers | wc -l)" 25 'headers of host/ and kernel/ that at most one file includes, apart from the source of the same name'
figure "$(git ls-files kernel | grep -E '\.(c|S)$' | sed 's|.*/||; s/\.[cS]$//' | sort | uniq -d | wc -l)" 0 \
	'base names that two sources below kernel/ have'
figure "$(lines host kernel include bindings bench scripts examples)" 95000 \
	'lines of host, kernel, include, bindings, bench, scripts and examples'
figure "$(event_bytes)" 4096 'bytes of preprocessed text for an event of two fields, declared and used once'
figure "$(sources . | xargs wc -l | awk '$2 != "total" && $1 > 600' | wc -l)" 0 'sources of more than 600 lines'
figure "$(sources host kernel include | xargs expand | LC_ALL=C.UTF-8 grep -cE '^.{111}')" 0 \
	'lines of more than 110 columns below host/, kernel/ and include/'
figure "$(long_functions | wc -l)" 0 'functions of more than 60 lines there'
figure "$(awk '$2 ~ /\.c$/' "$tmp/includes" | wc -l)" 0 'sources that are included there'
figure "$(cycles)" 0 'include cycles there'
