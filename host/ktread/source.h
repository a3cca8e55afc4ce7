/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A memory seen from inside: ranges of guest physical addresses over a source of bytes by position. A plain
 * trace file is a memory of one range whose addresses are file offsets, so one reader serves files, RAM and
 * cores alike.
 *
 * Invariants: ranges are sorted by address, do not overlap and do not wrap around; every position handed to
 * the source lies in a range.
 */
#ifndef KTREAD_SOURCE_H
#define KTREAD_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ktread/memory.h"

struct ktread_span {
	uint64_t physical;
	uint64_t length;
	uint64_t position; /* of its first byte in the source */
};

struct ktread_memory {
	struct ktread_memory_ops ops; /* by position */
	void *context;
	struct ktread_span *span;
	uint32_t spans;
	bool live;	  /* may change while it is read */
	bool callers;	  /* read by a caller's function, which sets no message */
	bool ram;	  /* a RAM file, whose map follows from the root found in it */
	uint16_t machine; /* ELF machine of a RAM file if given, else 0 */
	uint64_t size;
	uint64_t missing; /* bytes that an ELF core describes but its file does not hold */
	char *name;	  /* for messages */
};

/* Takes over ops, context and `name` (copied); closes the context itself when it fails. */
int ktread_source_create(struct ktread_memory **memory, const struct ktread_memory_ops *ops, void *context,
			 const struct ktread_span *span, uint32_t spans, const char *name);
/* Replaces the ranges. */
int ktread_source_map(struct ktread_memory *memory, const struct ktread_span *span, uint32_t spans);
/* A regular file, or a pipe copied into a temporary one, as one range from 0. */
int ktread_source_open_file(struct ktread_memory **memory, const char *path);
/* The same for a regular file only: memory is read at random, and its name may come from a QMP peer. */
int ktread_source_open_regular(struct ktread_memory **memory, const char *path);
/* A file that is open already; takes over the descriptor, also when it fails. */
int ktread_source_open_descriptor(struct ktread_memory **memory, int descriptor, const char *name);
/* Descriptor of a temporary file without a name, or an error. */
int ktread_file_temporary(void);
/* Writes all of it: 0, or KTREAD_E_SYSTEM with errno left as it is and no message. */
int ktread_file_write(int descriptor, const void *bytes, size_t size);
/* Address of what lies at `position` of the source; UINT64_MAX if nothing does. */
uint64_t ktread_source_physical(const struct ktread_memory *memory, uint64_t position);
/* The opposite: 0, or an error if the `bytes` from `physical` on do not lie in one piece. */
int ktread_source_position(const struct ktread_memory *memory, uint64_t physical, uint64_t bytes,
			   uint64_t *position);

/* Guest memory in files: where the physical addresses of RAM files and cores lie. */

/* Makes an opened file the RAM of a guest: of `machine` (NULL: not known yet), or from `base` on (0: by
 * machine). */
int ktread_ram_map(struct ktread_memory *memory, const char *machine, uint64_t base);
/*
 * Maps of a RAM file that are possible for a root of ELF machine `machine`, found at file offset `offset`,
 * which says that it lies at `self_phys` (0: it does not say). Tries the n-th: 1, 0 if there are no more, or
 * an error.
 */
int ktread_ram_try(struct ktread_memory *memory, uint16_t machine, uint64_t offset, uint64_t self_phys,
		   uint32_t n);
/* Makes an opened file an ELF core. */
int ktread_core_map(struct ktread_memory *memory);
bool ktread_core_is(struct ktread_memory *memory);

/* Files that the zstd tool compressed. */

/* What a frame of zstd begins with (RFC 8878, section 3.1.1). */
#define KTREAD_ZSTD_MAGIC "\x28\xb5\x2f\xfd"

bool ktread_unpack_is_packed(struct ktread_memory *memory);
/*
 * Replaces the trace's file by a temporary file with the unpacked content. Zeros take no room there; the free
 * space of the disk is the only limit.
 */
int ktread_unpack(struct ktread *trace);

/* Unpacks what the zstd tool packed, in order and in constant memory, for traces that are read in one go. */

struct ktread_proc_unpacker;

/* Reads once: how many bytes, 0 at the end, or an error. */
typedef ssize_t ktread_proc_read(void *context, uint8_t *to, size_t room);

/*
 * Unpacks input of which KTREAD_ZSTD_MAGIC has been read already. If the input ends too early it is cut
 * short, unless `more_may_come`. `name` is for messages, and stays the caller's.
 */
int ktread_proc_unpacker_open(struct ktread_proc_unpacker **unpacker, const char *name, bool more_may_come);
void ktread_proc_unpacker_close(struct ktread_proc_unpacker *unpacker);
/*
 * Returns what a ktread_proc_read returns, or KTREAD_E_FORMAT where the packed bytes are damaged or have no
 * end, after all bytes before that place.
 */
ssize_t ktread_proc_unpack(struct ktread_proc_unpacker *unpacker, ktread_proc_read *read, void *context,
			   uint8_t *to, size_t room);

#endif
