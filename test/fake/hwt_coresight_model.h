/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations shared by the files of the CoreSight model: hwt_coresight.c (bus), hwt_coresight_etm.c (trace
 * units), hwt_coresight_tmc.c (trace memory).
 */
#ifndef TEST_FAKE_HWT_CORESIGHT_MODEL_H
#define TEST_FAKE_HWT_CORESIGHT_MODEL_H

#include "test/fake/hwt_coresight.h"
#include "test/fake/hwt_log.h"

#define FAKE_REGISTERS 1024u /* number of 32-bit registers in a component's 4 KiB of address space */
#define FAKE_QUEUE     256u
#define FAKE_FRAME     16u

struct fake_byte {
	uint8_t id, value;
};

/*
 * Trace bytes that are inside a component. If a new byte does not fit, the component sends the oldest byte to
 * the next component.
 */
struct fake_queue {
	struct fake_byte byte[FAKE_QUEUE];
	size_t count;
};

struct fake_formatter {
	uint8_t frame[FAKE_FRAME];
	unsigned filled; /* number of used bytes among the first 15 bytes of the frame */
	unsigned frames; /* number of frames completed so far */
	uint8_t id;
	/*
	 * `pending` is the data byte for the next even offset of the frame. Where it is stored depends on the
	 * id of the byte that follows it.
	 */
	int has_pending;
	struct fake_byte pending;
};

struct fake_component {
	const struct ktrace_coresight_component *is;
	char name[16];
	uint32_t reg[FAKE_REGISTERS];
	uint8_t written[FAKE_REGISTERS];
	int unlocked;
	int dirty; /* nonzero: a register was written since the last barrier */
	enum fake_coresight_stuck stuck;
	unsigned delay; /* the operation is complete after the status register was read this many times */
	/* The following members are for trace units: */
	uint32_t idr[14];
	int os_locked, enabled, idle;
	uint64_t made;
	/* The following members are for trace memory: */
	uint32_t devid;
	uint32_t devarch;
	int capturing, stopped, flushing;
	struct fake_queue queue; /* trace bytes inside the component; also used for trace units */
	struct fake_formatter formatter;
	/* address of the next byte: for an ETR a physical address, for an ETF an offset in its SRAM */
	uint64_t pointer;
	/*
	 * For an ETR: the address of the next entry of the page list, and the number of entries that were
	 * read from the list so far.
	 */
	uint64_t list, entries;
	int full;
	uint8_t sram[FAKE_CORESIGHT_SRAM_MOST];
	/* for an ETF that has stopped: number of bytes that software has not read from RRD yet */
	uint64_t left;
	uint64_t next;
};

extern struct fake_component fake_component[KTRACE_CORESIGHT_MAX];

/* Sends a byte from a port of a component to the component that is connected to the port. */
void fake_coresight_send(uint32_t from, uint8_t port, struct fake_byte byte);
/* Flushes all components: every byte inside them arrives in trace memory. */
void fake_coresight_flush_all(void);
void fake_queue_put(uint32_t component, struct fake_byte byte, size_t keep);
void fake_queue_drain(uint32_t component);

/*
 * If `holds` is false, reports that software broke a rule of this component. `format` is the text of the
 * rule.
 */
void fake_coresight_rule(const struct fake_component *component, int holds, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the name of a register. The returned string is valid until the next call. */
const char *fake_coresight_name(const struct fake_component *component, uint32_t offset);

/* Write or read a register of a component. Requires: before a write, the component was unlocked. */
void fake_etm_write(struct fake_component *etm, uint32_t offset, uint32_t value);
uint32_t fake_etm_read(struct fake_component *etm, uint32_t offset);
void fake_tmc_write(struct fake_component *tmc, uint32_t offset, uint32_t value);
uint32_t fake_tmc_read(struct fake_component *tmc, uint32_t offset);
/* Receives a byte at a trace memory controller, which stores the byte or, as a FIFO, sends it on. */
void fake_tmc_take(struct fake_component *tmc, struct fake_byte byte);

#endif
