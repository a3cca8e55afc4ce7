/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A process trace that is being read. proc.c owns it; a format's reader finds the next record in its input. */
#ifndef KTREAD_PROC_STATE_H
#define KTREAD_PROC_STATE_H

#include <string.h>

#include "ktread/proc.h"
#include "message.h"
#include "proc_input.h"
#include "proc_names.h"

/* Payload that is kept of one record; what a format allows beyond that is cut. */
#define KTREAD_PROC_PAYLOAD_MOST KTRX_PROC_PAYLOAD_MAX

struct ktread_proc_reader {
	enum ktread_proc_format format;
	const char *name;
	uint16_t machine;			 /* ELF e_machine; 0: the trace says */
	uint8_t address_size;			 /* bytes of a pointer */
	const struct ktread_proc_layout *layout; /* of a BSD's head … */
	const struct ktread_proc_layout
		*versioned; /* … and of one that says it has a version; NULL: none does */
	/* Takes in what stands before the first record, if it is there. 0, or an error. */
	int (*begin)(struct ktread_proc *trace);
	/* Sets trace->record and trace->used: 1, 0 at the end for now, or an error. */
	int (*next)(struct ktread_proc *trace, const struct ktread_proc_reader *reader);
};

struct ktread_proc {
	struct ktread_proc_input input;
	struct ktread_proc_options options;
	const struct ktread_proc_reader *reader; /* NULL: it could not be told yet */
	struct ktread_proc_info info;
	struct ktread_proc_record record;
	uint64_t arg[KTREAD_PROC_ARGS_MOST];
	uint64_t used; /* bytes of the record that was returned, to be stepped over by the next call */
	struct ktread_proc_processes processes;
	bool ended; /* nothing more can be read, whatever may follow */

	/* Of our format: */
	uint32_t record_head; /* bytes before the payload */
	bool known; /* what the input begins with was seen to be a record when the one before it was taken */
	uint64_t damage; /* where damage was met that is still to be stepped over … */
	bool damaged;	 /* … if there is any */
	size_t torn; /* bytes that the record would have that was returned last, cut short by the file's end; 0 */
	char *table;
	size_t table_size, table_room;
	uint64_t tabled; /* up to where TABLE records are in `table` */

	char message[KTREAD_MESSAGE_SIZE];
};

extern const struct ktread_proc_reader ktread_proc_ktrx;
/* Those of the BSDs, most likely first, up to one of KTREAD_PROC_AUTO. */
extern const struct ktread_proc_reader ktread_proc_bsd[];

/* Which format the bytes at hand have: 1, 0 if there are too few to say so, now or ever, or an error. */
int ktread_proc_detect(struct ktread_proc *trace, const struct ktread_proc_reader **reader);

/* What cannot be read on behind: sets the text, with file and offset. KTREAD_E_FORMAT. */
int ktread_proc_stop(struct ktread_proc *trace, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * The input has less than the `bytes` of the record at its begin: 0 if they may come yet, else an error, behind which
 * nothing more will be read.
 */
int ktread_proc_cut_short(struct ktread_proc *trace, uint64_t bytes);

/* Sets the payload, and all of it as data, until a type says otherwise. */
static inline void ktread_proc_set_payload(struct ktread_proc_record *record, const uint8_t *payload,
					   uint32_t size)
{
	record->payload = record->data = payload;
	record->payload_size = record->data_size = size;
}

/* What lies behind the first `bytes` of the payload is data. */
static inline void ktread_proc_set_data(struct ktread_proc_record *record, uint32_t bytes)
{
	record->data = record->payload + bytes;
	record->data_size = record->payload_size - bytes;
}

/*
 * STRUCT and STRUCT_ARRAY: a name and its NUL stand from `at` on, and behind them the data, which is one element until the
 * caller says otherwise. False: the name has no end.
 */
bool ktread_proc_set_structure(struct ktread_proc_record *record, uint32_t at);
/* How many elements of a size are there. */
void ktread_proc_set_elements(struct ktread_proc_record *record, uint64_t size);

/* Sets the record's name, of at most `size` bytes or up to a NUL. */
static inline void ktread_proc_set_name(char *name, const uint8_t *from, size_t size)
{
	const size_t most = sizeof(((struct ktread_proc_record *)0)->name) - 1;
	size_t length = strnlen((const char *)from, size < most ? size : most);

	memcpy(name, from, length);
	name[length] = '\0';
}

#endif
