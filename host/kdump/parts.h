/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of kdump's lines. */
#ifndef KDUMP_PARTS_H
#define KDUMP_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "kdump/context.h"
#include "ktread/proc.h"

/*
 * Bytes made visible as vis(3) does: \n, \t, \0 and so on, \^C for other control characters, \M-c and \M^C
 * for those with the eighth bit, \\ for a backslash.
 */

#define KDUMP_VIS_GROWTH 4 /* bytes that one can become */

/*
 * How many bytes a text begins with that are shown as they are, even in a line and between quotation marks:
 * neither control characters nor those with the eighth bit, no backslash and no quotation mark. Eight at a
 * time: most texts are all of that kind.
 */
size_t kdump_vis_plain(const uint8_t *bytes, size_t size);

/*
 * One byte; `next` is the one behind it (0: none), on which the form of a NUL depends. Tab and newline
 * remain.
 */
char *kdump_vis_byte(char *at, uint8_t byte, uint8_t next);

/*
 * Text that is part of a line: tabs and newlines made visible, too. `quoted`: it stands between quotation
 * marks, and those in it get a backslash. At most `limit` bytes are written, and none in half. No NUL is
 * added.
 */
char *kdump_vis_text(char *at, const void *bytes, size_t length, size_t limit, bool quoted);

/* Data that a process read or wrote, in lines below its record as the BSDs have them. */

/* Text in quotation marks, made visible and folded to `columns`. */
void kdump_data_text(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns);
/* Offsets, hexadecimal digits, text. */
void kdump_data_hex(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns);
/* Is there a byte that no text has? */
bool kdump_data_is_binary(const uint8_t *bytes, size_t size);

/* Bytes of a trace as numbers, and as digits. */

/* Little-endian, at most 8 bytes. */
static inline uint64_t kdump_read_number(const uint8_t *bytes, unsigned width)
{
	uint64_t value = 0;

	for (unsigned n = width; n > 0; n--)
		value = value << 8 | bytes[n - 1];
	return value;
}

/* Two hexadecimal digits. */
static inline char *kdump_put_byte(char *at, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	at[0] = digits[byte >> 4];
	at[1] = digits[byte & 15];
	return at + 2;
}

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

/* Bytes of a program's memory. */
struct kdump_bytes {
	const uint8_t *first;
	size_t size;
	size_t element; /* bytes of one value */
	bool cut;	/* the trace does not have all of them */
};

/*
 * What lies at an address of that type: "[3, 4]", "[\"ls\", \"-l\"]", "[INT, CHLD]". A list stops before
 * `limit` bytes of text, one value may be longer. Requires: room for limit + KDUMP_MEMORY_MOST bytes.
 */
char *kdump_put_memory(char *at, size_t limit, const struct kdump_context *context,
		       const struct calls_type *type, const struct kdump_bytes *bytes);
#define KDUMP_MEMORY_MOST (KDUMP_STRUCTURE_MOST + 64) /* bytes of text that one value takes */

/* What the descriptors of processes lead to, as FD records say. Crowded, some are forgotten. */

/* NULL: out of memory. kdump_descriptors_destroy() frees it. */
struct kdump_descriptors *kdump_descriptors_create(void);
void kdump_descriptors_destroy(struct kdump_descriptors *descriptors);
void kdump_descriptors_note(struct kdump_descriptors *descriptors, const struct ktread_proc_record *record);
/* Is what any descriptor leads to known? */
bool kdump_descriptors_any(const struct kdump_descriptors *descriptors);
/* "</etc/motd>", or nothing. At most 1,100 bytes. */
char *kdump_put_descriptor(char *at, const struct kdump_descriptors *descriptors, uint32_t pid, int32_t fd);

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
