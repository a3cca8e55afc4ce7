/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where packets go: a row of pieces of memory, each mapped, written one after another and then from the first
 * on again, or up to a limit. Bytes are in the mapped memory when output_put() returns; where they end is
 * told by output_publish().
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
	uint32_t at;	     /* the piece that is written */
	unsigned char *next; /* the next byte's place */
	unsigned char *end;  /* of the piece */
	uint64_t size;	     /* of all pieces */
	uint64_t limit;	     /* position that is not to be exceeded */
	uint64_t base;	     /* position of `end` */
	uint64_t lost;
	/* Where this is told; never NULL. The last two as in struct ktrx_hwt_ring. */
	uint64_t *published, *pending, *reached;
};

/* Goes on at this position. The pieces stand. */
void output_seek(struct output *output, uint64_t position);

/* Bytes over the end of a piece. */
void output_put_split(struct output *output, const void *bytes, unsigned size);

static inline uint64_t output_position(const struct output *output)
{
	return output->base - (uint64_t)(output->end - output->next);
}

/* So many bytes fit in below the limit. */
static inline int output_fits(const struct output *output, uint64_t size)
{
	uint64_t position = output_position(output);

	return output->limit >= size && position <= output->limit - size;
}

/* At most 16 bytes, a constant number as a rule. */
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
 * Publishes the address that the trace has reached, once all packets and branches are published; 0 while they
 * are added. If QEMU is killed in between, the trace ends earlier but is consistent.
 */
static inline void output_tell_reached(struct output *output, uint64_t address)
{
	__atomic_store_n(output->reached, address, __ATOMIC_RELEASE);
}

static inline void output_tell_pending(struct output *output, uint64_t branches)
{
	__atomic_store_n(output->pending, branches, __ATOMIC_RELEASE);
}

/* out=FILE: struct ktrx_hwt_rings, a ring for each virtual CPU, and the code that they have run. */

struct encoder;

/* Makes the file. NULL, or what went wrong; errno says why. */
const char *rings_open(const char *path, unsigned cpus, uint64_t ring_size, uint64_t code_size,
		       const struct encoder *encoder);

/* The output of a virtual CPU's ring, from position 0 on. */
void rings_output(unsigned cpu, struct output *output);

/* There is a file: rings_open() has made it. */
int rings_are_open(void);

/*
 * The bytes of a block from now on, in this address space. What finds no room is counted. One caller at a
 * time.
 */
void rings_code(const struct block *block, uint64_t space);

/* The guest's clock says so now, in the boot with this nonce. */
void rings_clock(uint64_t stamp, uint64_t frequency, uint64_t nonce);

#endif
