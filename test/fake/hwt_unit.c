/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * States of a page: idle → ENABLE → tracing → DISABLE → idle. The unit stores the state of a page from the
 * page's first command on. At ENABLE the unit copies the page, and uses the copy until DISABLE: changes of
 * the page in between have no effect.
 */
#include "hwt_unit.h"

#include <string.h>

#include "ktrx/hwt.h"

#define PAGES 16u

struct known {
	struct ktrx_hwt_unit *page;
	int enabled;
	struct ktrx_hwt_unit taken; /* copy of the page, made at ENABLE */
	uint64_t position, lost;
};

static struct {
	int present;
	const char *broken;
	uint32_t fail;
	unsigned rung[KTRX_HWT_UNIT_COMMANDS];
	struct known known[PAGES];
} unit;

void fake_unit_reset(void)
{
	memset(&unit, 0, sizeof(unit));
	unit.present = 1;
}

void fake_unit_unplug(void)
{
	unit.present = 0;
}

const char *fake_unit_broken(void)
{
	return unit.broken;
}

unsigned fake_unit_rung(uint32_t command)
{
	return unit.rung[command];
}

void fake_unit_fail(uint32_t error)
{
	unit.fail = error;
}

static void rule(int holds, const char *text)
{
	if (!holds && !unit.broken)
		unit.broken = text;
}

static struct known *known_of(struct ktrx_hwt_unit *page)
{
	for (size_t i = 0; i < PAGES; i++) {
		if (!unit.known[i].page)
			unit.known[i].page = page;
		if (unit.known[i].page == page)
			return &unit.known[i];
	}
	rule(0, "more pages than CPUs");
	return &unit.known[0];
}

/* ---- Writing trace into the buffer ------------------------------------------------------------- */

uint8_t fake_unit_byte(uint64_t table, uint64_t position)
{
	uint64_t mixed = (position + (table >> 12)) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint8_t)(mixed >> 56);
}

static uint64_t output_size(const struct ktrx_hwt_unit *page)
{
	const struct ktrx_hwt_extent *extent = (const void *)(uintptr_t)page->table;
	uint64_t size = 0;

	for (uint32_t i = 0; i < page->extents; i++)
		size += extent[i].size;
	return size;
}

static void put(const struct ktrx_hwt_unit *page, uint64_t position)
{
	const struct ktrx_hwt_extent *extent = (const void *)(uintptr_t)page->table;
	uint64_t at = position % output_size(page);

	while (at >= extent->size)
		at -= extent++->size;
	((uint8_t *)(uintptr_t)extent->physical)[at] = fake_unit_byte(page->table, position);
}

uint64_t fake_unit_run(struct ktrx_hwt_unit *page, uint64_t bytes)
{
	struct known *known = known_of(page);
	const struct ktrx_hwt_unit *taken = &known->taken;
	uint64_t before = known->position;

	if (!unit.present || !known->enabled)
		return 0;
	for (; bytes >= FAKE_UNIT_PACKET; bytes -= FAKE_UNIT_PACKET) {
		if ((taken->control & KTRX_HWT_UNIT_CONTROL_STOP) &&
		    known->position + FAKE_UNIT_PACKET > taken->limit) {
			known->lost++;
			continue;
		}
		for (size_t i = 0; i < FAKE_UNIT_PACKET; i++)
			put(taken, known->position++);
	}
	return known->position - before;
}

/* ---- Commands of the guest --------------------------------------------------------------------- */

static void check_page(const struct ktrx_hwt_unit *page)
{
	static const struct ktrx_hwt_unit none;

	rule(((uintptr_t)page & 4095) == 0, "the page is aligned to its size");
	rule(page->magic == KTRX_HWT_UNIT_MAGIC, "the page has its magic");
	rule(page->version == KTRX_HWT_UNIT_VERSION, "the page has a version");
	rule(memcmp(page->reserved0, none.reserved0, sizeof(none.reserved0)) == 0, "reserved bytes are 0");
	rule(page->user_start < page->user_end, "the range of user code is not empty");
}

static void check_output(const struct ktrx_hwt_unit *page)
{
	const struct ktrx_hwt_extent *extent = (const void *)(uintptr_t)page->table;

	rule(page->table != 0 && (page->table & 7) == 0, "the table is aligned");
	rule(page->extents >= 1 && page->extents < 4096, "the table has 1 to 4095 extents");
	for (uint32_t i = 0; i < page->extents; i++)
		rule(extent[i].size != 0 && ((extent[i].size | extent[i].physical) & 4095) == 0,
		     "extents are pages");
}

static void check_control(const struct ktrx_hwt_unit *page)
{
	const uint32_t level = KTRX_HWT_UNIT_CONTROL_USER | KTRX_HWT_UNIT_CONTROL_KERNEL;

	rule((page->control & level) != 0, "a level is traced");
	rule(page->control < 32, "unknown bits of control are 0");
	rule(page->ranges <= 4, "there are not more ranges than the unit has");
	for (uint32_t i = 0; i < page->ranges && i < 4; i++)
		rule(page->range[i].start < page->range[i].end, "ranges are not empty");
	rule(!(page->control & KTRX_HWT_UNIT_CONTROL_STOP) || page->limit <= page->start + output_size(page),
	     "what was not taken is not overwritten");
	rule(page->stamp != 0, "the clock was read");
}

static void answer(struct ktrx_hwt_unit *page)
{
	static const struct ktrx_hwt_pt parameters = { .family = 6, .flags = KTRX_HWT_PT_SOFTWARE };

	page->unit = KTRX_HWT_UNIT_MAGIC;
	page->encoding = KTRX_HWT_ENCODING_PT;
	page->range_most = 4;
	memset(page->parameters, 0, sizeof(page->parameters));
	memcpy(page->parameters, &parameters, sizeof(parameters));
}

static void enable(struct known *known)
{
	check_output(known->page);
	check_control(known->page);
	rule(!known->enabled, "ENABLE comes when the unit is idle");
	memcpy(&known->taken, known->page, sizeof(known->taken));
	known->position = known->page->start;
	known->lost = 0;
	known->enabled = 1;
}

static void report(const struct known *known)
{
	uint64_t size = output_size(&known->taken);

	known->page->position = known->position;
	known->page->wraps = known->position / size;
	known->page->lost = known->lost;
}

void fake_unit_ring(uint8_t *doorbell)
{
	struct ktrx_hwt_unit *page = (struct ktrx_hwt_unit *)((uintptr_t)doorbell & ~(uintptr_t)4095);
	size_t number = (size_t)(doorbell - page->doorbell);
	struct known *known;

	*doorbell = 0;
	if (!unit.present)
		return;
	rule(number < KTRX_HWT_UNIT_COMMANDS, "the command exists");
	if (number >= KTRX_HWT_UNIT_COMMANDS)
		return;
	unit.rung[number]++;
	check_page(page);
	if (unit.fail) {
		page->error = unit.fail;
		unit.fail = 0;
		return;
	}
	page->error = 0;
	known = known_of(page);
	switch (number) {
	case KTRX_HWT_UNIT_PROBE:
		answer(page);
		break;
	case KTRX_HWT_UNIT_ENABLE:
		enable(known);
		break;
	case KTRX_HWT_UNIT_DISABLE:
	case KTRX_HWT_UNIT_FLUSH:
		rule(known->enabled, "DISABLE and FLUSH come when the unit traces");
		if (number == KTRX_HWT_UNIT_DISABLE)
			known->enabled = 0;
		report(known);
		break;
	default: /* SPACE and CLOCK have no effect that the guest can see */
		break;
	}
}
