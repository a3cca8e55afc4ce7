/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where a file's bytes are read when they are wanted: in the file itself, or, of one that is packed or a pipe, in a temporary
 * file that what was read of it is put into. So nothing of a stream is in memory that nobody asks for.
 */
#ifndef HWT_STORE_H
#define HWT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hwt_store {
	int descriptor;
	bool copies; /* what is put is kept */
	uint64_t size;
};

/* 0, or KTREAD_E_SYSTEM with errno. `path` "-" is standard input. */
int hwt_store_open(struct hwt_store *store, const char *path);
void hwt_store_close(struct hwt_store *store);
/* Bytes that stand at *offset in the file: sets where the store has them. 0, or KTREAD_E_SYSTEM with errno. */
int hwt_store_put(struct hwt_store *store, uint64_t *offset, const void *bytes, size_t size);
/* How many of them are there: fewer than `size` behind the end, or where reading fails. */
size_t hwt_store_read(const struct hwt_store *store, uint64_t offset, void *to, size_t size);

#endif
