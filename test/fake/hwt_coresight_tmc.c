/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A model of trace memory controllers (Arm DDI 0461). It has the states disabled, running and stopped. An ETF
 * has a circular buffer in SRAM, or is a FIFO. An ETR has a circular buffer in memory, contiguous or
 * described by a list of pages. The formatter puts bytes of several ids into frames.
 */
#include <string.h>

#include "test/fake/hwt_coresight_model.h"

#define RSZ    0x004u
#define STS    0x00cu
#define RRD    0x010u
#define RRP    0x014u
#define RWP    0x018u
#define TRG    0x01cu
#define CTL    0x020u
#define MODE   0x028u
#define BUFWM  0x034u
#define RRPHI  0x038u
#define RWPHI  0x03cu
#define AXICTL 0x110u
#define DBALO  0x118u
#define DBAHI  0x11cu
#define FFCR   0x304u
#define FIFO   48u
#define BUSY   2u
#define PAGE   4096u
#define NOSCAT (1u << 24)
/*
 * The formatter repeats the trace id after this many frames, because a reader may begin in the middle of the
 * trace.
 */
#define REPEAT 8u

static int is_etr(const struct fake_component *tmc)
{
	return tmc->is->type == KTRACE_CORESIGHT_ETR;
}

static int restores(const struct fake_component *tmc)
{
	return (tmc->is->flags & KTRACE_CORESIGHT_RESTORE) != 0;
}

static int scatters(const struct fake_component *tmc)
{
	return is_etr(tmc) && (tmc->reg[AXICTL / 4] >> 7 & 1);
}

static uint8_t *ram(struct fake_component *tmc, uint64_t physical, size_t size)
{
	static uint8_t nowhere[PAGE];

	if (physical >= FAKE_CORESIGHT_PHYSICAL && size <= FAKE_CORESIGHT_RAM &&
	    physical - FAKE_CORESIGHT_PHYSICAL <= FAKE_CORESIGHT_RAM - size)
		return fake_coresight_ram + (physical - FAKE_CORESIGHT_PHYSICAL);
	fake_coresight_rule(tmc, 0, "there is memory at %llx", (unsigned long long)physical);
	return nowhere;
}

static uint64_t base_of(const struct fake_component *tmc)
{
	return tmc->reg[DBALO / 4] | (uint64_t)tmc->reg[DBAHI / 4] << 32;
}

static uint64_t size_of(const struct fake_component *tmc)
{
	return is_etr(tmc) ? (uint64_t)tmc->reg[RSZ / 4] * 4 : fake_coresight_sram;
}

/* ---- Storing frames ---------------------------------------------------------------------------- */

/*
 * Finds the memory page to which the next entry of the page list refers. If the entry is a link to another
 * page of the list, follows it.
 */
static void next_page(struct fake_component *tmc)
{
	for (int links = 0; links < 4; links++) {
		uint64_t at = tmc->list;
		uint32_t entry;

		memcpy(&entry, ram(tmc, at, 4), 4);
		fake_coresight_rule(tmc, (entry & 0xc) == 0 && (entry & 3) != 0,
				    "entry %08x of the list is valid", entry);
		tmc->list = at + 4;
		if ((entry & 3) == 3) {
			tmc->list = (uint64_t)(entry >> 4) << 12;
			continue;
		}
		tmc->pointer = (uint64_t)(entry >> 4) << 12;
		tmc->entries++;
		if ((entry & 3) == 1) {
			fake_coresight_rule(tmc, tmc->entries * PAGE == size_of(tmc),
					    "the list has as many pages as RSZ");
			tmc->list = base_of(tmc);
			tmc->entries = 0;
		} else {
			fake_coresight_rule(tmc, at % PAGE != PAGE - 4,
					    "the last entry of a page of the list is a link");
		}
		return;
	}
	fake_coresight_rule(tmc, 0, "no link of the list leads to a link");
}

static void advance(struct fake_component *tmc)
{
	tmc->pointer += FAKE_FRAME;
	if (scatters(tmc)) {
		if (tmc->pointer % PAGE == 0) {
			tmc->full |= tmc->entries == 0; /* the last page of the list is full */
			next_page(tmc);
		}
	} else if (is_etr(tmc) && tmc->pointer == base_of(tmc) + size_of(tmc)) {
		tmc->pointer = base_of(tmc);
		tmc->full = 1;
	} else if (!is_etr(tmc) && tmc->pointer == fake_coresight_sram) {
		tmc->pointer = 0;
		tmc->full = 1;
	}
}

static void emit(struct fake_component *tmc)
{
	struct fake_formatter *formatter = &tmc->formatter;

	if (tmc->stuck != FAKE_STUCK_MEMORY)
		memcpy(is_etr(tmc) ? ram(tmc, tmc->pointer, FAKE_FRAME) : &tmc->sram[tmc->pointer],
		       formatter->frame, FAKE_FRAME);
	advance(tmc);
	memset(formatter->frame, 0, sizeof(formatter->frame));
	formatter->filled = 0;
	formatter->frames++;
}

/* ---- Formatter --------------------------------------------------------------------------------- */

static void place(struct fake_component *tmc, uint8_t even, unsigned last)
{
	struct fake_formatter *formatter = &tmc->formatter;

	formatter->frame[15] |= (uint8_t)(last << formatter->filled / 2);
	formatter->frame[formatter->filled++] = even;
	if (formatter->filled == 15)
		emit(tmc);
}

static void place_odd(struct fake_component *tmc, uint8_t value)
{
	tmc->formatter.frame[tmc->formatter.filled++] = value;
}

static void format(struct fake_component *tmc, struct fake_byte byte)
{
	struct fake_formatter *formatter = &tmc->formatter;
	struct fake_byte first = formatter->pending;

	if (formatter->has_pending) {
		formatter->has_pending = 0;
		if (byte.id == formatter->id) {
			place(tmc, first.value & 0xfe, first.value & 1);
			place_odd(tmc, byte.value);
			return;
		}
		/*
		 * stores the new id at the even offset and the pending byte at the odd offset; the 1 means
		 * that this byte still has the old id
		 */
		place(tmc, (uint8_t)(byte.id << 1 | 1), 1);
		place_odd(tmc, first.value);
		formatter->id = byte.id;
	} else if (byte.id != formatter->id || (formatter->filled == 0 && formatter->frames % REPEAT == 0)) {
		formatter->id = byte.id;
		if (formatter->filled < 14) {
			place(tmc, (uint8_t)(byte.id << 1 | 1), 0);
			place_odd(tmc, byte.value);
			return;
		}
		place(tmc, (uint8_t)(byte.id << 1 | 1), 0);
	}
	if (formatter->filled == 14) {
		place(tmc, byte.value & 0xfe, byte.value & 1);
		return;
	}
	formatter->has_pending = 1;
	formatter->pending = byte;
}

/* Fills the rest of the frame with the null id. */
static void pad(struct fake_component *tmc)
{
	struct fake_formatter *formatter = &tmc->formatter;

	if (formatter->has_pending) {
		formatter->has_pending = 0;
		place(tmc, 1, 1);
		place_odd(tmc, formatter->pending.value);
	} else if (formatter->filled > 0) {
		place(tmc, 1, 0);
	}
	if (formatter->filled > 0)
		emit(tmc);
}

size_t fake_coresight_unformat(const uint8_t *frames, size_t size, uint32_t id, uint8_t *to, size_t room)
{
	uint32_t current = 0;
	size_t n = 0;

	for (const uint8_t *frame = frames; frame < frames + size; frame += FAKE_FRAME)
		for (unsigned i = 0; i < 15; i += 2) {
			unsigned last = frame[15] >> i / 2 & 1;
			uint32_t next = frame[i] & 1 ? frame[i] >> 1 : current;

			if (!(frame[i] & 1) && current == id && n < room)
				to[n++] = (uint8_t)(frame[i] | last);
			if (i < 14 && (last && (frame[i] & 1) ? current : next) == id && n < room)
				to[n++] = frame[i + 1];
			current = next;
		}
	return n;
}

void fake_tmc_take(struct fake_component *tmc, struct fake_byte byte)
{
	if (tmc->reg[MODE / 4] == 2)
		fake_queue_put((uint32_t)(tmc - fake_component), byte, FIFO);
	else
		format(tmc, byte);
}

/* ---- States of the controller ------------------------------------------------------------------ */

static void check_output(struct fake_component *tmc)
{
	fake_coresight_rule(tmc, tmc->written[RSZ / 4] && size_of(tmc) >= PAGE,
			    "the size of the buffer is known");
	fake_coresight_rule(tmc,
			    tmc->written[DBALO / 4] && tmc->written[DBAHI / 4] && tmc->written[AXICTL / 4],
			    "the address of the buffer is known");
	fake_coresight_rule(tmc, base_of(tmc) % PAGE == 0, "the buffer is aligned");
	fake_coresight_rule(tmc, !scatters(tmc) || !(tmc->devid & NOSCAT), "the ETR supports lists of pages");
}

static void begin(struct fake_component *tmc)
{
	uint64_t restored = tmc->reg[RWP / 4] | (uint64_t)tmc->reg[RWPHI / 4] << 32;

	fake_coresight_rule(tmc, tmc->delay == 0, "enabled when it is ready");
	fake_coresight_rule(tmc, !tmc->dirty, "a barrier is between programming and enabling");
	fake_coresight_rule(tmc, tmc->written[MODE / 4] && tmc->written[FFCR / 4],
			    "mode and formatter are programmed");
	fake_coresight_rule(tmc, tmc->reg[FFCR / 4] & 1, "the formatter is on");
	memset(&tmc->formatter, 0, sizeof(tmc->formatter));
	tmc->full = tmc->stopped = 0;
	tmc->pointer = 0;
	tmc->capturing = 1;
	tmc->queue.count = 0;
	if (!is_etr(tmc))
		return;
	check_output(tmc);
	tmc->pointer = base_of(tmc);
	if (scatters(tmc)) {
		tmc->list = base_of(tmc);
		tmc->entries = 0;
		next_page(tmc);
	} else if (restores(tmc)) {
		fake_coresight_rule(tmc,
				    restored % FAKE_FRAME == 0 && restored >= base_of(tmc) &&
					    restored < base_of(tmc) + size_of(tmc),
				    "the restored pointer is within the buffer");
		tmc->pointer = restored;
	}
}

static void set_capture(struct fake_component *tmc, uint32_t value)
{
	if (value && !tmc->capturing)
		begin(tmc);
	if (!value && tmc->capturing) {
		fake_coresight_rule(tmc, tmc->stopped || tmc->stuck, "it has stopped before it is disabled");
		tmc->capturing = 0;
		tmc->delay = BUSY;
	}
}

static void set_formatter(struct fake_component *tmc, uint32_t before, uint32_t value)
{
	fake_coresight_rule(tmc, (value & ~0x1043u) == 0, "unused bits of FFCR are 0");
	if (!tmc->capturing) {
		fake_coresight_rule(tmc, !(value & 0x40), "a flush is requested only while it captures");
		return;
	}
	fake_coresight_rule(tmc, (value & 3) == (before & 3), "the formatter is switched only when disabled");
	if (value & 0x40) {
		fake_coresight_rule(tmc, !((value & ~before) & 0x1000), "a stop is armed before the flush");
		tmc->flushing = 1;
		tmc->delay = BUSY;
	}
}

/* ---- Registers --------------------------------------------------------------------------------- */

static uint32_t allowed(const struct fake_component *tmc, uint32_t offset)
{
	switch (offset) {
	case CTL:
		return 1;
	case MODE:
		return is_etr(tmc) ? 0 : 3;
	case AXICTL:
		return is_etr(tmc) ? 0xfbf : 0;
	case DBAHI:
	case RRPHI:
	case RWPHI:
		return 0xff;
	case TRG:
	case BUFWM:
		return 0;
	default:
		return UINT32_MAX;
	}
}

static int has_register(const struct fake_component *tmc, uint32_t offset)
{
	switch (offset) {
	case CTL:
	case MODE:
	case FFCR:
	case TRG:
	case BUFWM:
		return 1;
	case RSZ:
	case AXICTL:
	case DBALO:
	case DBAHI:
		return is_etr(tmc);
	case STS:
	case RRP:
	case RWP:
	case RRPHI:
	case RWPHI:
		return restores(tmc);
	default:
		return 0;
	}
}

void fake_tmc_write(struct fake_component *tmc, uint32_t offset, uint32_t value)
{
	uint32_t before = tmc->reg[offset / 4];

	fake_coresight_rule(tmc, has_register(tmc, offset), "register %03x can be written", offset);
	fake_coresight_rule(tmc, (value & ~allowed(tmc, offset)) == 0,
			    "reserved bits of register %03x are 0, not %08x", offset, value);
	fake_coresight_rule(tmc, offset == CTL || offset == FFCR || !tmc->capturing,
			    "register %03x is written when disabled", offset);
	tmc->reg[offset / 4] = value;
	tmc->written[offset / 4] = 1;
	if (offset == CTL)
		set_capture(tmc, value & 1);
	if (offset == FFCR)
		set_formatter(tmc, before, value);
}

/*
 * Completes a flush: moves all bytes into memory. If the component has to stop after a flush, also completes
 * the last frame.
 */
static void finish_flush(struct fake_component *tmc)
{
	fake_coresight_flush_all();
	tmc->flushing = 0;
	tmc->reg[FFCR / 4] &= ~0x40u;
	if (!(tmc->reg[FFCR / 4] & 0x1000))
		return;
	if (tmc->reg[MODE / 4] == 2) {
		fake_queue_drain((uint32_t)(tmc - fake_component));
	} else {
		pad(tmc);
		tmc->left = tmc->full ? fake_coresight_sram : tmc->pointer;
		tmc->next = tmc->full ? tmc->pointer : 0;
	}
	tmc->stopped = 1;
	tmc->delay = BUSY;
}

static uint32_t status(struct fake_component *tmc)
{
	int is_ready = !tmc->capturing || tmc->stopped;

	if (is_ready && tmc->delay > 0 && tmc->stuck != FAKE_STUCK_READY)
		tmc->delay--;
	return (uint32_t)tmc->full | (is_ready && tmc->delay == 0 ? 4u : 0) |
	       (tmc->stuck == FAKE_STUCK_MEMORY ? 32u : 0);
}

static uint32_t read_sram(struct fake_component *tmc)
{
	uint32_t word;

	fake_coresight_rule(tmc, !is_etr(tmc) && tmc->stopped && tmc->capturing && tmc->delay == 0,
			    "RRD is read when an ETF has stopped");
	if (tmc->left == 0)
		return UINT32_MAX;
	memcpy(&word, &tmc->sram[tmc->next], 4);
	tmc->next = (tmc->next + 4) % fake_coresight_sram;
	tmc->left -= 4;
	return word;
}

uint32_t fake_tmc_read(struct fake_component *tmc, uint32_t offset)
{
	uint64_t pointer = tmc->stuck == FAKE_STUCK_POINTER ? 0x1000 : tmc->pointer;

	switch (offset) {
	case RSZ:
		return (uint32_t)(size_of(tmc) / 4);
	case STS:
		return status(tmc);
	case RRD:
		return read_sram(tmc);
	case RWP:
		return (uint32_t)pointer;
	case RWPHI:
		return (uint32_t)(pointer >> 32);
	case FFCR:
		if (tmc->flushing && tmc->stuck != FAKE_STUCK_FLUSH && --tmc->delay == 0)
			finish_flush(tmc);
		return tmc->reg[FFCR / 4];
	case 0xfc8:
		return tmc->devid;
	default:
		return tmc->reg[offset / 4];
	}
}
