/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads from a running guest the facts that show whether it is alive: heartbeats, and the modes of its CPUs.
 */
#include <stdbool.h>
#include <string.h>

#include "message.h"
#include "layout.h"

#define READ_AT_ONCE 64u /* number of rows of the CPU table that one call reads */

static uint64_t count_slots(const struct ktread_layout *layout)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < layout->rings; n++) {
		const struct ktread_ring_place *place = &layout->ring[n];

		if (place->usable && place->head > place->row.first)
			sum += place->head - place->row.first;
	}
	return sum;
}

/*
 * Returns true if the CPU is busy: it has heartbeats or a known mode, and does not idle. Heartbeats are not
 * required, because in some kernels only one CPU has them.
 */
static bool is_busy(const struct ktrx_cpu *cpu)
{
	return cpu->mode != KTRX_MODE_IDLE && (cpu->heartbeats != 0 || cpu->mode != KTRX_MODE_UNKNOWN);
}

static void count_cpu(const struct ktrx_cpu *cpu, uint32_t number, struct ktread_pulse *pulse)
{
	pulse->heartbeats += cpu->heartbeats;
	if (!cpu->online)
		return;
	pulse->online++;
	pulse->idle += cpu->mode == KTRX_MODE_IDLE;
	if (!is_busy(cpu))
		return;
	if (pulse->quiet_cpu == KTRX_NO_CPU || cpu->heartbeat_stamp < pulse->quiet_stamp) {
		pulse->quiet_cpu = number;
		pulse->quiet_stamp = cpu->heartbeat_stamp;
	}
}

static int count_cpus(const struct ktread_layout *layout, struct ktread_pulse *pulse)
{
	struct ktrx_cpu cpu[READ_AT_ONCE];
	uint32_t number = 0;
	int rows;

	while ((rows = ktread_layout_cpus(layout, number, cpu, READ_AT_ONCE)) > 0)
		for (int i = 0; i < rows; i++)
			count_cpu(&cpu[i], number++, pulse);
	return rows;
}

int ktread_image_pulse(struct ktread_image *image, struct ktread_pulse *pulse)
{
	int status = ktread_image_refresh(image);

	memset(pulse, 0, sizeof(*pulse));
	pulse->quiet_cpu = KTRX_NO_CPU;
	if (status < 0)
		return status;
	pulse->nonce = image->root.nonce;
	pulse->cpus = image->root.cpus;
	pulse->outcome = image->root.outcome;
	pulse->status = image->root.status;
	pulse->frequency = ktread_frequency(0, image->root.frequency);
	pulse->slots = count_slots(image->layout);
	status = count_cpus(image->layout, pulse);
	if (pulse->heartbeats == 0)
		pulse->quiet_cpu = KTRX_NO_CPU;
	return status;
}
