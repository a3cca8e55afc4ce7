/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The addresses that an event carries, as people read them:
 *
 *	 <- mutex_lock+0x1c (lock.c:40) <- do_write+0x88 (file.c:113) @ sched_block+0x5a (sched.c:210)
 *
 * first who called the function with the event, then who called that, then where the event stands. Without
 * the kernel's file: addresses, and the line that declares the event. A file of another build: each name with
 * a question mark.
 */
#ifndef EXPORT_PLACES_H
#define EXPORT_PLACES_H

#include "analyze/symbols.h"
#include "ktread/ktread.h"

/* Appends them to a line; nothing if it carries none. At most 2 KiB. */
char *places_put(char *at, const struct ktread_event *event, struct symbols *symbols);

/* The same as members of a JSON object, each with a comma before it. At most 8 KiB. */
char *places_put_json(char *at, const struct ktread_event *event, struct symbols *symbols);

#endif
