/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The output of packets: mapped pieces of memory that are written one after another, then again from the
 * first piece, or up to a limit. output_put() writes bytes at once; output_publish() publishes the position
 * after them.
 */
#ifndef PLUGIN_RINGS_H
#define PLUGIN_RINGS_H

#include <stdint.h>
#include <string.h>

#include "code.h"

struct output_piece {
	unsigned char *bytes;
	uint64_t size;
};

struct output {
	struct output_piece *piece;
	uint32_t pieces;
	uint32_t at;	     /* index of the piece that is being written */
	unsigned char *next; /* address at which the next byte is written */
	unsigned char *end;  /* end of that piece */
	uint64_t size;	     /* of all pieces */
	uint64_t limit;	     /* position that must not be exceeded */
	uint64_t base;	     /* position of `end` */
	uint64_t lost;
	/* Where the position and the state of struct ktrx_hwt_ring are published; never NULL. */
	uint64_t *published, *pending, *reached;
};

/* Continues at this position. Requires: the pieces are set. */
void output_seek(struct output *output, uint64_t position);

/* Writes bytes across the end of a piece. */
void output_put_split(struct output *output, const void *bytes, unsigned size);

static inline uint64_t output_position(const struct output *output)
{
	return output->base - (uint64_t)(output->end - output->next);
}

/* Returns true if this number of bytes fits below the limit. */
static inline int output_fits(const struct output *output, uint64_t size)
{
	uint64_t position = output_position(output);

	return output->limit >= size && position <= output->limit - size;
}

/* Writes at most 16 bytes, usually of constant size. */
static inline void output_put(struct output *output, const void *bytes, unsigned size)
{
	if (__builtin_expect((uint64_t)(output->end - output->next) > size, 1)) {
		memcpy(output->next, bytes, size);
		output->next += size;
	} else {
		output_put_split(output, bytes, size);
	}
}

static inline void output_publish(struct output *output)
{
	__atomic_store_n(output->published, output_position(output), __ATOMIC_RELEASE);
}

/*
 * Publishes the address that the trace has reached, after all packets and branches have been published. While
 * packets and branches are added, publishes 0. If QEMU is killed in that time, the trace ends earlier, but is
 * consistent.
 */
static inline void output_set_reached(struct output *output, uint64_t address)
{
	__atomic_store_n(output->reached, address, __ATOMIC_RELEASE);
}

static inline void output_set_pending(struct output *output, uint64_t branches)
{
	__atomic_store_n(output->pending, branches, __ATOMIC_RELEASE);
}

/* out=FILE: a struct ktrx_hwt_rings, a ring for each virtual CPU, and the code that they ran. */

struct encoder;

/* Creates the file. Returns NULL, or what went wrong; errno is set. */
const char *rings_open(const char *path, unsigned cpus, uint64_t ring_size, uint64_t code_size,
		       const struct encoder *encoder);

/* Sets up the output of a virtual CPU's ring, from position 0 on. */
void rings_output(unsigned cpu, struct output *output);

/* Returns true if rings_open() has created a file. */
int rings_are_open(void);

/*
 * Adds the bytes of a block, which are valid in this address space from now on. If there is no room, they are
 * counted as lost. Requires: only one caller at a time.
 */
void rings_code(const struct block *block, uint64_t space);

/* Records the guest's clock as of now, in the boot with this nonce. */
void rings_clock(uint64_t stamp, uint64_t frequency, uint64_t nonce);

#endif
