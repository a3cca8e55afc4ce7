# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Kernels that are examples/minimal with a few lines changed: the library is compiled once for all that share its port.

# minimal_library PORT FOLDER: the library's objects into FOLDER, as the Makefile of the example compiles them, with the port in PORT.
# The linker cannot join them first: on RISC-V it shortens code, and needs to know where each section was aligned to.
minimal_library() {
	minimal_words=$(make -s -C "$1" KTRACE="$PWD" --eval 'words: ; @echo $(CC) $(CFLAGS) -I$(CURDIR) $(filter-out kernel.c,$(SOURCES))' words)
	# shellcheck disable=SC2086
	mkdir "$2" && (cd "$2" && $minimal_words -c)
}

# minimal_kernel FOLDER LIBRARY: FOLDER/build/kernel.elf, linked with these objects.
minimal_kernel() { make -s -B -C "$1" KTRACE="$PWD" OUT="$1/build" SOURCES="kernel.c $(echo "$2"/*.o)"; }
