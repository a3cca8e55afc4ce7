/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The bus of the CoreSight model. For each access to a register it finds the component, checks that the
 * component is unlocked, and logs the access. This file also models funnels and replicators, which have few
 * registers, and moves trace bytes between components.
 */
#include "test/fake/hwt_coresight_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LAR	  0xfb0u
#define LSR	  0xfb4u
#define KEY	  0xc5acce55u
#define DEVID_ETF 0x480u /* value of DEVID for an ETF that is 128 bits wide */
#define DEVID_ETR 0x440u

uint8_t fake_coresight_ram[FAKE_CORESIGHT_RAM] __attribute__((aligned(4096)));
struct fake_component fake_component[KTRACE_CORESIGHT_MAX];

uint32_t fake_coresight_sram;

static const struct ktrace_coresight *described;
static uint64_t leaked;

void fake_coresight_rule(const struct fake_component *component, int holds, const char *format, ...)
{
	char text[160];
	va_list arguments;

	if (holds)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fake_log_broken("%s: %s", component->name, text);
}

/* ---- Functions for tests ----------------------------------------------------------------------- */

/*
 * The unit has four pairs of address comparators, one context id comparator and one VMID comparator. It
 * supports timestamps, cycle counts and a return stack. It has EL0, EL1 and EL3 in secure state, and EL0 to
 * EL2 in non-secure state.
 */
static const uint32_t idr_after_reset[14] = {
	0x28000ea1, 0x41000422, 0x40001088, 0x0d7b0004, 0x11170004, 0xc7070f7c,
};

static uint32_t devid_of(uint32_t type)
{
	if (type == KTRACE_CORESIGHT_ETR)
		return DEVID_ETR;
	return type == KTRACE_CORESIGHT_ETF ? DEVID_ETF : 0;
}

void fake_coresight_reset(const struct ktrace_coresight *all)
{
	static const char *const name[] = { "", "etm", "funnel", "replicator", "etf", "etr", "tpiu" };

	memset(fake_component, 0, sizeof(fake_component));
	memset(fake_coresight_ram, 0xa5, sizeof(fake_coresight_ram));
	fake_log_reset();
	described = all;
	leaked = 0;
	fake_coresight_sram = 2048;
	for (uint32_t i = 0; i < all->components && i < KTRACE_CORESIGHT_MAX; i++) {
		struct fake_component *one = &fake_component[i];
		uint32_t type = all->component[i].type;

		one->is = &all->component[i];
		snprintf(one->name, sizeof(one->name), "%s%u", type <= 6 ? name[type] : "", i);
		one->idle = 1;
		one->os_locked = 1;
		one->devid = devid_of(type);
		memcpy(one->idr, idr_after_reset, sizeof(one->idr));
	}
}

uint32_t *fake_coresight_idr(uint32_t component)
{
	return fake_component[component].idr;
}

uint32_t *fake_coresight_devarch(uint32_t component)
{
	return &fake_component[component].devarch;
}

uint32_t *fake_coresight_devid(uint32_t component)
{
	return &fake_component[component].devid;
}

void fake_coresight_stick(uint32_t component, enum fake_coresight_stuck how)
{
	fake_component[component].stuck = how;
}

int fake_coresight_is_on(uint32_t component)
{
	return fake_component[component].enabled || fake_component[component].capturing;
}

uint64_t fake_coresight_leaked(void)
{
	return leaked;
}

uint8_t fake_coresight_byte(uint32_t cpu, uint64_t n)
{
	return (uint8_t)(((n + 1) * UINT64_C(0x9e3779b97f4a7c15) + cpu * UINT64_C(0x5851f42d4c957f2d)) >> 56);
}

uint64_t fake_coresight_made(uint32_t cpu)
{
	for (uint32_t i = 0; i < described->components; i++)
		if (fake_component[i].is->type == KTRACE_CORESIGHT_ETM4 && fake_component[i].is->cpu == cpu)
			return fake_component[i].made;
	return 0;
}

/* ---- Bytes on the way to memory ---------------------------------------------------------------- */

static int passes(const struct fake_component *replicator, uint8_t port, uint8_t id)
{
	return replicator->is->base == 0 || !(replicator->reg[port] >> (id >> 4) & 1);
}

static void arrive(uint32_t at, uint8_t port, struct fake_byte byte)
{
	struct fake_component *one = &fake_component[at];

	switch (one->is->type) {
	case KTRACE_CORESIGHT_FUNNEL:
		if (one->is->base == 0 || (one->reg[0] >> port & 1))
			fake_coresight_send(at, 0, byte);
		else
			leaked++;
		return;
	case KTRACE_CORESIGHT_REPLICATOR:
		for (uint8_t out = 0; out < 2; out++)
			if (passes(one, out, byte.id))
				fake_coresight_send(at, out, byte);
		return;
	case KTRACE_CORESIGHT_ETF:
	case KTRACE_CORESIGHT_ETR:
		if (one->capturing && !one->stopped)
			fake_tmc_take(one, byte);
		else
			leaked++;
		return;
	default:
		leaked++;
	}
}

void fake_coresight_send(uint32_t from, uint8_t port, struct fake_byte byte)
{
	for (uint32_t i = 0; i < described->links; i++)
		if (described->link[i].from == from && described->link[i].from_port == port)
			arrive(described->link[i].to, described->link[i].to_port, byte);
}

void fake_queue_drain(uint32_t component)
{
	struct fake_queue *queue = &fake_component[component].queue;
	size_t count = queue->count;

	queue->count = 0;
	for (size_t i = 0; i < count; i++)
		fake_coresight_send(component, 0, queue->byte[i]);
}

void fake_queue_put(uint32_t component, struct fake_byte byte, size_t keep)
{
	struct fake_queue *queue = &fake_component[component].queue;

	if (queue->count == keep)
		fake_queue_drain(component);
	queue->byte[queue->count++] = byte;
}

/*
 * Moves all bytes into trace memory. Flushes the trace units first, because their bytes pass through the
 * FIFOs (ETFs). Then flushes all ETFs several times, because an ETF may pass bytes on to another ETF.
 */
void fake_coresight_flush_all(void)
{
	for (uint32_t i = 0; i < described->components; i++)
		if (fake_component[i].is->type == KTRACE_CORESIGHT_ETM4)
			fake_queue_drain(i);
	for (uint32_t round = 0; round < described->components; round++)
		for (uint32_t i = 0; i < described->components; i++)
			if (fake_component[i].is->type == KTRACE_CORESIGHT_ETF)
				fake_queue_drain(i);
}

/* ---- Accesses to registers --------------------------------------------------------------------- */

static struct fake_component *component_at(uintptr_t base, uint32_t offset)
{
	for (uint32_t i = 0; i < described->components; i++)
		if (fake_component[i].is->base == base && base != 0 && offset < 4096 && offset % 4 == 0)
			return &fake_component[i];
	fake_log_broken("there is no register %03x at %lx", offset, (unsigned long)base);
	return NULL;
}

static void write_link(struct fake_component *one, uint32_t offset, uint32_t value)
{
	int is_funnel = one->is->type == KTRACE_CORESIGHT_FUNNEL;

	fake_coresight_rule(one, offset == 0 || (!is_funnel && offset == 4), "register %03x exists", offset);
	fake_coresight_rule(one, (value & (is_funnel ? ~0x1fffu : ~0xffu)) == 0,
			    "reserved bits of register %03x are 0", offset);
	fake_coresight_rule(one, !is_funnel || (value >> 8 & 0xf) != 0xf,
			    "the hold time is not the reserved one");
	one->reg[offset / 4] = value;
}

static void write_register(struct fake_component *one, uint32_t offset, uint32_t value)
{
	switch (one->is->type) {
	case KTRACE_CORESIGHT_ETM4:
		fake_etm_write(one, offset, value);
		return;
	case KTRACE_CORESIGHT_ETF:
	case KTRACE_CORESIGHT_ETR:
		fake_tmc_write(one, offset, value);
		return;
	default:
		write_link(one, offset, value);
	}
}

static void mmio_write(uintptr_t base, uint32_t offset, uint32_t value)
{
	struct fake_component *one = component_at(base, offset);

	if (!one)
		return;
	fake_log("%s write %s %08x", one->name, fake_coresight_name(one, offset), value);
	if (offset == LAR) {
		one->unlocked = value == KEY;
		return;
	}
	fake_coresight_rule(one, one->unlocked, "register %03x is written when unlocked", offset);
	write_register(one, offset, value);
	one->dirty = 1;
}

static uint32_t read_register(struct fake_component *one, uint32_t offset)
{
	if (offset == LSR)
		return 1u | (one->unlocked ? 0 : 2u);
	switch (one->is->type) {
	case KTRACE_CORESIGHT_ETM4:
		return fake_etm_read(one, offset);
	case KTRACE_CORESIGHT_ETF:
	case KTRACE_CORESIGHT_ETR:
		return fake_tmc_read(one, offset);
	default:
		return one->reg[offset / 4];
	}
}

static uint32_t mmio_read(uintptr_t base, uint32_t offset)
{
	struct fake_component *one = component_at(base, offset);
	uint32_t value = one ? read_register(one, offset) : UINT32_MAX;

	if (one)
		fake_log("%s read %s %08x", one->name, fake_coresight_name(one, offset), value);
	return value;
}

static void mmio_barrier(void)
{
	fake_log("barrier");
	for (uint32_t i = 0; i < described->components; i++)
		fake_component[i].dirty = 0;
}

const struct ktrace_hwt_access_mmio fake_coresight_access = {
	.read = mmio_read,
	.write = mmio_write,
	.barrier = mmio_barrier,
};
