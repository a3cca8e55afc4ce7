/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parts of the tool kdump: names of processes, structs, page faults. */
#ifndef USER_KDUMP_PARTS_H
#define USER_KDUMP_PARTS_H

#include <line.h>
#include <records.h>
#include <table.h>

/*
 * Remembers the name of a process for the following records. Only the 64 most recently used names are kept.
 */
void names_keep(uint32_t pid, const char *name, size_t size);
const char *names_of(uint32_t pid); /* "" if unknown */

/*
 * Writes a struct in braces: field by field if the table describes the struct, otherwise as bytes. If
 * `spaced` is true, writes a blank after the opening brace.
 */
void structure_put(struct line *line, const struct table *table, const char *name, const char *bytes,
		   size_t size, bool spaced);

/*
 * Remembers a page fault, so that its end can be printed with the fault's duration. Call it for each record
 * of type FAULT.
 */
void faults_note(const struct ktrx_proc_record *record);

void faults_put(struct line *line, const struct ktrx_proc_fault *fault);

/* Writes the end of a page fault. Requires: the last record that was read has type FAULTEND. */
void faults_put_end(struct line *line, const struct table *table, const struct records *records,
		    const struct ktrx_proc_faultend *end);

#endif
