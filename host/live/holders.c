/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/holders.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "live/tail.h"

#define AT_ONCE	  32u
#define ROWS_MOST 65536u /* looked at: more take too long for a picture */

static void take_lock(struct live_cpu *cpu, const struct ktrx_holder *row)
{
	cpu->waits = row->wait == KTRX_WAIT_SPIN || row->wait == KTRX_WAIT_LOCK;
	cpu->lock = row->object;
	cpu->owner = row->owner;
	memcpy(cpu->lock_name, row->object_name, sizeof(cpu->lock_name));
}

static void take_row(struct live_holders *holders, const struct ktrx_holder *row)
{
	const uint32_t cpu = row->id & ~KTRX_HOLDER_CPU;
	struct live_wait wait = {
		.thread = row->id - 1,
		.kind = row->wait,
		.owner = row->owner,
		.object = row->object,
		.ticks = holders->now > row->wait_stamp ? holders->now - row->wait_stamp : 0,
	};

	if (row->id == 0)
		return;
	if (row->id & KTRX_HOLDER_CPU) {
		if (cpu < holders->cpus)
			take_lock(&holders->cpu[cpu], row);
		return;
	}
	if (row->wait == KTRX_WAIT_NONE || row->wait_stamp == 0)
		return;
	memcpy(wait.name, row->object_name, sizeof(wait.name));
	live_wait_offer(holders->wait, &holders->wait_count, &wait);
}

int live_holders_read(struct live_holders *holders, const struct live_source *source)
{
	struct ktrx_holder row[AT_ONCE];
	uint32_t first = 0;
	int rows = 0;

	holders->wait_count = 0;
	holders->told = false;
	while (first < ROWS_MOST && (rows = source->holders(source->context, first, row, AT_ONCE)) > 0) {
		holders->told = true;
		for (int n = 0; n < rows; n++)
			take_row(holders, &row[n]);
		first += (uint32_t)rows;
	}
	return rows < 0 ? rows : 0;
}

void live_object_text(const struct ktread *trace, uint64_t object, const char *name, uint32_t owner,
		      char *text, size_t size)
{
	char safe[80], whose[80] = "";
	int length;

	*base_escape_text(safe, name, strnlen(name, 32), sizeof(safe) - 1) = '\0';
	if (owner & KTRX_HOLDER_CPU)
		snprintf(whose, sizeof(whose), " of CPU %" PRIu32, owner & ~KTRX_HOLDER_CPU);
	else if (owner) {
		length = snprintf(whose, sizeof(whose), " of ");
		live_thread_text(trace, owner - 1, whose + length, sizeof(whose) - (size_t)length);
	}
	if (safe[0])
		snprintf(text, size, "%s (0x%" PRIx64 ")%s", safe, object, whose);
	else
		snprintf(text, size, "0x%" PRIx64 "%s", object, whose);
}

const char *live_wait_word(uint8_t kind)
{
	static const char *const words[] = {
		[KTRX_WAIT_NONE] = "on",	   [KTRX_WAIT_SPIN] = "for lock",
		[KTRX_WAIT_LOCK] = "for lock",	   [KTRX_WAIT_EVENT] = "for event",
		[KTRX_WAIT_TIME] = "for time",	   [KTRX_WAIT_THREAD] = "for the end of thread",
		[KTRX_WAIT_DEVICE] = "for device",
	};

	return kind < sizeof(words) / sizeof(words[0]) ? words[kind] : words[KTRX_WAIT_NONE];
}
