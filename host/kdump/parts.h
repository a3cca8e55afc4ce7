/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions that print parts of kdump's lines. */
#ifndef KDUMP_PARTS_H
#define KDUMP_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "kdump/context.h"
#include "ktread/proc.h"

/*
 * Functions that make bytes visible in the same way as vis(3): \n, \t, \0 and so on; \^C for any other
 * control character; \M-c and \M^C for bytes with the eighth bit; \\ for a backslash.
 */

#define KDUMP_VIS_GROWTH 4 /* maximum number of bytes that are written for one byte */

/*
 * Returns how many bytes at the beginning of a text need no change, even in a line and between quotation
 * marks: no control characters, no bytes with the eighth bit, no backslash, no quotation mark. Checks eight
 * bytes at a time, because most texts need no change.
 */
size_t kdump_vis_plain(const uint8_t *bytes, size_t size);

/*
 * Writes one byte. `next`: the byte after it (0: none), which determines how a NUL is written. Writes tabs
 * and newlines unchanged.
 */
char *kdump_vis_byte(char *at, uint8_t byte, uint8_t next);

/*
 * Writes text in a line: tabs and newlines are made visible, too. If `quoted` is set, the text is between
 * quotation marks, so each quotation mark in the text gets a backslash. Writes at most `limit` bytes. Writes
 * an escape sequence completely or not at all.
 */
char *kdump_vis_text(char *at, const void *bytes, size_t length, size_t limit, bool quoted);

/* Prints data that a process read or wrote, in lines below its record, as the BSDs' kdump does. */

/* Writes text in quotation marks, made visible, with line breaks at `columns`. */
void kdump_data_text(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns);
/* Writes offsets, hexadecimal digits and text. */
void kdump_data_hex(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns);
/* Returns true if the data contains a byte that is not text. */
bool kdump_data_is_binary(const uint8_t *bytes, size_t size);

/* Functions that convert a trace's bytes to numbers and digits. */

/* Reads a little-endian number of at most 8 bytes. */
static inline uint64_t kdump_read_number(const uint8_t *bytes, unsigned width)
{
	uint64_t value = 0;

	for (unsigned n = width; n > 0; n--)
		value = value << 8 | bytes[n - 1];
	return value;
}

/* Writes a byte as two hexadecimal digits. */
static inline char *kdump_put_byte(char *at, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	at[0] = digits[byte >> 4];
	at[1] = digits[byte & 15];
	return at + 2;
}

/* The columns at the beginning of a record's line: process, thread, name, times, CPU, type of record, ABI. */

/* Writes process, thread and name: "  123 sh       ". */
char *kdump_put_process(char *at, struct kdump_context *context, const struct ktread_proc_record *record);
/* Writes all columns. */
char *kdump_put_head(char *at, struct kdump_context *context, const struct ktread_proc_record *record);

/*
 * Returns true for records that are not printed: records that describe the trace itself and, in the traces of
 * the BSDs, records of the starts and ends of processes, which FreeBSD's kdump does not print.
 */
bool kdump_head_hides(const struct kdump_context *context, const struct ktread_proc_record *record);

/* Returns the name of a record's type in four letters, such as "CALL"; NULL for an unknown type. */
const char *kdump_record_word(uint16_t type, uint32_t ctor_flags);

/* Structs that a program passed to its kernel or got from it, divided into fields as the table describes. */

#define KDUMP_STRUCTURE_MOST 8000 /* maximum size of the text for a struct, in bytes */

/*
 * Writes the fields with their braces: "{dev=1, ino=2 }" in the style of the BSDs, "{dev=1, ino=2}" in the
 * plain style, an object in JSON. A struct that is not in the table is printed as bytes.
 */
char *kdump_put_structure(char *at, const struct kdump_context *context, const char *name,
			  const uint8_t *bytes, uint32_t size);

/* Prints the rest of a record's line, "struct stat {…}"; for an array, a line for each of its elements. */
void kdump_write_structure(const struct kdump_context *context, const struct ktread_proc_record *record);

/* A piece of a program's memory. */
struct kdump_bytes {
	const uint8_t *first;
	size_t size;
	size_t element; /* size of one value in bytes */
	bool cut;	/* true if the trace contains only some of the bytes of this memory */
};

/*
 * Writes the contents of memory by their type: "[3, 4]", "[\"ls\", \"-l\"]", "[INT, CHLD]". The text of a
 * list ends before `limit` bytes; a single value may be longer. Requires: room for limit + KDUMP_MEMORY_MOST
 * bytes.
 */
char *kdump_put_memory(char *at, size_t limit, const struct kdump_context *context,
		       const struct calls_type *type, const struct kdump_bytes *bytes);
/* maximum size of the text for one value, in bytes */
#define KDUMP_MEMORY_MOST (KDUMP_STRUCTURE_MOST + 64)

/*
 * Stores the files and sockets to which the descriptors of processes refer. FD records state them. The table
 * has a fixed size: if there are too many descriptors, new ones overwrite others.
 */

/* Creates the table. Returns NULL if memory runs out. kdump_descriptors_destroy() frees it. */
struct kdump_descriptors *kdump_descriptors_create(void);
void kdump_descriptors_destroy(struct kdump_descriptors *descriptors);
/* Stores what an FD record states about a descriptor. */
void kdump_descriptors_note(struct kdump_descriptors *descriptors, const struct ktread_proc_record *record);
/* Returns whether the trace has had any FD record. */
bool kdump_descriptors_any(const struct kdump_descriptors *descriptors);
/*
 * Writes the file or socket to which a descriptor refers, such as "</etc/motd>". Writes nothing if this is
 * unknown. Writes at most 1,100 bytes.
 */
char *kdump_put_descriptor(char *at, const struct kdump_descriptors *descriptors, uint32_t pid, int32_t fd);

/* Page faults with their duration, and operations that were denied. */

/*
 * Page faults that have not ended, one for each thread. If two threads have the same index in the table, the
 * later fault replaces the earlier fault.
 */
#define KDUMP_FAULTS 256u
struct kdump_faults {
	struct {
		uint64_t stamp;
		uint32_t pid, tid;
		bool begun;
	} of[KDUMP_FAULTS];
};

/*
 * Stores the beginning of a fault. Requires: this function is called for every record of the trace, before
 * the record's line is printed.
 */
void kdump_faults_note(struct kdump_faults *faults, const struct ktread_proc_record *record);

/*
 * These functions write the beginning of a fault, the end of a fault with its duration, and a denied
 * operation.
 */
char *kdump_put_fault(char *at, const struct kdump_context *context, const struct ktread_proc_record *record);
char *kdump_put_fault_end(char *at, struct kdump_faults *faults, const struct kdump_context *context,
			  const struct ktread_proc_record *record);
char *kdump_put_denied(char *at, const struct kdump_context *context,
		       const struct ktread_proc_record *record);

/*
 * Records of hardware trace (ktrx/hwt.h) in a process trace. These records describe the recording (units,
 * buffers, mapped files); the executed code is not printed.
 */

/* Returns the name of the type in four letters; NULL if the type is not one of hardware trace. */
const char *kdump_hardware_word(uint16_t type);
/* Writes the contents of a record, without a newline. */
char *kdump_put_hardware(char *at, const struct ktread_proc_record *record);

/*
 * Records that programs wrote about themselves, with utrace(2). Records of the BSDs' runtime linker and
 * malloc are interpreted; other records are printed as bytes.
 */

/* Prints the rest of a record's line. */
void kdump_write_user(const struct kdump_context *context, const struct ktread_proc_record *record);

/*
 * Writes a record of the runtime linker or malloc, without a newline, at most KDUMP_USER_MOST bytes. Returns
 * NULL for other records.
 */
char *kdump_put_user(char *at, const struct kdump_context *context, const struct ktread_proc_record *record);
#define KDUMP_USER_MOST 9000

#endif
