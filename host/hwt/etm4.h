/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations of the ETMv4 decoder: a guard before OpenCSD, the conversion of OpenCSD's elements to steps,
 * and OpenCSD's decode tree.
 */
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
 * A guard that checks packets before OpenCSD's ETMv4 decoder (1.3.3) gets them. That decoder trusts some
 * sequences of packets, and crashes if they are wrong. OpenCSD keeps uncommitted elements in a queue, oldest
 * first. The guard keeps a queue of its own, and refuses packets that break one of these rules:
 *
 *	an exception is followed by its address; both are committed or cancelled together
 *	an address that a mispredict packet cancels is the newest element
 *	code does not extend to the end of memory
 *
 * The guard also refuses AArch32 code, because OpenCSD loses an exception's address after some AArch32
 * instructions; a trace of such code is not damaged. And it refuses all packets of types that a unit with the
 * accepted registers (see etm4.c) never writes.
 */

#define ETM4_GUARD_ROOM	 256u
#define ETM4_INSTRUCTION 4u /* maximum size of an instruction in bytes */
/* Code must not be in the last page of memory: OpenCSD's addresses would wrap to 0. */
#define ETM4_CODE_END (UINT64_MAX - 4095u)

struct etm4_guard {
	/*
	 * `synced`: an A-Sync has come; `decodes`: a Trace Info has come after it. OpenCSD ignores packets
	 * before these two.
	 */
	bool synced, decodes;
	bool wants_address; /* the last packet was an exception, whose address must follow */
	bool bits_64;	    /* set after the first context packet for 64-bit code */
	const char *unread; /* reason why the guard refused a valid packet; NULL: the packet was damaged */
	uint32_t depth;	    /* number of uncommitted P0 elements, such as atoms and exceptions */
	/*
	 * The queue of elements: element n is element[n % ETM4_GUARD_ROOM]. `newest` is the number of the
	 * newest element, plus 1.
	 */
	uint32_t oldest, newest;
	uint8_t element[ETM4_GUARD_ROOM];
};

/*
 * Returns how many of the first bytes of this code OpenCSD may read. These bytes end before the first branch
 * whose target is the end of memory, or that OpenCSD would mistake for another instruction.
 */
size_t etm4_guard_code(uint64_t address, const uint8_t *bytes, size_t size);
/*
 * Returns true if the instruction is a branch that this version of OpenCSD (from ocsd_get_version()) does not
 * know.
 */
bool etm4_guard_too_new(uint32_t version, uint32_t instruction);
/* Returns the distance from a direct branch to its target, or 0 if the instruction is not a direct branch. */
int64_t etm4_guard_distance(uint32_t instruction);
/*
 * Returns false if OpenCSD must not decode the packet. If the packet is valid, but of a type that is not
 * decoded, guard->unread describes it. unit->idr8 is the maximum number of elements that the unit leaves
 * uncommitted.
 */
bool etm4_guard_allows(struct etm4_guard *guard, const struct ktrx_hwt_etm4 *unit,
		       const ocsd_etmv4_i_pkt *packet);
/* Returns true if the unit is an ETE, which writes ETMv4 packets and some more. */
bool etm4_is_ete(const struct ktrx_hwt_etm4 *unit);

/*
 * A queue between OpenCSD, which pushes elements, and a caller that takes steps. Some steps are complete only
 * when the next step is known. The address at which tracing begins, or to which an exception leads, is the
 * address of the next run. An exception after a run shows that the run ends in a system call. So the newest
 * steps stay incomplete until a later step completes them.
 */

#define ETM4_QUEUE_ROOM 256u /* number of steps for which the queue has room, a power of two */
/* maximum number of steps that are made from one element of OpenCSD */
#define ETM4_QUEUE_SPARE 8u

struct etm4_queue {
	struct hwt_step step[ETM4_QUEUE_ROOM];
	uint32_t head, tail; /* numbers that only increase; step number n is at index n % ETM4_QUEUE_ROOM */
	uint32_t open;	     /* number of the first step that is not complete */
};

/* Returns true if there is no room for the steps of one more element, so that OpenCSD has to wait. */
bool etm4_queue_full(const struct etm4_queue *queue);
/* Marks all steps as complete, because later elements will not change them. */
void etm4_queue_settle(struct etm4_queue *queue);
/* Takes the oldest step. Returns false if none is complete. */
bool etm4_queue_take(struct etm4_queue *queue, struct hwt_step *step);

/* Converts OpenCSD's generic elements to steps. */

struct etm4_steps {
	struct etm4_queue queue;
	/*
	 * true if the stream is from the software trace unit, whose context id and VMID have the meaning
	 * described in spec/ktrx-hwt.md
	 */
	bool software;
	bool tracing;	/* tracing is on: HWT_ON has been reported, and the end of tracing has not */
	bool has_stamp; /* `stamp` is the last timestamp of the unit */
	uint64_t stamp;
	uint64_t space;
	uint32_t thread;
	uint64_t offset; /* offset of the element that is being converted */
	/* description of the last refused packet if it was valid; NULL: the packet was damaged */
	const char *unread;
	bool has_new; /* `has_branch` is true: OpenCSD does not know the branch at the address `new_branch` */
	uint64_t new_branch;
	/*
	 * true if other code was executed than the known code: ranges are ignored until a packet contains an
	 * address
	 */
	bool doubts;
	bool has_anchor; /* a packet with an address has arrived */
	uint64_t anchor; /* offset of the packet with the address */
	bool to_next;	 /* the element ends in a branch to the next instruction */
	bool falls;	 /* the last branch was not taken: execution must continue at `falls_to` */
	uint64_t falls_to;
};

/* Converts an element. Requires: the queue is not full. */
void etm4_steps_take(struct etm4_steps *steps, const ocsd_generic_trace_elem *element);
/* Reports damage. The caller still owns `text`. */
void etm4_steps_damage(struct etm4_steps *steps, const char *text);
/* Reports that a packet with an address, at this offset, will be decoded next. */
void etm4_steps_anchor(struct etm4_steps *steps, uint64_t offset);
/* Reports that the bytes do not begin with an A-Sync, so the bytes before the first A-Sync cannot be read. */
void etm4_steps_begin_torn(struct etm4_steps *steps);
/* Returns the address space of a context id. */
uint64_t etm4_space(bool software, uint32_t context_id);

#endif
