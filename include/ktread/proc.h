/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads process traces (ktrx/proc.h, and the ktrace files of the BSDs): one record after another in file
 * order, in the same form for every format. Needs constant memory. No byte is trusted: an invalid record is
 * an error that names its offset; all records before it are returned first.
 *
 *	struct ktread_proc *trace;
 *	const struct ktread_proc_record *record;
 *	if (ktread_proc_open(&trace, "ktrace.out", NULL) == 0) {
 *		while (ktread_proc_next(trace, &record) > 0)
 *			…
 *		ktread_proc_close(trace);
 *	}
 *
 * Results as in ktread.h. Only one thread may use a handle.
 */
#ifndef KTREAD_PROC_H
#define KTREAD_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/proc.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ktread;
struct ktread_event;
struct ktread_proc;

enum ktread_proc_format {
	KTREAD_PROC_AUTO = 0, /* detect the format of the file from its contents */
	KTREAD_PROC_KTRX,
	KTREAD_PROC_DRAGONFLY,	   /* a ktrace file of DragonFly for amd64 */
	KTREAD_PROC_FREEBSD0,	   /* a ktrace file of FreeBSD, version 0, for amd64 */
	KTREAD_PROC_FREEBSD0_I386, /* a ktrace file of FreeBSD, version 0, for i386 */
	/* a ktrace file of FreeBSD, version 1, for amd64; it may also contain records of version 0 */
	KTREAD_PROC_FREEBSD1,
};

struct ktread_proc_options {
	size_t size; /* sizeof(struct ktread_proc_options) */
	enum ktread_proc_format format;
	/*
	 * Nonzero: also reads what is appended later. ktread_proc_next() never waits, not even for a pipe:
	 * at the end of the file, also after an incomplete record, it returns 0. A later call continues if
	 * the file has grown, unless info.over is set. Until a BSD file contains its first record, its
	 * format is unknown: info.format is KTREAD_PROC_AUTO.
	 */
	int follow;
	/*
	 * Nonzero: an incomplete last record is returned, with `torn` set in the record, and only the next
	 * call returns the error. Only for KTREAD_PROC_KTRX.
	 */
	int torn;
};

struct ktread_proc_info {
	enum ktread_proc_format format; /* format of the file; KTREAD_PROC_AUTO for an empty file */
	/*
	 * name for the option --format: "ktrx", "dragonfly", "freebsd0", "freebsd0-i386", "freebsd1"; "" if
	 * AUTO
	 */
	const char *format_name;
	uint64_t frequency; /* ticks per second of timestamps; 1000000000 for the BSDs; 0 if unknown */
	uint64_t nonce;	    /* nonce of the boot; 0 if unknown */
	/*
	 * wall_stamp and wall_ns: the same moment as a timestamp and as Unix time, as in struct
	 * ktrx_proc_head. 0 for the BSDs, whose timestamps are Unix time
	 */
	uint64_t wall_stamp;
	uint64_t wall_ns;
	uint16_t machine;     /* ELF machine (e_machine) of the trace; 0 if unknown */
	uint8_t address_size; /* size of a pointer in bytes: 4 or 8 */
	/* Counts so far: */
	uint64_t records; /* number of records that were returned */
	uint64_t unknown; /* number of records returned with the type KTREAD_PROC_UNKNOWN */
	uint64_t broken;  /* number of records returned with the type KTREAD_PROC_BROKEN */
	uint64_t heads;	  /* number of sessions in the file */
	/*
	 * number of records that the kernel lost; traces of the BSDs show only that records were lost, and
	 * this is counted as one record
	 */
	uint64_t lost;
	uint64_t skipped; /* number of damaged bytes, which were skipped */
	uint64_t tables;  /* number of times that the text of ktread_proc_table() changed */
	/*
	 * valid after ktread_proc_next() returned 0: nonzero if no more records can come, even when following
	 */
	uint8_t over;
	/*
	 * the last impossible frequency that a head of the file stated; 0 if no head stated one. After such a
	 * head, `frequency` is 0
	 */
	uint64_t impossible_frequency;
};

/*
 * Types in addition to KTRX_PROC_*: an unknown type; and a known type whose payload is invalid, because it is
 * too short or a name in it is not terminated. In records of these two types, `data` is the whole payload.
 */
#define KTREAD_PROC_UNKNOWN 0xffffu
#define KTREAD_PROC_BROKEN  0xfffeu

#define KTREAD_PROC_NOBODY    0xffffffffu /* number of an unknown process or CPU */
#define KTREAD_PROC_ARGS_MOST 32u	  /* maximum number of arguments of a call; more are left out */

/*
 * Reasons why FreeBSD denied something. The numbers are those of later FreeBSD versions; they are used for
 * files of earlier versions, too.
 */
enum ktread_proc_denied {
	KTREAD_PROC_DENIED_NOTCAPABLE = 0,
	KTREAD_PROC_DENIED_INCREASE,
	KTREAD_PROC_DENIED_SYSCALL,
	KTREAD_PROC_DENIED_SIGNAL,   /* `value` is the number of the signal */
	KTREAD_PROC_DENIED_PROTOCOL, /* `value` is the number of the protocol */
	KTREAD_PROC_DENIED_SOCKADDR, /* the data is the address */
	KTREAD_PROC_DENIED_NAMEI,    /* the data is the path; files of earlier versions have no path */
	KTREAD_PROC_DENIED_CPUSET,
};

/* Number of a system call in events, if the call has another ABI than the kernel's own. */
#define KTREAD_PROC_CALL(abi, number) ((uint32_t)(abi) << 16 | (uint32_t)(number))

/* One record. Owned by the handle and valid until the next ktread_proc_next(). */
struct ktread_proc_record {
	uint64_t offset; /* offset of the record in the file */
	uint64_t stamp;	 /* time of the record in units of info.frequency */
	uint64_t lost;	 /* number of records lost directly before this record */
	uint32_t pid, tid;
	uint32_t cpu;  /* number of the CPU, KTREAD_PROC_NOBODY if unknown */
	uint16_t type; /* KTRX_PROC_*, KTRX_HWT_*, KTREAD_PROC_UNKNOWN or KTREAD_PROC_BROKEN */
	uint16_t raw;  /* number of the record's type, as in the file */
	uint8_t torn;  /* nonzero: the file ends within the record */
	/* KTRX_PROC_CUT, KTRX_PROC_QUEUED; CUT is also set if the reader cut the payload */
	uint16_t flags;
	char name[32];		      /* name of the process, NUL-terminated, not escaped; "" if unknown */
	const unsigned char *payload; /* the bytes of the payload, as in the file */
	uint32_t payload_size;
	uint64_t payload_offset; /* offset of the payload in the uncompressed file; KTREAD_PROC_KTRX only */

	/*
	 * The record's contents by type. For types with bytes after the fixed part, these are `data` and
	 * `data_size`.
	 */
	union {
		struct {
			uint32_t number, args;
			/* ABI of the call, as in the file; FreeBSD: sv_flags of the process, 0 if unknown */
			uint32_t abi;
			const uint64_t *arg; /* array of `args` values */
		} syscall;
		struct {
			uint32_t number;
			/*
			 * 0, or a positive error number of the kernel. On the BSDs also -1: the call will be
			 * restarted; -2: the call returns to another place in the program
			 */
			int32_t error;
			int64_t result;
		} sysret;
		struct {
			int32_t fd;
			uint32_t write;
			/*
			 * number of bytes that were read or written; the first data_size of them are in
			 * `data`
			 */
			uint64_t size;
		} genio;
		struct {
			uint32_t signal;
			int32_t code;
			/* address of the handler; 0: default action, 1: the signal is ignored */
			uint64_t handler;
			uint64_t mask[2];
		} psig;
		struct {
			uint8_t out, voluntary;
			/*
			 * BSDs only: 1 if the thread was in user mode at the switch. For the BSDs,
			 * `voluntary` is computed as 1 - user
			 */
			uint8_t user;
			uint64_t count;
		} csw; /* the data is the name of what the thread waits for */
		struct {
			uint32_t parent; /* process id of the parent, KTREAD_PROC_NOBODY if unknown */
			uint32_t flags;	 /* KTRX_PROC_CTOR_*; FreeBSD: sv_flags */
		} ctor;			 /* the data is the name of the program */
		struct {
			uint32_t status, signaled;
			uint8_t known; /* nonzero: the file states how the process ended */
		} dtor;
		struct {
			uint32_t reason;    /* KTRX_PROC_DENIED_* */
			uint32_t number;    /* number of the system call, KTREAD_PROC_NOBODY if unknown */
			int32_t raw_reason; /* FreeBSD: reason as enum ktread_proc_denied; otherwise -1 */
			int32_t value;	    /* see enum ktread_proc_denied */
			uint64_t needed[2], held[2];
		} capfail; /* the data describes what was denied */
		struct {
			uint64_t address;
			uint32_t access;
			/*
			 * 1 if the program caused the fault, 0 if the kernel did, as in struct
			 * ktrx_proc_fault; 0xff if unknown
			 */
			uint8_t user;
		} fault;
		struct {
			int32_t result;
		} faultend;
		struct {
			int32_t number; /* descriptor, or KTRX_PROC_FD_CWD: the current directory */
		} fd;			/* the data is the path, or the kernel's name for the object */
		struct {
			uint32_t element_size, count; /* count: number of complete elements in `data` */
			/* name of the structure, NUL-terminated, in the payload; not escaped */
			const char *name;
			/*
			 * used for STRUCT (with count 1) and STRUCT_ARRAY; the data consists of the
			 * structures
			 */
		} structure;
		struct {
			uint32_t reason;
			int32_t error;
			uint64_t records, lost, bytes;
		} end;
	};
	/*
	 * Bytes after the fixed part of the payload. The whole payload for NAMEI, USER, SYSCTL, NAME, TABLE,
	 * KTRX_HWT_*, and for other types unless stated otherwise above.
	 */
	const unsigned char *data;
	uint32_t data_size;
};

/*
 * Opens the process trace at `path`, which may name a pipe or be "-" for standard input. It may be compressed
 * with zstd. An empty file has no records. `options` may be NULL.
 * Returns 0 and a handle in *trace, to be closed with ktread_proc_close(), or a negative error. It also
 * returns KTREAD_E_FORMAT if the file could have one of several formats; the message names these.
 */
int ktread_proc_open(struct ktread_proc **trace, const char *path, const struct ktread_proc_options *options);
/* Frees the handle. */
void ktread_proc_close(struct ktread_proc *trace);

/*
 * Returns the next record in *record. Returns 1, or 0 at the end, or a negative error.
 * The call that finds damage returns KTREAD_E_FORMAT. If the format allows it (KTREAD_PROC_KTRX), the next
 * call continues after the damage; otherwise it returns 0.
 */
int ktread_proc_next(struct ktread_proc *trace, const struct ktread_proc_record **record);
/*
 * Starts again at the first record, with all counts of info at 0. Returns 0 or a negative error;
 * KTREAD_E_UNSUPPORTED for a pipe.
 */
int ktread_proc_rewind(struct ktread_proc *trace);

/*
 * Opens a trace that has no events of its own, but has the event types of ktread_proc_event(). `first` is the
 * timestamp of its first event. Requires: the first record of `records` was read; `records` is closed after
 * the trace.
 * Returns 0 and a handle in *trace, to be closed with ktread_close(), or a negative error.
 */
int ktread_proc_events(struct ktread **trace, struct ktread_proc *records, uint64_t first);
/*
 * Makes the event that a trace of the process trace would contain for a record. Events of system calls have
 * the name of the call as an additional field, `call`. The event and the name of its thread are valid until
 * the next call. Must be called for each record. Returns 1, or 0 if no event is made from such a record.
 */
int ktread_proc_event(struct ktread *trace, const struct ktread_proc_record *record,
		      struct ktread_event *event);

/* Returns what is known of the file so far. Owned by the handle. */
const struct ktread_proc_info *ktread_proc_info(const struct ktread_proc *trace);
/*
 * Returns the text of the TABLE records of the current session, NUL-terminated and not escaped; "" if there
 * are none. When a head is read, the TABLE records that follow it are read as well. ktread_proc_open() reads
 * the first head. When info.tables changes, call this again.
 */
const char *ktread_proc_table(const struct ktread_proc *trace);
/* Returns the format with that name; KTREAD_PROC_AUTO if there is none. */
enum ktread_proc_format ktread_proc_format_named(const char *name);
/*
 * Returns the text of the last error, with file and offset. `trace` may be NULL after ktread_proc_open()
 * failed.
 */
const char *ktread_proc_message(const struct ktread_proc *trace);

#ifdef __cplusplus
}
#endif

#endif
