/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the kernel's table of holders says of threads that wait, and of CPUs that wait for locks. */
#ifndef LIVE_HOLDERS_H
#define LIVE_HOLDERS_H

#include "live/cpus.h"
#include "live/source.h"
#include "live/waits.h"

struct live_holders {
	uint64_t now; /* stamp: the newest that a CPU knows */
	struct live_cpu *cpu;
	uint32_t cpus;
	struct live_wait *wait; /* LIVE_WAITS of them */
	uint32_t wait_count;
	bool told; /* there is such a table */
};

/* Reads the table: `now`, `cpu`, `cpus` and `wait` are given. 0 or an error of the source. */
int live_holders_read(struct live_holders *holders, const struct live_source *source);

/* "inode (0x1234) of CPU 1": of an object that is waited for, harmless. `trace` may be NULL. */
void live_object_text(const struct ktread *trace, uint64_t object, const char *name, uint32_t owner,
		      char *text, size_t size);
/* "for lock", "for the end of", …; "on" where it is not told. */
const char *live_wait_word(uint8_t kind);

#endif
