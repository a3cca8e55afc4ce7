/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * State of kdump while it prints a trace, and functions that print values and parts of lines.
 *
 * Functions kdump_put_* write text at `at`, and return its end. These functions write a NUL at the end only
 * if their comment states it.
 */
#ifndef KDUMP_CONTEXT_H
#define KDUMP_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "base/ticks.h"
#include "calls/tables.h"
#include "ktread/proc.h"

/* Styles in which values are printed. The text of a value also depends on its type. */

enum kdump_style {
	KDUMP_STYLE_BSD, /* like the BSDs' kdump: 0x601<O_WRONLY|O_CREAT|O_TRUNC>, numbers in hexadecimal */
	/* like strace: O_WRONLY|O_CREAT|O_TRUNC, numbers in the form that their type requires */
	KDUMP_STYLE_PLAIN,
	KDUMP_STYLE_JSON, /* like PLAIN, but a value that is not a number is a string */
};

struct kdump_words {
	struct calls_table *table;
	enum kdump_style style;
	bool decimal; /* option -d: print numbers in decimal */
	bool raw;     /* option -n: print no names */
};

#define KDUMP_WORDS_MOST 1200 /* maximum size of a printed value in bytes */

/* Writes a value. If `type` is NULL, the type is unknown. */
char *kdump_put_value(char *at, const struct kdump_words *words, const struct calls_type *type,
		      uint64_t value);

/* Writes a machine word as the BSDs do: "0x1f" or "0", and with -d "31" or "-1". */
char *kdump_put_word(char *at, const struct kdump_words *words, uint64_t value);
/* Writes an octal number with a leading zero. */
char *kdump_put_octal(char *at, uint32_t value);
/*
 * Writes the names of the bits that are set, such as "A|B", and bits without a name in hexadecimal. If no bit
 * is set, writes the name of the value 0, or "0". Writes no brackets and no quotation marks.
 */
char *kdump_put_flags(char *at, const struct calls_type *type, uint64_t value);
/* Writes "SIGINT", or "SIG 99" if the number has no name. */
char *kdump_put_signal(char *at, const struct kdump_words *words, uint32_t number);
/* Returns the name of the reason for which a signal was sent; NULL if the table has no name for it. */
const char *kdump_code_name(const struct calls_table *table, uint32_t signal, int32_t code);
/*
 * Writes a name from a table, with a NUL after it. The name needs no escaping, and has at most CALLS_NAME
 * bytes.
 */
char *kdump_put_name(char *at, const char *name);

/*
 * Data for all output formats: the trace, the table of its calls, the time scale, and the options. A trace
 * may contain several sessions, each with its own head; kdump_context_update() adapts the context to the
 * current one.
 */

struct kdump_options {
	bool decimal;	/* option -d: print numbers in decimal */
	bool raw;	/* option -n: print numbers instead of names */
	bool fixed;	/* option -j: print fixed columns */
	bool threads;	/* option -H: print thread ids */
	bool cpus;	/* option -c: print the CPU */
	bool abi;	/* option -A: print the ABI of the process */
	bool numbers;	/* option -S: print the numbers of system calls */
	bool resolve;	/* option -r: print modes, users, groups and dates in readable form */
	bool no_data;	/* option -s: print no data */
	bool arguments; /* option --names: print the names of arguments */
	bool absolute;	/* option -T: print the time since 1970 */
	bool elapsed;	/* option -E: print the time since the first record */
	bool relative;	/* option -R: print the time since the previous record */
	/*
	 * option -m: maximum number of bytes of data to print; 0: all; KDUMP_DATA_USUAL: the default of the
	 * kdump program to which the trace's format belongs
	 */
	uint64_t data_most;
	unsigned columns;  /* width of the screen in columns; longer lines of data are broken */
	const char *table; /* text of --table; NULL: the trace decides */
};
#define KDUMP_DATA_USUAL UINT64_MAX

/*
 * The ABIs that records have stated. In FreeBSD's traces, an ABI belongs to a process. In KTRX, it is the ABI
 * of a thread's last call. If two processes or threads have the same index in the table, the later one
 * replaces the earlier one.
 */
#define KDUMP_ABIS 1024u
struct kdump_abi {
	uint32_t id, flags;
};

/*
 * The kernel whose system calls a thread makes. KDUMP_UNKNOWN: calls without a known table. KDUMP_NATIVE:
 * calls of the thread's own kernel. KDUMP_NATIVE is last, so its value is the number of the members before
 * it.
 */
enum kdump_foreign { KDUMP_FREEBSD32, KDUMP_LINUX32, KDUMP_LINUX64, KDUMP_UNKNOWN, KDUMP_NATIVE };

/*
 * Process and thread of the last record as text, because the next record is usually of the same thread. The
 * text is copied in pieces of a fixed size, because copying is faster if the compiler knows the size.
 */
#define KDUMP_PROCESS_PIECE 32u
struct kdump_process_text {
	uint32_t pid, tid;
	char name[sizeof(((struct ktread_proc_record *)0)->name)];
	bool dragonfly;
	uint8_t length; /* length of the text in bytes; 0: no record was printed yet */
	char text[7 * KDUMP_PROCESS_PIECE];
};

struct kdump_descriptors;

struct kdump_context {
	const struct kdump_options *options;
	struct base_output *out;
	struct ktread_proc *trace;
	const struct ktread_proc_info *info;
	struct kdump_words words; /* how values are printed, with the table for the current record */

	/* The following members are the state of the current session. */
	/* numbers of heads and of tables in the trace, when they were last checked */
	uint64_t heads, tables;
	unsigned growths;	   /* number of times that the session's table has grown */
	struct calls_table *table; /* table of the kernel's own calls */
	/* text from which `table` was made; NULL: the text is in the trace, and may change */
	const char *text;
	uint16_t machine; /* machine for which `table` was made */
	uint8_t address_size;
	enum ktread_proc_format format;
	bool dragonfly; /* true if lines are printed as DragonFly's kdump prints them */
	bool ktrx;
	bool own_table; /* true if the trace has its own table */
	/*
	 * Tables of the calls of ABIs other than the kernel's own; NULL: no record has needed the table yet.
	 */
	struct calls_table *foreign[KDUMP_NATIVE];
	struct base_ticks_scale scale;
	struct kdump_abi abi[KDUMP_ABIS];
	bool mixed; /* true if a program in a KTRX trace had another ABI than its kernel */

	/*
	 * The files and sockets to which the descriptors of processes refer; NULL: this output format does
	 * not print them.
	 */
	const struct kdump_descriptors *descriptors;
	uint32_t pid; /* process of the current record */

	struct kdump_process_text process_text; /* process and thread of the line that was printed last */
	uint64_t first, previous; /* timestamps of the first and the previous record, for -E and -R */
	bool any;		  /* true if `first` and `previous` are set */
};

/* Prepares the output of a trace. The caller still owns `trace`. Returns 0 or KTREAD_E_MEMORY. */
int kdump_context_open(struct kdump_context *context, const struct kdump_options *options,
		       struct ktread_proc *trace, struct base_output *out, enum kdump_style style);
void kdump_context_close(struct kdump_context *context);

/* Adapts the context to a new head or a new table in the trace. Returns 0 or KTREAD_E_MEMORY. */
int kdump_context_take_session(struct kdump_context *context);

/* Stores the ABI of a process or thread, if the record contains it. */
void kdump_context_take_abi(struct kdump_context *context, const struct ktread_proc_record *record);

/*
 * Adapts the context to a record. Requires: this function is called for each record, before the record is
 * printed. Returns 0 or KTREAD_E_MEMORY.
 */
static inline int kdump_context_update(struct kdump_context *context, const struct ktread_proc_record *record)
{
	int result = 0;

	context->pid = record->pid;
	/* If a file is empty at first, its format is not known before its first record. */
	if (context->heads != context->info->heads || context->tables != context->info->tables ||
	    context->format != context->info->format)
		result = kdump_context_take_session(context);
	kdump_context_take_abi(context, record);
	return result;
}

/* Returns the ABI that records state for a thread; 0 if it is unknown. */
uint32_t kdump_context_abi(const struct kdump_context *context, uint32_t pid, uint32_t tid);
/* Returns the kernel whose system calls a thread makes; KDUMP_NATIVE: the kernel on which it runs. */
enum kdump_foreign kdump_context_foreign(const struct kdump_context *context, uint32_t pid, uint32_t tid);
/* Returns the table of the calls of the kernel `whose`. The context owns the table. */
struct calls_table *kdump_context_table(struct kdump_context *context, enum kdump_foreign whose);
/* Returns the table of a thread's calls. Errors and signals are always taken from the kernel's own table. */
struct calls_table *kdump_context_calls(struct kdump_context *context, uint32_t pid, uint32_t tid);

/* Bits of FreeBSD's sv_flags, which identify the ABI of a process. */
#define KDUMP_SV_ABI	 0xffu
#define KDUMP_SV_LINUX	 3u
#define KDUMP_SV_FREEBSD 9u
#define KDUMP_SV_ILP32	 0x100u
#define KDUMP_SV_LP64	 0x200u

/* Writes the times that the options select, each with a blank after it. */
char *kdump_put_times(char *at, struct kdump_context *context, uint64_t stamp);
/* Writes a duration in seconds, "12.345678", with as many digits as the format has. */
char *kdump_put_duration(char *at, const struct kdump_context *context, uint64_t ticks);
/* Converts ticks to nanoseconds. Returns the ticks unchanged if the length of a tick is unknown. */
uint64_t kdump_nanoseconds(const struct kdump_context *context, uint64_t ticks);
/*
 * Returns the nanoseconds since 1970; if the wall time is unknown, the nanoseconds since the start of the
 * counter.
 */
uint64_t kdump_absolute(const struct kdump_context *context, uint64_t stamp);

/* Writes the name of a call, "open", and with -S "open[5]"; "[77]" if the call is not in the table. */
char *kdump_put_call_name(char *at, const struct kdump_context *context, struct calls_table *calls,
			  uint32_t number);

/* ---- Parts of lines ---- */

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

/*
 * Writes text in quotation marks. Writes characters that cannot be printed as escapes. Breaks lines at
 * `columns`.
 */
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

/* Returns a name of four letters for a type of hardware trace record; NULL for other types. */
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
