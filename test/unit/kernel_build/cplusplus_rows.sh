# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks events in inline functions, templates, classes and lambdas of C++: each fires in a program of two
# files, none is lost, and each has one descriptor, with every compiler, optimisation level, section option
# and linker. A descriptor that could be lost must be rejected.
. test/tap.sh
. test/unit/kernel_build/common.sh

[ "$(uname -m)" = x86_64 ] || { skip "rows of C++" "the host is no x86_64"; done_testing; exit; }
make_tree include kernel
folder=test/unit/cxx
# without the console, which the program does not use
core="$(make -s ktrace-sources | tr ' ' '\n' | grep -v console | xargs) kernel/core/dump.c"
includes='-Iinclude -Ikernel/arch/x86_64'

# shown TRACE: prints the events of the trace, ordered by file and line, each with its recorded values
shown() {
	build/bin/ktrace show "$1" 2>>"$tmp/err" | sed 's/^.*PID=0 *//; s/0x[0-9a-f]\{6,\}/ADDRESS/' |
		sed 's/^text\.line[0-9]* */text /; s/^cxx.header */cxx.header /'
}

# core_with COMPILER: compiles the core to core.COMPILER.o
core_with() {
	# shellcheck disable=SC2046,SC2086
	case $1 in
	gcc) gcc -std=c11 -O0 $includes -nostdlib -r -o "$tmp/core.gcc.o" $core ;;
	clang)
		into_tree "$core" clang -std=c11 -O0 $includes && clang -nostdlib -r -o "$tmp/core.clang.o" $(objects_of "$core")
		;;
	esac
}

# build COMPILER NAME "FLAGS" "LINK FLAGS": builds the C++ test program
build() {
	compiler=$1 name="$1 $3 $4"
	# shellcheck disable=SC2086
	for file in first second; do
		$compiler -std=c++17 -Wall -Wextra -Werror $includes $3 -c $folder/$file.cc -o "$tmp/$file.o" \
			>"$tmp/log" 2>&1 || { fail "$name: compiles" "$(head -n 10 "$tmp/log")"; return; }
	done
	# shellcheck disable=SC2086
	$compiler $3 $4 -o "$tmp/program" "$tmp/first.o" "$tmp/second.o" "$tmp/core.$2.o" >"$tmp/log" 2>&1 ||
		{ fail "$name: links" "$(head -n 10 "$tmp/log")"; return; }
	check "$name: runs" sh -c "'$tmp/program' >'$tmp/trace' 2>'$tmp/rows'"
	shown "$tmp/trace" >"$tmp/shown"
	same "$name: every event is shown" $folder/expected.txt "$tmp/shown"
	# If an event spans several lines, compilers differ in the line that they assign to it. Some compilers
	# drop the descriptor of an event in a function that is not called. An event in a header has a
	# descriptor in each file that includes the header.
	grep '^\(first\|second\|shared\)\.' "$tmp/rows" | grep -v 'never called' | LC_ALL=C sort | uniq -c | sed 's/^ *//' >"$tmp/counted"
	same "$name: each event has one row" $folder/rows.txt "$tmp/counted"
}

for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { skip "$compiler" "not installed"; continue; }
	c=$([ $compiler = g++ ] && echo gcc || echo clang)
	check "$compiler: the core compiles" core_with $c
	sections='-ffunction-sections -fdata-sections'
	build $compiler $c "-O0 -fPIE" "-pie"
	build $compiler $c "-O1 -fno-pie $sections" "-no-pie -Wl,--gc-sections"
	build $compiler $c "-O2 -fPIE -std=c++20" "-pie -Wl,--gc-sections"
	build $compiler $c "-O3 -fno-pie" "-no-pie"
	build $compiler $c "-Os -fPIE -g $sections" "-pie -fuse-ld=lld -Wl,--gc-sections"
	if [ $compiler = g++ ]; then
		build $compiler $c "-O2 -fPIE -flto $sections" "-pie -Wl,--gc-sections"
		build $compiler $c "-O2 -fno-pie -flto -flto-partition=max" "-no-pie"
	else
		build $compiler $c "-O2 -fPIE -flto $sections" "-pie -fuse-ld=lld -Wl,--gc-sections"
	fi
done

# refused NAME FLAGS: checks that both compilers reject the source on stdin, because its event descriptor
# would be lost
refused() {
	cat >"$tmp/source.cc"
	for compiler in g++ clang++; do
		command -v $compiler >/dev/null || { skip "refused by $compiler: $1" "not installed"; continue; }
		if $compiler -std=c++17 -w $includes -c "$tmp/source.cc" -o "$tmp/object" >"$tmp/log" 2>&1; then
			fail "refused by $compiler: $1" "it compiles"
		else
			check "refused by $compiler: $1" grep -q error "$tmp/log"
		fi
	done
}
refused 'a setting in an inline function' <<'END'
#include <ktrace/ktrace.h>
inline void f() { static uint32_t word; KTRACE_SETTING_U32("a.b", word, 0); }
void g() { f(); }
END
refused 'a setting in a template' <<'END'
#include <ktrace/ktrace.h>
template <typename T> struct s { static uint32_t word; KTRACE_SETTING_U32("a.b", word, 0); };
template struct s<int>;
END
refused 'a declared event in a function' <<'END'
#include <ktrace/ktrace.h>
inline void f() { KTRACE_EVENT(a, b, "%u", (uint32_t, c)); }
void g() { f(); }
END
refused 'a declared event in a class' <<'END'
#include <ktrace/ktrace.h>
template <typename T> struct s { KTRACE_EVENT(a, b, "%u", (uint32_t, c)); };
template struct s<int>;
END
done_testing
