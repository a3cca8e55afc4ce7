/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A memory: ranges of guest physical addresses, whose bytes are read from a source by position. A plain trace
 * file is a memory of one range, in which addresses are file offsets. So the same reader is used for files,
 * RAM and cores.
 *
 * Invariants: ranges are sorted by address, do not overlap and do not wrap around; the source is read only at
 * positions that are in a range.
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
	uint64_t position; /* position in the source of the first byte of the range */
};

struct ktread_memory {
	struct ktread_memory_ops ops; /* functions that read bytes of the source at a position */
	void *context;
	struct ktread_span *span;
	uint32_t spans;
	bool live;	  /* true if the memory may change while it is read */
	bool callers;	  /* the memory is read by a function of the caller, which sets no error message */
	bool ram;	  /* true if the source is a RAM file, whose memory map depends on the root in it */
	uint16_t machine; /* ELF machine of a RAM file, if the caller has given it; otherwise 0 */
	uint64_t size;
	uint64_t missing; /* number of bytes that an ELF core describes but does not contain */
	char *name;	  /* name that messages use for the memory */
};

/*
 * Creates a memory. After this call, the memory owns `context`. If this function fails, it closes `context`.
 * It copies `name`.
 */
int ktread_source_create(struct ktread_memory **memory, const struct ktread_memory_ops *ops, void *context,
			 const struct ktread_span *span, uint32_t spans, const char *name);
/* Replaces the ranges of the memory. */
int ktread_source_map(struct ktread_memory *memory, const struct ktread_span *span, uint32_t spans);
/* Opens a regular file as one range from address 0. A pipe is first copied to a temporary file. */
int ktread_source_open_file(struct ktread_memory **memory, const char *path);
/*
 * Opens a regular file as one range from address 0. Fails for a pipe, because a memory must be readable at
 * any address, and because the path may come from a QMP server.
 */
int ktread_source_open_regular(struct ktread_memory **memory, const char *path);
/*
 * Creates a memory with one range, from address 0, which is read from an open file. Takes over the
 * descriptor, even after an error.
 */
int ktread_source_open_descriptor(struct ktread_memory **memory, int descriptor, const char *name);
/* Returns the descriptor of an unnamed temporary file, or an error. */
int ktread_file_temporary(void);
/* Writes all `size` bytes. Returns 0, or KTREAD_E_SYSTEM with errno set. Sets no error message. */
int ktread_file_write(int descriptor, const void *bytes, size_t size);
/* Returns the address of the byte at `position` of the source; UINT64_MAX if the position is in no range. */
uint64_t ktread_source_physical(const struct ktread_memory *memory, uint64_t position);
/*
 * Sets *position to the position in the source of the byte at address `physical`. Returns 0, or an error
 * unless all `bytes` bytes from there on are in one range.
 */
int ktread_source_position(const struct ktread_memory *memory, uint64_t physical, uint64_t bytes,
			   uint64_t *position);

/*
 * Files that contain a guest's memory: RAM files and core dumps. A map gives the file offset of each guest
 * physical address.
 */

/*
 * Prepares `memory`, an open file, for being read as the RAM of a guest. `machine` is the name of the guest's
 * machine, NULL if unknown. `base` is the physical address of the file's first byte; 0 means the usual
 * address of this machine. Returns 0 or an error.
 */
int ktread_ram_map(struct ktread_memory *memory, const char *machine, uint64_t base);
/*
 * Uses the n-th possible map of a RAM file, for a root of ELF machine `machine` at file offset `offset`.
 * `self_phys` is the physical address that the root states; 0: none. Returns 1 on success, 0 if there are no
 * more maps, or an error.
 */
int ktread_ram_try(struct ktread_memory *memory, uint16_t machine, uint64_t offset, uint64_t self_phys,
		   uint32_t n);
/*
 * Sets the ranges of `memory`, an open ELF core, to the ranges that its program headers describe. Returns 0
 * or an error.
 */
int ktread_core_map(struct ktread_memory *memory);
bool ktread_core_is(struct ktread_memory *memory);

/* Files that were compressed with the zstd tool. */

/* The first bytes of a zstd frame (RFC 8878, section 3.1.1). */
#define KTREAD_ZSTD_MAGIC "\x28\xb5\x2f\xfd"

bool ktread_unpack_is_packed(struct ktread_memory *memory);
/*
 * Replaces the trace's file by a temporary file with its unpacked content, in which zeros become holes. The
 * size of the temporary file is limited only by the free space of the disk.
 */
int ktread_unpack(struct ktread *trace);

/* Unpacks a zstd file sequentially, in a constant amount of memory. Used for process traces. */

struct ktread_proc_unpacker;

/* Reads once. Returns the number of bytes read, 0 at the end, or an error. */
typedef ssize_t ktread_proc_read(void *context, uint8_t *to, size_t room);

/*
 * Opens an unpacker. Requires: KTREAD_ZSTD_MAGIC has already been read from the input. An input that ends
 * within a frame counts as truncated, unless `more_may_come` is set. `name` is used in messages; it is
 * borrowed and must outlive the unpacker.
 */
int ktread_proc_unpacker_open(struct ktread_proc_unpacker **unpacker, const char *name, bool more_may_come);
void ktread_proc_unpacker_close(struct ktread_proc_unpacker *unpacker);
/*
 * Unpacks up to `room` bytes. Returns what ktread_proc_read returns. If the packed bytes are damaged or
 * truncated, first returns all bytes before the damage, and then KTREAD_E_FORMAT.
 */
ssize_t ktread_proc_unpack(struct ktread_proc_unpacker *unpacker, ktread_proc_read *read, void *context,
			   uint8_t *to, size_t room);

#endif
