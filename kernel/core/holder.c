/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rows of holders. A thread's lies at one of a few places that follow from its number, claimed by a single
 * swap from 0. Two CPUs may claim for one thread at a time, at different places if one was freed meanwhile:
 * the first place counts, and whoever sees a later one frees it.
 *
 * Of a number counts what a record has bits for: whatever a kernel says, it is no other row's id.
 */
#include "hook.h"

#if KTRACE_STATE

#define KTRACE_PROBES 8u
#define KTRACE_SPREAD UINT32_C(0x9e3779b1) /* 2^32 by the golden ratio */

/* Rows are where it follows from the number, or at one of the next, behind the last one at the first. */
static uint32_t first_of(uint32_t thread)
{
	return (uint32_t)((uint64_t)(uint32_t)(thread * KTRACE_SPREAD) * ktrace_state.holders >> 32);
}

static uint32_t probes(void)
{
	return ktrace_state.holders < KTRACE_PROBES ? ktrace_state.holders : KTRACE_PROBES;
}

static volatile struct ktrx_holder *row_at(uint32_t at)
{
	uint32_t rows = ktrace_state.holders;

	return &ktrace_state.holder[ktrace_state.cpus + (at < rows ? at : at - rows)];
}

/* The id and what shares its word; 0 is free. */
static uint64_t *head_of(volatile struct ktrx_holder *row)
{
	return (uint64_t *)(uintptr_t)row;
}

static void row_free(volatile struct ktrx_holder *row)
{
	volatile uint64_t *word = head_of(row);

	for (uint32_t i = 1; i < sizeof(*row) / sizeof(*word); i++)
		word[i] = 0;
	ktrace_arch_store_barrier();
	word[0] = 0;
}

static int row_claim(volatile struct ktrx_holder *row, uint32_t thread)
{
	uint64_t head = *(volatile uint64_t *)head_of(row);

	return (uint32_t)head == 0 && ktrace_arch_compare_swap(head_of(row), head, (uint64_t)thread + 1);
}

/* Not at its first place. */
KTRACE_OUT_OF_LINE volatile struct ktrx_holder *find_further(uint32_t thread)
{
	uint32_t first = first_of(thread), end = first + probes();

	for (uint32_t at = first + 1; at < end; at++) {
		volatile struct ktrx_holder *row = row_at(at);

		if (row->id == thread + 1)
			return row;
	}
	return KTRACE_NULL;
}

volatile struct ktrx_holder *ktrace_holder_find(uint32_t thread)
{
	volatile struct ktrx_holder *row;

	if (!ktrace_state.holder)
		return KTRACE_NULL;
	thread = KTRX_W1_THREAD(thread);
	row = row_at(first_of(thread));
	return KTRACE_LIKELY(row->id == thread + 1) ? row : find_further(thread);
}

/* The thread's first row is the one; later ones are freed. Of two that claim at a time one sees both rows. */
static volatile struct ktrx_holder *settle(uint32_t thread)
{
	volatile struct ktrx_holder *first = KTRACE_NULL;
	uint32_t at = first_of(thread), end = at + probes();

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (; at < end; at++) {
		volatile struct ktrx_holder *row = row_at(at);

		if (row->id != thread + 1)
			continue;
		if (first)
			row_free(row);
		else
			first = row;
	}
	return first;
}

KTRACE_OUT_OF_LINE volatile struct ktrx_holder *claim_new(uint32_t thread)
{
	uint32_t first = first_of(thread), end = first + probes();

	for (uint32_t at = first; at < end; at++)
		if (row_claim(row_at(at), thread))
			return settle(thread);
	return KTRACE_NULL;
}

volatile struct ktrx_holder *ktrace_holder_claim(uint32_t thread)
{
	volatile struct ktrx_holder *row = ktrace_holder_find(thread);

	return KTRACE_LIKELY(row) ? row : claim_new(KTRX_W1_THREAD(thread));
}

void ktrace_holder_free(uint32_t thread)
{
	uint32_t number = KTRX_W1_THREAD(thread), first = first_of(number), end = first + probes();

	for (uint32_t at = first; at < end; at++) {
		volatile struct ktrx_holder *row = row_at(at);

		if (row->id == number + 1)
			row_free(row);
	}
}

void ktrace_holder_wait(volatile struct ktrx_holder *row, uint64_t object, uint32_t kind, uint64_t now,
			uint64_t pc, uint32_t owner, const char *name)
{
	uint32_t length = 0;

	row->wait = KTRX_WAIT_NONE;
	ktrace_arch_store_barrier();
	row->object = object;
	row->wait_stamp = now;
	row->wait_pc = pc;
	row->owner = owner;
	for (; name && name[length] && length + 1 < sizeof(row->object_name); length++)
		row->object_name[length] = name[length];
	row->object_name[length] = '\0';
	ktrace_arch_store_barrier();
	row->wait = (uint8_t)kind;
}

#endif
