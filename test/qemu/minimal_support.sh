# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Functions that build variants of examples/minimal. The library is compiled once for all variants that share
# a port.

# minimal_library PORT DIRECTORY: compiles the library's objects into DIRECTORY as the Makefile of the example does,
# with the port in PORT, but with -O1 and without debug information, which takes less time. The objects are not linked into one object first: on RISC-V the linker shortens code
# and needs the alignment of each section.
minimal_library() {
	minimal_words=$(make -s -C "$1" KTRACE="$PWD" --eval 'words: ; @echo $(CC) $(CFLAGS) -I$(CURDIR) $(filter-out kernel.c,$(SOURCES))' words)
	# shellcheck disable=SC2086
	mkdir "$2" && (cd "$2" && $minimal_words -O1 -g0 -c)
}

# minimal_kernel DIRECTORY LIBRARY: builds FOLDER/build/kernel.elf with the objects in LIBRARY.
minimal_kernel() { make -s -B -C "$1" KTRACE="$PWD" OUT="$1/build" SOURCES="kernel.c $(echo "$2"/*.o)"; }
