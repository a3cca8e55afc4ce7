/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What kdump knows of a trace while it shows it, and values in the words of their types. */
#ifndef KDUMP_CONTEXT_H
#define KDUMP_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "base/ticks.h"
#include "calls/tables.h"
#include "ktread/proc.h"

/* Values in the words of their types, in whichever way a line has them. */

enum kdump_style {
	KDUMP_STYLE_BSD,   /* as kdump of the BSDs: 0x601<O_WRONLY|O_CREAT|O_TRUNC>, numbers in hexadecimal */
	KDUMP_STYLE_PLAIN, /* as strace: O_WRONLY|O_CREAT|O_TRUNC, numbers by their type */
	KDUMP_STYLE_JSON,  /* the same; what is no number is a string */
};

struct kdump_words {
	struct calls_table *table;
	enum kdump_style style;
	bool decimal; /* -d: no hexadecimal numbers */
	bool raw;     /* -n: no names */
};

#define KDUMP_WORDS_MOST 1200 /* bytes that a value takes */

/* `type` NULL: nothing is known of it. */
char *kdump_put_value(char *at, const struct kdump_words *words, const struct calls_type *type,
		      uint64_t value);

/* "0x1f", "0", and with -d "31", "-1": how the BSDs print a word. */
char *kdump_put_word(char *at, const struct kdump_words *words, uint64_t value);
/* Octal, a zero in front. */
char *kdump_put_octal(char *at, uint32_t value);
/*
 * Bits by their names, A|B, what has none in hexadecimal; "0" for none at all. No brackets, no quotation
 * marks.
 */
char *kdump_put_flags(char *at, const struct calls_type *type, uint64_t value);
/* "SIGINT", or "SIG 99". */
char *kdump_put_signal(char *at, const struct kdump_words *words, uint32_t number);
/* Why a signal was sent; NULL if the table does not say. */
const char *kdump_code_name(const struct calls_table *table, uint32_t signal, int32_t code);
/* A name out of a table, which needs no escaping and is no longer than CALLS_NAME. Writes a NUL behind it. */
char *kdump_put_name(char *at, const char *name);

/*
 * What all forms of output share: the trace, the table that goes with it, the time scale, what was asked for.
 * A trace may hold several sessions, each with a head of its own; kdump_context_update() keeps pace.
 */

struct kdump_options {
	bool decimal;	    /* -d */
	bool raw;	    /* -n */
	bool fixed;	    /* -j */
	bool threads;	    /* -H */
	bool cpus;	    /* -c */
	bool abi;	    /* -A */
	bool numbers;	    /* -S */
	bool resolve;	    /* -r */
	bool no_data;	    /* -s */
	bool arguments;	    /* --names */
	bool absolute;	    /* -T */
	bool elapsed;	    /* -E */
	bool relative;	    /* -R */
	uint64_t data_most; /* -m; 0: all, KDUMP_DATA_USUAL: as the format's own kdump does */
	unsigned columns;   /* of the screen, for data */
	const char *table;  /* text of --table, NULL: as the trace says */
};
#define KDUMP_DATA_USUAL UINT64_MAX

/*
 * What records said of the ABI: in traces of FreeBSD that of a process, in KTRX that of a thread's last call.
 * Of two in one place the later is known.
 */
#define KDUMP_ABIS 1024u
struct kdump_abi {
	uint32_t id, flags;
};

/* KDUMP_UNKNOWN: calls of which no table is known. */
enum kdump_foreign { KDUMP_FREEBSD32, KDUMP_LINUX32, KDUMP_LINUX64, KDUMP_UNKNOWN, KDUMP_FOREIGN };

/* Who made a record, as text: as a rule that of the record before. */
struct kdump_who {
	uint32_t pid, tid;
	char name[sizeof(((struct ktread_proc_record *)0)->name)];
	bool dragonfly;
	uint8_t length; /* 0: there was none */
	char text[200];
};

struct kdump_descriptors;

struct kdump_context {
	const struct kdump_options *options;
	struct base_output *out;
	struct ktread_proc *trace;
	const struct ktread_proc_info *info;
	struct kdump_words words; /* with the table by which the present record is shown */

	/* Of the present session: */
	uint64_t heads, tables;	   /* when it was last looked at */
	unsigned growths;	   /* of its table, behind its first records */
	struct calls_table *table; /* the kernel's */
	const char *text;	   /* that it was made of; NULL: one that does not last */
	uint16_t machine;	   /* … and for which */
	uint8_t address_size;
	enum ktread_proc_format format;
	bool dragonfly; /* lines as its kdump has them */
	bool ktrx;
	bool own_table; /* the trace brought one */
	/* Calls of FreeBSD's processes that are not as its kernel; NULL: not asked for. */
	struct calls_table *foreign[KDUMP_FOREIGN];
	struct base_ticks_scale scale;
	struct kdump_abi abi[KDUMP_ABIS];
	bool mixed; /* of KTRX: there are programs of another ABI than their kernel's */

	/* What descriptors of processes lead to; NULL: the form does not show it. */
	const struct kdump_descriptors *descriptors;
	uint32_t pid; /* of the present record */

	struct kdump_who who;	  /* that was put last */
	uint64_t first, previous; /* stamps, for -E and -R */
	bool any;		  /* is there a first one? */
};

/* 0, or a negative KTREAD_E_MEMORY. The trace remains the caller's. */
int kdump_context_open(struct kdump_context *context, const struct kdump_options *options,
		       struct ktread_proc *trace, struct base_output *out, enum kdump_style style);
void kdump_context_close(struct kdump_context *context);

/* Takes over what another head or table says. 0, or KTREAD_E_MEMORY. */
int kdump_context_take_session(struct kdump_context *context);

/* Takes over what a record says of its program's ABI. */
void kdump_context_take_abi(struct kdump_context *context, const struct ktread_proc_record *record);

/* Before each record: takes over what it says of its process, and as above. */
static inline int kdump_context_update(struct kdump_context *context, const struct ktread_proc_record *record)
{
	int result = 0;

	context->pid = record->pid;
	/* A file that was empty at first has no format before its first record. */
	if (context->heads != context->info->heads || context->tables != context->info->tables ||
	    context->format != context->info->format)
		result = kdump_context_take_session(context);
	kdump_context_take_abi(context, record);
	return result;
}

/* As in records of calls; 0 if unknown. */
uint32_t kdump_context_abi(const struct kdump_context *context, uint32_t pid, uint32_t tid);
/* Whose calls a thread makes: KDUMP_FOREIGN stands for its kernel's own. */
enum kdump_foreign kdump_context_foreign(const struct kdump_context *context, uint32_t pid, uint32_t tid);
struct calls_table *kdump_context_table(struct kdump_context *context, enum kdump_foreign whose);
/* Both in one: the table of a thread's calls. Its errors and signals are the kernel's in any case. */
struct calls_table *kdump_context_calls(struct kdump_context *context, uint32_t pid, uint32_t tid);

/* FreeBSD's sv_flags. */
#define KDUMP_SV_ABI	 0xffu
#define KDUMP_SV_LINUX	 3u
#define KDUMP_SV_FREEBSD 9u
#define KDUMP_SV_ILP32	 0x100u
#define KDUMP_SV_LP64	 0x200u

/* The times that were asked for, each with a blank behind it. */
char *kdump_put_times(char *at, struct kdump_context *context, uint64_t stamp);
/* "12.345678", with as many digits as the format has. */
char *kdump_put_duration(char *at, const struct kdump_context *context, uint64_t ticks);
/* In nanoseconds; ticks where nothing is known of their length. */
uint64_t kdump_nanoseconds(const struct kdump_context *context, uint64_t ticks);
/* Nanoseconds since 1970, or since the counter began, where its wall time is not known. */
uint64_t kdump_absolute(const struct kdump_context *context, uint64_t stamp);

/* "open", "[77]" if the table does not have it; with -S "open[5]". */
char *kdump_put_call_name(char *at, const struct kdump_context *context, struct calls_table *calls,
			  uint32_t number);

#endif
