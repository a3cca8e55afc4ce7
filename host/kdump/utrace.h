/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What programs said about themselves: what the BSDs' runtime linker and malloc say is known, all else is
 * bytes.
 */
#ifndef KDUMP_UTRACE_H
#define KDUMP_UTRACE_H

#include "kdump/context.h"

/* A whole line, written. */
void kdump_write_user(const struct kdump_context *context, const struct ktread_proc_record *record);

/* The same without bytes and newline; NULL if it is of neither. At most KDUMP_USER_MOST bytes. */
char *kdump_put_user(char *at, const struct kdump_context *context, const struct ktread_proc_record *record);
#define KDUMP_USER_MOST 9000

#endif
