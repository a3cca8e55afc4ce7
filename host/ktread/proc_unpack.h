/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Unpacks what the zstd tool packed, in order and in constant memory, for traces that are read in one go. */
#ifndef KTREAD_PROC_UNPACK_H
#define KTREAD_PROC_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ktread_proc_unpacker;

/* Reads once: how many bytes, 0 at the end, or an error. */
typedef ssize_t ktread_proc_read(void *context, uint8_t *to, size_t room);

/*
 * Of what begins with KTREAD_ZSTD_MAGIC, which has been read already, and is cut short where it ends before its time unless
 * more may come. `name` is for messages, and stays the caller's.
 */
int ktread_proc_unpacker_open(struct ktread_proc_unpacker **unpacker, const char *name, bool more_may_come);
void ktread_proc_unpacker_close(struct ktread_proc_unpacker *unpacker);
/* The same as what it reads by; KTREAD_E_FORMAT where the packed bytes are damaged or have no end, after what is before. */
ssize_t ktread_proc_unpack(struct ktread_proc_unpacker *unpacker, ktread_proc_read *read, void *context,
			   uint8_t *to, size_t room);

#endif
