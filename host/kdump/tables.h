/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tables of kernels' system calls: which one goes with a trace, and what it says of a call. */
#ifndef KDUMP_TABLES_H
#define KDUMP_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/proc.h"

/* Which table goes with a trace. */

/*
 * The text of it: `given` if that is not NULL, else the trace's own, else what was built in for its kernel:
 * share/tables. A trace in our format without a table is one of Linux.
 */
const char *kdump_tables_choose(const struct ktread_proc *trace, const char *given);

/* The text of a table that was built in, by its name: "linux"; NULL if there is none. */
const char *kdump_tables_text(const char *name);

/*
 * What a kernel calls its system calls, errors and signals, of which types their arguments are, and how
 * values of these types read: a text of one line each (spec/ktrx-proc.md, "Tables"), which comes with a trace
 * or lies in share/tables.
 *
 * The text may be hostile. Names are cut and made printable when they are taken over, so that they can be
 * printed as they are; what cannot be a line is passed over.
 */

#define KDUMP_NAME	 47u /* of anything, in bytes */
#define KDUMP_ARGUMENTS	 8u
#define KDUMP_FIELDS	 32u
#define KDUMP_CALLS_MAX	 8192u /* numbers below this can have a line */
#define KDUMP_ERRORS_MAX 4096u
#define KDUMP_SIGNALS	 256u

/* How a value reads where the table says no more. */
enum kdump_base {
	KDUMP_HEX,
	KDUMP_INT,
	KDUMP_UINT,
	KDUMP_LONG,
	KDUMP_ULONG,
	KDUMP_SIZE,
	KDUMP_OFF,
	KDUMP_PTR,
	KDUMP_PATH,
	KDUMP_STR,
	KDUMP_DATA,	 /* what the kernel is given */
	KDUMP_BUFFER,	 /* what it fills */
	KDUMP_STRUCTURE, /* as an argument: a pointer to one */
	KDUMP_FD,
	KDUMP_PID,
	KDUMP_UID,
	KDUMP_GID,
	KDUMP_MODE,
	KDUMP_SIG,
	KDUMP_MS,
	KDUMP_TIME,  /* of a struct: seconds and nanoseconds */
	KDUMP_UTIME, /* seconds and microseconds */
	KDUMP_IPV4,
	KDUMP_IPV6,
	KDUMP_PORT,
	KDUMP_SYMBOL,
	KDUMP_VOID,
	/* In memory only: */
	KDUMP_TEXT,    /* bytes, shown as text */
	KDUMP_STRINGS, /* addresses of strings, up to a null pointer */
	KDUMP_SIGSET,
	KDUMP_FDSET,   /* bits for the first so many descriptors (fdset), or so many bytes of bits (cpuset) */
	KDUMP_SOCKOPT, /* an option: a number where it has 4 bytes */
	KDUMP_WSTATUS, /* how a process has ended or stopped */
	KDUMP_DIRENTS, /* entries of a directory, as getdents64() returns them */
};

struct kdump_value {
	uint64_t value;
	const char *name;
};

struct kdump_argument;

struct kdump_type {
	char name[KDUMP_NAME + 1];
	enum kdump_base base;
	bool keyed;    /* "so^": which type it is, the value before it says: "so_SOL_SOCKET" */
	uint64_t mask; /* of the part that `symbol` is about; 0: the whole value */
	const struct kdump_value *flag;	  /* bits */
	const struct kdump_value *symbol; /* values */
	unsigned flags, symbols;
	const struct kdump_argument *pointer; /* a value of this type is an address; NULL: it is none */
	uint64_t creates[2]; /* of open()'s flags: those with which its mode means something; 0: none */
};

/* How many values lie at an address. */
enum kdump_count {
	KDUMP_COUNT_ONE,
	KDUMP_COUNT_NUMBER,   /* `count` of them */
	KDUMP_COUNT_ARGUMENT, /* as argument `count` says */
	KDUMP_COUNT_AT,	      /* as the uint says that argument `count` is the address of */
	KDUMP_COUNT_RESULT,   /* as the call returns */
};

#define KDUMP_GIVEN  1u /* the program gives what lies there */
#define KDUMP_FILLED 2u /* the kernel fills it */

struct kdump_argument {
	const struct kdump_type *type;
	const char *name; /* "" if it has none */
	/* KDUMP_GIVEN, KDUMP_FILLED: it is the address of values of the type; 0: it is the value */
	uint8_t access;
	uint8_t counted; /* enum kdump_count */
	uint16_t count;
};

/* Where an argument has a certain value, the call has fewer arguments, or a result of another type. */
struct kdump_variant {
	struct kdump_variant *next;
	unsigned argument;
	const char *symbol; /* the value's name */
	unsigned arguments;
	const struct kdump_type *result; /* NULL: as ever */
};

struct kdump_call {
	const char *name;
	bool typed;			 /* does the table say more than the name? */
	const struct kdump_type *result; /* if typed */
	unsigned arguments;
	struct kdump_argument argument[KDUMP_ARGUMENTS];
	struct kdump_variant *variant;
};

struct kdump_field {
	const struct kdump_type *type;
	const char *name;
	uint32_t offset, width; /* bytes; they lie within the struct */
};

struct kdump_layout {
	const char *name;
	uint32_t size;
	unsigned fields;
	struct kdump_field field[KDUMP_FIELDS];
};

struct kdump_table;

/*
 * `elf_machine` says which lines "on MACHINE" count, and which numbers the calls have that are given by name
 * alone; `address_size` how wide a long is. 0, or a negative KTREAD_E_MEMORY. `text` may go when this
 * returns.
 */
int kdump_table_create(struct kdump_table **table, const char *text, uint16_t elf_machine,
		       unsigned address_size);
void kdump_table_destroy(struct kdump_table *table);

/* All NULL for what the table does not have; what they return belongs to the table. */
const struct kdump_call *kdump_table_call(struct kdump_table *table, uint32_t number);
const char *kdump_table_error(const struct kdump_table *table, int32_t number);
/* "No such file or directory", the name where this machine knows no such error. */
const char *kdump_table_error_text(struct kdump_table *table, int32_t number);
const char *kdump_table_signal(const struct kdump_table *table, uint32_t number);
const struct kdump_type *kdump_table_type(const struct kdump_table *table, const char *name);
/* The one of this size, else the largest of its name that is smaller, else any. */
const struct kdump_layout *kdump_table_layout(const struct kdump_table *table, const char *name,
					      uint32_t size);
/* As given to kdump_table_create(). */
unsigned kdump_table_address_size(const struct kdump_table *table);
/* Bytes that one value of a type takes in memory; 0 for those whose size varies. */
uint32_t kdump_table_type_size(const struct kdump_table *table, const struct kdump_type *type);

/* The variant of a call that its arguments select, or NULL. */
const struct kdump_variant *kdump_call_variant(const struct kdump_call *call, const uint64_t *word,
					       unsigned words);

/* The name of one value of a type, or NULL. */
const char *kdump_type_symbol(const struct kdump_type *type, uint64_t value);

/* How a table is kept: what tables.c looks up and table_parse.c puts there. Names point into `text`. */

#define KDUMP_TEXT_MAX	  ((size_t)1 << 20) /* what is longer is cut */
#define KDUMP_TYPES_MAX	  512u
#define KDUMP_LAYOUTS_MAX 256u

struct kdump_table_call {
	struct kdump_call public;
	bool named; /* its number is to be found out */
	char own_name[KDUMP_NAME + 1];
};

struct kdump_table {
	char *text;
	uint16_t machine;
	unsigned address_size;
	bool has_names;

	struct kdump_table_call *call[KDUMP_CALLS_MAX];
	unsigned calls;
	struct kdump_call *by_number[KDUMP_CALLS_MAX];
	uint8_t asked[KDUMP_CALLS_MAX / 8]; /* by name: found out already */

	const char *error[KDUMP_ERRORS_MAX];
	const char *error_text[KDUMP_ERRORS_MAX]; /* of those that were asked for */
	const char *signal[KDUMP_SIGNALS];
	struct kdump_type *type[KDUMP_TYPES_MAX];
	unsigned types;
	struct kdump_layout *layout[KDUMP_LAYOUTS_MAX];
	unsigned layouts;
	struct kdump_value *value; /* those of a type follow each other */
};

/* Takes `text` apart, which it changes. 0, or KTREAD_E_MEMORY with whatever is there by then. */
int kdump_table_parse(struct kdump_table *table);

#endif
