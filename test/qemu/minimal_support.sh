# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Kernels that are examples/minimal with a few lines changed: the library is compiled once for all that share its port.

# minimal_library FOLDER OBJECT: the library, all in one object, as the Makefile there compiles it.
minimal_library() {
	minimal_words=$(make -s -C "$1" KTRACE="$PWD" --eval 'words: ; @echo $(CC) $(CFLAGS) $(filter-out kernel.c,$(SOURCES))' words)
	# shellcheck disable=SC2086
	(cd "$1" && $minimal_words -nostdlib -r -o "$2")
}

# minimal_kernel FOLDER OBJECT: FOLDER/build/kernel.elf, linked with that library.
minimal_kernel() { make -s -B -C "$1" KTRACE="$PWD" OUT="$1/build" SOURCES="kernel.c $2"; }
