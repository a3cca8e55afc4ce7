/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of kdump's lines. */
#ifndef KDUMP_PARTS_H
#define KDUMP_PARTS_H

#include "kdump/context.h"
#include "ktread/proc.h"

/*
 * The columns with which the line for a record begins: process, thread, name, times, CPU, kind of record,
 * ABI.
 */

/* "  123 sh       ". */
char *kdump_put_who(char *at, struct kdump_context *context, const struct ktread_proc_record *record);
char *kdump_put_head(char *at, struct kdump_context *context, const struct ktread_proc_record *record);

/* Those that no kdump shows: they are about the trace itself, or FreeBSD keeps them to itself. */
bool kdump_head_hides(const struct kdump_context *context, const struct ktread_proc_record *record);

/* "CALL", four letters, NULL for one that is not known. */
const char *kdump_record_word(uint16_t type, uint32_t ctor_flags);

/* Structs that a program gave to its kernel or got from it, taken apart as the table has them. */

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

/* Page faults with how long they took, and what a process was denied. */

/* Faults under way, one a thread; when two threads meet in one place the later one is known. */
#define KDUMP_FAULTS 256u
struct kdump_faults {
	struct {
		uint64_t stamp;
		uint32_t pid, tid;
		bool begun;
	} of[KDUMP_FAULTS];
};

/* For every record of the trace, before its line. */
void kdump_faults_note(struct kdump_faults *faults, const struct ktread_proc_record *record);

char *kdump_put_fault(char *at, const struct kdump_context *context, const struct ktread_proc_record *record);
char *kdump_put_fault_end(char *at, struct kdump_faults *faults, const struct kdump_context *context,
			  const struct ktread_proc_record *record);
char *kdump_put_denied(char *at, const struct kdump_context *context,
		       const struct ktread_proc_record *record);

/*
 * Records of hardware trace (ktrx/hwt.h) that stand in a process trace: what they are about, not what was
 * run.
 */

/* Four letters for a type; NULL: it is none of these. */
const char *kdump_hardware_word(uint16_t type);
/* What a record says, without the line's end. */
char *kdump_put_hardware(char *at, const struct ktread_proc_record *record);

/*
 * What programs said about themselves: what the BSDs' runtime linker and malloc say is known, all else is
 * bytes.
 */

/* A whole line, written. */
void kdump_write_user(const struct kdump_context *context, const struct ktread_proc_record *record);

/* The same without bytes and newline; NULL if it is of neither. At most KDUMP_USER_MOST bytes. */
char *kdump_put_user(char *at, const struct kdump_context *context, const struct ktread_proc_record *record);
#define KDUMP_USER_MOST 9000

#endif
