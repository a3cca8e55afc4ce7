/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of a call that is told in one line: who makes it, what it is about, what comes of it. */
#ifndef KDUMP_ONELINE_CALL_H
#define KDUMP_ONELINE_CALL_H

#include "kdump/context.h"
#include "kdump/pending.h"

/* What stands in front. Threads that are not their process's only one have a number of their own. */
char *kdump_oneline_who(char *at, struct kdump_context *context, uint32_t pid, uint32_t tid, uint64_t stamp);

char *kdump_oneline_name(char *at, struct kdump_context *context, uint32_t pid, uint32_t number);

/*
 * The arguments behind the first `pending->shown`; of an `unfinished` call up to the first of which more may come to be known:
 * `pending->shown` is then where that is.
 */
char *kdump_oneline_arguments(char *at, struct kdump_context *context, struct kdump_pending *pending,
			      bool unfinished);

/* "3", "0x7f0000001000", "-1 ENOENT (No such file or directory)", "?". */
char *kdump_oneline_result(char *at, struct kdump_context *context, const struct ktread_proc_record *record);

/* Text in quotation marks, which says whether it is all of it; at most `limit` bytes. */
char *kdump_oneline_text(char *at, const uint8_t *bytes, size_t size, size_t limit, bool cut);

/* Keeps what a record of a call's own, NAMEI, GENIO or STRUCT, says of its arguments. */
void kdump_oneline_fill(const struct kdump_context *context, struct kdump_pending *pending,
			const struct ktread_proc_record *record);

#endif
