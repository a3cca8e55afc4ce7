/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the files of the backend `coresight` share. coresight.c is the backend; coresight_graph.c finds the way from each
 * CPU to memory, coresight_etm.c drives trace units, coresight_link.c what is between, coresight_tmc.c trace memory
 * controllers, coresight_etr.c those that write into a unit's buffer, coresight_collect.c those whose memory is emptied by
 * the CPU.
 *
 * Components are shared by CPUs: whoever touches anything but his own trace unit's registers holds the lock. Each wait for
 * a component is bounded, and is DEVICE when it was in vain.
 */
#ifndef KTRACE_HWT_CORESIGHT_INTERNAL_H
#define KTRACE_HWT_CORESIGHT_INTERNAL_H

#include "ktrace/hwt_coresight.h"
#include "ktrace/port.h"

#include "coresight_registers.h"

/* In ktrace_hwt_backend.state: what all trace units can do, so that a thread may run on any CPU. */
struct ktrace_coresight_found {
	uint32_t first; /* an ETM4, for decoders */
	uint32_t collected;
	uint32_t scatters; /* all ETRs do */
	uint32_t pairs, context_comparators, vmid_comparators;
	uint32_t contexts, vmids, timestamps, cycles, returns; /* they can be traced */
	uint32_t cycle_least;
};

/* In ktrace_hwt_unit.state: values of registers (configure), and how far its ETR has got. */
struct ktrace_coresight_request {
	uint32_t configr, syncpr, ccctlr, acatr;
	uint32_t levels; /* that are traced, as IDR3_LEVELS */
	uint32_t ranges; /* pairs of comparators in use */
	uint64_t first[KTRACE_HWT_RANGES_MAX], last[KTRACE_HWT_RANGES_MAX];
	uint64_t context; /* acatr says what it is compared with */
	uint32_t stops;	  /* KTRACE_HWT_STOP */
	uint32_t scatter; /* buffer.table is a scatter list */
	uint64_t offset;  /* in the buffer, where the ETR was last seen … */
	uint32_t full;	  /* … and that it had wrapped since it was enabled */
};

_Static_assert(sizeof(struct ktrace_coresight_found) <= sizeof(((struct ktrace_hwt_backend *)0)->state),
	       "fits into a backend's state");
_Static_assert(sizeof(struct ktrace_coresight_request) <= sizeof(((struct ktrace_hwt_unit *)0)->state),
	       "fits into a unit's state");

KTRACE_INLINE struct ktrace_coresight_found *ktrace_coresight_found(struct ktrace_hwt_backend *backend)
{
	return (struct ktrace_coresight_found *)(void *)backend->state;
}

KTRACE_INLINE struct ktrace_coresight_request *ktrace_coresight_request(struct ktrace_hwt_unit *unit)
{
	return (struct ktrace_coresight_request *)(void *)unit->state;
}

/* ---- Registers --------------------------------------------------------------------------------- */

KTRACE_INLINE uint32_t ktrace_coresight_read(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *component,
					     uint32_t offset)
{
	return all->access->read(component->base, offset);
}

KTRACE_INLINE void ktrace_coresight_write(const struct ktrace_coresight *all,
					  const struct ktrace_coresight_component *component, uint32_t offset,
					  uint32_t value)
{
	all->access->write(component->base, offset, value);
}

KTRACE_INLINE void ktrace_coresight_unlock(const struct ktrace_coresight *all,
					   const struct ktrace_coresight_component *component)
{
	ktrace_coresight_write(all, component, KTRACE_CORESIGHT_LAR, KTRACE_CORESIGHT_LAR_KEY);
}

/* Waits until the bits of the mask have that value. */
KTRACE_HIDDEN int ktrace_coresight_poll(const struct ktrace_coresight *all,
					const struct ktrace_coresight_component *component, uint32_t offset,
					uint32_t mask, uint32_t value);

/* ---- The parts --------------------------------------------------------------------------------- */

/* Checks the description and finds each path[]. NULL, or what is wrong with it. */
KTRACE_HIDDEN const char *ktrace_coresight_graph(struct ktrace_coresight *all);

/* Reads idr[]. NULL, or what is wrong with it. */
KTRACE_HIDDEN const char *ktrace_coresight_etm_find(const struct ktrace_coresight *all,
						    struct ktrace_coresight_component *etm);
KTRACE_HIDDEN uint32_t ktrace_coresight_etm_configr(const struct ktrace_coresight *all,
						    const struct ktrace_coresight_found *found,
						    const struct ktrace_hwt_config *config);
KTRACE_HIDDEN int ktrace_coresight_etm_configure(const struct ktrace_coresight *all,
						 const struct ktrace_coresight_found *found,
						 struct ktrace_hwt_unit *unit,
						 const struct ktrace_hwt_config *config);
KTRACE_HIDDEN int ktrace_coresight_etm_start(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *etm,
					     const struct ktrace_coresight_request *request);
KTRACE_HIDDEN int ktrace_coresight_etm_stop(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *etm);

/* What is between the trace unit and where the trace ends: opened from the end on, shut from the beginning on. */
KTRACE_HIDDEN int ktrace_coresight_links_open(struct ktrace_coresight *all,
					      const struct ktrace_coresight_component *etm);
KTRACE_HIDDEN int ktrace_coresight_links_shut(struct ktrace_coresight *all,
					      const struct ktrace_coresight_component *etm);

/* NULL, or why this is not the trace memory controller that it is said to be. */
KTRACE_HIDDEN const char *ktrace_coresight_tmc_find(const struct ktrace_coresight *all,
						    struct ktrace_coresight_component *tmc);
/* At rest, so that it may be programmed. */
KTRACE_HIDDEN int ktrace_coresight_tmc_rest(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *tmc);
/* The last registers in common, and it captures. */
KTRACE_HIDDEN void ktrace_coresight_tmc_run(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *tmc);
/* What is on its way arrives. Captures on. */
KTRACE_HIDDEN int ktrace_coresight_tmc_flush(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *tmc);
/* The same, and it stops: pointers and status may be read until it is off. */
KTRACE_HIDDEN int ktrace_coresight_tmc_stop(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *tmc);
KTRACE_HIDDEN int ktrace_coresight_tmc_off(const struct ktrace_coresight *all,
					   const struct ktrace_coresight_component *tmc);
/* In circular mode, in its own memory. */
KTRACE_HIDDEN int ktrace_coresight_etf_start(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *etf);
/* As a FIFO on the way. */
KTRACE_HIDDEN int ktrace_coresight_etf_pass(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *etf);

/* Builds the scatter list if the buffer needs one. */
KTRACE_HIDDEN int ktrace_coresight_etr_lend(const struct ktrace_coresight_found *found,
					    struct ktrace_hwt_unit *unit);
KTRACE_HIDDEN int ktrace_coresight_etr_start(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *etr,
					     struct ktrace_hwt_unit *unit);
KTRACE_HIDDEN int ktrace_coresight_etr_read(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *etr,
					    struct ktrace_hwt_unit *unit);
KTRACE_HIDDEN int ktrace_coresight_etr_stop(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *etr,
					    struct ktrace_hwt_unit *unit);

/* Into the store that it is lent, from its beginning. */
KTRACE_HIDDEN int ktrace_coresight_etr_start_store(const struct ktrace_coresight *all,
						   const struct ktrace_coresight_component *etr);
/* Stopped: which bytes of the store have been written, the oldest first, from there on round it. */
KTRACE_HIDDEN int ktrace_coresight_etr_stored(const struct ktrace_coresight *all,
					      const struct ktrace_coresight_component *etr, uint64_t *from,
					      uint64_t *count);

/* Shared memory, an ETF's own or an ETR's store. */
KTRACE_HIDDEN int ktrace_coresight_collect_start(struct ktrace_coresight *all,
						 const struct ktrace_coresight_component *end);
/* Stops it, gives each unit its bytes, and has it go on if somebody still traces into it. */
KTRACE_HIDDEN int ktrace_coresight_collect(struct ktrace_coresight *all,
					   const struct ktrace_coresight_component *end);

/* After `position` has moved. */
KTRACE_INLINE void ktrace_coresight_wraps(struct ktrace_hwt_unit *unit)
{
	unit->wraps = unit->position / unit->buffer.size;
}

#endif
