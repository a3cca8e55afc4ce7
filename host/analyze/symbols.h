/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds functions and source lines for addresses of the traced kernel in its ELF file. The kernel may run at
 * other addresses than it was linked for. The trace has the address of its root in the running kernel, and
 * the file has the linked address of the root. The difference applies to the whole file. An address that is
 * in the file but not in the running kernel counts as unknown, because a program may be at that address. Also
 * demangles names, and walks stacks by the file's call frame information.
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
 * is the offset of the address itself. If no function contains the call, but one starts at the address, finds
 * that function: a kernel may give a new thread the address of a function as its return address.
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

/* ---- Walking a stack (stack_walk.c) ---- */

/*
 * Finds the return addresses on the stack of a CPU, by the kernel's call frame information or, for code
 * without such information, along the chain of frame pointers (rbp on x86_64, x29 on AArch64, s0 on RISC-V).
 * These functions do not read memory: a walk requests the bytes that it needs, and continues when the caller
 * has supplied them. The bytes of a guest are not trusted: a chain may loop, lead anywhere, or not exist.
 */

struct stack_registers {
	uint64_t pc, sp;
	uint64_t frame; /* the frame pointer */
	uint64_t link;	/* return address of a function that has not stored it on the stack; 0 on x86_64 */
	bool user;	/* the CPU runs a program, not the kernel */
};

#define STACK_PLACES 64u   /* maximum number of addresses that are found on a stack */
#define STACK_WINDOW 1024u /* maximum number of bytes that a walk requests at a time */

/* The reason why a walk has ended. */
enum stack_end {
	/*
	 * The walk has reached the outermost function of the kernel: call frame information says so, or a
	 * function has stored a return address or a frame pointer of zero, or of a program. A frame pointer
	 * of zero in a register shows nothing.
	 */
	STACK_END_WHOLE,
	STACK_END_UNREADABLE, /* memory of the stack could not be read */
	/*
	 * a frame pointer or a stack pointer is not valid, or nothing describes the frame of the last address
	 */
	STACK_END_BROKEN,
	STACK_END_DEEP, /* there were more than STACK_PLACES addresses */
	STACK_ENDS,
};

/*
 * Returns the call frame information for an address of code, NULL if there is none. The result is valid until
 * the next call.
 */
typedef const struct symbols_frame *stack_find_frame(void *context, uint64_t address);

struct stack_walk {
	uint16_t machine;
	/* addresses: first the pc, then return addresses, the innermost first */
	uint64_t place[STACK_PLACES];
	uint32_t places;
	bool done;
	enum stack_end end; /* how the walk has ended; valid if `done` is set */
	/*
	 * true: the caller of the innermost function was found by call frame information, so it cannot be
	 * missing
	 */
	bool exact;
	/* internal state of stack_walk.c */
	stack_find_frame *find;
	void *context;
	bool by_table; /* true: `table` describes the frame of the last address; false: `frame` does */
	struct symbols_frame table;
	uint64_t frame, link, stack; /* registers of the function at the last address; 0: unknown */
	uint32_t switches;
	bool is_next; /* the last address is that of an interrupted instruction, and does not follow a call */
	bool chained; /* a function of this stack has used its frame pointer for the chain of frames */
	bool high;    /* the kernel is in the upper half of the address space */
};

/* `find`: called with `context` during the walk; NULL: there is no call frame information. */
void stack_walk_begin(struct stack_walk *walk, uint16_t machine, const struct stack_registers *registers,
		      stack_find_frame *find, void *context);
/*
 * Sets *address and *size to the bytes that the walk needs next. They are within a page, unless a frame
 * crosses a page border. Returns false if the walk is done.
 */
bool stack_walk_wants(const struct stack_walk *walk, uint64_t *address, size_t *size);
/* Supplies the `size` bytes of memory at `address`. A size of 0 means that the memory cannot be read. */
void stack_walk_put(struct stack_walk *walk, uint64_t address, const unsigned char *bytes, size_t size);

#endif
