/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A file that records go to (ktrx/proc.h). Counted: each process that is recorded into it has a reference. What cannot be
 * written any more is lost and counted, and why is told when it closes, in the file, too; other sinks are not concerned.
 */
#ifndef RECORD_SINK_H
#define RECORD_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ktrx/proc.h"

struct record_sink;

/* How a file is come by. None of them follows a link, and all want a regular file. */
enum record_sink_mode {
	RECORD_SINK_NEW,    /* made anew, 0600, in place of the one of that name */
	RECORD_SINK_APPEND, /* goes behind a trace that is the caller's own, or is made anew */
	RECORD_SINK_JOIN, /* goes behind what a file holds that is there; one that is a sink already is shared */
};

/* 0 and a reference, or a positive errno: EACCES for what is no regular file, EPERM for somebody else's, EINVAL for no trace. */
int record_sink_open(struct record_sink **sink, const char *path, enum record_sink_mode mode);

struct record_sink *record_sink_hold(struct record_sink *sink);
/* The last reference closes it. NULL is nothing. */
void record_sink_release(struct record_sink *sink);

/* That of a file, without a reference; NULL: there is none. */
struct record_sink *record_sink_find(dev_t device, ino_t inode);

/* Bytes of a payload, of which the second part may be nothing. */
struct record_payload {
	const void *first;
	size_t first_size;
	const void *second;
	size_t second_size;
};

/* Adds a record, stamped now. Of the head, type, flags, pid, tid and lost are the caller's. */
void record_sink_put(struct record_sink *sink, const struct ktrx_proc_record *head,
		     const struct record_payload *payload);

/* Writes what waits in all of them: from time to time, for those who follow a file. */
void record_sink_flush_all(void);

/* What befell the sinks that have been closed, a line each; "" if nothing. */
const char *record_sink_troubles(void);

#endif
