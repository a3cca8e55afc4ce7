/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#define MEAN_LEAST 2000u /* ns */
#define MEANS	   8u	 /* possible mean lengths of slices: 2, 4 … 256 µs */
#define PATIENCES  10u
#define BURST_MOST 64u /* maximum length in ns of a short slice: 16 instructions with shift=2 */
#define RARITIES   8u  /* possible frequencies: one of 1, 2, 4 … 128 hooks ends a slice */
/* possible maximum times from a hook to the end of the slice: less than 1, 64, 256 or 1024 ns */
#define DISTANCES    4u
#define DELAY_FACTOR 4u /* delays at hooks are longer than slices: 8, 16 … 1024 µs on average */
#define HOOKS_SEED   UINT64_C(0x6b74726163652e68) /* makes the second generator independent of the first */

/* Splitmix64 (Steele, Lea, Flood 2014): equal seeds give equal sequences in every version of ktrace. */
static uint64_t draw_from(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t draw(struct noise *noise)
{
	return draw_from(&noise->state);
}

/*
 * With some seeds, a slice ends at nearly each hook. With others, it ends at only a few hooks of a run, so
 * that the code after most hooks runs without interruption. Many mistakes are a few instructions after a
 * hook: before the next lock is taken, for example. So most seeds let the CPU continue for a short time,
 * which differs from hook to hook.
 */
static void begin_hooks(struct noise *noise, uint64_t seed, bool given)
{
	uint64_t distance;

	noise->has_hooks = true;
	noise->hook_state = seed ^ HOOKS_SEED;
	noise->rarity = draw_from(&noise->hook_state) % RARITIES;
	distance = draw_from(&noise->hook_state) % DISTANCES;
	noise->distance = distance == 0 ? 1 : UINT64_C(16) << 2 * distance;
	noise->mean *= given ? 1 : DELAY_FACTOR;
}

/*
 * Races differ in the length of the window in which they happen, and in the time for which another CPU must
 * be delayed. So the possible means are powers of two, and with some seeds, there are also bursts: very short
 * slices, in which a CPU executes only a few instructions while another CPU is delayed.
 */
void noise_begin(struct noise *noise, const struct schedule_noise *from)
{
	uint64_t mean, bursts;

	*noise = (struct noise){ .state = from->seed };
	if (from->seed == 0)
		return;
	mean = (uint64_t)MEAN_LEAST << draw(noise) % MEANS;
	bursts = draw(noise) % 4;
	noise->mean = from->mean != 0 ? from->mean : mean;
	noise->bursts = bursts * 2;
	noise->patience = draw(noise) % PATIENCES;
	if (from->kind == SCHEDULE_HOOKS || (from->kind == SCHEDULE_BOTH && from->seed % 2 == 0))
		begin_hooks(noise, from->seed, from->mean != 0);
	else
		noise->has_slices = true;
}

unsigned noise_cpu(struct noise *noise, unsigned cpus)
{
	return (unsigned)(draw(noise) % cpus);
}

bool noise_gives_way(struct noise *noise)
{
	return draw(noise) % (UINT64_C(1) << noise->patience) == 0;
}

uint64_t noise_next(struct noise *noise)
{
	uint64_t number = draw(noise);

	if (number % 8 < noise->bursts)
		return 1 + (number >> 3) % BURST_MOST;
	return 1 + (number >> 3) % (2 * noise->mean);
}

bool noise_hook(struct noise *noise, uint64_t *after)
{
	const uint64_t number = draw_from(&noise->hook_state);

	*after = (number >> RARITIES) % noise->distance;
	return number % (UINT64_C(1) << noise->rarity) == 0;
}

uint64_t noise_delay(struct noise *noise)
{
	return 1 + draw_from(&noise->hook_state) % (2 * noise->mean);
}
