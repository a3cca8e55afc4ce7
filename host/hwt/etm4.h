/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The decoder of ETMv4: a guard before OpenCSD, what OpenCSD says as steps, and its tree of one unit. */
#ifndef HWT_ETM4_H
#define HWT_ETM4_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <opencsd/etmv4/trc_pkt_types_etmv4.h>
#include <opencsd/trc_gen_elem_types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hwt/hwt.h"

/*
 * A barrier before OpenCSD's decoder of ETMv4 (1.3.3), which takes some rows of packets on trust and crashes
 * by them. It keeps what has not been committed as a row of elements, oldest first. To that it holds on to
 * two things, which are looked after here in such a row of our own (and a third one, of places):
 *
 *	behind an exception comes its address, and both are committed, or cancelled, together
 *	an address that a mispredicted branch takes back is the newest element
 *	the end of memory is not reached
 *
 * AArch32 is refused, which is no damage, as among its instructions are some behind which the library loses
 * an exception's address; and what is none of the packets named here, all that units write as their registers
 * are wanted (etm4.c).
 */

#define ETM4_GUARD_ROOM	 256u
#define ETM4_INSTRUCTION 4u /* bytes of one, at most */
/* No code is at the very end of memory: the library counts past it to 0. */
#define ETM4_CODE_END (UINT64_MAX - 4095u)

struct etm4_guard {
	bool synced, decodes; /* it ignores packets until it has seen an A-Sync, and then a Trace Info */
	bool wants_address;   /* an exception has been told, and not yet where */
	bool bits_64;	      /* a context has said so */
	const char *unread;   /* what has just been refused is as a unit may write it; NULL: it is damage */
	uint32_t depth;	      /* atoms and exceptions that are not committed */
	/* Counted on; element n is at n % ETM4_GUARD_ROOM. `newest` is behind the newest. */
	uint32_t oldest, newest;
	uint8_t element[ETM4_GUARD_ROOM];
};

/*
 * How many of these bytes of code the library may see: none that leads to the end of memory, and no branch
 * that it takes for an instruction of another kind.
 */
size_t etm4_guard_code(uint64_t address, const uint8_t *bytes, size_t size);
/* The instruction is a branch that the library (its version as ocsd_get_version() has it) does not know. */
bool etm4_guard_too_new(uint32_t version, uint32_t instruction);
/* How far a direct branch leads; 0: it is none. */
int64_t etm4_guard_distance(uint32_t instruction);
/*
 * False: the packet must not be decoded; guard->unread says of which kind it is, if that is all there is
 * against it. The unit leaves TRCIDR8 elements uncommitted at most.
 */
bool etm4_guard_allows(struct etm4_guard *guard, const struct ktrx_hwt_etm4 *unit,
		       const ocsd_etmv4_i_pkt *packet);
/* The unit is an ETE, whose packets are those of an ETMv4 and some more. */
bool etm4_is_ete(const struct ktrx_hwt_etm4 *unit);

/*
 * Steps between a library that pushes and a caller who pulls. Some are only complete when the next one is
 * known: where trace begins, or an exception leads to, is the address of the next run; whether a run ends in
 * a system call, the exception behind it says. So the newest stay open until something closes them.
 */

#define ETM4_QUEUE_ROOM 256u /* a power of two */
/* What one element of the library becomes, at most. */
#define ETM4_QUEUE_SPARE 8u

struct etm4_queue {
	struct hwt_step step[ETM4_QUEUE_ROOM];
	uint32_t head, tail; /* counted on; step n is at n % ETM4_QUEUE_ROOM */
	uint32_t open;	     /* from here to the tail: not yet to be taken */
};

/* No room for what one more element may become: the library must wait. */
bool etm4_queue_full(const struct etm4_queue *queue);
/* Nothing will be added to what is there. */
void etm4_queue_settle(struct etm4_queue *queue);
/* False: nothing is complete. */
bool etm4_queue_take(struct etm4_queue *queue, struct hwt_step *step);

/* From OpenCSD's generic elements to steps. */

struct etm4_steps {
	struct etm4_queue queue;
	/* the unit of ktrx/hwt_unit.h, whose context id and VMID mean what spec/ktrx-hwt.md says */
	bool software;
	bool tracing;	/* between an ON and what ends it */
	bool has_stamp; /* `stamp` is what the unit told last */
	uint64_t stamp;
	uint64_t space;
	uint32_t thread;
	uint64_t offset;    /* of what is being told now */
	const char *unread; /* the packet that was refused last is damaged by nothing but that: what it is */
	bool has_new;	    /* at `new_branch` there is a branch that the library does not know */
	uint64_t new_branch;
	/* The code that is known is not what ran: nothing is believed until a packet tells an address. */
	bool doubts;
	bool has_anchor; /* such a packet has come since, at `anchor` */
	uint64_t anchor; /* offset */
	bool to_next;	 /* the element that is taken ends in a branch to the next instruction */
	bool falls;	 /* the last branch was not taken: code must go on at `falls_to` */
	uint64_t falls_to;
};

/* What one element becomes; there is room for it. */
void etm4_steps_take(struct etm4_steps *steps, const ocsd_generic_trace_elem *element);
/* The stream is damaged here; the text stays the caller's. */
void etm4_steps_damage(struct etm4_steps *steps, const char *text);
/* A packet that tells an address, at this offset, is about to be decoded. */
void etm4_steps_anchor(struct etm4_steps *steps, uint64_t offset);
/* The bytes do not begin with an A-Sync: those before the first one cannot be read. */
void etm4_steps_begin_torn(struct etm4_steps *steps);
/* What the unit's context id and VMID say. */
uint64_t etm4_space(bool software, uint32_t context_id);

#endif
