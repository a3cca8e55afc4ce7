/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace read: a file of records (ktrx/hwt.h) or of a unit's rings (ktrx/hwt_unit.h) becomes streams,
 * one for each unit of a context; a stream becomes steps: what was run, in the order in which it was. One way
 * for all encodings.
 *
 *	hwt_file_open(&file, path)              what was recorded: contexts, units, images, code, clocks
 *	hwt_images_new(&images, file)           which bytes lay where, when; add ELF files and snapshots to it
 *	hwt_decoder_open(&decoder, file, n, images)
 *	while (hwt_decoder_next(decoder, &step) > 0)
 *		…
 *
 * Results as in ktread/ktread.h: 0 or positive, or a negative enum ktread_error; texts by hwt_…_message().
 * Bytes of files are hostile. Everything is owned by whom it was opened from, and belongs to one thread.
 */
#ifndef HWT_HWT_H
#define HWT_HWT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/hwt.h"

struct hwt_file;
struct hwt_images;
struct hwt_decoder;

/* ---- Steps ------------------------------------------------------------------------------------- */

enum hwt_kind {
	HWT_RUN,   /* instructions one after another, up to one that may branch; then to `to`, if has_to */
	HWT_ON,	   /* trace begins, at `address` */
	HWT_OFF,   /* it ends; the next instruction, which was not traced, is at `address`, if has_address */
	HWT_ASYNC, /* interrupt or exception: from `address`, which was not run, to `to`, if has_to */
	HWT_SPACE, /* another address space: `space`; and thread, if the unit tells it */
	HWT_OVERFLOW, /* the unit has lost packets */
	/*
	 * bytes of the stream are missing or damaged from `offset` on: `text` says why; it goes on behind it
	 */
	HWT_GAP,
	HWT_SAMPLE, /* SPE: one operation, `sample` */
	HWT_NOTE,   /* else something that the unit says: `text`, at `address` if has_address */
};

/* How the last instruction of a run goes on. */
enum hwt_branch {
	HWT_BRANCH_NONE, /* it does not branch, or the decoder does not say */
	HWT_BRANCH_CALL,
	HWT_BRANCH_RETURN,
	HWT_BRANCH_JUMP,
	HWT_BRANCH_CONDITIONAL,
	HWT_BRANCH_INDIRECT, /* a jump */
	HWT_BRANCH_INDIRECT_CALL,
	HWT_BRANCH_ENTER_KERNEL, /* syscall, svc, int */
	HWT_BRANCH_LEAVE_KERNEL, /* sysret, eret, iret */
};

/* Why nothing is known of what was run. */
enum hwt_gap {
	HWT_GAP_MISSING, /* bytes of the stream */
	HWT_GAP_DAMAGED, /* they are not as the unit wrote them, or do not go with the code */
	HWT_GAP_CODE,	 /* which code was run is not known: an image is missing */
	HWT_GAP_UNREAD, /* they are whole, but of a kind that this decoder does not read: `text` says which */
	HWT_GAP_OTHER_CODE, /* they are whole, but go with other code than is known there */
};

/* What SPE says of an operation; has: bits 1 << HWT_SAMPLE_*. */
enum hwt_sample_part {
	HWT_SAMPLE_PC,
	HWT_SAMPLE_TARGET,
	HWT_SAMPLE_DATA_VIRTUAL,
	HWT_SAMPLE_DATA_PHYSICAL,
	HWT_SAMPLE_PREVIOUS_TARGET,
	HWT_SAMPLE_EVENTS,
	HWT_SAMPLE_SOURCE,
	HWT_SAMPLE_CONTEXT_EL1,
	HWT_SAMPLE_CONTEXT_EL2,
	HWT_SAMPLE_LATENCY_TOTAL,
	HWT_SAMPLE_LATENCY_ISSUE,
	HWT_SAMPLE_LATENCY_TRANSLATION,
	HWT_SAMPLE_OPERATION,
};

struct hwt_sample {
	uint32_t has;
	uint64_t pc, target, data_virtual, data_physical, previous_target;
	uint64_t events; /* bits as in PMSEVFR_EL1 */
	uint32_t source;
	uint32_t context_el1, context_el2;
	uint16_t latency_total, latency_issue, latency_translation;
	uint8_t operation_class, operation; /* header bits 1:0 and payload of the operation packet */
	uint8_t level, not_secure;	    /* of pc */
};

struct hwt_step {
	uint8_t kind;	/* enum hwt_kind */
	uint8_t branch; /* enum hwt_branch, HWT_RUN */
	uint8_t taken;	/* HWT_RUN: the last instruction branched; 1 where it always does */
	uint8_t has_stamp, has_address, has_to;
	uint8_t bits;	       /* 16, 32, 64: mode of the instructions */
	uint8_t gap;	       /* enum hwt_gap, HWT_GAP */
	uint32_t instructions; /* HWT_RUN: how many */
	uint64_t address;      /* HWT_RUN: of the first */
	uint64_t last;	       /* HWT_RUN: of the last */
	uint64_t end;	       /* HWT_RUN: behind the last */
	uint64_t to;
	uint64_t space; /* what was told last; 0: unknown */
	/*
	 * Of the file's clock (as the rings'): what the unit told last before it. Up to eight runs of Intel
	 * PT one behind the other that do not leave a function may have those of the first: never later ones.
	 */
	uint64_t stamp;
	/*
	 * In the unit's bytes: position of the packet that told it, or nearest before; of Intel PT of the one
	 * that was to be read next, as coarse as the stamp.
	 */
	uint64_t offset;
	uint32_t pid, tid; /* whose; 0: unknown */
	const char *text;  /* valid until the next step */
	const struct hwt_sample *sample;
};

/* ---- Files ------------------------------------------------------------------------------------- */

/*
 * A stream: the bytes of one unit of a context, joined from DATA records; several pieces where bytes are
 * missing.
 */
struct hwt_stream {
	struct ktrx_hwt_context context;
	struct ktrx_hwt_pt pt;	   /* encoding PT */
	struct ktrx_hwt_etm4 etm4; /* encoding ETM4 */
	uint32_t unit;
	uint32_t pid, tid; /* thread mode */
	uint32_t cpu;	   /* CPU mode; 0xffffffff in thread mode */
	char name[32];	   /* of the thread, as last told; escaped when shown */
	uint64_t begins;  /* position up to which its bytes are another stream's: the context was told anew */
	uint64_t bytes;	  /* that are here */
	uint64_t missing; /* between first and last, and those that wrapped away */
	uint64_t lost;	  /* as the unit counted, where it did */
};

int hwt_file_open(struct hwt_file **file, const char *path);
void hwt_file_close(struct hwt_file *file);
const char *hwt_file_message(const struct hwt_file *file); /* file may be NULL after a failed open */
/* What was lost or damaged in the file, to be shown in any case: NULL at the end. */
const char *hwt_file_warning(const struct hwt_file *file, size_t n);
/* How many of these are damage: not lost when it was recorded, but not as it was written. */
uint64_t hwt_file_damaged(const struct hwt_file *file);
size_t hwt_file_streams(const struct hwt_file *file);
const struct hwt_stream *hwt_file_stream(const struct hwt_file *file, size_t n);
uint64_t hwt_file_frequency(const struct hwt_file *file); /* of stamps, 0: unknown */
uint64_t hwt_file_nonce(const struct hwt_file *file);

/* Bytes of a stream that belong together, in memory for as long as the file is open. */
struct hwt_piece {
	const unsigned char *bytes;
	size_t size;
	uint64_t position; /* of the first, since the unit was made */
};
size_t hwt_file_pieces(const struct hwt_file *file, size_t stream);
const struct hwt_piece *hwt_file_piece(const struct hwt_file *file, size_t stream, size_t n);
/* Of its first byte, without reading any. */
uint64_t hwt_file_piece_position(const struct hwt_file *file, size_t stream, size_t n);

/* ---- Images ------------------------------------------------------------------------------------ */

/*
 * What the file says: images of its records, found below `root` ("" or NULL: as named), and its CODE records.
 */
int hwt_images_new(struct hwt_images **images, const struct hwt_file *file, const char *root);
void hwt_images_free(struct hwt_images *images);
/*
 * Adds an ELF file: the kernel, or a program or library of process `pid` (0: of all). It lay `*base` higher
 * than its headers say. If `base` is NULL and its code was not run where they say, it is looked for in the
 * code that the recording holds: the kernel's at one base, that of programs and libraries at several. A file
 * that is not what was run is an error, as is one for another CPU.
 */
int hwt_images_add_elf(struct hwt_images *images, const char *path, uint32_t pid, const uint64_t *base);
/*
 * Names of the kernel's functions and its modules', for what no ELF file names: a text such as System.map or
 * /proc/kallsyms. The kernel ran `base` higher than it says; NULL: that is found by the calls in the code
 * that the recording holds. A text that does not fit these calls is an error.
 */
int hwt_images_add_symbols(struct hwt_images *images, const char *path, const uint64_t *base);
/*
 * The n-th that was added and in which nothing lies that was run or asked for so far. NULL: there are not so
 * many.
 */
const char *hwt_images_idle(const struct hwt_images *images, size_t n);
/*
 * A memory image: a RAM file or core that ktread opens; by the page tables of the address space where it has
 * some. One in which none of the code is found that the recording holds is an error.
 */
int hwt_images_add_snapshot(struct hwt_images *images, const char *path);
const char *hwt_images_message(const struct hwt_images *images);
const char *hwt_images_warning(const struct hwt_images *images, size_t n);

/* Bytes at an address of a process and space as they were at that stamp; how many could be read. */
size_t hwt_images_read(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
		       uint64_t address, void *to, size_t size);

/*
 * The place of an address in words; everything owned by images; not yet escaped. 1; or 0: nothing is known of
 * it.
 */
struct hwt_place {
	/*
	 * File name without folders; "kernel" or a module of what only hwt_images_add_symbols() names; NULL:
	 * code without a file
	 */
	const char *image;
	const char *path;		      /* of the file that was read; NULL */
	uint64_t offset;		      /* of the address in the file's own addresses */
	const char *symbol;		      /* NULL: none */
	uint64_t symbol_address, symbol_size; /* as in memory */
	uint64_t into;			      /* bytes from the symbol's start */
	const char *source;		      /* file of the line, NULL: unknown; filled in if asked for */
	unsigned line;
	uint64_t from,
		/* stamps at which the same lies there; what was asked for without one is of the last */
		until;
};
int hwt_images_place(struct hwt_images *images, uint32_t pid, uint64_t stamp, uint64_t address, int want_line,
		     struct hwt_place *place);
/*
 * Address and size of a function by name in one of the images (NULL: in any, the kernel's first). A function
 * of a program may lie at several addresses: `n` counts them from 0. Returns 0, or KTREAD_E_ABSENT. The
 * kernel's is what the recording calls so; where it names none, but has kernel code, what was added for all
 * processes.
 */
#define HWT_KERNEL "kernel"
int hwt_images_find(struct hwt_images *images, const char *image, const char *function, size_t n,
		    uint64_t *address, uint64_t *size);
/* Does any code have a name? */
int hwt_images_named(struct hwt_images *images);

/* ---- Decoders ---------------------------------------------------------------------------------- */

int hwt_decoder_open(struct hwt_decoder **decoder, const struct hwt_file *file, size_t stream,
		     struct hwt_images *images);
/* 1 and a step, 0 at the end, or an error. Damage is a step (HWT_GAP), not an error. */
int hwt_decoder_next(struct hwt_decoder *decoder, const struct hwt_step **step);
/*
 * Goes on at the last place at or before `offset` (as of steps) where decoding can begin: a PSB, an A-Sync, a
 * piece's first byte. 1; or 0 if nothing comes before it: it is the stream's beginning.
 */
int hwt_decoder_seek(struct hwt_decoder *decoder, uint64_t offset);
void hwt_decoder_close(struct hwt_decoder *decoder);
const char *hwt_decoder_message(const struct hwt_decoder *decoder);

/*
 * Each packet in words, for -g: calls `line` with the offset and a text. Without images. What is no packet is
 * called HWT_PACKET_DAMAGE. 0, 1: there was such, or an error.
 */
#define HWT_PACKET_DAMAGE "damage"
int hwt_packets(const struct hwt_file *file, size_t stream,
		void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to);

#endif
