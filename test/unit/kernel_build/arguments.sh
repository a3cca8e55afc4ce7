# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that all compilers, flags and CPUs reject the same arguments, in an event that is built and in one
# that is left out: exactly the lines of arguments.c with WRONG. Each language with each flag is tried for each CPU
# and with each compiler. MATRIX=all (make soak): all combinations.
. test/tap.sh
. test/unit/kernel_build/common.sh

source=test/unit/kernel_build/arguments.c

# refused COMMAND…: prints the names of the lines of arguments.c for which the command reports an error. Some
# compilers report the error in the line of a macro, and state the argument's line only in a note after it.
refused() {
	"$@" -fsyntax-only $source 2>&1 | awk -v source="$source" '
		/: (warning|error|fatal error): / { error = / error: / && !/ warnings? being treated/ }
		error && index($0, source ":") == 1 { split($0, part, ":"); print part[2] }' | sort -un >"$tmp/lines"
	awk 'NR == FNR { line[$1] = 1; next } FNR in line && /^(RIGHT|WRONG)\(/' "$tmp/lines" $source | sed 's/^\([A-Z]*\)(\([a-z_]*\),.*/\1 \2/'
}

sed -n 's/^WRONG(\([a-z_]*\),.*/WRONG \1/p' $source >"$tmp/c"
sed '/^#ifndef __cplusplus$/,/^#endif$/d' $source | sed -n 's/^WRONG(\([a-z_]*\),.*/WRONG \1/p' >"$tmp/c++"
check "the test has lines that compilers must refuse" test "$(wc -l <"$tmp/c++")" -ge 30

for arch in x86_64 aarch64 riscv64; do
	for compiler in gcc clang; do
		case=0
		for language in c c++; do
			command=$(compiler_of $compiler $arch)
			case $language-$command in
			c++-*gcc*) command=$(echo "$command" | sed 's/gcc/g++/') ;;
			c++-clang*) command=$(echo "$command" | sed 's/clang/clang++/') ;;
			esac
			command -v "${command%% *}" >/dev/null || { skip "$arch $compiler $language" "not installed"; continue; }
			limit=$([ $compiler = gcc ] && echo -fmax-errors=0 || echo -ferror-limit=0)
			standard=$([ $language = c ] && echo c11 || echo c++17)
			# shellcheck disable=SC2086,SC2046
			check "$arch $compiler $language: without the wrong lines, it compiles" \
				$command -x $language -std=$standard -ffreestanding -fsyntax-only $(flags_of $arch) \
				-DRIGHT_ONLY -Iinclude "-Ikernel/arch/$arch" $source
			for flags in '' -w '-Wall -Wextra' '-fpermissive -w'; do
				[ "$language $flags" = 'c -fpermissive -w' ] && continue # an option of C++ only
				for out in 0 1; do
					case=$((case + 1))
					in_turn $case $arch $compiler || continue
					# shellcheck disable=SC2086,SC2046
					refused $command -x $language -std=$standard -ffreestanding $flags $limit \
						$(flags_of $arch) -DKTRACE_DISABLE=$out -Iinclude "-Ikernel/arch/$arch" \
						>"$tmp/refused"
					same "$arch $compiler $language '$flags' $([ $out = 0 ] && echo built || echo 'left out')" \
						"$tmp/$language" "$tmp/refused"
				done
			done
		done
	done
done
done_testing
