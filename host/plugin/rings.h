/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The output of packets: one or more pieces of mapped memory, which are filled one after another. After the
 * last piece, writing continues at the first piece, unless a limit is reached earlier. output_put() writes
 * bytes; output_publish() then publishes the position after the last byte written.
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
	unsigned char *end;  /* end of the piece that is being written */
	uint64_t size;	     /* size of all pieces together, in bytes */
	uint64_t limit;	     /* limit of the position (number of bytes since the output began) */
	uint64_t base;	     /* the position that corresponds to `end` */
	uint64_t lost;
	/*
	 * Addresses at which the position and the other state of struct ktrx_hwt_ring are published. Never
	 * NULL.
	 */
	uint64_t *published, *pending, *reached;
};

/* Continues writing at this position. Requires: the pieces are set. */
void output_seek(struct output *output, uint64_t position);

/* Writes bytes that do not all fit into the rest of the current piece. */
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

/* Writes at most 16 bytes; their number is usually a constant. */
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
 * Publishes the address that the trace has reached; packets and branches that lead there must have been
 * published before. While packets and branches are being added, 0 is published: if QEMU is killed during that
 * time, the trace ends earlier, but is consistent.
 */
static inline void output_set_reached(struct output *output, uint64_t address)
{
	__atomic_store_n(output->reached, address, __ATOMIC_RELEASE);
}

static inline void output_set_pending(struct output *output, uint64_t branches)
{
	__atomic_store_n(output->pending, branches, __ATOMIC_RELEASE);
}

/*
 * The file of out=FILE. It contains a struct ktrx_hwt_rings, one ring for each virtual CPU, and the code that
 * the virtual CPUs ran.
 */

struct encoder;

/* Creates the file. Returns NULL on success, otherwise a description of the error, with errno set. */
const char *rings_open(const char *path, unsigned cpus, uint64_t ring_size, uint64_t code_size,
		       const struct encoder *encoder);

/* Sets up the output of a virtual CPU's ring, from position 0 on. */
void rings_output(unsigned cpu, struct output *output);

/* Returns true if rings_open() has created a file. */
int rings_are_open(void);

/*
 * Adds the bytes of a block to the file. From now on, they are valid in this address space. Bytes that do not
 * fit are counted as lost. Requires: no other thread calls this function at the same time.
 */
void rings_code(const struct block *block, uint64_t space);

/* Records the current time of the guest's clock in the file. `nonce` identifies the boot of the guest. */
void rings_clock(uint64_t stamp, uint64_t frequency, uint64_t nonce);

#endif
