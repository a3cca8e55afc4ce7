/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the files of the CoreSight model share: hwt_coresight.c is the bus, _etm.c trace units, _tmc.c trace memory. */
#ifndef TEST_FAKE_HWT_CORESIGHT_MODEL_H
#define TEST_FAKE_HWT_CORESIGHT_MODEL_H

#include "test/fake/hwt_coresight.h"
#include "test/fake/hwt_log.h"

#define FAKE_REGISTERS 1024u /* 32-bit words of 4 KiB */
#define FAKE_QUEUE     256u
#define FAKE_FRAME     16u

struct fake_byte {
	uint8_t id, value;
};

/* Bytes under way; the oldest go on when there are more than it keeps. */
struct fake_queue {
	struct fake_byte byte[FAKE_QUEUE];
	size_t count;
};

struct fake_formatter {
	uint8_t frame[FAKE_FRAME];
	unsigned filled; /* of the first 15 */
	unsigned frames; /* so far */
	uint8_t id;
	int has_pending; /* a byte for an even place, whose neighbour is not known yet */
	struct fake_byte pending;
};

struct fake_component {
	const struct ktrace_coresight_component *is;
	char name[16];
	uint32_t reg[FAKE_REGISTERS];
	uint8_t written[FAKE_REGISTERS];
	int unlocked;
	int dirty; /* written to since the last barrier */
	enum fake_coresight_stuck stuck;
	unsigned delay; /* so many polls until what was begun is done */
	/* Trace units. */
	uint32_t idr[14];
	int os_locked, enabled, idle;
	uint64_t made;
	/* Trace memory. */
	uint32_t devid;
	uint32_t devarch;
	int capturing, stopped, flushing;
	struct fake_queue queue; /* trace units, too */
	struct fake_formatter formatter;
	uint64_t pointer;	/* ETR: physical; ETF: in the SRAM */
	uint64_t list, entries; /* ETR: next entry of the scatter list, and how many have been read */
	int full;
	uint8_t sram[FAKE_CORESIGHT_SRAM_MOST];
	uint64_t left; /* ETF, stopped: bytes that RRD has not shown */
	uint64_t next;
};

extern struct fake_component fake_component[KTRACE_CORESIGHT_MAX];

/* Bytes go on from a component's port. */
void fake_coresight_send(uint32_t from, uint8_t port, struct fake_byte byte);
/* A flush from below: what is under way anywhere arrives. */
void fake_coresight_flush_all(void);
void fake_queue_put(uint32_t component, struct fake_byte byte, size_t keep);
void fake_queue_drain(uint32_t component);

/* What must hold, in words; if it does not, it is a broken rule of that component. */
void fake_coresight_rule(const struct fake_component *component, int holds, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Of a register; until the next call. */
const char *fake_coresight_name(const struct fake_component *component, uint32_t offset);

/* A write, already found to be unlocked; reads return the value. */
void fake_etm_write(struct fake_component *etm, uint32_t offset, uint32_t value);
uint32_t fake_etm_read(struct fake_component *etm, uint32_t offset);
void fake_tmc_write(struct fake_component *tmc, uint32_t offset, uint32_t value);
uint32_t fake_tmc_read(struct fake_component *tmc, uint32_t offset);
/* A byte comes in. */
void fake_tmc_take(struct fake_component *tmc, struct fake_byte byte);

#endif
