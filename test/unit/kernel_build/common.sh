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

# read_sources COMPILER ARCH WORD…: runs the compiler on the words, which are flags and sources.
read_sources() {
	read_command=$(compiler_of "$1" "$2") read_arch=$2
	shift 2
	# shellcheck disable=SC2046,SC2086
	$read_command -std=c11 -ffreestanding $c_warnings $(flags_of "$read_arch") -Iinclude \
		"-Ikernel/arch/$read_arch" "$@"
}
