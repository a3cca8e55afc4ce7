/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The decoder of Intel PT. */
#ifndef HWT_PT_H
#define HWT_PT_H

#include <intel-pt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder.h"
#include "images.h"

/*
 * Decodes the kind and length of an x86 branch: libipt ends a block at a branch, but reports neither. For any
 * other instruction the kind is HWT_BRANCH_NONE.
 */

#define PT_BRANCH_MOST 15u /* maximum size of an instruction in bytes */

struct pt_branch {
	uint8_t kind; /* kind of the branch, an enum hwt_branch */
	/*
	 * size of the branch in bytes; 0 if the instruction is no branch, or if not all its bytes are known
	 */
	uint8_t length;
};

/* Decodes the instruction at `bytes`. `bits` is the mode: 16, 32 or 64. */
struct pt_branch pt_branch_of(const unsigned char *bytes, size_t size, unsigned bits);
/*
 * Sets *target to the target of the near call or jump at `address`. Returns false if the call or jump is not
 * direct.
 */
bool pt_branch_target(const unsigned char *bytes, size_t size, unsigned bits, uint64_t address,
		      uint64_t *target);

struct hwt_stream;
struct hwt_piece;

/* Sets up libipt's configuration for a piece of a stream: its bytes, the CPU, clocks and address filters. */
void hwt_pt_configure(struct pt_config *config, const struct hwt_stream *stream,
		      const struct hwt_piece *piece);

/* A packet that libipt 2.0 cannot read: of event trace (CFE, EVD) or of a trigger (TRIG). */
struct pt_newer {
	const char *name;
	char text[96];
	bool has_address; /* a FUP that belongs to this packet follows it, and no TIP comes after the FUP */
};

/* Sets the errata of a CPU. Returns false, and sets none, if the CPU's errata are not known. */
bool pt_newer_errata(struct pt_errata *errata, const struct pt_cpu *cpu);
/*
 * Returns the model of the CPU that wrote a stream. Its vendor is pcv_unknown if the CPU is unknown, or if
 * the trace unit is software.
 */
struct pt_cpu pt_newer_cpu(const struct ktrx_hwt_pt *pt);
/*
 * Describes a packet of event trace or of a trigger at `bytes`. Returns the packet's size; 0 if there is no
 * such packet, or if it is truncated.
 */
unsigned pt_newer_packet(const unsigned char *bytes, size_t size, struct pt_newer *newer);
/*
 * libipt's callback for packets that it cannot read. libipt then skips these packets, and reads the packets
 * around them as usual. If `flow` is not NULL, packets with an address are refused, because libipt would
 * mistake the FUP packet after them for that of an interrupt.
 */
int pt_newer_read(struct pt_packet_unknown *unknown, const struct pt_config *config, const uint8_t *at,
		  void *flow);

/*
 * Returns the number of the C-state in a PWRE or PWRX packet. The packet encodes it in the same way as an
 * MWAIT hint: 0 is C1, 15 is C0.
 */
static inline unsigned pt_c_state(unsigned hint)
{
	return (hint + 1) & 15;
}
/* Returns a phrase, to be appended to a text, that states what ended the C-state. */
const char *pt_wake_words(bool interrupt, bool store, bool autonomous);

/*
 * Images for libipt. Code that does not change (pieces of files, recorded code with only one version) is
 * passed as sections. libipt caches their decoded blocks, which is several times faster than asking for each
 * instruction. For all other code, libipt calls a callback. When the mappings change, libipt gets a new
 * image.
 */

struct pt_sections;

/*
 * Opens the sections of process `pid` (0: of all). Code that libipt asks for is read as of the timestamp that
 * now(decoder) returns, because code may change between any two instructions. Returns NULL if out of memory.
 */
struct pt_sections *pt_sections_open(struct hwt_images *images, uint32_t pid, uint64_t (*now)(void *decoder),
				     void *decoder);
void pt_sections_close(struct pt_sections *sections);
/*
 * Returns the image that is valid at a timestamp (0: unknown). This may be the image that was returned last,
 * or a new image that replaces it. Sets *until to the first timestamp at which the image is no longer valid.
 * Returns NULL if out of memory.
 */
struct pt_image *pt_sections_at(struct pt_sections *sections, uint64_t stamp, uint64_t *until);

/* A stream of Intel PT that is being decoded: pt.c decodes runs, pt_events.c decodes other events. */

#define PT_KNOWN 2048u /* number of branches in the cache */
/* a value of `section` that is never the number of one of libipt's sections */
#define PT_NO_SECTION (-1)

/* The last instruction of a block, in a cache. */
struct pt_last {
	uint64_t address;
	int section;  /* libipt's number of the section that contains the block; 0: unused element */
	uint8_t mode; /* enum pt_exec_mode */
	/* the members have the same meaning as in struct hwt_step */
	uint8_t branch, bits;
	/* size of the branch in bytes; 0 if it is no branch, or if not all its bytes are known */
	uint8_t length;
};

struct pt_decoder {
	const struct hwt_stream *stream;
	struct hwt_images *images;
	struct pt_sections *sections;
	struct pt_image *image;
	uint64_t since, until; /* timestamps [since, until) at which `image` is valid */
	struct pt_block_decoder *block_decoder;
	struct hwt_piece piece;
	int status;   /* result of the last call of libipt */
	int unsynced; /* first error at a PSB at which libipt could not synchronize; 0: none */
	bool synced, begun, ended;
	uint64_t synced_at; /* offset of the PSB at which decoding began */
	unsigned char *own; /* copy of the piece's bytes, see pt_resume(); NULL: there is no copy */
	size_t resumed;	    /* offset in `own` of the PSB that pt_resume() has written last */
	uint64_t offset;    /* offset in the piece of the next byte that libipt will read */
	uint64_t time;	    /* last time that libipt has read; 0: unknown */
	/* `time` converted to a timestamp; the runs that are decoded next may have an earlier one */
	uint64_t read;
	uint64_t asked_at; /* timestamp at which libipt last asked for code */
	/* Template of a run: position, timestamp, process, thread and address space. */
	struct hwt_step now;
	/*
	 * `blocks`: number of blocks so far; `blocks_read`: value of `blocks` when libipt last read a packet
	 */
	uint64_t blocks, blocks_read;
	/*
	 * Only for erratum SKL014, because of which libipt may stop at a jump within the stream's address
	 * ranges. `ranges`: these address ranges. `continued_at`: value of `blocks` when libipt was last
	 * asked to continue after such a stop.
	 */
	struct pt_conf_addr_filter ranges;
	uint64_t continued_at;
	uint64_t last;	 /* address of the last executed instruction */
	uint64_t wanted; /* address of the instruction that libipt could not decode; 0: none */
	bool holds;	 /* `held` contains a run whose end is not known yet */
	struct hwt_step held;
	struct pt_event event;
	unsigned event_parts; /* number of steps that are still to be made from the event */
	char text[160];
	struct pt_last known[PT_KNOWN];
};

/* Sets the unit's time for the following steps. Returns false if out of memory. */
bool pt_decoder_set_time(struct pt_decoder *decoder, uint64_t time);
/* Fills in a step with only the current position, timestamp, process, thread and address space. */
void pt_decoder_begin_step(const struct pt_decoder *decoder, struct hwt_step *step, enum hwt_kind kind);

/* Fetches an event. Returns 1 on success, 0 if no step is made from this event, or KTREAD_E_MEMORY. */
int pt_decoder_take_event(struct pt_decoder *decoder);
/*
 * Returns true if the event reports the address that execution had reached, and sets *next to that address.
 */
bool pt_decoder_event_follows(const struct pt_decoder *decoder, uint64_t *next);
/* Fills in the next step of the event that was fetched. */
void pt_decoder_event(struct pt_decoder *decoder, struct hwt_step *step);

/* Lets libipt read the piece from its beginning. Returns false if out of memory. */
bool pt_decoder_open_blocks(struct pt_decoder *decoder);
/* Updates position and time from libipt. Returns false if out of memory. */
bool pt_decoder_look(struct pt_decoder *decoder);

/* Returns the offset of the last PSB at or before `offset`, or 0 if there is none. */
size_t pt_gap_psb(const struct hwt_piece *piece, size_t offset);
/*
 * Makes a gap step that describes what could not be decoded and why, and resumes after the gap. `idle`: the
 * code seemed to loop for ever, without reading a packet. Returns 1, or KTREAD_E_MEMORY.
 */
int pt_gap_report(struct pt_decoder *decoder, struct hwt_step *step, bool idle);
/*
 * Synchronizes at the first PSB. Returns 1 with a step if bytes before the PSB are skipped, 0 if no bytes are
 * skipped, or an error.
 */
int pt_gap_synchronise(struct pt_decoder *decoder, struct hwt_step *step);

void pt_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
		void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to);

#endif
