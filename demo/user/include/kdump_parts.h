/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parts of the tool kdump: names of processes, contents of structs, page faults. */
#ifndef USER_KDUMP_PARTS_H
#define USER_KDUMP_PARTS_H

#include <line.h>
#include <records.h>
#include <table.h>

/*
 * Stores the name of a process, which is then printed with the following records. Only the 64 most recently
 * used names are kept.
 */
void names_keep(uint32_t pid, const char *name, size_t size);
const char *names_of(uint32_t pid); /* returns "" if the name is unknown */

/*
 * Writes the contents of a struct in braces: by fields if the table describes the struct, otherwise as bytes.
 * If `spaced` is true, writes a blank after the opening brace.
 */
void structure_put(struct line *line, const struct table *table, const char *name, const char *bytes,
		   size_t size, bool spaced);

/*
 * Stores the beginning of a page fault, so that its duration can be printed at its end. Must be called for
 * each record of type FAULT.
 */
void faults_note(const struct ktrx_proc_record *record);

void faults_put(struct line *line, const struct ktrx_proc_fault *fault);

/*
 * Writes the result and the duration of a page fault. Requires: the record read last has type
 * FAULTEND.
 */
void faults_put_end(struct line *line, const struct table *table, const struct records *records,
		    const struct ktrx_proc_faultend *end);

#endif
