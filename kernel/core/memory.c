/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "memory.h"

#define KTRACE_PAGE UINT64_C(4096)

static void piece_add(struct ktrace_arena *arena, uintptr_t start, uintptr_t end)
{
	uintptr_t aligned = (start + KTRACE_PIECE_ALIGN - 1) & ~(uintptr_t)(KTRACE_PIECE_ALIGN - 1);
	uint64_t size = end > aligned ? (end - aligned) & ~(uint64_t)(KTRACE_PIECE_ALIGN - 1) : 0;

	if (size < sizeof(struct ktrx_block) || arena->pieces == KTRACE_MAX_BLOCKS)
		return;
	arena->piece[arena->pieces].start = aligned;
	arena->piece[arena->pieces].size = size;
	arena->pieces++;
}

/* Splits a block wherever the page behind a page is not the next one in physical memory. */
static void block_add(struct ktrace_arena *arena, const struct ktrace_config *config, uintptr_t start,
		      uintptr_t end)
{
	uintptr_t piece = start;
	uintptr_t page;

	for (page = (start | (KTRACE_PAGE - 1)) + 1; config->physical && page < end; page += KTRACE_PAGE) {
		uint64_t before = config->physical((void *)(page - 1));

		if (config->physical((void *)page) != before + 1) {
			piece_add(arena, piece, page);
			piece = page;
		}
	}
	piece_add(arena, piece, end);
}

void ktrace_arena_open(struct ktrace_arena *arena, const struct ktrace_config *config)
{
	arena->boot = 0;
	arena->pieces = 0;
	for (uint32_t i = 0; i < config->blocks; i++) {
		uintptr_t start = (uintptr_t)config->memory[i].base;

		if (start != 0)
			block_add(arena, config, start, start + config->memory[i].size);
	}
	ktrace_arena_rewind(arena);
}

/* The boot whose block lies there, 0: none that is of this size. */
static uint64_t boot_at(uintptr_t start, uint64_t size)
{
	const volatile struct ktrx_block *head = (const volatile struct ktrx_block *)start;

	for (uint32_t i = 0; i < sizeof(head->magic); i++)
		if (head->magic[i] != (uint8_t)KTRX_BLOCK_MAGIC[i])
			return 0;
	return head->self == start && head->length == size ? head->boot : 0;
}

/* Makes each piece its first of so many parts. Those of which a part has no room for a head are given up. */
static void pieces_divide(struct ktrace_arena *arena, uint32_t parts)
{
	uint32_t pieces = arena->pieces;

	arena->pieces = 0;
	for (uint32_t i = 0; i < pieces; i++)
		piece_add(arena, arena->piece[i].start, arena->piece[i].start + arena->piece[i].size / parts);
}

/* The first piece speaks for all: they are marked together. */
int ktrace_arena_divide(struct ktrace_arena *arena, uint32_t parts, uint64_t nonce)
{
	uint64_t newest = 0, oldest = UINT64_MAX;
	uint32_t chosen = 0, known = 0;

	pieces_divide(arena, parts);
	for (uint32_t part = 0; part < parts && arena->pieces != 0; part++) {
		uintptr_t start = arena->piece[0].start + part * arena->piece[0].size;
		uint64_t boot = boot_at(start, arena->piece[0].size);

		if (boot != 0 && ((const volatile struct ktrx_block *)start)->nonce == nonce)
			known = 1;
		if (boot > newest)
			newest = boot;
		if (boot < oldest) {
			oldest = boot;
			chosen = part;
		}
	}
	for (uint32_t i = 0; i < arena->pieces; i++)
		arena->piece[i].start += chosen * arena->piece[i].size;
	arena->boot = newest + 1;
	return (int)known;
}

void ktrace_arena_rewind(struct ktrace_arena *arena)
{
	for (uint32_t i = 0; i < arena->pieces; i++)
		arena->piece[i].taken = sizeof(struct ktrx_block);
}

void *ktrace_arena_take(struct ktrace_arena *arena, uint64_t size)
{
	uint64_t rounded = (size + KTRACE_PIECE_ALIGN - 1) & ~(uint64_t)(KTRACE_PIECE_ALIGN - 1);

	for (uint32_t i = 0; i < arena->pieces; i++) {
		if (arena->piece[i].size - arena->piece[i].taken >= rounded) {
			uintptr_t place = arena->piece[i].start + arena->piece[i].taken;

			arena->piece[i].taken += rounded;
			return (void *)place;
		}
	}
	return KTRACE_NULL;
}

void ktrace_arena_mark(const struct ktrace_arena *arena, uint64_t nonce)
{
	for (uint32_t i = 0; i < arena->pieces; i++) {
		struct ktrx_block *head = (struct ktrx_block *)arena->piece[i].start;

		ktrace_zero(head, sizeof(*head));
		ktrace_copy(head->magic, KTRX_BLOCK_MAGIC, sizeof(head->magic));
		head->nonce = nonce;
		head->self = arena->piece[i].start;
		head->length = arena->piece[i].size;
		head->boot = arena->boot;
	}
}
