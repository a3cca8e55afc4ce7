/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/hwt_coresight_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_log.h"

#define ETM(n)                                                                         \
	{                                                                              \
		.type = KTRACE_CORESIGHT_ETM4, .base = 0x10000 * ((n) + 1), .cpu = (n) \
	}
#define FUNNEL(n)                                                                \
	{                                                                        \
		.type = KTRACE_CORESIGHT_FUNNEL, .base = 0x1000 * (n) + 0x200000 \
	}
#define ETF(n)                                                                \
	{                                                                     \
		.type = KTRACE_CORESIGHT_ETF, .base = 0x1000 * (n) + 0x300000 \
	}
#define ETR(what)                                                               \
	{                                                                       \
		.type = KTRACE_CORESIGHT_ETR, .base = 0x400000, .flags = (what) \
	}
#define MACHINE(name)                                                                                 \
	const struct cs_machine cs_##name = { name##_component, name##_link,                          \
					      sizeof(name##_component) / sizeof(name##_component[0]), \
					      sizeof(name##_link) / sizeof(name##_link[0]) }
/* size, in bytes, of the memory that the model has for the buffer and table of each unit */
#define EACH(unit) (CS_PAGE * 256)

static const struct ktrace_coresight_component flat_component[] = { ETM(0), ETR(KTRACE_CORESIGHT_COHERENT) };
static const struct ktrace_coresight_link flat_link[] = { { 0, 0, 1, 0 } };
MACHINE(flat);

static const struct ktrace_coresight_component restore_component[] = { ETM(0), ETM(1), FUNNEL(0),
								       ETR(KTRACE_CORESIGHT_RESTORE) };
static const struct ktrace_coresight_link restore_link[] = { { 0, 0, 2, 0 }, { 1, 0, 2, 7 }, { 2, 0, 3, 0 } };
MACHINE(restore);

static const struct ktrace_coresight_component scatter_component[] = { ETM(0), FUNNEL(0), ETF(0),
								       ETR(KTRACE_CORESIGHT_SCATTER) };
static const struct ktrace_coresight_link scatter_link[] = { { 0, 0, 1, 3 }, { 1, 0, 2, 0 }, { 2, 0, 3, 0 } };
MACHINE(scatter);

/* The own memory of an ETR is in the last pages of the model's memory. */
#define STORE_SIZE (2 * CS_PAGE)
static const struct ktrace_hwt_piece store_piece = {
	FAKE_CORESIGHT_PHYSICAL + FAKE_CORESIGHT_RAM - STORE_SIZE, STORE_SIZE
};
static const struct ktrace_hwt_buffer store = { .piece = &store_piece,
						.pieces = 1,
						.size = STORE_SIZE,
						.base = fake_coresight_ram + FAKE_CORESIGHT_RAM -
							STORE_SIZE };
static const struct ktrace_coresight_component store_component[] = {
	ETM(0), ETM(1), FUNNEL(0), { .type = KTRACE_CORESIGHT_ETR, .base = 0x400000, .store = &store }
};
static const struct ktrace_coresight_link store_link[] = { { 0, 0, 2, 0 }, { 1, 0, 2, 1 }, { 2, 0, 3, 0 } };
MACHINE(store);

static const struct ktrace_coresight_component four_component[] = { ETM(0),    ETM(1),	  ETM(2),    ETM(3),
								    FUNNEL(0), FUNNEL(1), FUNNEL(2), ETF(0) };
static const struct ktrace_coresight_link four_link[] = { { 0, 0, 4, 0 }, { 1, 0, 4, 1 }, { 2, 0, 5, 0 },
							  { 3, 0, 5, 1 }, { 4, 0, 6, 0 }, { 5, 0, 6, 4 },
							  { 6, 0, 7, 0 } };
MACHINE(four);

static const struct ktrace_coresight_component two_ways_component[] = { ETM(0),
									{ .type = KTRACE_CORESIGHT_REPLICATOR,
									  .base = 0x500000 },
									{ .type = KTRACE_CORESIGHT_TPIU },
									ETR(0) };
static const struct ktrace_coresight_link two_ways_link[] = { { 0, 0, 1, 0 },
							      { 1, 0, 2, 0 },
							      { 1, 1, 3, 0 } };
MACHINE(two_ways);

struct cs cs;

const struct ktrace_hwt_backend_operations *cs_op(void)
{
	return cs.backend.operations;
}

void cs_machine(const struct cs_machine *machine)
{
	memset(&cs, 0, sizeof(cs));
	memcpy(cs.component, machine->component, machine->components * sizeof(cs.component[0]));
	memcpy(cs.link, machine->link, machine->links * sizeof(cs.link[0]));
	cs.all = (struct ktrace_coresight){ .component = cs.component,
					    .components = machine->components,
					    .link = cs.link,
					    .links = machine->links,
					    .polls = 8,
					    .access = &fake_coresight_access };
	fake_coresight_reset(&cs.all);
	ktrace_hwt_coresight_make(&cs.backend, &cs.all);
}

void cs_boot(const struct cs_machine *machine)
{
	cs_machine(machine);
	if (cs_op()->init(&cs.backend))
		fail_msg("%s", cs.backend.why);
}

/* ---- Units ------------------------------------------------------------------------------------- */

static uint8_t *memory_of(uint64_t physical)
{
	return fake_coresight_ram + (physical - FAKE_CORESIGHT_PHYSICAL);
}

void cs_lend(uint32_t unit, uint32_t pages, uint32_t pieces)
{
	uint64_t physical = FAKE_CORESIGHT_PHYSICAL + unit * EACH(unit), each = pages / pieces * CS_PAGE;
	struct ktrace_hwt_buffer *buffer = &cs.unit[unit].buffer;

	assert_true(pieces <= CS_MOST && pages % pieces == 0 && pages <= 248);
	for (uint32_t i = 0; i < pieces; i++)
		cs.piece[unit][i] =
			(struct ktrace_hwt_piece){ physical + (8 * CS_PAGE) + (pieces - 1 - i) * each, each };
	buffer->piece = cs.piece[unit];
	buffer->pieces = pieces;
	buffer->size = pages * CS_PAGE;
	buffer->table = memory_of(physical);
	buffer->table_physical = physical;
	buffer->table_size = 8 * CS_PAGE;
	buffer->base = pieces == 1 ? memory_of(cs.piece[unit][0].physical) : NULL;
}

void cs_unit(uint32_t unit, uint32_t pages, uint32_t pieces)
{
	cs_lend(unit, pages, pieces);
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[unit]), KTRACE_OK);
	assert_int_equal(cs_op()->configure(&cs.backend, &cs.unit[unit], &cs.config), KTRACE_OK);
}

void cs_on(uint32_t unit, uint32_t cpu)
{
	assert_int_equal(cs_op()->enable(&cs.backend, &cs.unit[unit], cpu), KTRACE_OK);
	cs.unit[unit].enabled = cpu + 1;
}

void cs_off(uint32_t unit)
{
	assert_int_equal(cs_op()->disable(&cs.backend, &cs.unit[unit], cs.unit[unit].enabled - 1), KTRACE_OK);
	cs.unit[unit].enabled = 0;
}

void cs_read(uint32_t unit)
{
	assert_int_equal(cs_op()->read(&cs.backend, &cs.unit[unit]), KTRACE_OK);
}

void cs_copy(uint32_t unit, uint64_t from, uint64_t to, uint8_t *bytes)
{
	const struct ktrace_hwt_buffer *buffer = &cs.unit[unit].buffer;

	for (uint64_t at = from; at < to; at++) {
		uint64_t in = at % buffer->size, i = 0;

		while (in >= buffer->piece[i].size)
			in -= buffer->piece[i++].size;
		*bytes++ = memory_of(buffer->piece[i].physical)[in];
	}
}

/*
 * Extracts the bytes with this trace id from the frames at positions [from, to). Returns the number of bytes.
 */
static size_t unformat(uint32_t unit, uint64_t from, uint64_t to, uint32_t id, uint8_t *bytes)
{
	static uint8_t frames[CS_MOST * CS_PAGE];

	assert_true(to - from <= sizeof(frames));
	cs_copy(unit, from, to, frames);
	return fake_coresight_unformat(frames, to - from, id, bytes, to - from);
}

static void assert_trace(const uint8_t *bytes, size_t count, uint32_t cpu, uint64_t first)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i] != fake_coresight_byte(cpu, first + i))
			fail_msg("byte %zu of the trace is another one", i);
}

void cs_assert_frames(uint32_t unit, uint64_t from, uint64_t to, uint32_t cpu, uint32_t id, uint64_t first,
		      uint64_t count)
{
	static uint8_t bytes[CS_MOST * CS_PAGE];

	assert_int_equal(unformat(unit, from, to, id, bytes), count);
	assert_trace(bytes, count, cpu, first);
}

void cs_assert_newest_frames(uint32_t unit, uint64_t from, uint64_t to, uint32_t cpu, uint32_t id)
{
	static uint8_t bytes[CS_MOST * CS_PAGE];
	size_t count = unformat(unit, from, to, id, bytes);

	assert_in_range(count, (to - from) * 3 / 4, to - from);
	assert_trace(bytes, count, cpu, fake_coresight_made(cpu) - count);
}

void cs_assert_bytes(uint32_t unit, uint64_t from, uint64_t to, uint32_t cpu, uint64_t first)
{
	for (uint64_t at = from; at < to; at++) {
		uint8_t byte;

		cs_copy(unit, at, at + 1, &byte);
		if (byte != fake_coresight_byte(cpu, first + at - from))
			fail_msg("byte at %llu is another one", (unsigned long long)at);
	}
}

void cs_assert_clean(void)
{
	if (fake_log_first_broken())
		fail_msg("%s", fake_log_first_broken());
	assert_int_equal(fake_coresight_leaked(), 0);
}
