/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds functions and source lines for addresses of the traced kernel in its ELF file. The kernel may run at
 * other addresses than it was linked for. The trace has the address of its root in the running kernel, and
 * the file has the linked address of the root. The difference applies to the whole file. An address that is
 * in the file but not in the running kernel counts as unknown, because a program may be at that address.
 *
 *	status = symbols_open(&symbols, "kernel.elf", ktread_info(trace));
 *	if (status != SYMBOLS_OK)	also if the file was opened, but its names may be wrong
 *		… symbols_message()
 *	if (symbols_find_call(symbols, event->caller[0], &symbol) == 0)
 *		… symbol.function, symbol.offset, symbol.file, symbol.line
 *
 * Uses libdw.
 */
#ifndef ANALYZE_SYMBOLS_H
#define ANALYZE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"

struct symbols;

enum symbols_status {
	SYMBOLS_OK = 0,
	/* The file was opened, but names may be wrong; the message has the reason. */
	SYMBOLS_OTHER_BUILD = 1, /* the build ids differ */
	SYMBOLS_UNCHECKED = 2,	 /* the trace or the file has no build id */
	/* The file was not opened. */
	SYMBOLS_E_SYSTEM = -1,	/* a system call failed, or out of memory */
	SYMBOLS_E_FORMAT = -2,	/* the file is not an ELF file, or has no symbols */
	SYMBOLS_E_MACHINE = -3, /* the file is for another architecture than that of the trace */
};

struct symbol {
	/* name of the function, owned by the handle; demangled if possible, not escaped */
	const char *function;
	uint64_t offset;  /* offset from the start of the function, in bytes */
	const char *file; /* source file; NULL: unknown */
	uint32_t line;
};

/*
 * Returns enum symbols_status. After an error *symbols is NULL. The other functions treat NULL as a file
 * without names.
 */
int symbols_open(struct symbols **symbols, const char *elf, const struct ktread_info *info);
void symbols_close(struct symbols *symbols);

/* Returns one sentence about the result of this thread's last symbols_open(). */
const char *symbols_message(void);

/*
 * Finds the code at an address of the running kernel. Inlined code belongs to the function that contains it,
 * with its own source line. Exceptions: for code that is inlined from a header, such as a lock function, the
 * source line is the call, unless the call is also in a header; for inlined code of ktrace, the source line
 * is the call of ktrace, or the call of the function from a header that contains it. Returns 0, or -1 if no
 * code is known there. Data is not code, even if it has a name.
 */
int symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol);

/* Does the same as symbols_find(), for an address of code or data, such as the address of a lock. */
int symbols_find_any(struct symbols *symbols, uint64_t address, struct symbol *symbol);

/*
 * Does the same as symbols_find(), for a return address: the source line is the line of the call; the offset
 * is the offset of the address itself.
 */
int symbols_find_call(struct symbols *symbols, uint64_t address, struct symbol *symbol);

/*
 * Calls `each` for every function, and every assembly symbol without a type, in no particular order.
 * Addresses are those of the running kernel. Names are as in the file. A size is 0 if the file does not state
 * it.
 */
void symbols_each(struct symbols *symbols,
		  void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
		  void *context);

/*
 * Finds the code or data that has this name in the file. Returns the number of addresses with the name. If
 * the number is 1, sets *address to the address in the running kernel, and *size to the size (0: unknown).
 */
unsigned symbols_named(struct symbols *symbols, const char *name, uint64_t *address, uint64_t *size);

/*
 * Writes to `text` names in the file that are similar to `name`: "; did you mean full?", or "" if there are
 * none. `size` of SUGGESTIONS_TEXT (event_name.h) is enough.
 */
void symbols_suggest(struct symbols *symbols, const char *name, char *text, size_t size);

/*
 * symbols_has() returns whether the address is in the kernel's image, symbols_has_code() whether it is in
 * an executable part of the image.
 */
int symbols_has(const struct symbols *symbols, uint64_t address);
int symbols_has_code(const struct symbols *symbols, uint64_t address);

/* Copies code from the file. Returns 0, or -1 if the file does not contain all of it. */
int symbols_code(const struct symbols *symbols, uint64_t address, void *bytes, size_t size);

/*
 * Returns whether the file is of another build than the traced kernel. Viewers mark names from such a file.
 */
int symbols_doubtful(const struct symbols *symbols);

/* ---- Call frame information ---- */

/*
 * Where a function has stored the registers of its caller, for one value of the program counter. CFA: DWARF's
 * name for the caller's stack pointer.
 */
struct symbols_frame {
	/* true: the CFA is the frame pointer plus `cfa`; false: the CFA is the stack pointer plus `cfa` */
	bool by_frame;
	bool is_outermost; /* the function has no caller */
	/*
	 * the return address is that of an instruction at which an interrupt or exception came, so it does
	 * not follow a call
	 */
	bool is_interrupt;
	/* true: the return address is at CFA + `back`; false: the return address is in the link register */
	bool back_stored;
	/* true: the caller's frame pointer is at CFA + `frame`; false: the frame pointer has not changed */
	bool frame_stored;
	int64_t cfa, back, frame;
};

/*
 * Returns the call frame information of the file for an address of the running kernel. Returns NULL if there
 * is none, or if struct symbols_frame cannot express it. `context`: a struct symbols, or NULL. The result is
 * valid until the next call.
 */
const struct symbols_frame *symbols_frame(void *context, uint64_t address);

/* ---- Demangling of names ---- */

/*
 * Makes names of C++ and Rust functions readable, with libiberty. To look up a name, or to compare it with a
 * user's input, use the name in the file; to show it, use demangled().
 *
 * Names come from untrusted files. Their length, the depth of their nesting and the length of the result are
 * limited; names beyond a limit stay unchanged. The result may contain any bytes of the file. Escape it
 * before printing.
 */

#define DEMANGLE_LENGTH 1024u /* maximum length of a name that is demangled, in bytes */
#define DEMANGLE_RESULT 4096u /* maximum length of a result, in bytes */
/*
 * maximum length of a result with template arguments, in bytes; a longer result is shown as "pay<...>",
 * without template arguments
 */
#define DEMANGLE_SHOWN 64u
#define DEMANGLE_NAMES 32768u /* maximum number of demangled names; further names stay unchanged */

/*
 * Returns the demangled name without parameters, or `name` itself if it is not mangled, cannot be demangled
 * or there is no memory. A demangled name is valid until the program ends. Requires: only one thread calls
 * this.
 */
const char *demangled(const char *name);

#endif
