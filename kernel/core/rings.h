/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The rings as a reader inside the kernel finds them, while writers may go on. */
#ifndef KTRACE_CORE_RINGS_H
#define KTRACE_CORE_RINGS_H

#include <stddef.h>

#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* The ring table, NULL if there is none that can be read in place; *rings: its rows. */
const struct ktrx_ring *ktrace_root_rings(const struct ktrx_root *root, uint32_t *rings);

/*
 * Index of the next free slot, now. While the CPU is not online what is added to its word goes to the boot
 * ring, and its own ring is empty.
 */
uint64_t ktrace_ring_head(const struct ktrx_ring *ring);

/* The ring's number: its row in the ring table. */
uint32_t ktrace_ring_number(const struct ktrx_ring *ring);

/*
 * Copies slots that CPUs may be writing. A writer stores a slot's first word last, so that word is loaded
 * first. The caller must look at the ring's head after that: slots may have been overwritten.
 */
static inline void ktrace_copy_slots(void *to, const void *from, uint32_t slots)
{
	volatile uint64_t *out = (volatile uint64_t *)to;
	const volatile uint64_t *in = (const volatile uint64_t *)from;

	for (uint32_t n = 0; n < slots; n++, out += 4, in += 4) {
		out[0] = __atomic_load_n(in, __ATOMIC_ACQUIRE);
		out[1] = in[1];
		out[2] = in[2];
		out[3] = in[3];
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Copies whole 64-bit words, each in one load: what is copied may change meanwhile. */
static inline __attribute__((__unused__)) void ktrace_copy_words(void *to, const void *from, size_t bytes)
{
	volatile uint64_t *out = (volatile uint64_t *)to;
	const volatile uint64_t *in = (const volatile uint64_t *)from;

	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		out[i] = in[i];
}

#endif
