#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks what the compiler must reject, with any flags, in an event that is built and in one that is left out.
. test/tap.sh
. test/unit/kernel_build/common.sh

# refused NAME: checks that the source on stdin is rejected
refused() {
	{ echo '#include <ktrace/ktrace.h>' && cat; } >"$tmp/source.c"
	for compiler in gcc clang; do
		for out in -DKTRACE_DISABLE=0 -DKTRACE_DISABLE=1; do
			if $compiler -std=c11 $2 $out -Iinclude -Ikernel/arch/x86_64 -c "$tmp/source.c" \
				-o "$tmp/object" >"$tmp/log" 2>&1; then
				fail "$1 ($compiler $out)" "compiles"
			elif grep -qE "$3" "$tmp/log"; then
				pass "$1 ($compiler $out)"
			else
				fail "$1 ($compiler $out)" "$(head -n 5 "$tmp/log")"
			fi
		done
	done
}

refused "a text that wants another type" '' 'format' <<'END'
KTRACE_EVENT(test, wrong, "%s", (uint32_t, a));
END
refused "a text that wants fewer fields" '' 'format' <<'END'
KTRACE_EVENT(test, fewer, "%u", (uint32_t, a), (uint32_t, b));
END
refused "a text that wants more fields" '' 'format' <<'END'
KTRACE_EVENT(test, more, "%u %u", (uint32_t, a));
END
refused "a type that no field can hold" '' 'no field can hold' <<'END'
KTRACE_EVENT(test, real, "%f", (double, a));
END
refused "more fields than a record has" '' 'at most 16 fields' <<'END'
KTRACE_EVENT(test, many, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", (int, a), (int, b), (int, c), (int, d),
	(int, e), (int, f), (int, g), (int, h), (int, i), (int, j), (int, k), (int, l), (int, m), (int, n), (int, o),
	(int, p), (int, q));
END
refused "an argument of another type" -Werror 'conversion' <<'END'
KTRACE_EVENT(test, right, "%u", (uint32_t, a));
void site(const char *text);
void site(const char *text) { KTRACE(test, right, text); }
END
refused "too few arguments" '' 'too few arguments' <<'END'
KTRACE_EVENT(test, two, "%u %u", (uint32_t, a), (uint32_t, b));
void site(void);
void site(void) { KTRACE(test, two, 1); }
END
refused "KTRACE_TEXT with a wrong type" '' 'format' <<'END'
void site(int a);
void site(int a) { KTRACE_TEXT("%s", a); }
END

# named NAME MESSAGE: checks that each compiler rejects the declaration on stdin, and that its first error
# contains this message
named() {
	{ echo '#include <ktrace/ktrace.h>' && cat; } >"$tmp/source.c"
	for compiler in 'gcc -std=c11' 'clang -std=c11' 'g++ -x c++ -std=c++17' 'clang++ -x c++ -std=c++17'; do
		for out in -DKTRACE_DISABLE=0 -DKTRACE_DISABLE=1; do
			$compiler $out -w -Iinclude -Ikernel/arch/x86_64 -fsyntax-only "$tmp/source.c" >"$tmp/log" 2>&1
			grep -m1 'error:' "$tmp/log" >"$tmp/first"
			check "named: $1 ($compiler $out)" grep -F "$2" "$tmp/first"
		done
	done
}

named "an event in a function" 'ktrace: declare events at file scope, not in functions' <<'END'
void site(void);
void site(void) { KTRACE_EVENT(test, local, "%u", (uint32_t, a)); }
END
named "a field of a structure" 'ktrace: no field can hold the type of second' <<'END'
struct pair { int a, b; };
KTRACE_EVENT(test, wrong, "%u %u", (uint32_t, first), (struct pair, second));
END
named "a field of a floating type" 'ktrace: no field can hold the type of ratio' <<'END'
KTRACE_EVENT(test, wrong, "%f", (double, ratio));
END
named "seventeen fields" 'ktrace: an event has at most 16 fields' <<'END'
KTRACE_EVENT(test, many, "17", (int, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i),
	(int, j), (int, k), (int, l), (int, m), (int, n), (int, o), (int, p), (int, q));
END

# warnings_of DISABLE COMMAND…: prints the lines and names of the warnings about $tmp/source.c.
warnings_of() {
	disable=$1
	shift
	"$@" "-DKTRACE_DISABLE=$disable" -Iinclude -Iinclude/compat -Ikernel/arch/x86_64 -fsyntax-only "$tmp/source.c" 2>&1 |
		sed -n 's/^[^ ]*source\.c:\([0-9]*\):.* warning: .*\[\(-W.*\)\]$/\1 \2/p' | sort -u
}

# warned NAME COMPILERS: checks that an event that is left out gets the warnings that it gets when it is built.
# Lines of the source on stdin with "narrow" must have a warning.
warned() {
	cat >"$tmp/source.c"
	grep -n '/\* narrow' "$tmp/source.c" | cut -d: -f1 >"$tmp/narrow"
	echo "$2" | tr , '\n' | while read -r compiler; do
		for flags in -Wall '-Wall -Wextra -Wconversion -Wsign-conversion'; do
			# shellcheck disable=SC2086
			warnings_of 0 $compiler $flags >"$tmp/built"
			# shellcheck disable=SC2086
			warnings_of 1 $compiler $flags >"$tmp/left"
			echo "$compiler $flags: $(cut -d' ' -f1 "$tmp/built" | sort -u | grep -cxFf "$tmp/narrow") of $(wc -l <"$tmp/narrow")"
			diff "$tmp/built" "$tmp/left"
		done
	done >"$tmp/compared"
	equal "an event that is left out has the warnings of one that is built: $1" '' "$(grep '^[<>]' "$tmp/compared")"
	equal "each constant that is too large has a warning: $1" '' "$(grep ' of ' "$tmp/compared" | awk '$(NF - 2) != $NF')"
}
both='gcc -std=c11,clang -std=c11'
warned KTRACE "$both,g++ -x c++ -std=c++17,clang++ -x c++ -std=c++17" <<'END'
#include <ktrace/ktrace.h>
KTRACE_EVENT(test, byte, "%hhu", (uint8_t, a));
KTRACE_EVENT(test, word, "%u", (uint32_t, a));
KTRACE_EVENT(test, pair, "%d %lld", (int32_t, a), (long long, b));
void site(int n, unsigned long wide, signed char small, unsigned *count);
void site(int n, unsigned long wide, signed char small, unsigned *count)
{
	KTRACE(test, byte, 300); /* narrow */
	KTRACE(test, byte, n);
	KTRACE(test, word, wide);
	KTRACE(test, word, 0x123456789); /* narrow */
	KTRACE(test, word, -1);
	KTRACE(test, word, (*count)++);
	KTRACE_IF(n > 1, test, pair, n, small);
	KTRACE_EARLY(test, pair, 0x100000000, wide); /* narrow */
}
END
warned KTR_LOG "$both" <<'END'
#define KTR 1
#define KTR_X 1
#include <sys/ktr.h>
KTR_INFO_MASTER(x);
KTR_INFO(KTR_X, x, byte, 0, "%d", uint8_t a);
KTR_INFO(KTR_X, x, word, 1, "%u", uint32_t a);
void site(int n, unsigned long wide, unsigned *count);
void site(int n, unsigned long wide, unsigned *count)
{
	KTR_LOG(x_byte, 300); /* narrow */
	KTR_LOG(x_byte, n);
	KTR_LOG(x_word, wide);
	KTR_COND_LOG(x_word, n > 1, 0x123456789); /* narrow */
	KTR_LOG(x_word, (*count)++);
}
END

# wrong_port NAME FLAGS TEXT: checks that the headers reject a wrong include path with this message
wrong_port() {
	echo '#include <ktrace/ktrace.h>' >"$tmp/source.c"
	# shellcheck disable=SC2086
	gcc -Iinclude $2 -c "$tmp/source.c" -o "$tmp/object" >"$tmp/log" 2>&1
	check "$1" grep -q "$3" "$tmp/log"
}
wrong_port "no port" '' 'put kernel/arch/x86_64'
wrong_port "another CPU's port" -Ikernel/arch/riscv64 'this is another CPU'
wrong_port "an unknown CPU without a clock" -Ikernel/arch/generic 'must define ktrace_arch_clock'
wrong_port "a boot ring that is too small" '-Ikernel/arch/x86_64 -DKTRACE_BOOT_SLOTS=256' 'power of two and at least 512'
wrong_port "a reserve word without its address" '-Ikernel/arch/x86_64 -DKTRACE_PORT_RESERVE="%%gs:8"' \
	'must give the address'

done_testing
