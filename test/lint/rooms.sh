# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The arrows between rooms in doc/architecture.md match the includes of the sources.
. test/tap.sh

{
	find include kernel host -type f | sort
	echo --
	find include kernel host -name '*.[chS]' | sort | xargs grep -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'
} | awk -f test/lint/rooms.awk | sort >"$tmp/includes"
cut -d' ' -f 1,2 "$tmp/includes" | sort -u >"$tmp/actual"
sed -n '/^```arrows$/,/^```$/p' doc/architecture.md | grep / | awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort >"$tmp/drawn"

for room in $(find include kernel host -mindepth 1 -maxdepth 1 -type d | sort); do
	for arrow in $(grep "^$room " "$tmp/actual" | cut -d' ' -f 2); do
		check "doc/architecture.md has the arrow from $room to $arrow, included by $(grep "^$room $arrow " "$tmp/includes" | head -n 1 | cut -d' ' -f 3)" \
			grep -qx "$room $arrow" "$tmp/drawn"
	done
done
check "doc/architecture.md has no arrow without an include: $(comm -13 "$tmp/actual" "$tmp/drawn" | paste -sd ';')" \
	test -z "$(comm -13 "$tmp/actual" "$tmp/drawn")"
sed -n '/^## Rooms/,/^## Arrows/p' doc/architecture.md >"$tmp/rooms"
for room in $(find include kernel host -mindepth 1 -maxdepth 1 -type d | sort); do
	check "the table of rooms has $room" grep -qF "\`$room\`" "$tmp/rooms"
done

# customer DIRECTORY PREFIX…: checks that sources in the directory include only headers whose paths begin with these
# prefixes: public headers of ktrace, and headers of the directory itself.
customer() {
	folder=$1
	shift
	find "$folder" -name '*.[chS]' | sort | xargs grep -hE '^[[:space:]]*#[[:space:]]*include[[:space:]]*".*/' | sed 's/[^"]*"\(.*\)".*/\1/' >"$tmp/seen"
	for prefix; do
		grep -v "^$prefix" "$tmp/seen" >"$tmp/rest" || :
		mv "$tmp/rest" "$tmp/seen"
	done
	check "$folder includes only public headers of ktrace: $(head -n 1 "$tmp/seen")" test ! -s "$tmp/seen"
}
customer demo ktrace/ ktrx/ net/ work/ bug/ devicetree/
customer examples ktrace/ ktrx/

# Only the sources in the directories for architectures may test an architecture's macro by #if.
find include kernel host -name '*.[ch]' -not -path 'kernel/arch/*' |
	xargs grep -nE '^[[:space:]]*#[[:space:]]*(el)?if.*__(x86_64|amd64|aarch64|riscv|arm)' >"$tmp/arch" || :
check "no #if on an architecture outside kernel/arch and demo/arch: $(head -n 3 "$tmp/arch")" test ! -s "$tmp/arch"

done_testing
