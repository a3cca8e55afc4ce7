/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/hwt_pt_support.h"

#define MEMORY	   (UINT64_C(4) << 20)
#define PHYSICAL   UINT64_C(0x10000000)
#define TABLES	   64u
#define TABLE_ROOM (16u * PT_PAGE)
#define PIECES	   16u

struct ktrace_hwt_backend pt_backend;

static _Alignas(4096) uint8_t memory[MEMORY];
static _Alignas(4096) uint8_t tables[TABLES][TABLE_ROOM];
static struct ktrace_hwt_piece pieces[TABLES][PIECES];
static unsigned units;
static uint64_t next_physical;

int pt_setup(void **state)
{
	(void)state;
	fake_pt_reset();
	memset(&pt_backend, 0, sizeof(pt_backend));
	memset(memory, 0xee, sizeof(memory));
	fake_pt_memory(PHYSICAL, memory, sizeof(memory));
	fake_pt_memory(PHYSICAL + MEMORY, tables, sizeof(tables));
	units = 0;
	next_physical = PHYSICAL;
	ktrace_hwt_pt_make(&pt_backend, &fake_pt_access);
	return 0;
}

int pt_teardown(void **state)
{
	(void)state;
	if (fake_log_first_broken())
		print_error("%s", fake_log_text());
	assert_null(fake_log_first_broken());
	return 0;
}

void pt_begin(void)
{
	assert_int_equal(pt_backend.operations->init(&pt_backend), KTRACE_OK);
	assert_int_equal(pt_backend.operations->cpu_init(&pt_backend, 0), KTRACE_OK);
	assert_null(fake_log_first_broken());
	fake_log_reset();
}

void pt_unit(struct ktrace_hwt_unit *unit, const uint32_t *pages)
{
	assert_in_range(units, 0, TABLES - 1);
	memset(unit, 0, sizeof(*unit));
	memset(tables[units], 0xff, TABLE_ROOM);
	for (uint32_t i = 0; pages[i]; i++) {
		pieces[units][i].physical = next_physical;
		pieces[units][i].size = (uint64_t)pages[i] * PT_PAGE;
		next_physical += ((uint64_t)pages[i] + 1) * PT_PAGE;
		unit->buffer.size += (uint64_t)pages[i] * PT_PAGE;
		unit->buffer.pieces++;
	}
	unit->index = units;
	unit->buffer.piece = pieces[units];
	unit->buffer.table = tables[units];
	unit->buffer.table_physical = PHYSICAL + MEMORY + units * TABLE_ROOM;
	unit->buffer.table_size = KTRACE_HWT_TABLE_SIZE(unit->buffer.size);
	units++;
	assert_int_equal(pt_backend.operations->unit_init(&pt_backend, unit), KTRACE_OK);
}

/* Aligns the buffer so that the table describes it with as few regions as possible. */
void pt_unit_whole(struct ktrace_hwt_unit *unit, uint32_t pages)
{
	uint32_t list[2] = { pages, 0 };
	uint64_t size = (uint64_t)pages * PT_PAGE, align = PT_PAGE;

	while (align < size)
		align *= 2;
	next_physical = (next_physical + align - 1) & ~(align - 1);
	pt_unit(unit, list);
	unit->buffer.base = memory + (unit->buffer.piece->physical - PHYSICAL);
}

struct ktrace_hwt_config pt_config(void)
{
	return (struct ktrace_hwt_config){ .level = KTRX_HWT_USER };
}

int pt_configure(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config)
{
	return pt_backend.operations->configure(&pt_backend, unit, config);
}

void pt_enable(struct ktrace_hwt_unit *unit)
{
	assert_int_equal(pt_backend.operations->enable(&pt_backend, unit, 0), KTRACE_OK);
}

void pt_disable(struct ktrace_hwt_unit *unit)
{
	assert_int_equal(pt_backend.operations->disable(&pt_backend, unit, 0), KTRACE_OK);
	assert_int_equal(unit->wraps, unit->position / unit->buffer.size);
}

static uint8_t byte_at(const struct ktrace_hwt_unit *unit, uint64_t place)
{
	const struct ktrace_hwt_piece *piece = unit->buffer.piece;

	for (; place >= piece->size; piece++)
		place -= piece->size;
	return memory[piece->physical - PHYSICAL + place];
}

void pt_check_bytes(const struct ktrace_hwt_unit *unit, uint64_t from)
{
	uint64_t size = unit->buffer.size;

	if (unit->position > size && from < unit->position - size)
		from = unit->position - size;
	for (uint64_t position = from; position < unit->position; position++)
		assert_int_equal(byte_at(unit, position % size),
				 fake_pt_byte(unit->buffer.table_physical, position));
}
