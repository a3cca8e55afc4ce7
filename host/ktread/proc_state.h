/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A process trace that is being read: what it said of processes, where its bytes come from, and the reader
 * itself.
 */
#ifndef KTREAD_PROC_STATE_H
#define KTREAD_PROC_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "ktread/proc.h"
#include "ktrx/proc.h"
#include "message.h"

/*
 * What earlier records said of processes: their names, and FreeBSD's flags. The table has constant size and a
 * few possible places for each process; if there are very many processes, older rows are overwritten.
 */

struct ktread_proc_process {
	uint32_t pid;
	uint32_t session; /* in which it was recorded; rows of earlier sessions are free */
	uint32_t abi;
	char name[sizeof(((struct ktread_proc_record *)0)->name)];
};

struct ktread_proc_processes {
	struct ktread_proc_process *row;	/* NULL: no process was recorded */
	uint32_t session;			/* from 1 on */
	uint32_t victim;			/* place of the next one to be forgotten */
	const struct ktread_proc_process *last; /* found last, and usually looked for again; NULL: none */
};

void ktread_proc_processes_forget(struct ktread_proc_processes *processes);
/* Looks a process up in the table, and sets `last` to it. Returns NULL if nothing is known of it. */
const struct ktread_proc_process *ktread_proc_process_look(struct ktread_proc_processes *processes,
							   uint32_t pid);

static inline const struct ktread_proc_process *
ktread_proc_process_find(struct ktread_proc_processes *processes, uint32_t pid)
{
	const struct ktread_proc_process *last = processes->last;

	if (last && last->pid == pid && last->session == processes->session)
		return last;
	return ktread_proc_process_look(processes, pid);
}

/* Its row, a new one if need be. NULL: out of memory. */
struct ktread_proc_process *ktread_proc_process_enter(struct ktread_proc_processes *processes, uint32_t pid);

/*
 * The bytes of a process trace from first to last: a file or a pipe, unpacked if zstd packed it, seen through
 * a window of bounded size, so that a trace may be as long as it likes and may come from another program.
 *
 * Invariant: begin <= end <= room <= KTREAD_PROC_WINDOW_MOST, and `offset` is that of window[begin].
 */

/* Bytes asked of the system at once. */
#define KTREAD_PROC_CHUNK (UINT32_C(64) << 10)
/*
 * The most that may be wanted: two of the largest records with their heads, one inside the other's payload at
 * worst.
 */
#define KTREAD_PROC_WANT_MOST	(2 * (KTRX_PROC_PAYLOAD_MAX + 4096))
#define KTREAD_PROC_WINDOW_MOST (KTREAD_PROC_WANT_MOST + KTREAD_PROC_CHUNK)

struct ktread_proc_unpacker;

struct ktread_proc_input {
	char *name;
	int descriptor;
	off_t start;  /* where the descriptor stood; -1: of a pipe */
	bool follow;  /* the end is only the end for now … */
	bool closed;  /* … but of a pipe that nobody has open for writing any more */
	bool started; /* it is known whether it is packed */
	bool ended;   /* nothing came when last asked */
	int failed;   /* why nothing more will come: an error, its text in `failure`; 0 if none */
	uint8_t *window;
	size_t begin, end, room;
	uint64_t offset;
	uint64_t owed; /* to be stepped over before more is read; nothing is at hand then */
	struct ktread_proc_unpacker *unpacker; /* NULL: not packed */
	char failure[KTREAD_MESSAGE_SIZE];
};

/* "-" is standard input. What failed to open is closed. */
int ktread_proc_input_open(struct ktread_proc_input *input, const char *path, bool follow);
void ktread_proc_input_close(struct ktread_proc_input *input);
int ktread_proc_input_rewind(struct ktread_proc_input *input);
/* ktread_proc_want() where the bytes are not there yet. */
bool ktread_proc_input_fill(struct ktread_proc_input *input, size_t bytes);
/* ktread_proc_pass() beyond the window. */
void ktread_proc_input_owe(struct ktread_proc_input *input, uint64_t bytes);

static inline size_t ktread_proc_at_hand(const struct ktread_proc_input *input)
{
	return input->end - input->begin;
}

/* The bytes at hand; moves with ktread_proc_want(). */
static inline const uint8_t *ktread_proc_bytes(const struct ktread_proc_input *input)
{
	return input->window + input->begin;
}

/*
 * Reads until `bytes` bytes are at hand, KTREAD_PROC_WANT_MOST at most. Returns false if the input ends
 * before that or reading failed; that error is to be reported after the bytes at hand are used.
 */
static inline bool ktread_proc_want(struct ktread_proc_input *input, size_t bytes)
{
	return ktread_proc_at_hand(input) >= bytes || ktread_proc_input_fill(input, bytes);
}

/* Whether more may come later than is at hand. */
static inline bool ktread_proc_may_grow(const struct ktread_proc_input *input)
{
	return input->follow && !input->closed && !input->failed;
}

/* Steps over bytes, at hand or not. */
static inline void ktread_proc_pass(struct ktread_proc_input *input, uint64_t bytes)
{
	if (bytes <= ktread_proc_at_hand(input)) {
		input->begin += bytes;
		input->offset += bytes;
	} else {
		ktread_proc_input_owe(input, bytes);
	}
}

/*
 * A process trace that is being read. proc.c owns it; a format's reader finds the next record in its input.
 */

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
	/* bytes that the record would have that was returned last, cut short by the file's end; 0 */
	size_t torn;
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

/*
 * For damage after which nothing can be read: sets the message, with file and offset. Returns
 * KTREAD_E_FORMAT.
 */
int ktread_proc_stop(struct ktread_proc *trace, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Requires: the input has fewer than the `bytes` bytes of the record where it stands. Returns 0 if the rest
 * may still come, else an error, after which nothing more is read.
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
 * STRUCT and STRUCT_ARRAY: a name and its NUL stand from `at` on, and behind them the data, which is one
 * element until the caller says otherwise. False: the name has no end.
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

/* What the parts of our own format's reader need of one another. */

/*
 * Whether the record at the input's begin, as much of it as is there, has a size that no kernel gives one of
 * its type: what follows may have become a part of it.
 */
bool ktread_proc_ktrx_is_doubtful(const struct ktread_proc *trace);

/* Fills in what the type of trace->record says of its payload. False: it cannot be of that type. */
bool ktread_proc_ktrx_payload(struct ktread_proc *trace);

/* The text of a session's TABLE records. */
void ktread_proc_table_clear(struct ktread_proc *trace);
/* Those that stand at the input's begin, as far as they are there. */
void ktread_proc_table_gather(struct ktread_proc *trace);
/* One that was come to, if it was not gathered. */
void ktread_proc_table_add(struct ktread_proc *trace, uint64_t offset, const uint8_t *text, uint32_t size);

/*
 * A record's head where it lies in the input, at any address: its fields are loaded singly, which costs less
 * than a copy.
 */
struct __attribute__((packed, may_alias)) ktread_proc_ktrx_record {
	struct ktrx_proc_record is;
};

/* Whether a record's head, so many bytes of one at least, may be one. */
#define KTREAD_PROC_MARKED_LEAST 28u
static inline bool ktread_proc_ktrx_is_record(const uint8_t *bytes)
{
	uint32_t size;
	uint16_t mark;

	memcpy(&size, bytes + offsetof(struct ktrx_proc_record, size), sizeof(size));
	memcpy(&mark, bytes + offsetof(struct ktrx_proc_record, mark), sizeof(mark));
	return mark == KTRX_PROC_MARK && size <= KTRX_PROC_PAYLOAD_MAX;
}

static inline bool ktread_proc_ktrx_is_magic(const uint8_t *bytes)
{
	uint32_t magic, word;

	memcpy(&magic, KTRX_PROC_MAGIC, sizeof(magic));
	memcpy(&word, bytes, sizeof(word));
	return word == magic;
}

/* Of a record in the file: head, payload and zeroes. */
static inline size_t ktread_proc_ktrx_size(const struct ktread_proc *trace, uint32_t payload)
{
	return trace->record_head + (((size_t)payload + 7) & ~(size_t)7);
}

/*
 * The ktrace files of DragonFly and FreeBSD: heads without a mark, each with the payload behind it, laid out
 * as a machine's compiler laid out the kernel's structures.
 */

/* Bits of a type. */
#define KTREAD_BSD_LOST	     0x8000u /* FreeBSD: at least one record was, before this one */
#define KTREAD_BSD_VERSIONED 0x4000u /* FreeBSD: the head has a version */

/* Where a head has what. All have the payload's size at 0 and the type at 4. */
struct ktread_proc_layout {
	uint8_t head;	  /* its bytes */
	uint8_t word;	  /* bytes of a pointer, a register, or a part of the time */
	uint8_t pid, tid; /* offsets … */
	uint8_t tid_size;
	uint8_t comm, comm_size;
	uint8_t time;	     /* a word of seconds, a word of … */
	bool nanoseconds;    /* … these, or microseconds */
	uint8_t cpu;	     /* 32 bits; 0: none */
	uint8_t flags;	     /* DragonFly's 16 bits, of which the upper eight are the CPU; 0: none */
	uint16_t type_flags; /* bits beside the type's number */
	uint32_t types;	     /* bits of the types that the kernel writes */
};

/* A head, taken apart. */
struct ktread_proc_bsd_head {
	int32_t size; /* of the payload, as the file says */
	uint16_t type;
	bool lost;
	uint32_t pid, tid, cpu;
	int64_t seconds;
	uint64_t part; /* of a second, in the layout's unit */
};

/* Where the head that begins with these eight bytes has what. */
const struct ktread_proc_layout *ktread_proc_bsd_layout(const struct ktread_proc_reader *reader,
							const uint8_t *bytes);
void ktread_proc_bsd_take_head(const struct ktread_proc_layout *layout, const uint8_t *bytes,
			       struct ktread_proc_bsd_head *head);
/* Fills in what the type of trace->record says of its payload. False: it cannot be of that type. */
bool ktread_proc_bsd_payload(struct ktread_proc *trace, const struct ktread_proc_layout *layout);
/* Whether a kernel writes such a payload, of which `left` bytes are there. */
bool ktread_proc_bsd_fits(const struct ktread_proc_layout *layout, const struct ktread_proc_bsd_head *head,
			  const uint8_t *payload, size_t left);

/* Words of a file. */
static inline uint16_t ktread_bsd_16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint32_t ktread_bsd_32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint64_t ktread_bsd_64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* A pointer or an unsigned register. */
static inline uint64_t ktread_bsd_word(const struct ktread_proc_layout *layout, const uint8_t *bytes)
{
	return layout->word == 8 ? ktread_bsd_64(bytes) : ktread_bsd_32(bytes);
}

/* A signed register or a time. */
static inline int64_t ktread_bsd_signed_word(const struct ktread_proc_layout *layout, const uint8_t *bytes)
{
	return layout->word == 8 ? (int64_t)ktread_bsd_64(bytes) : (int32_t)ktread_bsd_32(bytes);
}

#endif
