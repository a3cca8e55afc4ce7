/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A process trace that is being read: what is known of processes, the input, and the reader. */
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
 * Names of processes, and in FreeBSD's files their ABIs, from earlier records. The table has a constant size
 * and a few possible places for each process; if there are very many processes, older rows are overwritten.
 */

struct ktread_proc_process {
	uint32_t pid;
	uint32_t session; /* session in which it was recorded; rows of earlier sessions are free */
	uint32_t abi;
	char name[sizeof(((struct ktread_proc_record *)0)->name)];
};

struct ktread_proc_processes {
	struct ktread_proc_process *row; /* rows of the table; NULL: no process was recorded */
	uint32_t session;		 /* from 1 on */
	uint32_t victim;		 /* place whose row is overwritten next */
	/* the row found last, which is usually looked for again; NULL: none */
	const struct ktread_proc_process *last;
};

/* Forgets all processes. */
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

/* Returns the row of a process, a new one if there is none; NULL if memory is short. */
struct ktread_proc_process *ktread_proc_process_enter(struct ktread_proc_processes *processes, uint32_t pid);

/*
 * The input: the bytes of a process trace from first to last, from a file or a pipe, unpacked if zstd packed
 * it. They are seen through a window of bounded size. So a trace may have any length, and may come from
 * another program.
 *
 * Invariant: begin <= end <= room <= KTREAD_PROC_WINDOW_MOST, and `offset` is that of window[begin].
 */

/* Most bytes that one read() asks for. */
#define KTREAD_PROC_CHUNK (UINT32_C(64) << 10)
/*
 * The most bytes that ktread_proc_want() may ask for: two records of the largest size with their heads. This
 * is needed if one of them begins inside the other's payload.
 */
#define KTREAD_PROC_WANT_MOST	(2 * (KTRX_PROC_PAYLOAD_MAX + 4096))
#define KTREAD_PROC_WINDOW_MOST (KTREAD_PROC_WANT_MOST + KTREAD_PROC_CHUNK)

struct ktread_proc_unpacker;

struct ktread_proc_input {
	char *name;
	int descriptor;
	off_t start;  /* the descriptor's position when it was opened; -1: a pipe */
	bool follow;  /* more bytes may come after the end */
	bool closed;  /* the pipe's write end is closed: no more bytes will come */
	bool started; /* the reader has found out whether the input is packed */
	bool ended;   /* the last read brought nothing */
	int failed;   /* error after which nothing more is read; its text is in `failure`; 0: none */
	uint8_t *window;
	size_t begin, end, room;
	uint64_t offset;
	uint64_t to_skip; /* bytes to step over before more is read; if not 0, no bytes are at hand */
	struct ktread_proc_unpacker *unpacker; /* NULL: not packed */
	char failure[KTREAD_MESSAGE_SIZE];
};

/* Opens `path`; "-" is standard input. Returns 0, or an error after which there is nothing to close. */
int ktread_proc_input_open(struct ktread_proc_input *input, const char *path, bool follow);
void ktread_proc_input_close(struct ktread_proc_input *input);
int ktread_proc_input_rewind(struct ktread_proc_input *input);
/* Implements ktread_proc_want() if bytes have to be read. */
bool ktread_proc_input_fill(struct ktread_proc_input *input, size_t bytes);
/* Implements ktread_proc_skip() if not all of the bytes are at hand. */
void ktread_proc_input_skip(struct ktread_proc_input *input, uint64_t bytes);

/* Returns how many bytes can be used without reading. */
static inline size_t ktread_proc_at_hand(const struct ktread_proc_input *input)
{
	return input->end - input->begin;
}

/* Returns the bytes at hand. The pointer is valid until the next ktread_proc_want(). */
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

/* Returns true if more bytes may come later. */
static inline bool ktread_proc_may_grow(const struct ktread_proc_input *input)
{
	return input->follow && !input->closed && !input->failed;
}

/* Steps over `bytes` bytes, which need not be at hand. */
static inline void ktread_proc_skip(struct ktread_proc_input *input, uint64_t bytes)
{
	if (bytes <= ktread_proc_at_hand(input)) {
		input->begin += bytes;
		input->offset += bytes;
	} else {
		ktread_proc_input_skip(input, bytes);
	}
}

/*
 * A process trace that is being read. proc.c owns it. The reader of its format finds the next record in the
 * input.
 */

/* Most bytes of a record's payload that are kept. A longer payload is cut. */
#define KTREAD_PROC_PAYLOAD_MOST KTRX_PROC_PAYLOAD_MAX

struct ktread_proc_reader {
	enum ktread_proc_format format;
	const char *name;
	uint16_t machine;			 /* ELF e_machine; 0: the trace states it */
	uint8_t address_size;			 /* bytes of a pointer */
	const struct ktread_proc_layout *layout; /* layout of a BSD's head */
	const struct ktread_proc_layout
		*versioned; /* layout of a head with KTREAD_BSD_VERSIONED; NULL: the format has none */
	/* Reads what precedes the first record, if it is there. Returns 0 or an error. */
	int (*begin)(struct ktread_proc *trace);
	/* Sets trace->record and trace->used. Returns 1, 0 at the end (perhaps only for now), or an error. */
	int (*next)(struct ktread_proc *trace, const struct ktread_proc_reader *reader);
};

struct ktread_proc {
	struct ktread_proc_input input;
	struct ktread_proc_options options;
	const struct ktread_proc_reader *reader; /* reader of its format; NULL: not known yet */
	struct ktread_proc_info info;
	struct ktread_proc_record record;
	uint64_t arg[KTREAD_PROC_ARGS_MOST];
	uint64_t used; /* bytes of the record that was returned last; the next call steps over them */
	struct ktread_proc_processes processes;
	bool ended; /* nothing more is read, even if more bytes follow */

	/* The following members are used only for our own format. */
	uint32_t record_head; /* bytes before the payload */
	bool known;	      /* the next record was already checked when the previous record was taken */
	uint64_t damage;      /* offset of the damage that the reader is stepping over */
	bool damaged;	      /* the reader is stepping over damage */
	/*
	 * size of the record that was returned last if the end of the file cuts it short; 0: that record was
	 * whole
	 */
	size_t torn;
	char *table;
	size_t table_size, table_room;
	uint64_t tabled; /* TABLE records before this offset are in `table` */

	char message[KTREAD_MESSAGE_SIZE];
};

extern const struct ktread_proc_reader ktread_proc_ktrx;
/* The readers of the BSDs' formats, the most likely first. The last element has format KTREAD_PROC_AUTO. */
extern const struct ktread_proc_reader ktread_proc_bsd[];

/*
 * Finds the format of the bytes at hand. Returns 1, 0 if there are too few bytes to decide, now or ever, or
 * an error.
 */
int ktread_proc_detect(struct ktread_proc *trace, const struct ktread_proc_reader **reader);

/*
 * Reports damage after which nothing can be read: sets the message, with file and offset. Returns
 * KTREAD_E_FORMAT.
 */
int ktread_proc_stop(struct ktread_proc *trace, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Handles a record of which bytes are missing. Returns 0 if these bytes may still come. Otherwise returns an
 * error, and nothing more is read. Requires: the input has fewer bytes than the record's `bytes`.
 */
int ktread_proc_cut_short(struct ktread_proc *trace, uint64_t bytes);

/* Sets the payload, and makes all of it the data. */
static inline void ktread_proc_set_payload(struct ktread_proc_record *record, const uint8_t *payload,
					   uint32_t size)
{
	record->payload = record->data = payload;
	record->payload_size = record->data_size = size;
}

/* Makes everything after the first `bytes` bytes of the payload the data. */
static inline void ktread_proc_set_data(struct ktread_proc_record *record, uint32_t bytes)
{
	record->data = record->payload + bytes;
	record->data_size = record->payload_size - bytes;
}

/*
 * Takes a name and its NUL at offset `at` of the payload, for STRUCT and STRUCT_ARRAY; the rest is the data.
 * Sets the data to be one element, which the caller may change. Returns false if the name has no NUL.
 */
bool ktread_proc_set_structure(struct ktread_proc_record *record, uint32_t at);
/* Sets the size of an element, and how many whole elements the data has. */
void ktread_proc_set_elements(struct ktread_proc_record *record, uint64_t size);

/* Copies a name of at most `size` bytes, up to a NUL. */
static inline void ktread_proc_set_name(char *name, const uint8_t *from, size_t size)
{
	const size_t most = sizeof(((struct ktread_proc_record *)0)->name) - 1;
	size_t length = strnlen((const char *)from, size < most ? size : most);

	memcpy(name, from, length);
	name[length] = '\0';
}

/* Shared by the sources of our own format's reader. */

/*
 * Returns true if the record at the input's current position has a size that no kernel gives to its type.
 * Then the records after it may be part of its payload by mistake. Looks only at the bytes that are at hand.
 */
bool ktread_proc_ktrx_is_doubtful(const struct ktread_proc *trace);

/* Decodes the payload of trace->record by its type. Returns false if the payload cannot be of that type. */
bool ktread_proc_ktrx_payload(struct ktread_proc *trace);

/* Forgets the text of the TABLE records. */
void ktread_proc_table_clear(struct ktread_proc *trace);
/* Adds the TABLE records at the input's current position, as far as their bytes are at hand. */
void ktread_proc_table_gather(struct ktread_proc *trace);
/* Adds the TABLE record at `offset`, unless ktread_proc_table_gather() has added it. */
void ktread_proc_table_add(struct ktread_proc *trace, uint64_t offset, const uint8_t *text, uint32_t size);

/*
 * A record's head in place in the input, at any address. Loading its fields one by one costs less than
 * copying the head.
 */
struct __attribute__((packed, may_alias)) ktread_proc_ktrx_record {
	struct ktrx_proc_record is;
};

/*
 * Returns true if this can be a record's head: the mark and the size are possible. Reads
 * KTREAD_PROC_MARKED_LEAST bytes.
 */
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

/* Returns the size of a record in the file: head, payload and padding. */
static inline size_t ktread_proc_ktrx_size(const struct ktread_proc *trace, uint32_t payload)
{
	return trace->record_head + (((size_t)payload + 7) & ~(size_t)7);
}

/*
 * The ktrace files of DragonFly and FreeBSD. Heads have no mark, and the payload follows its head. Both are
 * laid out as the machine's compiler lays out the kernel's structures.
 */

/* Bits in a head's type field. */
#define KTREAD_BSD_LOST	     0x8000u /* FreeBSD: at least one record was lost before this one */
#define KTREAD_BSD_VERSIONED 0x4000u /* FreeBSD: the head has a version */

/* The layout of a head. All heads have the payload's size at offset 0 and the type at offset 4. */
struct ktread_proc_layout {
	uint8_t head;	  /* size of the head in bytes */
	uint8_t word;	  /* bytes of a pointer, a register, or a part of the time */
	uint8_t pid, tid; /* offsets */
	uint8_t tid_size;
	uint8_t comm, comm_size;
	uint8_t time;	  /* offset of a word of seconds and a word of microseconds */
	bool nanoseconds; /* the second word is nanoseconds */
	uint8_t cpu;	  /* offset of 32 bits; 0: none */
	/* offset of DragonFly's 16 bits, of which the upper eight are the CPU; 0: none */
	uint8_t flags;
	uint16_t type_flags; /* bits of the type field that are not part of the number */
	uint32_t types;	     /* bit n: the kernel writes type n */
};

/* A decoded head. */
struct ktread_proc_bsd_head {
	int32_t size; /* size of the payload in the file */
	uint16_t type;
	bool lost;
	uint32_t pid, tid, cpu;
	int64_t seconds;
	uint64_t part; /* fraction of a second, in the layout's unit */
};

/* Returns the layout of the head that begins with these eight bytes. */
const struct ktread_proc_layout *ktread_proc_bsd_layout(const struct ktread_proc_reader *reader,
							const uint8_t *bytes);
void ktread_proc_bsd_take_head(const struct ktread_proc_layout *layout, const uint8_t *bytes,
			       struct ktread_proc_bsd_head *head);
/* Decodes the payload of trace->record by its type. Returns false if the payload cannot be of that type. */
bool ktread_proc_bsd_payload(struct ktread_proc *trace, const struct ktread_proc_layout *layout);
/* Returns true if a kernel writes such a payload, of which `left` bytes are at hand. */
bool ktread_proc_bsd_fits(const struct ktread_proc_layout *layout, const struct ktread_proc_bsd_head *head,
			  const uint8_t *payload, size_t left);

/* Words in the file, at any address. */
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

/* Returns a pointer or an unsigned register. */
static inline uint64_t ktread_bsd_word(const struct ktread_proc_layout *layout, const uint8_t *bytes)
{
	return layout->word == 8 ? ktread_bsd_64(bytes) : ktread_bsd_32(bytes);
}

/* Returns a signed register or a time. */
static inline int64_t ktread_bsd_signed_word(const struct ktread_proc_layout *layout, const uint8_t *bytes)
{
	return layout->word == 8 ? (int64_t)ktread_bsd_64(bytes) : (int32_t)ktread_bsd_32(bytes);
}

#endif
