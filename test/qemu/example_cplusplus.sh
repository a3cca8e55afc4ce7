# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The example kernel in C++ builds with clang++ and with g++, runs, and show prints each event in its classes,
# templates and inline functions. The code in doc/porting.md and doc/cplusplus.md that readers copy is valid
# C++20.
. test/tap.sh
. test/unit/kernel_build/common.sh

# run NAME VARIABLE=VALUE…: builds the kernel with these variables, boots it and checks the recorded events.
run() {
	name=$1
	shift
	check "$name: it builds without a warning" sh -c 'make -s -C examples/cplusplus "$@" 2>&1 | tee /dev/stderr | { ! grep -q .; }' \
		- "OUT=$tmp/$name" "$@"
	build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- qemu-system-riscv64 -M virt -bios none -smp 2 \
		-nographic -kernel "$tmp/$name/kernel.elf" >"$tmp/console" 2>"$tmp/err" </dev/null
	equal "$name: the kernel ends with status 0" 0 $?
	build/bin/ktrace show "$tmp/trace" 2>>"$tmp/err" | sed 's/^.*CPU\([01]\) *PID=0 *[^ ]* */\1 /' |
		LC_ALL=C sort | uniq -c | sed 's/^ *//' >"$tmp/shown"
	for hart in 0 1; do
		equal "$name: events in a class are recorded by hart $hart" 8 "$(grep -c "^1 $hart [0-7] of priority 1\$" "$tmp/shown")"
		equal "$name: an event in a template's instance for small elements is recorded by hart $hart" "1 $hart full: 8 elements of 4 bytes" \
			"$(grep "^[0-9]* $hart full: 8" "$tmp/shown")"
		equal "$name: an event in an instance for large elements in another file is recorded by hart $hart" "1 $hart full: 4 elements of 8 bytes" \
			"$(grep "^[0-9]* $hart full: 4" "$tmp/shown")"
		equal "$name: an event in an inline function that two files use is recorded by hart $hart" "1 $hart jobs counted 28 1 $hart words counted $((6 + 4 * hart))" \
			"$(grep "^[0-9]* $hart .* counted" "$tmp/shown" | xargs)"
	done
}

run clang
if command -v riscv64-linux-gnu-g++ >/dev/null; then
	run gcc KTRACE_TRANSPORTS= CC='riscv64-linux-gnu-gcc -misa-spec=2.2' CXX='riscv64-linux-gnu-g++ -misa-spec=2.2' LD='riscv64-linux-gnu-ld --no-warn-rwx-segments'
else
	skip gcc "riscv64-linux-gnu-g++ is not installed"
fi

# blocks FILE WORD: prints the code blocks that contain the word, from the document FILE.
blocks() {
	awk -v word="$2" '/^```/ { if (inside && index(text, word)) printf "%s", text; inside = !inside; text = ""; next }
		inside { text = text $0 "\n" }' "$1"
}
{
	printf '#include "ktrace/ktrace.h"\nextern "C" void printk(const char *, ...);\n'
	blocks doc/porting.md 'void trace_init(void)'
} >"$tmp/porting.cc"
blocks doc/cplusplus.md '#include "ktrace/ktrace.h"' >"$tmp/page.cc"
for file in porting page; do
	check "doc: the code blocks to compile are found ($file)" grep -q ktrace "$tmp/$file.cc"
	for compiler in g++ clang++; do
		command -v $compiler >/dev/null || { skip "doc: $file, $compiler" "not installed"; continue; }
		for standard in c++20 c++2b; do
			check "doc: $file, $compiler -std=$standard" $compiler -std=$standard -ffreestanding -Wall -Wextra -Wpedantic \
				-Wold-style-cast -Wno-missing-field-initializers -Werror -Iinclude -Ikernel/arch/x86_64 -c "$tmp/$file.cc" -o "$tmp/page.o"
		done
	done
done
done_testing
