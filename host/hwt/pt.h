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
 * What a branch of x86 is, and how long: libipt ends a block at one, but tells neither. Of all other
 * instructions only that they are none.
 */

#define PT_BRANCH_MOST 15u /* bytes of an instruction */

struct pt_branch {
	uint8_t kind;	/* enum hwt_branch */
	uint8_t length; /* bytes; 0 of what is no branch, or is not all there */
};

/* `bits`: 16, 32 or 64, the mode. */
struct pt_branch pt_branch_of(const unsigned char *bytes, size_t size, unsigned bits);
/* Sets where the near call or jump at `address` leads. Returns false if it is none, or not a direct one. */
bool pt_branch_target(const unsigned char *bytes, size_t size, unsigned bits, uint64_t address,
		      uint64_t *target);

struct hwt_stream;
struct hwt_piece;

/*
 * Fills in what libipt must know of a piece of a stream: its bytes, the CPU, the clocks and the filters of
 * addresses.
 */
void hwt_pt_configure(struct pt_config *config, const struct hwt_stream *stream,
		      const struct hwt_piece *piece);

/* A packet that libipt 2.0 does not know: of event trace (CFE, EVD) or of a trigger (TRIG). */
struct pt_newer {
	const char *name;
	char text[96];
	bool has_address; /* a FUP of its own follows, with no TIP */
};

/* Sets the errata of a CPU. Returns false, and sets none, if they are not known. */
bool pt_newer_errata(struct pt_errata *errata, const struct pt_cpu *cpu);
/* Returns the CPU that made a stream; of no vendor if that is unknown, or it is a unit in software. */
struct pt_cpu pt_newer_cpu(const struct ktrx_hwt_pt *pt);
/* Describes the packet at `bytes`. Returns its size, or 0: it is none of these, or it is cut short. */
unsigned pt_newer_packet(const unsigned char *bytes, size_t size, struct pt_newer *newer);
/*
 * libipt's callback for such packets: libipt then skips them, and the packets around them mean the same.
 * With `flow` not NULL it refuses those with an address, whose FUP libipt would take for an interrupt's.
 */
int pt_newer_read(struct pt_packet_unknown *unknown, const struct pt_config *config, const uint8_t *at,
		  void *flow);

/* A C-state of the packets PWRE and PWRX, which have it as a hint of MWAIT: 0 is C1, 15 is C0. */
static inline unsigned pt_c_state(unsigned hint)
{
	return (hint + 1) & 15;
}
/* What has left it, as words that follow others. */
const char *pt_wake_words(bool interrupt, bool store, bool autonomous);

/*
 * Images as libipt wants them. What stays as it is (pieces of files, code that has but one version) it gets
 * as sections, which it decodes by tables of its own, several times as fast as what it has to ask for each
 * instruction; all else it asks for. When what is mapped changes, it gets another image.
 */

struct pt_sections;

/*
 * Of the process `pid`, 0: of all. What libipt asks for is as of the stamp that `now` says of `decoder` then:
 * code changes between any two instructions. NULL: out of memory.
 */
struct pt_sections *pt_sections_open(struct hwt_images *images, uint32_t pid, uint64_t (*now)(void *decoder),
				     void *decoder);
void pt_sections_close(struct pt_sections *sections);
/*
 * The image that is right at a stamp (0: unknown): the one that was asked for last, or a new one, which
 * replaces it. NULL: out of memory. `until`: the stamp from which on it is another.
 */
struct pt_image *pt_sections_at(struct pt_sections *sections, uint64_t stamp, uint64_t *until);

/* A stream of Intel PT that is being decoded: pt.c has the flow, pt_events.c what is beside it. */

#define PT_KNOWN      2048u /* branches whose kind is kept */
#define PT_NO_SECTION (-1)  /* no block is ever said to be in it */

/* An instruction that blocks end with. */
struct pt_last {
	uint64_t address;
	int section; /* libipt's number of it; 0: the place is empty */
	enum pt_exec_mode mode;
	/* As in a step: taken, if it always is. */
	uint8_t branch, taken, bits;
	uint8_t length; /* 0 of what is no branch, or is not all there */
	uint8_t within; /* it leads from one place of a function to another */
};

struct pt_decoder {
	const struct hwt_stream *stream;
	struct hwt_images *images;
	struct pt_sections *sections;
	struct pt_image *image;
	uint64_t since, until; /* stamps for which it is right */
	struct pt_block_decoder *block_decoder;
	struct hwt_piece piece;
	int status;   /* of libipt's last answer */
	int unsynced; /* its first answer at a PSB that it could not begin at, but for the end; or 0 */
	bool synced, begun, ended;
	uint64_t synced_at; /* the PSB that decoding began at */
	unsigned char *own; /* NULL, or a copy of the piece's bytes, see pt_resume() */
	size_t resumed;	    /* offset in it of the PSB that was made last */
	uint64_t offset;    /* in the piece, of what was read */
	uint64_t time;	    /* that libipt has read of; 0: unknown */
	uint64_t read;	    /* stamp of that time; runs may still be of an earlier one */
	uint64_t asked;	    /* stamp of the last code that libipt has asked for */
	/* A run as it begins: where and when the unit is, and whose it is. */
	struct hwt_step now;
	uint64_t blocks, blocks_read; /* how many there were, and up to when a packet was read last */
	/*
	 * The ranges of the stream if libipt may end at a jump within them (erratum SKL014); and the number
	 * of blocks when it was last asked to go on there.
	 */
	struct pt_conf_addr_filter ranges;
	uint64_t went_on;
	uint64_t last, wanted; /* instruction that was run, and 0 or one that was to be */
	bool holds;	       /* a run of which it is not known what follows it */
	struct hwt_step held;
	struct pt_event event;
	unsigned event_parts; /* steps that are still to be made of it */
	char text[160];
	struct pt_last known[PT_KNOWN];
};

/* What comes is of that time of the unit. False: out of memory. */
bool pt_decoder_set_time(struct pt_decoder *decoder, uint64_t time);
/* A step of which nothing is known but where and when it is. */
void pt_decoder_begin_step(const struct pt_decoder *decoder, struct hwt_step *step, enum hwt_kind kind);

/* Fetches an event: 1, 0: it is none that becomes a step, or KTREAD_E_MEMORY. */
int pt_decoder_take_event(struct pt_decoder *decoder);
/* Where the flow was when it came, if it says so. */
bool pt_decoder_event_follows(const struct pt_decoder *decoder, uint64_t *next);
/* The next step of it. */
void pt_decoder_event(struct pt_decoder *decoder, struct hwt_step *step);

/* Has libipt read the piece, from its beginning. False: out of memory. */
bool pt_decoder_open_blocks(struct pt_decoder *decoder);
/* Takes libipt's position and time. False: out of memory. */
bool pt_decoder_look(struct pt_decoder *decoder);

/* Returns the offset of the last PSB at or before `offset`, or 0 if there is none. */
size_t pt_gap_psb(const struct hwt_piece *piece, size_t offset);
/*
 * Makes a step that says what could not be decoded and why, and resumes after it. `idle`: the code looped
 * without using up a packet. Returns 1, or KTREAD_E_MEMORY.
 */
int pt_gap_tell(struct pt_decoder *decoder, struct hwt_step *step, bool idle);
/* To the first PSB: 1 and a step if bytes are skipped before it, 0: none are, or an error. */
int pt_gap_synchronise(struct pt_decoder *decoder, struct hwt_step *step);

/*
 * Resumes after missing code, where libipt stopped at `offset`. libipt can begin only at a PSB, so this
 * writes one into a copy of the piece. It repeats the time, mode and address space of the skipped packets,
 * and begins tracing at the next address of known code that a packet gives, or repeats an overflow and begins
 * at the address that follows it. Returns 1 and sets decoder->resumed to the PSB's offset and *address to the
 * offset after that packet; 0 if no packet before the unit's next PSB gives such an address; or
 * KTREAD_E_MEMORY.
 */
int pt_resume(struct pt_decoder *decoder, size_t offset, size_t *address);

void pt_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
		void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to);

#endif
