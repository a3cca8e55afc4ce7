# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Functions that build variants of examples/minimal, and the library of other examples. The library is
# compiled once for all variants that share a port.

# minimal_library EXAMPLE DIRECTORY: compiles build/single/ktrace.c, which takes less time than the sources that
# it consists of, to DIRECTORY/ktrace.o. The compiler, the flags and the port are those of the example, but
# without optimisation and debug information. make does this for examples/minimal: build/test/minimal.
minimal_library() {
	minimal_words=$(make -s -C "$1" KTRACE="$PWD" --eval 'words: ; @echo $(CC) $(CFLAGS) -I$(CURDIR)' words)
	# shellcheck disable=SC2086
	mkdir -p "$2" && $minimal_words -Ibuild/single -O0 -g0 -c -o "$2/ktrace.o" build/single/ktrace.c
}

# minimal_kernel DIRECTORY LIBRARY: builds DIRECTORY/build/kernel.elf with the objects in LIBRARY.
minimal_kernel() { make -s -B -C "$1" KTRACE="$PWD" OUT="$1/build" SOURCES="kernel.c $(echo "$2"/*.o)"; }
