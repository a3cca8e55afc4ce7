/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Maps a word of the guest's RAM file, so that the plugin can see when the guest writes the word. */
#ifndef SCHEDULE_RAM_H
#define SCHEDULE_RAM_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * Maps the 8 bytes at offset `position` of the file `path`, which may still be empty. Sets *word. The memory
 * stays mapped until the process ends. Returns NULL, or an error message that names the file and the offset.
 * The message is valid until the next call.
 */
const char *ram_map_word(const char *path, uint64_t position, const _Atomic uint64_t **word);

#endif
