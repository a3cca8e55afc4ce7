/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures the frequencies of the TSC and the APIC timer against channel 0 of the PIT, the only clock of
 * known frequency that each machine model has.
 */
#include "arch.h"
#include "x86.h"

#define PIT_HZ	     1193182u
#define PIT_CHANNEL0 0x40
#define PIT_COMMAND  0x43
#define PIT_ONE_SHOT 0x30 /* command: channel 0, low byte then high byte, mode 0 (one-shot) */
#define PIT_LATCH    0x00
#define PIT_STATE    0xe2 /* command: the next read of channel 0 returns its state instead of its count */
#define STATE_ENDED  0x80
#define PIT_TICKS    23864u /* duration of the measurement in PIT ticks: 20 ms */
#define READINGS     8
#define POLL_TURNS   200
#define FINE_TICKS   100u /* at the end of the measurement, the PIT is read as often as possible */
#define TIMER_START  0xffffffffu

static uint64_t tsc_hz = 1000000000; /* frequency in Hz; an estimate until clock_init() has measured it */
static uint64_t apic_hz;

struct reading {
	uint64_t tsc;
	uint32_t apic; /* count of a timer that counts down */
	uint16_t pit;  /* count of a timer that counts down */
};

/*
 * Executes some instructions before a clock is read again. In a virtual machine, a read of a clock and pause
 * are exits, which cost the host much more time than this loop.
 */
static void poll_pause(void)
{
	for (int i = 0; i < POLL_TURNS; i++)
		__asm__ volatile("");
}

static uint16_t pit_count(void)
{
	outb(PIT_COMMAND, PIT_LATCH);
	uint16_t low = inb(PIT_CHANNEL0);

	return (uint16_t)(low | inb(PIT_CHANNEL0) << 8);
}

/*
 * Reads all three clocks, nearly at the same time. The host may interrupt this virtual CPU between the reads,
 * so the quickest of several attempts is used.
 */
static struct reading read_clocks(void)
{
	struct reading best = { 0 };
	uint64_t best_spread = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = arch_clock();
		struct reading r = { .pit = pit_count(), .apic = apic_timer_count() };
		uint64_t spread = arch_clock() - before;

		if (spread < best_spread) {
			best_spread = spread;
			best = r;
			best.tsc = before + spread / 2;
		}
	}
	return best;
}

static void pit_start(void)
{
	outb(PIT_COMMAND, PIT_ONE_SHOT);
	outb(PIT_CHANNEL0, 0xff);
	outb(PIT_CHANNEL0, 0xff);
}

/*
 * Returns true if the one-shot count has ended, 55 ms after its start. The count has then wrapped and no
 * longer measures the time.
 */
static bool pit_has_ended(void)
{
	outb(PIT_COMMAND, PIT_STATE);
	return inb(PIT_CHANNEL0) & STATE_ENDED;
}

/*
 * Measures both frequencies. Returns false if the measurement is invalid, because the host interrupted this
 * virtual CPU until after the end of the PIT's one-shot count.
 */
static bool measure(void)
{
	struct reading begin, end;
	uint16_t pit_ticks = 0;

	pit_start();
	apic_timer_run(TIMER_START, false);
	begin = read_clocks();
	while (pit_ticks < PIT_TICKS) {
		if (pit_ticks < PIT_TICKS - FINE_TICKS)
			poll_pause();
		pit_ticks = (uint16_t)(begin.pit - pit_count());
	}
	end = read_clocks();
	if (pit_has_ended())
		return false;

	pit_ticks = (uint16_t)(begin.pit - end.pit);
	tsc_hz = (end.tsc - begin.tsc) * PIT_HZ / pit_ticks;
	apic_hz = (uint64_t)(begin.apic - end.apic) * PIT_HZ / pit_ticks;
	return true;
}

void clock_init(void)
{
	while (!measure())
		continue;
	apic_timer_run(0, false);
}

uint64_t arch_clock_hz(void)
{
	return tsc_hz;
}

void clock_delay_us(uint64_t us)
{
	uint64_t end = arch_clock() + us * tsc_hz / 1000000;

	while (arch_clock() < end)
		poll_pause();
}

void arch_timer_start(void)
{
	apic_timer_run((uint32_t)(apic_hz / TICK_HZ), true);
}

void arch_timer_stop(void)
{
	apic_timer_run(0, false);
}
