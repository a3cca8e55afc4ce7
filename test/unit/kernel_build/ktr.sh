# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that files written for DragonFly's trace points compile for each CPU, by gcc and clang, with any
# selection, and that left-out events generate nothing. Each selection and each level is tried for each CPU and
# with each compiler. MATRIX=all (make soak): all combinations.
. test/tap.sh
. test/unit/kernel_build/common.sh

folder=test/unit/kernel/ktr
units="$folder/tokens.c $folder/forms.c $folder/extern.c $folder/kern_objcache.c"
# The compiler runs in $tmp, where it writes an object for each source.
ln -s "$PWD/include" "$PWD/kernel" "$PWD/test" "$tmp"

# events FILE…: prints the number of event descriptors
events() { nm "$@" | grep -cE ' [dD] ktrace_event_[a-z]+_[a-z_]+$'; }

# expect NAME COMPILER ARCH ROWS FLAGS…: checks that all files together have ROWS event descriptors
expect() {
	name="$3 $2: $1" compiler=$2 arch=$3 rows=$4 case=$((case + 1))
	shift 4
	in_turn $case "$arch" "$compiler" || return 0
	rm -f "$tmp"/*.o
	if (cd "$tmp" && read_sources "$compiler" "$arch" -I$folder -Iinclude/compat "$@" -c $units) >"$tmp/log" 2>&1; then
		equal "$name" "$rows" "$(events "$tmp"/*.o)"
	else
		fail "$name" "$(head -n 10 "$tmp/log")"
	fi
}

# places FILE: prints the number of place descriptors
places() { nm "$1" | grep -cE ' [dD] .*ktrace_event_[a-z_]+_place(\.[0-9]+)?$'; }

# Each place must have exactly one descriptor: in all kinds of functions, if other places are on the same
# line, and in a macro, a switch or an unrolled loop.
cat >"$tmp/places.c" <<'E'
#define KTR 1
#define KTR_PLACES 1
#include <sys/ktr.h>
KTR_INFO_MASTER(places);
KTR_INFO(KTR_PLACES, places, one, 0, "%d", int a);
KTR_INFO(0, places, never, 1, "%d", int a);
#define LOG_TWICE(a) do { KTR_LOG(places_one, a); KTR_LOG(places_one, (a) + 1); } while (0)
static inline void in_line(int a) { KTR_LOG(places_one, a); }
static inline __attribute__((unused)) void never_called(int a) { KTR_LOG(places_one, a); }
void places(int a);
void places(int a)
{
	KTR_LOG(places_one, a); KTR_COND_LOG(places_one, a > 1, a);
	LOG_TWICE(a);
	in_line(a);
	in_line(a + 1);
	for (int n = 0; n < 4; n++)
		KTR_LOG(places_one, n);
	if (a)
		KTR_LOG(places_one, 5);
	else
		KTR_COND_LOG(places_one, a == 0, 6);
	switch (a) {
	case 1:
		KTR_LOG(places_one, 7);
		break;
	default:
		KTR_LOG(places_never, 8);
	}
}
E

# expect_places NAME COMPILER ARCH FLAGS…: checks the number of place descriptors
expect_places() {
	name="$3 $2: $1" compiler=$2 arch=$3 case=$((case + 1))
	shift 3
	in_turn $case "$arch" "$compiler" || return 0
	if compile "$compiler" "$arch" "$tmp/places.c" "$tmp/places.o" -Iinclude/compat "$@" >"$tmp/log" 2>&1; then
		equal "$name" 9 "$(places "$tmp/places.o")"
	else
		fail "$name" "$(head -n 10 "$tmp/log")"
	fi
}

for arch in x86_64 aarch64 riscv64; do
	for compiler in gcc clang; do
		have $compiler $arch || {
			skip "$arch $compiler" "not installed"
			continue
		}
		case=0
		expect 'without KTR there is nothing' $compiler $arch 0 -O2
		expect 'with KTR alone neither' $compiler $arch 0 -O2 -DKTR=1
		expect 'one master' $compiler $arch 2 -O2 -DKTR=1 -DKTR_TOKENS=1
		expect 'all masters' $compiler $arch 17 -O2 -DKTR=1 -DKTR_ALL=1
		expect 'all but a group of ktrace' $compiler $arch 15 -O2 -DKTR=1 -DKTR_ALL=1 -DKTRACE_NO_tokens=1
		expect 'all masters, not optimised' $compiler $arch 17 -O0 -DKTR=1 -DKTR_ALL=1
		for optimised in -O1 -O2 -O3 -Os; do
			expect_places "a row for each place, $optimised" $compiler $arch $optimised
		done
		expect_places 'a row for each place, position-independent' $compiler $arch -O2 -fPIE
		nm -u "$tmp/extern.o" | grep -q ktrace_emit || fail "$arch $compiler: a site records" "$(nm "$tmp/extern.o")"
	done
done

# Code that the compiler must reject.
refuse() {
	printf '#define KTR 1\n#define KTR_X 1\n#include <sys/ktr.h>\nKTR_INFO_MASTER(x);\n%s\n' "$2" >"$tmp/bad.c"
	if compile gcc x86_64 "$tmp/bad.c" "$tmp/bad.o" -O2 -Iinclude/compat >"$tmp/log" 2>&1; then
		fail "refused: $1" "it compiles"
	else
		check "refused: $1" grep -q "$3" "$tmp/log"
	fi
}
refuse 'a text that does not fit' \
	'KTR_INFO(KTR_X, x, y, 0, "%s", int a); void f(void); void f(void) { KTR_LOG(x_y, 3); }' 'Werror=format'
refuse 'a field of a type that none can hold' 'KTR_INFO(KTR_X, x, y, 0, "%f", double a);' 'no field can hold'
refuse 'an argument too few' \
	'KTR_INFO(KTR_X, x, y, 0, "%d %d", int a, int b); void f(void); void f(void) { KTR_LOG(x_y, 3); }' 'error'

# pointers refused|accepted [FLAG]: checks that both compilers refuse or accept the calls of KTR_LOG on stdin, one a
# line, whether the event is compiled in or not. FLAG: turns off all warnings of clang; default -w, as for gcc. A compiler reads all calls at once. Its message about a call has the
# call's own file name, case-N.
pointers() {
	cat >"$tmp/calls"
	cat >"$tmp/pointer.c" <<'E'
#define KTR 1
#include <sys/ktr.h>
struct one;
struct two;
typedef struct one *one_t;
typedef void hook_t(int);
enum colour { RED };
KTR_INFO_MASTER(x);
KTR_INFO(KTR_X, x, one, 0, "%p", struct one *a);
KTR_INFO(KTR_X, x, fixed, 1, "%p", const struct one *a);
KTR_INFO(KTR_X, x, old, 2, "%p", one_t a);
KTR_INFO(KTR_X, x, any, 3, "%p", void *a);
KTR_INFO(KTR_X, x, ident, 4, "%p", const volatile void *a);
KTR_INFO(KTR_X, x, word, 5, "%p", int *a);
KTR_INFO(KTR_X, x, call, 6, "%p", void (*a)(int));
KTR_INFO(KTR_X, x, hook, 7, "%p", hook_t *a);
void call(int n);
E
	awk '{
		parameters = "(struct one *o, const struct one *c, struct two *t, const struct two *ct, const volatile struct one *cvo, const volatile struct two *cvt, void *v, const volatile void *cv, int n, unsigned *u)"
		print "void site" NR parameters ";\nvoid site" NR parameters "\n{\n\tint some[3] = { n };"
		print "\t(void)o, (void)c, (void)t, (void)ct, (void)cvo, (void)cvt, (void)v, (void)cv, (void)u, (void)some;"
		print "#line 1 \"case-" NR "\"\n\t" $0 "\n}"
	}' "$tmp/calls" >>"$tmp/pointer.c"
	for compiler in gcc clang; do
		flag=-w
		[ $compiler = gcc ] || flag=${2:--w}
		for built in 0 1; do
			compiled=0 number=0
			$compiler -std=gnu11 $flag -DKTR_X=$built -Iinclude -Iinclude/compat -Ikernel/arch/x86_64 -fsyntax-only \
				"$tmp/pointer.c" >"$tmp/log" 2>&1 || compiled=$?
			named=" $(sed -n 's/^case-\([0-9]*\):.*/\1/p' "$tmp/log" | sort -u | xargs) "
			while read -r line; do
				number=$((number + 1))
				case $named in *" $number "*) said=refused ;; *) said=accepted ;; esac
				equal "a pointer: $line ($compiler, KTR_X=$built)" "$1" "$said"
			done <"$tmp/calls"
			equal "pointers: exit status ($compiler, KTR_X=$built)" "$([ "$1" = accepted ] || echo 1)" "${compiled#0}"
		done
	done
}
pointers refused <<'END'
KTR_LOG(x_one, t);
KTR_LOG(x_fixed, t);
KTR_LOG(x_old, t);
KTR_LOG(x_one, u);
KTR_LOG(x_one, some);
KTR_LOG(x_word, u);
KTR_LOG(x_word, o);
KTR_LOG(x_one, n);
KTR_COND_LOG(x_one, n > 1, t);
KTR_LOG(x_call, o);
END
# With -w, clang accepts pointers to const.
pointers refused -Wno-everything <<'END'
KTR_LOG(x_one, ct);
KTR_LOG(x_one, cvt);
KTR_LOG(x_fixed, ct);
KTR_LOG(x_fixed, cvt);
KTR_LOG(x_word, c);
END
pointers accepted <<'END'
KTR_LOG(x_one, o);
KTR_LOG(x_one, v);
KTR_LOG(x_one, ((void *)0));
KTR_LOG(x_one, 0);
KTR_LOG(x_fixed, o);
KTR_LOG(x_fixed, c);
KTR_LOG(x_one, c);
KTR_LOG(x_one, cvo);
KTR_LOG(x_fixed, cvo);
KTR_LOG(x_old, o);
KTR_LOG(x_old, c);
KTR_LOG(x_hook, call);
KTR_LOG(x_hook, &call);
KTR_LOG(x_any, t);
KTR_LOG(x_any, some);
KTR_LOG(x_ident, c);
KTR_LOG(x_ident, cv);
KTR_LOG(x_word, some);
KTR_LOG(x_word, &some[1]);
KTR_LOG(x_call, call);
KTR_LOG(x_call, &call);
END

done_testing
