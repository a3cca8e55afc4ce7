/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The second part of ktread: finds ktrace in the physical memory of a guest that runs or has ended, inspects
 * its trace, and writes the trace as a v2 dump. Never writes to the guest.
 *
 * A memory is a source of physical bytes: a RAM file, an ELF core dump, or anything that a function of the
 * caller can read (QMP, a debug probe). An image is one ktrace root that was found in a memory. The guest may
 * run while it is read: data is copied before it is checked.
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

/* A range of guest physical addresses. */
struct ktread_range {
	uint64_t physical;
	uint64_t length;
};

/* Callbacks for a caller's own memory. All of them may block. `context` is the caller's pointer. */
struct ktread_memory_ops {
	/* Reads exactly `bytes` bytes. Returns 0 or a negative KTREAD_E_*. */
	int (*read)(void *context, uint64_t physical, void *buffer, size_t bytes);
	/*
	 * Returns the next address >= `physical` that may contain data, UINT64_MAX at the end. It lets ktread
	 * skip holes.
	 */
	uint64_t (*next_data)(void *context, uint64_t physical);
	void (*close)(void *context);
	/*
	 * Returns 1 if the memory cannot change any more, because the guest has ended; 0 if it can change;
	 * negative if unknown. The member may be NULL: unknown.
	 */
	int (*ended)(void *context);
	/*
	 * Returns the text of the last error KTREAD_E_SYSTEM of read(): what failed, and why. May be NULL:
	 * there is no text.
	 */
	const char *(*message)(void *context);
};

/*
 * Opens a RAM file of QEMU. `machine`: x86_64, aarch64 or riscv64; NULL tries the base address of each.
 * Returns 0 and a handle in *memory, to be closed with ktread_memory_close(), or a negative error.
 */
int ktread_memory_open_ram(struct ktread_memory **memory, const char *path, const char *machine);
/*
 * For a RAM file without ktrace: sets its base address to the usual physical base address of the machine that
 * was given to ktread_memory_open_ram(). For other RAM files, ktread derives the base address from ktrace's
 * root. Does nothing if no machine was given. Returns 0 or a negative error.
 */
int ktread_memory_assume(struct ktread_memory *memory);
/* Opens an ELF core dump. Returns the same values as ktread_memory_open_ram(). */
int ktread_memory_open_core(struct ktread_memory **memory, const char *path);
/*
 * Opens a memory that the caller's functions read. ops->close() is called when the memory is closed, and also
 * if this call fails. Returns the same values as ktread_memory_open_ram().
 */
int ktread_memory_open(struct ktread_memory **memory, const struct ktread_memory_ops *ops, void *context,
		       const struct ktread_range *ranges, uint32_t range_count);
/* Frees the memory's handle. */
void ktread_memory_close(struct ktread_memory *memory);
/*
 * Returns 1 if the guest has ended and its memory cannot change any more; 0 if the guest runs, hangs or is
 * paused; KTREAD_E_UNSUPPORTED if that is unknown.
 */
int ktread_memory_ended(const struct ktread_memory *memory);
/* Stores at most `most` ranges of the memory, in ascending order. Returns the number of stored ranges. */
#define KTREAD_RANGES_MOST 256u
uint32_t ktread_memory_ranges(const struct ktread_memory *memory, struct ktread_range *range, uint32_t most);
/* Returns the number of readable bytes from `physical` up to the next gap. */
uint64_t ktread_memory_run(const struct ktread_memory *memory, uint64_t physical);
/* Returns the next address >= `physical` that may contain data, UINT64_MAX if there is none. */
uint64_t ktread_memory_next_data(const struct ktread_memory *memory, uint64_t physical);
/* Reads exactly `bytes` bytes. Returns 0 or a negative error. */
int ktread_memory_read(struct ktread_memory *memory, uint64_t physical, void *buffer, size_t bytes);

/*
 * Searches for the root of the current or last boot. A root is valid if its `self` is set and its checksum is
 * correct. If several roots are valid, uses the root with the newest timestamps.
 * Returns 0 and an image in *image, to be closed with ktread_image_close(), or a negative error.
 * KTREAD_E_ABSENT: there is no root, for example between a reset and the first event of the next boot.
 * Requires: the memory outlives the image.
 */
int ktread_image_find(struct ktread_image **image, struct ktread_memory *memory);
/*
 * Searches for an earlier boot. `boot` counts back from the last boot, which is 0. The search finds boots
 * whose root, or whose copy in persistent memory, still exists. In all other respects, does the same as
 * ktread_image_find(). KTREAD_E_ABSENT: there are fewer boots.
 */
int ktread_image_find_boot(struct ktread_image **image, struct ktread_memory *memory, uint32_t boot);
/*
 * Returns nonzero if the image is the copy that an earlier boot left in persistent memory. The root of that
 * boot no longer exists.
 */
bool ktread_image_is_kept(const struct ktread_image *image);
/*
 * Opens the root at `physical` without a search. In all other respects, does the same as ktread_image_find().
 * KTREAD_E_ABSENT: there is no root, or a ring in use can be found only by a search.
 */
int ktread_image_open(struct ktread_image **image, struct ktread_memory *memory, uint64_t physical);
/* Returns the number of boots that the search found; 1 if there was no search. */
uint32_t ktread_image_boots(const struct ktread_image *image);
/*
 * Sets the text for KTRX_SECTION_REGISTERS in dumps (spec/ktrx.md section 3); copied. Returns 0 or a negative
 * error.
 */
int ktread_image_set_registers(struct ktread_image *image, const char *text);
/* Frees the image; its memory stays open. */
void ktread_image_close(struct ktread_image *image);
/* Returns the ELF machine (e_machine) of the kernel. */
uint16_t ktread_image_machine(const struct ktread_image *image);
/* Returns the physical address of the root. */
uint64_t ktread_image_physical(const struct ktread_image *image);
uint64_t
/* virtual address of the root in its kernel; 0 if unknown */
ktread_image_virtual(const struct ktread_image *image);
/*
 * Copies the kernel's build id, which the trace contains, to `id`. Returns its size in bytes; 0 if the trace
 * contains no build id, or one of more than `room` bytes.
 */
uint32_t ktread_image_build_id(const struct ktread_image *image, unsigned char *id, uint32_t room);
/*
 * Sets *position to the file offset at which a section (KTRX_SECTION_*) begins, for a caller that writes to
 * its first `bytes` bytes. Returns 0, or KTREAD_E_ABSENT: there is no such section, it has fewer bytes, or
 * these bytes are not contiguous in the file.
 */
int ktread_image_place(const struct ktread_image *image, uint32_t type, uint64_t bytes, uint64_t *position);

/* Returns the number of rings, usable or not. */
uint32_t ktread_image_rings(const struct ktread_image *image);
/* A piece of a ring: slots that are contiguous in the file that contains the memory. */
struct ktread_ring_piece {
	uint64_t offset;   /* offset of the piece in the ring, in bytes */
	uint64_t length;   /* size of the piece in bytes */
	uint64_t position; /* file offset of its first byte */
};
/*
 * Stores piece `n`, from 0, of a ring. Returns 1; 0 if the ring has fewer pieces; or KTREAD_E_ABSENT if there
 * is no such ring or the piece is not in the file.
 */
int ktread_image_ring_piece(const struct ktread_image *image, uint32_t ring, uint32_t n,
			    struct ktread_ring_piece *piece);

/*
 * Whether a CPU rests in its idle thread, for a kernel that does not report this (KTRX_MODE_IDLE). A CPU that
 * rests may have no heartbeat for a long time, so it is not stuck.
 *
 * The structure contains what several readings of the CPU's descriptor have shown. All zeros before the first
 * reading. The caller owns it.
 */
struct ktread_idle {
	uint64_t heartbeats, switches; /* as in the descriptor at the last reading */
	uint64_t ticks;		       /* number of heartbeats in the idle thread since the last switch */
	bool read;
	bool says;  /* true if the kernel has reported KTRX_MODE_IDLE for this CPU */
	bool beats; /* true if the CPU has heartbeats while its idle thread runs */
};
/* Processes a reading of the CPU's descriptor. `idle_thread`: whether its thread is an idle thread. */
void ktread_idle_read(struct ktread_idle *idle, const struct ktrx_cpu *row, bool idle_thread);
/*
 * Returns whether the CPU has switched to its idle thread and runs no interrupt handler. Returns false if the
 * kernel reports by modes when this CPU idles, or if interrupts are disabled.
 */
bool ktread_idle_runs(const struct ktread_idle *idle, const struct ktrx_cpu *row, bool idle_thread);

/* Current state of a guest, for a program that watches the guest. */
struct ktread_pulse {
	uint64_t nonce;	     /* identifies the boot: the value changes when the guest boots again */
	uint64_t slots;	     /* number of slots produced in all rings since boot */
	uint64_t heartbeats; /* total number of heartbeats of all CPUs */
	/*
	 * cpus: number of all CPUs. online: number of CPUs that are online. idle: number of CPUs in
	 * KTRX_MODE_IDLE, or whose thread is 0 if the kernel never reports this mode
	 */
	uint32_t cpus, online, idle;
	uint32_t outcome; /* KTRX_OUTCOME_* */
	int32_t status;
	uint64_t frequency;
	/*
	 * Describes the CPU with the oldest heartbeat, among the CPUs that are online and not idle. A CPU
	 * that never had a heartbeat counts as the oldest if another CPU had one.
	 */
	uint32_t quiet_cpu; /* number of the CPU with the oldest heartbeat; KTRX_NO_CPU if there is none */
	/* timestamp of the last heartbeat of quiet_cpu; 0: that CPU never had a heartbeat */
	uint64_t quiet_stamp;
};
/* Reads the current state of the guest. Returns 0 or a negative error. */
int ktread_image_pulse(struct ktread_image *image, struct ktread_pulse *pulse);

/*
 * Writes a v2 dump of the image to `fd` at the current offset; the file must be empty from there on. `fd` may
 * be a pipe. `note` becomes KTRX_SECTION_NOTE; it may be NULL. `frequency` replaces an unknown frequency; 0:
 * the frequency stays unknown.
 * The guest may run during the call: records that are made while a ring is copied are included, and the older
 * records that they replace count as overwritten. Memory use does not depend on the size of the rings.
 * Returns 0 or a negative error.
 */
int ktread_image_write(struct ktread_image *image, int fd, const char *note, uint64_t frequency);

/* returns the text of the last error of these functions in this thread */
const char *ktread_image_message(void);

#ifdef __cplusplus
}
#endif

#endif
