# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Functions for the build tests: the commands of each compiler for each CPU.

flags_of() { # arch
	case $1 in
	x86_64) echo '-mgeneral-regs-only -mno-red-zone' ;;
	aarch64) echo '-mgeneral-regs-only -mstrict-align' ;;
	riscv64) echo '-march=rv64imac -mabi=lp64 -mcmodel=medany -mno-relax' ;;
	esac
}

compiler_of() { # gcc|clang, arch
	case $1-$2 in
	gcc-x86_64) echo gcc ;;
	gcc-riscv64) echo riscv64-linux-gnu-gcc -misa-spec=2.2 ;;
	gcc-*) echo "$2-linux-gnu-gcc" ;;
	clang-*) echo "clang --target=$2-linux-gnu -fuse-ld=lld -Wno-unused-command-line-argument" ;;
	esac
}

have() { # gcc|clang, arch
	command -v "$(compiler_of "$1" "$2" | cut -d' ' -f1)" >/dev/null
}

objdump_of() { # arch
	case $1 in
	x86_64) echo objdump ;;
	*) echo "$1-linux-gnu-objdump" ;;
	esac
}

warnings='-Wall -Wextra -Werror -Wshadow -Wundef -Wvla'
c_warnings="$warnings -Wstrict-prototypes -Wmissing-prototypes"

# compile COMPILER ARCH SOURCE OBJECT FLAGS…: compiles the source into the object
compile() {
	compile_compiler=$1 compile_arch=$2 compile_source=$3 compile_object=$4
	shift 4
	read_sources "$compile_compiler" "$compile_arch" "$@" -c "$compile_source" -o "$compile_object"
}

# read_sources COMPILER ARCH WORD…: runs the compiler with these arguments, which are flags and sources.
read_sources() {
	read_command=$(compiler_of "$1" "$2") read_arch=$2
	shift 2
	# shellcheck disable=SC2046,SC2086
	$read_command -std=c11 -ffreestanding $c_warnings $(flags_of "$read_arch") -Iinclude \
		"-Ikernel/arch/$read_arch" "$@"
}

# at_once COMMAND…: runs a clang command, whose last argument is a source, for all $sources. The clang command
# would start a process for each source. So clang's inner compiler ("-cc1") is called with the same flags: it
# compiles all sources in less than half of the time, and writes each object beside its source. The inner
# compiler mixes up the diagnostic pragmas of several sources. So it is not used with -DKTRACE_STATE=0 and
# -DKTRACE_DISABLE=1, with which pragmas disable a warning of -Wextra.
at_once() {
	# shellcheck disable=SC2086
	eval "set -- $("$@" '-###' 2>&1 | sed -n 's/ "-o" "[^"]*"//; s/^ \(".*"-cc1" .*\) "[^"]*"$/\1/p')" && "$@" $sources
}

# read_at_once COMPILER ARCH FLAGS…: checks that all $sources compile.
read_at_once() {
	# shellcheck disable=SC2086
	case $1 in
	gcc) read_sources "$@" -fsyntax-only $sources ;;
	clang) at_once read_sources "$@" -fsyntax-only test/unit/kernel_build/sample.c ;;
	esac
}

# make_tree DIRECTORY…: makes copies of the directories in $tmp/tree. In the copies, files are links to the
# originals.
make_tree() {
	for folder; do
		mkdir -p "$tmp/tree/$folder" && cp -rs "$PWD/$folder/." "$tmp/tree/$folder"
	done
}

# objects_of "WORDS": prints the words. Replaces each C source with its object in $tmp/tree.
objects_of() { for word in $1; do case $word in *.c) echo "$tmp/tree/${word%.c}.o" ;; *) echo "$word" ;; esac; done; }

# into_tree "WORDS" COMMAND…: runs a clang command for all C sources among the words. Writes the objects to
# $tmp/tree.
into_tree() {
	sources=$(for word in $1; do case $word in *.c) echo "$word" ;; esac; done)
	shift
	# shellcheck disable=SC2046
	rm -f $(objects_of "$sources")
	(cd "$tmp/tree" && at_once "$@" -c kernel/core/control.c) || return 1
	for source in $sources; do # with -flto, the name of an object ends with .bc
		[ ! -e "$tmp/tree/${source%.c}.bc" ] || mv "$tmp/tree/${source%.c}.bc" "$tmp/tree/${source%.c}.o"
	done
}

# in_turn N ARCH COMPILER: succeeds if case N is tried by this compiler for this CPU. `make check` tries each
# case once for each CPU, with gcc or clang in turn, so that each compiler tries each case for some CPU. A
# compiler tries all cases if the other one is not installed. MATRIX=all (make soak): all combinations.
in_turn() {
	[ "${MATRIX-}" != all ] && have gcc "$2" && have clang "$2" || return 0
	case $2 in
	aarch64) turn=$((($1 + 1) % 2)) ;;
	*) turn=$(($1 % 2)) ;;
	esac
	[ "$3" = "$([ $turn = 0 ] && echo gcc || echo clang)" ]
}
