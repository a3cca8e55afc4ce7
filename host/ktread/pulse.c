/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads from a running guest the facts that show whether it is alive: heartbeats, and the modes of its CPUs.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "layout.h"

#define IDLE_CPUS    4096u
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
 * Returns whether a CPU idles. If the kernel never reports KTRX_MODE_IDLE, a CPU idles if it has switched to
 * thread 0, unless CPUs are known to have heartbeats in this thread.
 */
static bool is_idle(struct ktread_image *image, const struct ktrx_cpu *cpu, uint32_t number)
{
	struct ktread_idle *idle = number < image->idle_cpus ? &image->idle[number] : NULL;

	if (!idle || !cpu->online)
		return cpu->mode == KTRX_MODE_IDLE;
	ktread_idle_read(idle, cpu, (cpu->thread & KTRX_THREAD_MAX) == 0);
	image->says_idle |= idle->says;
	image->idle_beats |= idle->beats;
	return cpu->mode == KTRX_MODE_IDLE ||
	       (!image->says_idle && !image->idle_beats &&
		ktread_idle_runs(idle, cpu, (cpu->thread & KTRX_THREAD_MAX) == 0));
}

/*
 * Returns true if a CPU that does not idle is busy: it has heartbeats or a known mode. Heartbeats are not
 * required, because in some kernels only one CPU has them.
 */
static bool is_busy(const struct ktrx_cpu *cpu)
{
	return cpu->heartbeats != 0 || cpu->mode != KTRX_MODE_UNKNOWN;
}

static void count_cpu(struct ktread_image *image, const struct ktrx_cpu *cpu, uint32_t number,
		      struct ktread_pulse *pulse)
{
	const bool idle = is_idle(image, cpu, number);

	pulse->heartbeats += cpu->heartbeats;
	if (!cpu->online)
		return;
	pulse->online++;
	pulse->idle += idle;
	if (idle || !is_busy(cpu))
		return;
	if (pulse->quiet_cpu == KTRX_NO_CPU || cpu->heartbeat_stamp < pulse->quiet_stamp) {
		pulse->quiet_cpu = number;
		pulse->quiet_stamp = cpu->heartbeat_stamp;
	}
}

static int count_cpus(struct ktread_image *image, struct ktread_pulse *pulse)
{
	struct ktrx_cpu cpu[READ_AT_ONCE];
	uint32_t number = 0;
	int rows;

	while ((rows = ktread_layout_cpus(image->layout, number, cpu, READ_AT_ONCE)) > 0)
		for (int i = 0; i < rows; i++)
			count_cpu(image, &cpu[i], number++, pulse);
	return rows;
}

/* If the guest has booted again, forgets what is known about its CPUs. */
static void forget_other_boot(struct ktread_image *image)
{
	const uint32_t cpus = image->root.cpus < IDLE_CPUS ? image->root.cpus : IDLE_CPUS;

	if (image->idle && image->idle_nonce == image->root.nonce && image->idle_cpus == cpus)
		return;
	free(image->idle);
	image->idle = calloc(cpus ? cpus : 1, sizeof(*image->idle));
	image->idle_cpus = image->idle ? cpus : 0;
	image->idle_nonce = image->root.nonce;
	image->says_idle = image->idle_beats = false;
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
	forget_other_boot(image);
	status = count_cpus(image, pulse);
	if (pulse->heartbeats == 0)
		pulse->quiet_cpu = KTRX_NO_CPU;
	return status;
}
