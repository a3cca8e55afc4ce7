/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tables of system calls: their names, their arguments, and what arguments point to. */
#ifndef CALLS_TABLES_H
#define CALLS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the text of a built-in table by its name ("linux"); NULL if there is none. */
const char *calls_tables_text(const char *name);

/*
 * A table describes a kernel's system calls: the names of calls, errors and signals, the types of arguments,
 * and how values of these types are shown. The text of a table has one line for each item (spec/ktrx-proc.md,
 * "Tables"). The text comes with a trace, or from share/tables.
 *
 * The text may be hostile. The parser cuts names and makes them printable, so that they can be printed
 * without escaping. It skips invalid lines.
 */

#define CALLS_NAME	 47u /* maximum length of any name in a table, in bytes */
#define CALLS_ARGUMENTS	 8u
#define CALLS_FIELDS	 32u
#define CALLS_CALLS_MAX	 8192u /* only calls with a number below this can have a line in the table */
#define CALLS_ERRORS_MAX 4096u
#define CALLS_SIGNALS	 256u

/*
 * Numbers of the calls of x32. All numbers here are without the bit BASE_LINUX_X32, which is set in the
 * number of each such call.
 */
#define CALLS_X32_PREFIX "__X32_SYSCALL_BIT|" /* prefix of the names of x32's calls */
/* a call of x32 with a lower number has the same arguments as the machine's own call with that number */
#define CALLS_X32_SHARED 512u
#define CALLS_X32_MAX	 1024u /* only calls of x32 with a number below this can have a name */

/* How a value is shown if the table defines nothing else. */
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
	CALLS_DATA,	 /* data that the kernel reads */
	CALLS_BUFFER,	 /* memory that the kernel fills */
	CALLS_STRUCTURE, /* a struct; an argument of this type is the address of one */
	CALLS_FD,
	CALLS_PID,
	CALLS_UID,
	CALLS_GID,
	CALLS_MODE,
	CALLS_SIG,
	CALLS_MS,
	CALLS_TIME,  /* seconds and nanoseconds in a struct */
	CALLS_UTIME, /* seconds and microseconds */
	CALLS_IPV4,
	CALLS_IPV6,
	CALLS_PORT,
	CALLS_SYMBOL,
	CALLS_VOID,
	/* Kinds of values that exist only in memory: */
	CALLS_TEXT,    /* bytes, shown as text */
	CALLS_STRINGS, /* array of pointers to strings; a null pointer ends it */
	CALLS_SIGSET,
	/* a bit map: one bit for each of the first `count` descriptors (fdset), or `count` bytes (cpuset) */
	CALLS_FDSET,
	CALLS_SOCKOPT, /* value of a socket option: shown as a number if it has 4 bytes */
	CALLS_WSTATUS, /* wait status of a process that has ended or stopped */
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
	/* true if the value of an earlier argument selects the type: "so^" becomes "so_SOL_SOCKET" */
	bool keyed;
	/* mask of the bits whose values have names in `symbol`; 0: all bits */
	uint64_t mask;
	const struct calls_value *flag;	  /* values from lines "flags": names of bits */
	const struct calls_value *symbol; /* values from lines "enum": names of values */
	unsigned flags, symbols;
	/* description of the data at the address; NULL if a value of this type is not an address */
	const struct calls_argument *pointer;
	/* the largest struct of this name; NULL if the type is not a struct */
	const struct calls_layout *layout;
	/*
	 * values of the flags O_CREAT and O_TMPFILE, which make open() use its mode; 0 if the type has no
	 * such flag
	 */
	uint64_t creates[2];
};

/* The number of values at an address. */
enum calls_count {
	CALLS_COUNT_ONE,
	CALLS_COUNT_NUMBER,   /* there are `count` values */
	CALLS_COUNT_ARGUMENT, /* the number of values is the value of argument `count` */
	CALLS_COUNT_AT,	      /* the number of values is the uint to which argument `count` points */
	CALLS_COUNT_RESULT,   /* the number of values is the call's result */
};

#define CALLS_GIVEN  1u /* `access`: the program supplies the data at the address */
#define CALLS_FILLED 2u /* `access`: the kernel fills the memory at the address */

struct calls_argument {
	const struct calls_type *type;
	const char *name; /* name of the argument; "" if it has none */
	/*
	 * CALLS_GIVEN or CALLS_FILLED: the argument is the address of values of the type; 0: the argument is
	 * such a value
	 */
	uint8_t access;
	uint8_t counted; /* enum calls_count */
	uint16_t count;
};

/*
 * A variant of a call: if an argument has a certain value, the call has fewer arguments, arguments of other
 * types, or a result of another type.
 */
struct calls_variant {
	struct calls_variant *next;
	unsigned argument;
	const char *symbol; /* name of the value that selects the variant */
	unsigned arguments;
	uint32_t unused; /* bit n: the variant does not use argument n */
	/*
	 * Arguments that differ from those of the call. If the argument at an index does not differ, its
	 * type here is NULL.
	 */
	struct calls_argument is[CALLS_ARGUMENTS];
	const struct calls_type *result; /* type of the result; NULL if it is the call's own type */
};

struct calls_call {
	const char *name;
	/* true if the table describes arguments and result; false if it has only the name */
	bool typed;
	const struct calls_type *result; /* type of the result; valid if `typed` is true */
	unsigned arguments;
	struct calls_argument argument[CALLS_ARGUMENTS];
	struct calls_variant *variant;
};

struct calls_field {
	const struct calls_type *type;
	const char *name;
	uint32_t offset, width; /* offset of the field in the struct, and size of the field, in bytes */
};

struct calls_layout {
	const char *name;
	uint32_t size;
	/*
	 * true if the struct is from a line "on MACHINE"; such a struct is preferred to a struct for all
	 * machines
	 */
	bool own;
	unsigned fields;
	bool descriptors; /* true if a field is a file descriptor */
	struct calls_field field[CALLS_FIELDS];
};

struct calls_table;

/*
 * Creates a table from its text. `elf_machine` selects the lines "on MACHINE". It also determines the
 * numbers of calls that the text gives by name only. `address_size` is the size of a long. Returns 0 or
 * KTREAD_E_MEMORY. `text` is copied.
 */
int calls_table_create(struct calls_table **table, const char *text, uint16_t elf_machine,
		       unsigned address_size);
void calls_table_destroy(struct calls_table *table);

/* These functions return NULL if the table has no such entry. The table owns what they return. */
const struct calls_call *calls_table_call(struct calls_table *table, uint32_t number);
const char *calls_table_error(const struct calls_table *table, int32_t number);
/*
 * Returns an error message such as "No such file or directory"; the error's name if this machine does not
 * know the error.
 */
const char *calls_table_error_text(struct calls_table *table, int32_t number);
const char *calls_table_signal(const struct calls_table *table, uint32_t number);
const struct calls_type *calls_table_type(const struct calls_table *table, const char *name);
/*
 * Returns a struct of this name. Structs from lines "on MACHINE" come first, whatever their size. Otherwise
 * prefers a struct of this size, then the largest smaller struct, then any larger struct.
 */
const struct calls_layout *calls_table_layout(const struct calls_table *table, const char *name,
					      uint32_t size);
/*
 * Marks each type that has the name of a struct: a value of the type is that struct, and an argument of the
 * type is the address of one.
 */
void calls_table_find_structures(struct calls_table *table);
/* Returns the size that was given to calls_table_create(). */
unsigned calls_table_address_size(const struct calls_table *table);
/* Returns the size in bytes of a value of a type in memory; 0 if the size varies. */
uint32_t calls_table_type_size(const struct calls_table *table, const struct calls_type *type);

/* Returns the variant of a call that its arguments select, or NULL. */
const struct calls_variant *calls_call_variant(const struct calls_call *call, const uint64_t *word,
					       unsigned words);

/* Returns the name of a value of a type, or NULL. */
const char *calls_type_symbol(const struct calls_type *type, uint64_t value);

/* Steps through the arguments of a system call, as the table describes them. */

/* One argument. If nothing is known about the argument, `type` is NULL and `name` is "". */
struct calls_one {
	const struct calls_type *type;
	const char *name;
	uint64_t value;
	unsigned number; /* index of the argument's first machine word */
	/* description of the data at the address; NULL if it is unknown or the value is not an address */
	const struct calls_argument *pointer;
};

struct calls_arguments {
	const struct calls_call *call; /* description of the call; NULL if the table does not have the call */
	const struct calls_variant *variant;
	const uint64_t *word;
	unsigned words, next_word, next;
	unsigned most; /* number of arguments of the call; it may depend on the values of the arguments */
	bool narrow;   /* true if machine words have 32 bits: a file offset then takes two machine words */
	/* true if the table describes the arguments; false if the machine words are shown as recorded */
	bool typed;
	struct calls_table *table;
	/* type and value of the argument that calls_arguments_next() returned last */
	const struct calls_type *before;
	uint64_t value_before;
	/*
	 * name of the last value of an enumeration; selects types like "so^"; NULL: the value has no name, or
	 * there was no such value
	 */
	const char *key;
};

/*
 * Makes calls_arguments_next() start again at the first argument. If `all` is true, calls_arguments_next()
 * returns every recorded machine word, without a type. If `all` is false, it returns the arguments that the
 * table describes and the call uses.
 */
void calls_arguments_begin(struct calls_arguments *arguments, struct calls_table *table, uint32_t number,
			   const uint64_t *word, unsigned words, bool all);
/* Sets *one to the next argument. Returns false if there are no more. */
bool calls_arguments_next(struct calls_arguments *arguments, struct calls_one *one);

/* Internal structure of a table: table_parse.c fills it, tables.c searches it. Names point into `text`. */

#define CALLS_TEXT_MAX	  ((size_t)1 << 20) /* maximum length of a text in bytes; a longer text is cut */
#define CALLS_TYPES_MAX	  512u
#define CALLS_LAYOUTS_MAX 256u
/* number of chains, which are lists of the types whose names have the same hash */
#define CALLS_CHAINS 256u

struct calls_table_call {
	struct calls_call public;
	bool named; /* true if the table has only the name of the call, not its number */
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
	uint8_t looked_up[CALLS_CALLS_MAX / 8]; /* bit n: set if the name of call n was looked up already */
	struct calls_table_call *x32[CALLS_X32_MAX];

	const char *error[CALLS_ERRORS_MAX];
	/* error messages that calls_table_error_text() has looked up */
	const char *error_text[CALLS_ERRORS_MAX];
	const char *signal[CALLS_SIGNALS];
	struct calls_type *type[CALLS_TYPES_MAX];
	unsigned types;
	/* for each chain: 1 + the index of its first type in `type`; 0 if the chain is empty */
	uint16_t chain[CALLS_CHAINS];
	/* for each type: 1 + the index of the next type in the same chain; 0 if this type is the last */
	uint16_t after[CALLS_TYPES_MAX];
	struct calls_layout *layout[CALLS_LAYOUTS_MAX];
	unsigned layouts;
	struct calls_value *value; /* values of all types; those of one type are adjacent */
};

/* Adds type number `place`, whose name is set, to the chain of its name. */
void calls_table_chain(struct calls_table *table, unsigned place);
/* Returns 1 + the index of the type with this name; 0 if there is none. */
unsigned calls_table_place(const struct calls_table *table, const char *name);

/* Parses table->text, and modifies it. Returns 0, or KTREAD_E_MEMORY with the table partly filled. */
int calls_table_parse(struct calls_table *table);

#endif
