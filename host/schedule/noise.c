/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "noise.h"

#define MEAN_LEAST 2000u /* ns */
#define MEANS	   8u	 /* 2, 4 … 256 µs */
#define PATIENCES  10u
#define BURST_MOST 64u /* ns: 16 instructions with shift=2 */

/* Splitmix64 (Steele, Lea, Flood 2014): equal seeds give equal sequences in every version of ktrace. */
static uint64_t draw(struct noise *noise)
{
	uint64_t z = noise->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/*
 * Races differ in the length of the window in which they happen and in the time for which another CPU must be
 * held up. So means differ by powers of two, and some seeds add bursts: very short slices, in which a CPU
 * advances by a few instructions while another one is held up.
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
