/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktread, part two: finding ktrace in the physical memory of a guest, running or dead, looking at it, and
 * linearising it into a v2 dump. Never writes to the guest.
 *
 * A memory is any source of physical bytes: a RAM file, an ELF core, or whatever a caller can read with a
 * function (QMP, a debug probe). An image is one ktrace root found in a memory. The guest may run meanwhile:
 * all that is decided upon is copied first.
 */
#ifndef KTREAD_MEMORY_H
#define KTREAD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ktread_memory;
struct ktread_image;

/* A range of guest physical memory. */
struct ktread_range {
	uint64_t physical;
	uint64_t length;
};

/* Functions of a caller's own memory. All allowed to block; `context` is the caller's. */
struct ktread_memory_ops {
	/* Reads exactly `bytes`; 0 or a negative KTREAD_E_*. */
	int (*read)(void *context, uint64_t physical, void *buffer, size_t bytes);
	/* Next address >= `physical` that may hold data, UINT64_MAX at the end (lets holes be skipped). */
	uint64_t (*next_data)(void *context, uint64_t physical);
	void (*close)(void *context);
	/*
	 * 1: nobody can write to it any more, as when the guest is gone; 0: somebody can; NULL or negative:
	 * that cannot be told.
	 */
	int (*ended)(void *context);
	/* Why the last reading failed with KTREAD_E_SYSTEM, and of what; NULL: that is not told. */
	const char *(*message)(void *context);
};

/* RAM file of QEMU: `machine` x86_64 | aarch64 | riscv64, or NULL to try each layout's base. */
int ktread_memory_open_ram(struct ktread_memory **memory, const char *path, const char *machine);
/*
 * Where a RAM file's bytes lie in the machine's memory is known once ktrace's root has been found in it. Of
 * one that has none this takes the usual place of the machine that was named, if one was. 0 or an error.
 */
int ktread_memory_assume(struct ktread_memory *memory);
int ktread_memory_open_core(struct ktread_memory **memory, const char *path);
/* The context is closed with the memory, and where that cannot be opened. */
int ktread_memory_open(struct ktread_memory **memory, const struct ktread_memory_ops *ops, void *context,
		       const struct ktread_range *ranges, uint32_t range_count);
void ktread_memory_close(struct ktread_memory *memory);
/*
 * 1 if nobody can write to the memory any more: the guest has ended. 0 if somebody can: the guest runs, hangs
 * or is paused. KTREAD_E_UNSUPPORTED if that is unknown.
 */
int ktread_memory_ended(const struct ktread_memory *memory);
/* Its ranges, ascending, `most` at most. Returns how many. */
#define KTREAD_RANGES_MOST 256u
uint32_t ktread_memory_ranges(const struct ktread_memory *memory, struct ktread_range *range, uint32_t most);
/* Bytes that can be read from `physical` on without a gap. */
uint64_t ktread_memory_run(const struct ktread_memory *memory, uint64_t physical);
/* Next address >= `physical` that may hold data, UINT64_MAX if none. */
uint64_t ktread_memory_next_data(const struct ktread_memory *memory, uint64_t physical);
int ktread_memory_read(struct ktread_memory *memory, uint64_t physical, void *buffer, size_t bytes);

/*
 * Finds the root of the boot that runs or ran last (self set, checksum right; the newest by stamps where
 * several are valid). KTREAD_E_ABSENT if there is none, as between a reset and the first event of the next
 * boot. The memory must outlive the image.
 */
int ktread_image_find(struct ktread_image **image, struct ktread_memory *memory);
/*
 * The n-th boot back of those whose roots, or what they left in memory that is kept over resets, are found, 0
 * the last. KTREAD_E_ABSENT: there are not so many.
 */
int ktread_image_find_boot(struct ktread_image **image, struct ktread_memory *memory, uint32_t boot);
/* Whether it is what a boot left that has ended: its root itself is gone. */
bool ktread_image_is_kept(const struct ktread_image *image);
/*
 * The root that lies at `physical`, without searching for anything. KTREAD_E_ABSENT: there is none, or a ring
 * in use is only to be found by a search.
 */
int ktread_image_open(struct ktread_image **image, struct ktread_memory *memory, uint64_t physical);
/* How many boots a search found roots of; 1 where none was made. */
uint32_t ktread_image_boots(const struct ktread_image *image);
/* What goes into dumps as KTRX_SECTION_REGISTERS (spec/ktrx.md section 3); copied. */
int ktread_image_set_registers(struct ktread_image *image, const char *text);
void ktread_image_close(struct ktread_image *image);
uint16_t ktread_image_machine(const struct ktread_image *image);  /* ELF e_machine */
uint64_t ktread_image_physical(const struct ktread_image *image); /* of the root */
uint64_t
ktread_image_virtual(const struct ktread_image *image); /* of the root, as its kernel sees it; 0 unknown */
/*
 * Where the first `bytes` of a section (KTRX_SECTION_*) lie in one piece in the file, for who has to write
 * there. KTREAD_E_ABSENT: there is no such section, or not so much of it.
 */
int ktread_image_place(const struct ktread_image *image, uint32_t type, uint64_t bytes, uint64_t *position);

/* What a watcher wants to know, read afresh. */
struct ktread_pulse {
	uint64_t nonce;		     /* another nonce than before: the guest booted anew */
	uint64_t slots;		     /* produced on all rings since boot */
	uint64_t heartbeats;	     /* of all CPUs */
	uint32_t cpus, online, idle; /* idle: CPUs whose mode says so */
	uint32_t outcome;	     /* KTRX_OUTCOME_* */
	int32_t status;
	uint64_t frequency;
	/*
	 * Of the online CPUs that are at work, the one that beat the longest ago, or never though another
	 * did.
	 */
	uint32_t quiet_cpu;   /* KTRX_NO_CPU: there is none */
	uint64_t quiet_stamp; /* of its last heartbeat, 0: never */
};
int ktread_image_pulse(struct ktread_image *image, struct ktread_pulse *pulse);

/*
 * Writes a v2 dump of the image to `fd` (at its present offset, behind which the file must be empty; a pipe
 * will do, too). `note` becomes KTRX_SECTION_NOTE, may be NULL. `frequency` replaces an unknown one, 0 leaves
 * it. The guest may go on: what it records while a ring is copied is taken in, and what it overwrites by that
 * counts as overwritten. Memory needed does not grow with the rings.
 */
int ktread_image_write(struct ktread_image *image, int fd, const char *note, uint64_t frequency);

const char *ktread_image_message(void); /* text of the last error of this part, this thread */

#ifdef __cplusplus
}
#endif

#endif
