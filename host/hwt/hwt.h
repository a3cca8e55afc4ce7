/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads hardware trace. A file of records (ktrx/hwt.h), or the rings of a software trace unit
 * (ktrx/hwt_unit.h), is read as streams: one for each trace unit of a context. A stream is decoded into
 * steps: the executed code, in the order of execution. The steps are the same for all encodings.
 *
 *	hwt_file_open(&file, path)              reads contexts, units, images, code and clocks
 *	hwt_images_new(&images, file)           finds code by address; ELF files and snapshots can be added
 *	hwt_decoder_open(&decoder, file, n, images)
 *	while (hwt_decoder_next(decoder, &step) > 0)
 *		...
 *
 * Functions return 0, a positive value, or a negative enum ktread_error, as in ktread/ktread.h. After an
 * error, hwt_..._message() returns its text. The bytes of a file are not trusted. If a function returns a
 * pointer, the object that was passed to the function owns what the pointer refers to. An object may be used
 * by one thread at a time.
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
	/*
	 * a sequence of instructions up to one that may branch; if has_to is set, execution continues at `to`
	 */
	HWT_RUN,
	HWT_ON, /* the unit begins tracing at `address` */
	/*
	 * the unit stops tracing; if has_address is set, the next instruction, which is not traced, is at
	 * `address`
	 */
	HWT_OFF,
	/*
	 * an interrupt or exception that was taken before the instruction at `address` was executed; if
	 * has_to is set, execution continues at `to`
	 */
	HWT_ASYNC,
	/* the address space changes to `space`; if the unit reports threads, the thread changes, too */
	HWT_SPACE,
	HWT_OVERFLOW, /* the unit lost packets because its buffer was full */
	/*
	 * bytes of the stream are missing or damaged from `offset` on; `text` is the reason; decoding resumes
	 * after the gap
	 */
	HWT_GAP,
	HWT_SAMPLE, /* an operation that SPE has sampled, described by `sample` */
	/* any other report of the unit, described by `text`; if has_address is set, it is about `address` */
	HWT_NOTE,
};

/* The branch at the end of a run. */
enum hwt_branch {
	HWT_BRANCH_NONE, /* no branch, or unknown */
	HWT_BRANCH_CALL,
	HWT_BRANCH_RETURN,
	HWT_BRANCH_JUMP,
	HWT_BRANCH_CONDITIONAL,
	HWT_BRANCH_INDIRECT, /* a jump */
	HWT_BRANCH_INDIRECT_CALL,
	HWT_BRANCH_ENTER_KERNEL, /* syscall, svc, int */
	HWT_BRANCH_LEAVE_KERNEL, /* sysret, eret, iret */
};

/* Reasons why it is unknown which code was executed. */
enum hwt_gap {
	HWT_GAP_MISSING, /* bytes of the stream are missing */
	HWT_GAP_DAMAGED, /* the bytes were changed after the unit wrote them, or they contradict the code */
	HWT_GAP_CODE,	 /* the executed code is unknown, because an image is missing */
	/*
	 * the bytes are valid, but this decoder does not read packets of this type; `text` states what is not
	 * decoded
	 */
	HWT_GAP_UNREAD,
	/* the bytes are valid, but do not match the known code: other code was executed at that address */
	HWT_GAP_OTHER_CODE,
};

/* Parts of an SPE record. Bit 1 << HWT_SAMPLE_* of hwt_sample.has is set for each part that is present. */
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
	uint8_t level, not_secure;	    /* exception level and security state of `pc` */
};

struct hwt_step {
	uint8_t kind;	/* an enum hwt_kind */
	uint8_t branch; /* for HWT_RUN: an enum hwt_branch */
	uint8_t taken;	/* for HWT_RUN: 1 if the last instruction branched */
	uint8_t has_stamp, has_address, has_to;
	uint8_t bits;	       /* 16, 32 or 64: instruction set mode */
	uint8_t gap;	       /* for HWT_GAP: an enum hwt_gap */
	uint32_t instructions; /* for HWT_RUN: number of instructions */
	uint64_t address;      /* for HWT_RUN: address of the first instruction */
	uint64_t last;	       /* for HWT_RUN: address of the last instruction */
	uint64_t end;	       /* for HWT_RUN: address after the last instruction */
	uint64_t to;
	uint64_t space; /* the address space that was last reported; 0: unknown */
	/*
	 * Last timestamp of the unit before this step, converted to the clock of the file (that of the
	 * rings). With Intel PT, up to eight consecutive runs within one function may all have the timestamp
	 * of the first run. So a timestamp may be too early, but never too late.
	 */
	uint64_t stamp;
	/*
	 * Position, in the unit's bytes, of the packet from which this step was made, or of the nearest
	 * packet before it. For Intel PT: position of the next packet that is to be read. Several steps in a
	 * row may have the same position, as they may have the same timestamp.
	 */
	uint64_t offset;
	uint32_t pid, tid; /* process and thread that were running; 0: unknown */
	/*
	 * text that describes the step, for kinds that have one (enum hwt_kind); valid until the next step is
	 * read
	 */
	const char *text;
	const struct hwt_sample *sample;
};

/* ---- Files ------------------------------------------------------------------------------------- */

/*
 * The bytes of one unit of a context, joined from DATA records. A stream has several pieces if bytes are
 * missing.
 */
struct hwt_stream {
	struct ktrx_hwt_context context;
	struct ktrx_hwt_pt pt;	   /* for encoding PT: parameters of the unit */
	struct ktrx_hwt_etm4 etm4; /* for encoding ETM4: registers of the unit */
	uint32_t unit;
	uint32_t pid, tid; /* thread that was traced; set in thread mode */
	uint32_t cpu;	   /* number of the CPU in CPU mode; 0xffffffff in thread mode */
	char name[32];	   /* last recorded name of the thread; must be escaped before it is printed */
	/*
	 * position of the stream's first byte; earlier bytes of the unit belong to the stream of an earlier
	 * context
	 */
	uint64_t begins;
	uint64_t bytes; /* number of the stream's bytes that are in the file */
	/*
	 * number of bytes that were written but are not in the file: they are missing between pieces, or were
	 * overwritten
	 */
	uint64_t missing;
	uint64_t lost; /* number of packets that the unit counted as lost; 0 if it does not count them */
};

int hwt_file_open(struct hwt_file **file, const char *path);
void hwt_file_close(struct hwt_file *file);
/* Returns the text of the last error. `file` may be NULL after hwt_file_open() failed. */
const char *hwt_file_message(const struct hwt_file *file);
/*
 * Returns the n-th warning about lost or damaged data; NULL after the last one. The caller must print all
 * warnings.
 */
const char *hwt_file_warning(const struct hwt_file *file, size_t n);
/*
 * Returns the number of times that damage was found in the file. Data that was lost during recording is not
 * counted.
 */
uint64_t hwt_file_damaged(const struct hwt_file *file);
size_t hwt_file_streams(const struct hwt_file *file);
const struct hwt_stream *hwt_file_stream(const struct hwt_file *file, size_t n);
/* Returns the ticks per second of the clock of the timestamps; 0 if unknown. */
uint64_t hwt_file_frequency(const struct hwt_file *file);
uint64_t hwt_file_nonce(const struct hwt_file *file);

/* Contiguous bytes of a stream. They stay in memory until the file is closed. */
struct hwt_piece {
	const unsigned char *bytes;
	size_t size;
	uint64_t position; /* position of the first byte, counted from the unit's creation */
};
size_t hwt_file_pieces(const struct hwt_file *file, size_t stream);
const struct hwt_piece *hwt_file_piece(const struct hwt_file *file, size_t stream, size_t n);
/* Returns the position of the first byte of a piece, without reading the piece. */
uint64_t hwt_file_piece_position(const struct hwt_file *file, size_t stream, size_t n);

/* ---- Images ------------------------------------------------------------------------------------ */

/*
 * Collects the code of a recording: the file's CODE records, and the image files that its records name. Image
 * files are looked for below `root`; if that is "" or NULL, under the recorded names.
 */
int hwt_images_new(struct hwt_images **images, const struct hwt_file *file, const char *root);
void hwt_images_free(struct hwt_images *images);
/*
 * Adds an ELF file: the kernel (`pid` 0), or a program or library of process `pid` (0: of all processes). The
 * file's code was loaded `*base` bytes above the addresses in the file's headers or, if `base` is NULL, at
 * these addresses. If `base` is NULL, `pid` is 0, and the recording's code does not match the file at these
 * addresses, the file is searched for in that code. The kernel is found at one base only, programs and
 * libraries may be found at several bases. Fails if the executed code is not the file's code, or if the file
 * is for another machine.
 */
int hwt_images_add_elf(struct hwt_images *images, const char *path, uint32_t pid, const uint64_t *base);
/*
 * Adds names of functions of the kernel and its modules, for addresses that no ELF file names. `path`: a list
 * of symbols such as System.map or /proc/kallsyms. The kernel was loaded `*base` bytes above the listed
 * addresses. If `base` is NULL, the base is found from the calls in the recorded code. Fails if the list does
 * not match these calls.
 */
int hwt_images_add_symbols(struct hwt_images *images, const char *path, const uint64_t *base);
/*
 * Returns the path of the n-th of the added files in which no address has been executed or looked up so far.
 * Returns NULL if there are fewer such files.
 */
const char *hwt_images_idle(const struct hwt_images *images, size_t n);
/*
 * Adds a memory image: a RAM file or a core file that ktread opens. Code is read through the page tables of
 * its address space, if the image has them. Fails if it contains none of the recorded code.
 */
int hwt_images_add_snapshot(struct hwt_images *images, const char *path);
const char *hwt_images_message(const struct hwt_images *images);
const char *hwt_images_warning(const struct hwt_images *images, size_t n);

/*
 * Reads the bytes at an address of a process and address space, as they were at a timestamp. Returns how many
 * bytes were read.
 */
size_t hwt_images_read(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
		       uint64_t address, void *to, size_t size);

/*
 * Finds the image, symbol and source line of an address. All strings belong to `images`, and must be escaped
 * before they are printed. Returns 1, or 0 if nothing is known about the address.
 */
struct hwt_place {
	/*
	 * File name without directories. For an address that is only in a symbol list: "kernel" or the
	 * module's name. NULL: the code is in no file.
	 */
	const char *image;
	const char *path;		      /* path of the file that was read; NULL: none */
	uint64_t offset;		      /* the address, converted to the file's own addresses */
	const char *symbol;		      /* name of the function; NULL: unknown */
	uint64_t symbol_address, symbol_size; /* address in memory */
	uint64_t into;			      /* number of bytes from the symbol's start to the address */
	const char *source;		      /* source file; NULL: unknown, or not asked for */
	unsigned line;
	uint64_t from, until; /* the result is the same for all timestamps in [from, until) */
};
int hwt_images_place(struct hwt_images *images, uint32_t pid, uint64_t stamp, uint64_t address, int want_line,
		     struct hwt_place *place);
/*
 * Finds the address and size of a function by its name, in one image or, if `image` is NULL, in any. A
 * function of a program may have several addresses, which `n` counts from 0. If `image` is HWT_KERNEL, the
 * image is the kernel that the recording names or, if it names none but contains kernel code, the files that
 * were added for all processes. Returns 0, or KTREAD_E_ABSENT.
 */
#define HWT_KERNEL "kernel"
int hwt_images_find(struct hwt_images *images, const char *image, const char *function, size_t n,
		    uint64_t *address, uint64_t *size);
/* Returns 1 if at least one function has a name, otherwise 0. */
int hwt_images_named(struct hwt_images *images);

/* ---- Decoders ---------------------------------------------------------------------------------- */

int hwt_decoder_open(struct hwt_decoder **decoder, const struct hwt_file *file, size_t stream,
		     struct hwt_images *images);
/* The first member of struct hwt_decoder: the steps that are decoded, but have not been returned yet. */
struct hwt_decoder_view {
	const struct hwt_step *next, *end;
};
/* Implements hwt_decoder_next() after all decoded steps have been returned. */
int hwt_decoder_refill(struct hwt_decoder *decoder, const struct hwt_step **step);
/* Returns 1 and the next step; 0 at the end; or an error. Damage is a step (HWT_GAP), not an error. */
static inline int hwt_decoder_next(struct hwt_decoder *decoder, const struct hwt_step **step)
{
	struct hwt_decoder_view *view = (struct hwt_decoder_view *)decoder;

	if (__builtin_expect(view->next == view->end, 0))
		return hwt_decoder_refill(decoder, step);
	*step = view->next++;
	return 1;
}
/*
 * Continues decoding at a PSB, an A-Sync or the first byte of a piece: at the last of these that is not after
 * `offset` (a position as in hwt_step.offset). Returns 1; 0 if that is the beginning of the stream; or an
 * error.
 */
int hwt_decoder_seek(struct hwt_decoder *decoder, uint64_t offset);
void hwt_decoder_close(struct hwt_decoder *decoder);
const char *hwt_decoder_message(const struct hwt_decoder *decoder);

/*
 * Calls `line` for each packet of a stream, with the packet's offset, name and description (for ktrace hwt
 * -g). Needs no images. Bytes that are not a packet have the name HWT_PACKET_DAMAGE. Returns 0; 1 if there
 * was damage; or an error.
 */
#define HWT_PACKET_DAMAGE "damage"
int hwt_packets(const struct hwt_file *file, size_t stream,
		void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to);

#endif
