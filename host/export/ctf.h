/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The Common Trace Format, version 1.8: a folder with the file `metadata` and a stream file for each ring.
 *
 * Rings are read one after another, so only one stream is open at a time. Readers merge the streams by time.
 * The metadata is written last: it declares only the events that occurred, and a folder without it is not a
 * trace.
 *
 * Events that Trace Compass knows have the names and fields of LTTng, and after these a structure with the
 * fields of the trace.
 */
#ifndef EXPORT_CTF_H
#define EXPORT_CTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "ktread/ktread.h"

#define CTF_TYPES 4096u
#define CTF_CALLS 4096u /* system calls with a number below this have events of their own */
#define CTF_NAME  47u	/* maximum length of the name of a thread in events */

/* The greatest timestamp, frequency and number of lost slots: to babeltrace2, the next number means none. */
#define CTF_MOST (UINT64_MAX - 1)
/* The latest time that is written: readers convert times to signed 64-bit numbers of nanoseconds. */
#define CTF_NS_MOST (INT64_MAX / 2)

/* Numbers of event classes: below CTF_TYPES, the number of the event type. */
#define CTF_CLASS_ENTRY 0x1000u /* plus the number of the system call */
#define CTF_CLASS_EXIT	0x2000u /* plus the number of the system call */
#define CTF_CLASS_RAW	0xffffu /* an event whose fields are unknown or cut off, as bytes */

/* How the fields of an event type are written. */
enum ctf_form {
	CTF_UNKNOWN, /* not determined yet */
	CTF_FIXED,   /* the same value as in the trace */
	CTF_STRINGS, /* one by one, because there are strings */
	CTF_RAW,
};

/* What an event type is called, and which fields of LTTng come first. */
enum ctf_shape {
	CTF_OWN, /* name and fields of the trace */
	CTF_SWITCH,
	CTF_WAKEUP,
	CTF_FORK,
	CTF_EXIT,
	CTF_SYSCALL_ENTRY,
	CTF_SYSCALL_EXIT,
	CTF_IRQ_ENTRY,
	CTF_IRQ_EXIT,
};

struct ctf_type {
	uint8_t form;  /* enum ctf_form */
	uint8_t shape; /* enum ctf_shape */
	bool used;
	uint16_t size; /* size of the fields, for CTF_FIXED */
};

/* The escaped name of a thread. */
struct ctf_name {
	uint32_t thread, length;
	bool known;
	char text[CTF_NAME + 1];
};

struct ctf_stream {
	int fd; /* -1: not open */
	unsigned char *packet;
	size_t used;	      /* number of bytes of the packet so far */
	uint64_t first, last; /* stamps of the packet's first and last event */
	uint64_t discarded;   /* number of slots of the ring that were lost so far */
	uint64_t seen;	      /* number of slots of the ring that are missing so far, with its beginning */
	uint64_t sequence;    /* number of packets that were written */
	uint32_t cpu;	      /* CPU of all events of the packet */
	bool begun;	      /* true if the ring had an event */
};

#define CTF_NAMES 1024u

struct ctf {
	struct ktread *trace;
	int folder;
	int error; /* errno of the first failed system call */
	uint64_t events;
	uint64_t stamp_most; /* the greatest timestamp that is written */
	uint64_t too_late;   /* number of events that were written with that timestamp instead of their own */
	unsigned char uuid[16];
	struct wellknown_table known;
	struct ctf_type type[CTF_TYPES];
	/* bit maps of the system calls that occurred */
	uint8_t entries[CTF_CALLS / 8], exits[CTF_CALLS / 8];
	const struct ktread_type *entry, *exit; /* the types of system calls; NULL: none occurred */
	struct ctf_stream stream;
	struct ctf_name name[CTF_NAMES];
};

/* Determines how events of a type are written. */
void ctf_type_learn(struct ctf *ctf, const struct ktread_type *type, const struct wellknown *known);
/* ctf_metadata.c: writes the file `metadata`. Stores an error in ctf->error. */
void ctf_write_metadata(struct ctf *ctf);

#endif
