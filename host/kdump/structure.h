/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Structs that a program gave to its kernel or got from it, taken apart as the table has them. */
#ifndef KDUMP_STRUCTURE_H
#define KDUMP_STRUCTURE_H

#include "kdump/context.h"

#define KDUMP_STRUCTURE_MOST 8000 /* bytes of text that one takes */

/*
 * The fields with their braces: "{dev=1, ino=2 }" in the style of the BSDs, "{dev=1, ino=2}" in the plain
 * one, an object in JSON. One that the table does not have is shown in bytes.
 */
char *kdump_put_structure(char *at, const struct kdump_context *context, const char *name,
			  const uint8_t *bytes, uint32_t size);

/*
 * The whole line of a record, written: "struct stat {…}" and, of an array, a line for each of its elements.
 */
void kdump_write_structure(const struct kdump_context *context, const struct ktread_proc_record *record);

#endif
