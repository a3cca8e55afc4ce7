# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that callers and sites are correct whatever the compiler does with a site: inlining, cloning,
# splitting into hot and cold parts, tail calls. Runs the unit test, whose file has the sites, built by each
# compiler at each level; the functions that it calls are built at other levels, and once together with the
# sites.
. test/tap.sh
. test/unit/kernel_build/common.sh

sites=test/unit/kernel/callers.c
# All but the console, which the test does not use
called="test/fake/machine.c test/fake/checker.c $(make -s ktrace-sources | tr ' ' '\n' | grep -v console | xargs)"
# What sites call, and what finds the callers. Link-time optimisation is tried with these sources.
entered='kernel/core/record.c kernel/core/facts.c kernel/core/backtrace.c kernel/core/write.c'
others=$(for word in $called; do case " $entered " in *" $word "*) ;; *) echo "$word" ;; esac; done)
# The host's library looks up the names of callers. It is already built.
symbols='build/lib/libhost.a build/lib/libktread.a'
libraries=$(make -s host-libraries)
flags='-std=c11 -fno-omit-frame-pointer -DKTRACE_FRAME_POINTERS=1 -D_GNU_SOURCE -Iinclude -Itest -I. -Ihost -Itest/fake
	-Ikernel/arch/generic'
# The test needs the line numbers of the sites, and no other debug information.
lines=-g1
# LLVM's linker is faster, but cannot link objects that gcc -flto has compiled.
linker=$(command -v ld.lld >/dev/null && echo -fuse-ld=lld)

make_tree include kernel test/fake
ln -s "$PWD/host" "$tmp/tree"

# called_at COMPILER "FLAGS": compiles all functions that the code which records events calls. Stores the
# names of the objects in $compiled.
called_at() {
	compiled="$tmp/entered.o $tmp/others.o"
	# shellcheck disable=SC2086
	case $1 in
	gcc) $1 $flags $2 -nostdlib -r -o "$tmp/entered.o" $entered && $1 $flags $2 -nostdlib -r -o "$tmp/others.o" $others ;;
	clang) into_tree "$called" $1 $flags $2 && compiled=$(objects_of "$called") ;;
	esac
}

# sites_at COMPILER "FLAGS" INPUT…: builds the code that records events, links it with the inputs, and runs
# the test.
sites_at() {
	name="$1 $2" compiler=$1 level=$2
	with=$(case "$1 $2" in gcc*-flto) ;; *) echo "$linker" ;; esac)
	shift 2
	# shellcheck disable=SC2086
	if ! $compiler $flags $lines $level $with -o "$tmp/callers" $sites "$@" $symbols -lcmocka $libraries >"$tmp/log" 2>&1; then
		fail "$name" "$(head -n 20 "$tmp/log")"
	elif ! "$tmp/callers" >"$tmp/log" 2>&1; then
		fail "$name" "$(grep -A 1 ERROR "$tmp/log" | head -n 20)"
	else
		pass "$name"
	fi
}

for compiler in gcc clang; do
	command -v $compiler >/dev/null || {
		skip "$compiler" "not installed"
		continue
	}
	check "$compiler: what is called compiles" called_at $compiler "$([ $compiler = gcc ] && echo -O0 || echo -O2)"
	for level in -O0 -O1 -O2 -O3 -Os; do
		# shellcheck disable=SC2086
		sites_at $compiler $level $compiled
	done
	# shellcheck disable=SC2086
	case $compiler in
	gcc) compiled="$entered $tmp/others.o" ;;
	clang) into_tree "$entered" clang $flags -O2 -flto >"$tmp/log" 2>&1 || fail "$compiler: -flto compiles" "$(head -n 20 "$tmp/log")" ;;
	esac
	# shellcheck disable=SC2086
	sites_at $compiler '-O2 -flto' $compiled
done

done_testing
