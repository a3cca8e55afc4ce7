/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parts of the tool kdump: names of processes, structs, page faults. */
#ifndef USER_KDUMP_PARTS_H
#define USER_KDUMP_PARTS_H

#include <line.h>
#include <records.h>
#include <table.h>

/* The process is called so from here on. The names of the 64 processes that were asked for last are kept. */
void names_keep(uint32_t pid, const char *name, size_t size);
const char *names_of(uint32_t pid); /* "" if unknown */

/* A struct with its braces, field by field as the table has it, else its bytes. `spaced`: a blank comes first. */
void structure_put(struct line *line, const struct table *table, const char *name, const char *bytes,
		   size_t size, bool spaced);

/* Requires: called for every record of type FAULT, so that its end can say how long it took. */
void faults_note(const struct ktrx_proc_record *record);

void faults_put(struct line *line, const struct ktrx_proc_fault *fault);

/* For the last record that was read, of type FAULTEND. */
void faults_put_end(struct line *line, const struct table *table, const struct records *records,
		    const struct ktrx_proc_faultend *end);

#endif
