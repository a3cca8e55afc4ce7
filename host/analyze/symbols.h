/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * From addresses of the traced kernel to functions and source lines, by its ELF file. The kernel may run
 * elsewhere than it was linked for: the trace says where its root lies, the file where it was linked. The
 * difference applies to all of the file. An address that the file names but the running kernel does not have
 * is unknown: where the kernel was linked, a program may lie.
 *
 *	status = symbols_open(&symbols, "kernel.elf", ktread_info(trace));
 *	if (status != SYMBOLS_OK)	also if it was opened, with a doubt
 *		… symbols_message()
 *	if (symbols_find_call(symbols, event->caller[0], &symbol) == 0)
 *		… symbol.function, symbol.offset, symbol.file, symbol.line
 *
 * libdw does the work.
 */
#ifndef ANALYZE_SYMBOLS_H
#define ANALYZE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"

struct symbols;

enum symbols_status {
	SYMBOLS_OK = 0,
	/* Opened, but names may be wrong: the message says why. */
	SYMBOLS_OTHER_BUILD = 1, /* the build ids differ */
	SYMBOLS_UNCHECKED = 2,	 /* the trace or the file has no build id */
	/* Not opened. */
	SYMBOLS_E_SYSTEM = -1,	/* a system call failed, memory included */
	SYMBOLS_E_FORMAT = -2,	/* not an ELF file, or without symbols */
	SYMBOLS_E_MACHINE = -3, /* for another CPU than the traced one */
};

struct symbol {
	const char *function; /* owned by the handle; demangled if it can be, not yet escaped */
	uint64_t offset;      /* bytes into it */
	const char *file;     /* NULL: unknown */
	uint32_t line;
};

/*
 * enum symbols_status. After an error *symbols is NULL, which the other functions take for a file without
 * names.
 */
int symbols_open(struct symbols **symbols, const char *elf, const struct ktread_info *info);
void symbols_close(struct symbols *symbols);

/* One sentence on what the last symbols_open() of this thread had to say. */
const char *symbols_message(void);

/*
 * The code at an address of the running kernel. Inlined code belongs to the function that it became part of,
 * with the line of its own; but what ktrace itself inlines, to the line that uses it. Returns 0, or -1 if no
 * code is known there. Data is not code, even if it has a name.
 */
int symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol);

/* The same for an address of code or data, such as that of a lock. */
int symbols_find_any(struct symbols *symbols, uint64_t address, struct symbol *symbol);

/* The same for a return address: the line is that of the call, the offset that of the address. */
int symbols_find_call(struct symbols *symbols, uint64_t address, struct symbol *symbol);

/*
 * Calls `each` for all named code, in no order: functions, and what assembly has no type for. Addresses are
 * of the running kernel, names as the file has them, sizes 0 where the file does not say.
 */
void symbols_each(struct symbols *symbols,
		  void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
		  void *context);

/* Does the address lie in the kernel's image, and in a part of it that can be executed? */
int symbols_has(const struct symbols *symbols, uint64_t address);
int symbols_has_code(const struct symbols *symbols, uint64_t address);

/* Are the names of another build's file? Viewers mark them. */
int symbols_doubtful(const struct symbols *symbols);

/* ---- Readable names ---- */

/*
 * Names of functions as people write them: of C++ and Rust, by libiberty. Where a name is looked up or
 * compared with what a user gave, the file's own name counts; where it is shown, demangled() makes it
 * readable.
 *
 * Names come from files of others: their length, the depth of their nesting and the length of what they
 * expand to are bounded, and what is beyond stays as it is. The result may hold any bytes that the file has,
 * and is escaped where it is printed.
 */

#define DEMANGLE_LENGTH 1024u  /* bytes of a name that is looked at */
#define DEMANGLE_RESULT 4096u  /* bytes that it may expand to */
#define DEMANGLE_SHOWN	64u    /* bytes; of a longer one, arguments of templates are left out: "pay<...>" */
#define DEMANGLE_NAMES	32768u /* names kept; of more, those to come stay as they are */

/*
 * Returns the demangled name without parameters, or `name` itself if it is not mangled, cannot be demangled
 * or there is no memory. What is returned otherwise stays until the program ends. Requires: only one thread
 * calls this.
 */
const char *demangled(const char *name);

#endif
