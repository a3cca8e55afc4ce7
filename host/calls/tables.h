/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tables of kernels' system calls: their names, their arguments, and what arguments point to. */
#ifndef CALLS_TABLES_H
#define CALLS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of a table that was built in, by its name: "linux"; NULL if there is none. */
const char *calls_tables_text(const char *name);

/*
 * What a kernel calls its system calls, errors and signals, of which types their arguments are, and how
 * values of these types read: a text of one line each (spec/ktrx-proc.md, "Tables"), which comes with a trace
 * or lies in share/tables.
 *
 * The text may be hostile. Names are cut and made printable when they are taken over, so that they can be
 * printed as they are; what cannot be a line is passed over.
 */

#define CALLS_NAME	 47u /* of anything, in bytes */
#define CALLS_ARGUMENTS	 8u
#define CALLS_FIELDS	 32u
#define CALLS_CALLS_MAX	 8192u /* numbers below this can have a line */
#define CALLS_ERRORS_MAX 4096u
#define CALLS_SIGNALS	 256u

/* The calls of x32: BASE_LINUX_X32 and one of these numbers. */
#define CALLS_X32_PREFIX "__X32_SYSCALL_BIT|" /* what their names begin with */
#define CALLS_X32_SHARED 512u  /* below this, the arguments are those of the machine's own call */
#define CALLS_X32_MAX	 1024u /* numbers below this can have a name */

/* How a value reads where the table says no more. */
enum calls_base {
	CALLS_HEX,
	CALLS_INT,
	CALLS_UINT,
	CALLS_LONG,
	CALLS_ULONG,
	CALLS_SIZE,
	CALLS_OFF,
	CALLS_PTR,
	CALLS_PATH,
	CALLS_STR,
	CALLS_DATA,	 /* what the kernel is given */
	CALLS_BUFFER,	 /* what it fills */
	CALLS_STRUCTURE, /* as an argument: a pointer to one */
	CALLS_FD,
	CALLS_PID,
	CALLS_UID,
	CALLS_GID,
	CALLS_MODE,
	CALLS_SIG,
	CALLS_MS,
	CALLS_TIME,  /* of a struct: seconds and nanoseconds */
	CALLS_UTIME, /* seconds and microseconds */
	CALLS_IPV4,
	CALLS_IPV6,
	CALLS_PORT,
	CALLS_SYMBOL,
	CALLS_VOID,
	/* In memory only: */
	CALLS_TEXT,    /* bytes, shown as text */
	CALLS_STRINGS, /* addresses of strings, up to a null pointer */
	CALLS_SIGSET,
	CALLS_FDSET,   /* bits for the first so many descriptors (fdset), or so many bytes of bits (cpuset) */
	CALLS_SOCKOPT, /* an option: a number where it has 4 bytes */
	CALLS_WSTATUS, /* how a process has ended or stopped */
	CALLS_DIRENTS, /* entries of a directory, as getdents64() returns them */
	CALLS_CONTROL, /* control messages of a socket, as in struct msghdr */
};

struct calls_value {
	uint64_t value;
	const char *name;
};

struct calls_argument;
struct calls_layout;

struct calls_type {
	char name[CALLS_NAME + 1];
	enum calls_base base;
	bool keyed;    /* "so^": which type it is, the value before it says: "so_SOL_SOCKET" */
	uint64_t mask; /* of the part that `symbol` is about; 0: the whole value */
	const struct calls_value *flag;	  /* bits */
	const struct calls_value *symbol; /* values */
	unsigned flags, symbols;
	const struct calls_argument *pointer; /* a value of this type is an address; NULL: it is none */
	const struct calls_layout *layout;    /* of a struct: the largest of its name; NULL: it is none */
	uint64_t creates[2]; /* of open()'s flags: those with which its mode means something; 0: none */
};

/* How many values lie at an address. */
enum calls_count {
	CALLS_COUNT_ONE,
	CALLS_COUNT_NUMBER,   /* `count` of them */
	CALLS_COUNT_ARGUMENT, /* as argument `count` says */
	CALLS_COUNT_AT,	      /* as the uint says that argument `count` is the address of */
	CALLS_COUNT_RESULT,   /* as the call returns */
};

#define CALLS_GIVEN  1u /* the program gives what lies there */
#define CALLS_FILLED 2u /* the kernel fills it */

struct calls_argument {
	const struct calls_type *type;
	const char *name; /* "" if it has none */
	/* CALLS_GIVEN, CALLS_FILLED: it is the address of values of the type; 0: it is the value */
	uint8_t access;
	uint8_t counted; /* enum calls_count */
	uint16_t count;
};

/*
 * Where an argument has a certain value, the call has fewer arguments, some of other types, or a result of
 * another type.
 */
struct calls_variant {
	struct calls_variant *next;
	unsigned argument;
	const char *symbol; /* the value's name */
	unsigned arguments;
	uint32_t unused; /* 1 << n: argument n means nothing */
	/* What an argument is; the type is NULL where it is the same as ever. */
	struct calls_argument is[CALLS_ARGUMENTS];
	const struct calls_type *result; /* NULL: as ever */
};

struct calls_call {
	const char *name;
	bool typed;			 /* does the table say more than the name? */
	const struct calls_type *result; /* if typed */
	unsigned arguments;
	struct calls_argument argument[CALLS_ARGUMENTS];
	struct calls_variant *variant;
};

struct calls_field {
	const struct calls_type *type;
	const char *name;
	uint32_t offset, width; /* bytes; they lie within the struct */
};

struct calls_layout {
	const char *name;
	uint32_t size;
	bool own; /* of a line "on MACHINE": it hides those of its name that are for all machines */
	unsigned fields;
	bool descriptors; /* one of the fields is a descriptor */
	struct calls_field field[CALLS_FIELDS];
};

struct calls_table;

/*
 * `elf_machine` says which lines "on MACHINE" count, and which numbers the calls have that are given by name
 * alone; `address_size` how wide a long is. 0, or a negative KTREAD_E_MEMORY. `text` may go when this
 * returns.
 */
int calls_table_create(struct calls_table **table, const char *text, uint16_t elf_machine,
		       unsigned address_size);
void calls_table_destroy(struct calls_table *table);

/* All NULL for what the table does not have; what they return belongs to the table. */
const struct calls_call *calls_table_call(struct calls_table *table, uint32_t number);
const char *calls_table_error(const struct calls_table *table, int32_t number);
/* "No such file or directory", the name where this machine knows no such error. */
const char *calls_table_error_text(struct calls_table *table, int32_t number);
const char *calls_table_signal(const struct calls_table *table, uint32_t number);
const struct calls_type *calls_table_type(const struct calls_table *table, const char *name);
/*
 * The one of this size, else the largest of its name that is smaller, else any. Those of the machine alone
 * come first.
 */
const struct calls_layout *calls_table_layout(const struct calls_table *table, const char *name,
					      uint32_t size);
/* As given to calls_table_create(). */
unsigned calls_table_address_size(const struct calls_table *table);
/* Bytes that one value of a type takes in memory; 0 for those whose size varies. */
uint32_t calls_table_type_size(const struct calls_table *table, const struct calls_type *type);

/* The variant of a call that its arguments select, or NULL. */
const struct calls_variant *calls_call_variant(const struct calls_call *call, const uint64_t *word,
					       unsigned words);

/* The name of one value of a type, or NULL. */
const char *calls_type_symbol(const struct calls_type *type, uint64_t value);

/* A system call's arguments one after another, as the table has them. */

/* One argument; `type` NULL and `name` "" if nothing is known of it. */
struct calls_one {
	const struct calls_type *type;
	const char *name;
	uint64_t value;
	unsigned number;		      /* of the argument, from 0 */
	const struct calls_argument *pointer; /* to values of its type; NULL: the table says of none */
};

struct calls_arguments {
	const struct calls_call *call; /* NULL: the table does not have it */
	const struct calls_variant *variant;
	const uint64_t *word;
	unsigned words, next_word, next;
	unsigned most; /* arguments that the call has, with these values */
	bool narrow;   /* words of 32 bits, so that a place in a file takes two */
	bool typed;    /* the table says which there are; else as recorded */
	struct calls_table *table;
	const struct calls_type *before; /* of the argument that calls_arguments_next() gave last … */
	uint64_t value_before;		 /* … and its value */
	const char *key; /* the last that was a word, by which types like "so^" are chosen; NULL: none */
};

/* `all` shows each word that was recorded; else those that the table lists and that mean something. */
void calls_arguments_begin(struct calls_arguments *arguments, struct calls_table *table, uint32_t number,
			   const uint64_t *word, unsigned words, bool all);
bool calls_arguments_next(struct calls_arguments *arguments, struct calls_one *one);

/* How a table is kept: what tables.c looks up and table_parse.c puts there. Names point into `text`. */

#define CALLS_TEXT_MAX	  ((size_t)1 << 20) /* what is longer is cut */
#define CALLS_TYPES_MAX	  512u
#define CALLS_LAYOUTS_MAX 256u
#define CALLS_CHAINS	  256u /* of types, by a hash of their names */

struct calls_table_call {
	struct calls_call public;
	bool named; /* its number is to be found out */
	char own_name[CALLS_NAME + 1];
};

struct calls_table {
	char *text;
	uint16_t machine;
	unsigned address_size;
	bool has_names;

	struct calls_table_call *call[CALLS_CALLS_MAX];
	unsigned calls;
	struct calls_call *by_number[CALLS_CALLS_MAX];
	uint8_t asked[CALLS_CALLS_MAX / 8]; /* by name: found out already */
	struct calls_table_call *x32[CALLS_X32_MAX];

	const char *error[CALLS_ERRORS_MAX];
	const char *error_text[CALLS_ERRORS_MAX]; /* of those that were asked for */
	const char *signal[CALLS_SIGNALS];
	struct calls_type *type[CALLS_TYPES_MAX];
	unsigned types;
	uint16_t chain[CALLS_CHAINS];	 /* 1 + the place of its first type; 0: it is empty */
	uint16_t after[CALLS_TYPES_MAX]; /* the same of the next type in the chain */
	struct calls_layout *layout[CALLS_LAYOUTS_MAX];
	unsigned layouts;
	struct calls_value *value; /* those of a type follow each other */
};

/* Puts the type at this place, which has its name, into the chain of that name. */
void calls_table_chain(struct calls_table *table, unsigned place);
/* Returns 1 + the place of the type that has this name; 0: there is none. */
unsigned calls_table_place(const struct calls_table *table, const char *name);

/* Takes `text` apart, which it changes. 0, or KTREAD_E_MEMORY with whatever is there by then. */
int calls_table_parse(struct calls_table *table);

#endif
