/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * State of kdump while it prints a trace, and functions that print values by their types.
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
	bool decimal; /* option -d: print no hexadecimal numbers */
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

#endif
