/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A writer of version 2 for tests of the reader. It is based only on spec/ktrx.md, and shares no code with
 * the kernel library. The rings wrap around, as the rings of a guest do. The trace is written as a dump or as
 * guest memory.
 */
#ifndef KTREAD_WRITER_H
#define KTREAD_WRITER_H

#include "unit/support/ktread_support.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define WRITER_EVENTS 8u

struct writer_slot {
	uint64_t word[4];
};

struct writer_ring {
	struct ktrx_ring row;
	struct writer_slot *slot;
	uint64_t head;
};

struct writer {
	struct ktrx_root root;
	struct writer_ring *ring;
	uint32_t rings;
	struct bytes events, threads, syscalls, offsets, settings, clocks, cpus, holders, note, registers,
		build_id;
};

/* Begins a trace. Ring 0 is shared; ring n belongs to CPU n - 1. Each ring has 2^`shift` slots. */
void writer_open(struct writer *writer, uint32_t rings, uint32_t shift);
void writer_close(struct writer *writer);
/*
 * Adds an event descriptor. `types`: KTRX_TYPE_* of each field, followed by 0. `strings`:
 * "group\0name\0text\0file\0name\0unit\0…".
 */
void writer_event(struct writer *writer, const uint8_t *types, const char *strings, size_t size);
void writer_thread(struct writer *writer, uint32_t thread, const char *name);

/* Appends a record, and an anchor before it if the format requires one. Returns the record's index. */
uint64_t writer_record(struct writer *writer, uint32_t ring, uint64_t stamp, uint32_t id, uint32_t thread,
		       const void *payload, uint32_t bytes);
/* Appends a record that has an extension block before its payload. */
uint64_t writer_record_extended(struct writer *writer, uint32_t ring, uint64_t stamp, uint32_t id,
				uint32_t thread, const void *payload, uint32_t bytes);
/* Reserves slots without writing them. Returns the index of the first slot. */
uint64_t writer_reserve(struct writer *writer, uint32_t ring, uint32_t slots);
struct writer_slot *writer_slot_at(struct writer *writer, uint32_t ring, uint64_t index);
void writer_anchor(struct writer *writer, uint32_t ring, uint64_t stamp);

/*
 * Addresses in the memory that writer_memory() fills. The difference between virtual and physical addresses
 * is not the same for the kernel image and for ktrace's memory.
 */
#define WRITER_MEMORY_SIZE  (8u << 20)
#define WRITER_ROOT	    0x10000u
#define WRITER_BLOCK	    0x200040u
#define WRITER_IMAGE_OFFSET (UINT64_C(0xffffffff80000000))
#define WRITER_SETTINGS	    0x18000u /* offset of the table of settings */
#define WRITER_BLOCK_OFFSET (UINT64_C(0xffff888000000000))

/*
 * Fills the memory of a guest, which begins at physical address `base`. The reserve words of the rings are
 * not in the ring table.
 */
void writer_memory(struct writer *writer, unsigned char *memory, uint64_t base);
/* Returns the maximum number of bytes of memory that writer_memory() fills. */
uint64_t writer_memory_end(const struct writer *writer);
/* Copies the current slots and heads of the rings to memory that writer_memory() has filled. */
void writer_memory_update(struct writer *writer, unsigned char *memory);

/* Appends a dump of the whole trace. */
void writer_dump(struct writer *writer, struct bytes *dump);

#endif
