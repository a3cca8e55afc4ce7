/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The Common Trace Format, version 1.8: a directory with the file `metadata` and a stream file for each ring.
 *
 * Rings are read one after another, so only one stream is open at a time. Readers merge the streams by
 * time. The metadata is written last, because it declares only the events that occurred. A directory
 * without metadata is not a trace.
 *
 * Events that Trace Compass knows get the names and fields of LTTng events, followed by a structure with the
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
/* number of system calls, from number 0 on, that have events of their own */
#define CTF_CALLS 4096u
#define CTF_NAME  47u /* maximum length of a thread's name in events */

/*
 * Maximum value of a timestamp, frequency or number of lost slots: babeltrace2 takes the next number for
 * "none".
 */
#define CTF_MOST (UINT64_MAX - 1)
/* Maximum time in ns: readers convert times to signed 64-bit numbers of nanoseconds. */
#define CTF_NS_MOST (INT64_MAX / 2)

/* Numbers of event classes. A number below CTF_TYPES is the number of an event type. */
#define CTF_CLASS_ENTRY 0x1000u /* number of a class: this value plus the number of the system call */
#define CTF_CLASS_EXIT	0x2000u /* number of a class: this value plus the number of the system call */
/* an event whose fields are unknown or truncated; it contains the payload as bytes */
#define CTF_CLASS_RAW 0xffffu

/* How the fields of an event type are encoded. */
enum ctf_form {
	CTF_UNKNOWN, /* how to encode the fields is not determined yet */
	CTF_FIXED,   /* the fields are encoded as in the trace */
	CTF_STRINGS, /* each field is encoded separately, because there are strings */
	CTF_RAW,
};

/* Name of an event type, and the fields of LTTng that come first in its events. */
enum ctf_shape {
	CTF_OWN, /* name and fields according to the trace */
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
	uint8_t form;  /* an enum ctf_form */
	uint8_t shape; /* an enum ctf_shape */
	bool used;
	uint16_t size; /* total size of the fields, for CTF_FIXED */
};

/* A thread's name, escaped. */
struct ctf_name {
	uint32_t thread, length;
	bool known;
	char text[CTF_NAME + 1];
};

struct ctf_stream {
	int fd; /* descriptor of the stream's file; -1: not open */
	unsigned char *packet;
	size_t used;	      /* number of bytes of the packet so far */
	uint64_t first, last; /* timestamps of the packet's first and last event */
	uint64_t discarded;   /* number of slots of the ring that were lost so far */
	/* number of slots missing so far, including those at the beginning of the ring */
	uint64_t seen;
	uint64_t sequence; /* number of packets that were written */
	uint32_t cpu;	   /* CPU of all events of the packet */
	bool begun;	   /* true if the ring has had an event */
};

#define CTF_NAMES 1024u

struct ctf {
	struct ktread *trace;
	int folder;
	int error; /* errno of the first failed system call */
	uint64_t events;
	uint64_t stamp_most; /* limit: a later timestamp is written as this timestamp */
	uint64_t too_late;   /* number of events that were written with `stamp_most` as their timestamp */
	unsigned char uuid[16];
	struct wellknown_table known;
	struct ctf_type type[CTF_TYPES];
	/* bit maps of the system calls that occurred */
	uint8_t entries[CTF_CALLS / 8], exits[CTF_CALLS / 8];
	/* the event types of the entry and the exit of system calls; NULL: no such event occurred */
	const struct ktread_type *entry, *exit;
	struct ctf_stream stream;
	struct ctf_name name[CTF_NAMES];
};

/* ctf_metadata.c: writes the file `metadata`. Stores an error in ctf->error. */
void ctf_write_metadata(struct ctf *ctf);

#endif
