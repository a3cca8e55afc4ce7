/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Process traces (ktrx/proc.h, and the ktrace files of the BSDs), one record after another in the order of
 * the file, whatever the format alike. Constant memory. Every byte read is taken as hostile: a record that
 * cannot be is an error that names its offset, with everything before it returned first.
 *
 *	struct ktread_proc *trace;
 *	const struct ktread_proc_record *record;
 *	if (ktread_proc_open(&trace, "ktrace.out", NULL) == 0) {
 *		while (ktread_proc_next(trace, &record) > 0)
 *			…
 *		ktread_proc_close(trace);
 *	}
 *
 * Results as in ktread.h. A handle belongs to one thread.
 */
#ifndef KTREAD_PROC_H
#define KTREAD_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/proc.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ktread_proc;

enum ktread_proc_format {
	KTREAD_PROC_AUTO = 0, /* by content */
	KTREAD_PROC_KTRX,
	KTREAD_PROC_DRAGONFLY,	   /* amd64 */
	KTREAD_PROC_FREEBSD0,	   /* version 0, amd64 */
	KTREAD_PROC_FREEBSD0_I386, /* version 0, i386 */
	KTREAD_PROC_FREEBSD1,	   /* version 1, amd64; records of version 0 among them */
};

struct ktread_proc_options {
	size_t size; /* sizeof(struct ktread_proc_options) */
	enum ktread_proc_format format;
	/*
	 * Nonzero: what comes later is read, too. At the end ktread_proc_next() waits for nothing, nor does
	 * it for a pipe, but returns 0, also behind half a record; the next call goes on when there is more,
	 * unless info.over. Till its first record is there, a file of the BSDs has no format that could be
	 * told: info.format is KTREAD_PROC_AUTO.
	 */
	int follow;
	/*
	 * Nonzero: of a record that the file's end cuts short what is there is returned, as `torn`; the next
	 * call returns the error. In the format ktrx alone.
	 */
	int torn;
};

struct ktread_proc_info {
	enum ktread_proc_format format; /* KTREAD_PROC_AUTO: an empty file */
	const char *format_name; /* as --format has it: "ktrx", "dragonfly", "freebsd0", "freebsd0-i386",
				    "freebsd1"; "" if AUTO */
	uint64_t frequency;	 /* of stamps; 1000000000 for the BSDs; 0 if unknown */
	uint64_t nonce;		 /* of the boot; 0 if unknown */
	uint64_t wall_stamp;	 /* as in struct ktrx_proc_head; the BSDs' stamps are Unix time: both 0 */
	uint64_t wall_ns;
	uint16_t machine;     /* ELF e_machine, 0 if unknown */
	uint8_t address_size; /* bytes of a pointer: 4 or 8 */
	/* So far: */
	uint64_t records; /* returned */
	uint64_t unknown; /* … of these, KTREAD_PROC_UNKNOWN */
	uint64_t broken;  /* … of these, KTREAD_PROC_BROKEN */
	uint64_t heads;	  /* sessions in the file */
	uint64_t lost;	  /* records that the kernel lost; the BSDs only say where: counted as one each */
	uint64_t skipped; /* bytes of damage stepped over */
	uint64_t tables;  /* how often ktread_proc_table() became another text */
	uint8_t over; /* of ktread_proc_next() that returned 0: nothing will come, not even when followed */
};

/*
 * Types beside KTRX_PROC_*: one that nobody knows, and one that is known, but the payload cannot be of it: it
 * is too short, or a name in it has no end. Of both, `data` is the whole payload.
 */
#define KTREAD_PROC_UNKNOWN 0xffffu
#define KTREAD_PROC_BROKEN  0xfffeu

#define KTREAD_PROC_NOBODY    0xffffffffu /* a process that is not known; a CPU likewise */
#define KTREAD_PROC_ARGS_MOST 32u	  /* arguments of a call; more than that are cut */

/* Why FreeBSD denied something, by the numbers of its later versions, whichever wrote the file. */
enum ktread_proc_denied {
	KTREAD_PROC_DENIED_NOTCAPABLE = 0,
	KTREAD_PROC_DENIED_INCREASE,
	KTREAD_PROC_DENIED_SYSCALL,
	KTREAD_PROC_DENIED_SIGNAL,   /* `value`: the signal */
	KTREAD_PROC_DENIED_PROTOCOL, /* `value`: the protocol */
	KTREAD_PROC_DENIED_SOCKADDR, /* data: the address */
	KTREAD_PROC_DENIED_NAMEI,    /* data: the path; earlier versions do not say it */
	KTREAD_PROC_DENIED_CPUSET,
};

/* The number that a system call of another ABI than the kernel's own has in events. */
#define KTREAD_PROC_CALL(abi, number) ((uint32_t)(abi) << 16 | (uint32_t)(number))

/* One record. Owned by the handle and valid until the next ktread_proc_next(). */
struct ktread_proc_record {
	uint64_t offset; /* in the file */
	uint64_t stamp;	 /* in units of info.frequency */
	uint64_t lost;	 /* records lost right before it */
	uint32_t pid, tid;
	uint32_t cpu;		      /* KTREAD_PROC_NOBODY if unknown */
	uint16_t type;		      /* KTRX_PROC_*, KTRX_HWT_*, KTREAD_PROC_UNKNOWN or KTREAD_PROC_BROKEN */
	uint16_t raw;		      /* its number in the file */
	uint8_t torn;		      /* the file ends within it */
	uint16_t flags;		      /* KTRX_PROC_CUT, KTRX_PROC_QUEUED; CUT also where the reader cut */
	char name[32];		      /* the process's, NUL-terminated, not yet escaped; "" if unknown */
	const unsigned char *payload; /* as in the file */
	uint32_t payload_size;
	uint64_t payload_offset; /* in the file, unpacked; of KTRX alone */

	/* By type; of those with bytes behind, `data` and `data_size` are these. */
	union {
		struct {
			uint32_t number, args;
			uint32_t abi; /* as in the file; FreeBSD: sv_flags of the process, 0 if unknown */
			const uint64_t *arg; /* `args` of them */
		} syscall;
		struct {
			uint32_t number;
			int32_t error; /* 0, or positive as the kernel numbers errors; the BSDs: -1
					  restarted, -2 returns somewhere else */
			int64_t result;
		} sysret;
		struct {
			int32_t fd;
			uint32_t write;
			uint64_t size; /* moved; data_size of them are here */
		} genio;
		struct {
			uint32_t signal;
			int32_t code;
			uint64_t handler; /* 0: default action, 1: ignored */
			uint64_t mask[2];
		} psig;
		struct {
			uint8_t out, voluntary;
			/* the BSDs': 1 if it went or came in user mode; their `voluntary` is 1 - user */
			uint8_t user;
			uint64_t count;
		} csw; /* data: what is waited for */
		struct {
			uint32_t parent; /* KTREAD_PROC_NOBODY if unknown */
			uint32_t flags;	 /* KTRX_PROC_CTOR_*; FreeBSD: sv_flags */
		} ctor;			 /* data: name of the program */
		struct {
			uint32_t status, signaled;
			uint8_t known; /* does the file say how it ended? */
		} dtor;
		struct {
			uint32_t reason;    /* KTRX_PROC_DENIED_* */
			uint32_t number;    /* of the call, KTREAD_PROC_NOBODY if unknown */
			int32_t raw_reason; /* FreeBSD: enum ktread_proc_denied; else -1 */
			int32_t value;	    /* see there */
			uint64_t needed[2], held[2];
		} capfail; /* data: what was denied */
		struct {
			uint64_t address;
			uint32_t access;
			uint8_t user; /* 1, 0; 0xff if unknown */
		} fault;
		struct {
			int32_t result;
		} faultend;
		struct {
			int32_t number; /* KTRX_PROC_FD_CWD: the current folder */
		} fd;			/* data: what it leads to */
		struct {
			uint32_t element_size, count; /* count: whole elements that are here */
			const char *name; /* NUL-terminated, within the payload; not yet escaped */
		} structure;		  /* STRUCT (count 1) and STRUCT_ARRAY; data: the bytes */
		struct {
			uint32_t reason;
			int32_t error;
			uint64_t records, lost, bytes;
		} end;
	};
	/* NAMEI, USER, SYSCTL, NAME, TABLE, KTRX_HWT_*, and where nothing else is said: the whole payload. */
	const unsigned char *data;
	uint32_t data_size;
};

/*
 * `path` may name a pipe, or be "-" for standard input; what zstd compressed is read as what it was. A file
 * that could be of
 * several formats is KTREAD_E_FORMAT, and the message names them; an empty one has no records.
 */
int ktread_proc_open(struct ktread_proc **trace, const char *path, const struct ktread_proc_options *options);
void ktread_proc_close(struct ktread_proc *trace);

/*
 * 1 and a record, 0 at the end, or an error. Behind damage it goes on where the format lets it be found
 * (ktrx), once a call has returned KTREAD_E_FORMAT; else the next call returns 0.
 */
int ktread_proc_next(struct ktread_proc *trace, const struct ktread_proc_record **record);
/* To the first record again; info counts anew. A pipe is KTREAD_E_UNSUPPORTED. */
int ktread_proc_rewind(struct ktread_proc *trace);

const struct ktread_proc_info *ktread_proc_info(const struct ktread_proc *trace);
/*
 * The text of a session's TABLE records, NUL-terminated; "" if none. Those that follow its head are in it
 * when the head has been read, as by ktread_proc_open(). Another text when info.tables is another number. Not
 * yet escaped.
 */
const char *ktread_proc_table(const struct ktread_proc *trace);
/* Which format is called so; KTREAD_PROC_AUTO if none. */
enum ktread_proc_format ktread_proc_format_named(const char *name);
/* Text of the last error, with file and offset. `trace` may be NULL after a failed open. */
const char *ktread_proc_message(const struct ktread_proc *trace);

#ifdef __cplusplus
}
#endif

#endif
