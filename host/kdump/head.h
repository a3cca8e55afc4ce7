/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The columns with which kdump's line for a record begins: process, thread, name, times, CPU, kind of record,
 * ABI.
 */
#ifndef KDUMP_HEAD_H
#define KDUMP_HEAD_H

#include "kdump/context.h"

/* "  123 sh       ". */
char *kdump_put_who(char *at, struct kdump_context *context, const struct ktread_proc_record *record);
char *kdump_put_head(char *at, struct kdump_context *context, const struct ktread_proc_record *record);

/* Those that no kdump shows: they are about the trace itself, or FreeBSD keeps them to itself. */
bool kdump_head_hides(const struct kdump_context *context, const struct ktread_proc_record *record);

/* "CALL", four letters, NULL for one that is not known. */
const char *kdump_record_word(uint16_t type, uint32_t ctor_flags);

#endif
