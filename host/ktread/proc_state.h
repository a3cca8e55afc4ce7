/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A process trace that is being read: its input, the reader of its format, and the processes that have
 * occurred.
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
 * Names of processes, and in FreeBSD's files also ABIs of processes, from earlier records. The table has a
 * fixed size, and each process has only a few possible rows. If there are very many processes, older rows are
 * overwritten.
 */

struct ktread_proc_process {
	uint32_t pid;
	/* session in which the process was recorded; rows of earlier sessions count as free */
	uint32_t session;
	uint32_t abi;
	char name[sizeof(((struct ktread_proc_record *)0)->name)];
};

struct ktread_proc_processes {
	struct ktread_proc_process *row; /* rows of the table; NULL: no process has been recorded yet */
	uint32_t session;		 /* number of the current session, counted from 1 */
	/* index, within a set of rows, of the row that will be overwritten next */
	uint32_t victim;
	/* the row that was found last, because the next record is usually of the same process; NULL: none */
	const struct ktread_proc_process *last;
};

/* Forgets all processes. */
void ktread_proc_processes_forget(struct ktread_proc_processes *processes);
/* Looks up a process in the table, and sets `last` to its row. Returns NULL if the process has no row. */
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

/* Returns the row of a process. Adds the row if necessary. Returns NULL if out of memory. */
struct ktread_proc_process *ktread_proc_process_enter(struct ktread_proc_processes *processes, uint32_t pid);

/*
 * The input: the bytes of a process trace from first to last. The bytes come from a file or a pipe, and are
 * unpacked if they are compressed with zstd. The reader uses a window of limited size, which is a buffer that
 * moves over the bytes, so a trace may have any length, and another program may write it at the same time.
 *
 * Invariant: begin <= end <= room <= KTREAD_PROC_WINDOW_MOST, and `offset` is the offset in the trace of
 * window[begin].
 */

/* maximum number of bytes that one call of read() asks for */
#define KTREAD_PROC_CHUNK (UINT32_C(256) << 10)
/*
 * Maximum number of bytes that ktread_proc_want() may ask for: two records of the largest size with their
 * heads. This number of bytes is needed if one record seems to begin inside the payload of another record.
 */
#define KTREAD_PROC_WANT_MOST	(2 * (KTRX_PROC_PAYLOAD_MAX + 4096))
#define KTREAD_PROC_WINDOW_MOST (KTREAD_PROC_WANT_MOST + KTREAD_PROC_CHUNK)

struct ktread_proc_unpacker;

struct ktread_proc_input {
	char *name;
	int descriptor;
	off_t start;  /* the descriptor's position when the input was opened; -1: the input is a pipe */
	bool follow;  /* true if the input is followed: more bytes may come after its end */
	bool closed;  /* true if the write end of the pipe is closed, so that no more bytes will come */
	bool started; /* true if it is known whether the input is compressed */
	bool ended;   /* true if the last read() returned no bytes */
	int failed;   /* error after which nothing more is read; 0: none. Its message is in `failure`. */
	uint8_t *window;
	size_t begin, end, room;
	uint64_t offset;
	/* number of bytes to step over before more are read; if it is not 0, no bytes are buffered */
	uint64_t to_skip;
	/* the unpacker of a compressed input; NULL: the input is not compressed */
	struct ktread_proc_unpacker *unpacker;
	char failure[KTREAD_MESSAGE_SIZE];
};

/*
 * Opens `path`; "-" is standard input. Returns 0 or an error. After an error, the input must not be closed.
 */
int ktread_proc_input_open(struct ktread_proc_input *input, const char *path, bool follow);
void ktread_proc_input_close(struct ktread_proc_input *input);
int ktread_proc_input_rewind(struct ktread_proc_input *input);
/* Does the work of ktread_proc_want() if more bytes have to be read. */
bool ktread_proc_input_fill(struct ktread_proc_input *input, size_t bytes);
/* Does the work of ktread_proc_skip() if not all of the bytes are buffered. */
void ktread_proc_input_skip(struct ktread_proc_input *input, uint64_t bytes);

/* Returns the number of buffered bytes: bytes that were read but not yet decoded. */
static inline size_t ktread_proc_at_hand(const struct ktread_proc_input *input)
{
	return input->end - input->begin;
}

/* Returns a pointer to the buffered bytes. It is valid until the next ktread_proc_want(). */
static inline const uint8_t *ktread_proc_bytes(const struct ktread_proc_input *input)
{
	return input->window + input->begin;
}

/*
 * Reads until at least `bytes` bytes are buffered. `bytes` must not exceed KTREAD_PROC_WANT_MOST. Returns
 * false if fewer bytes are buffered, because the input has ended or reading has failed. The caller must use
 * the buffered bytes before it reports an error.
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

/* Steps over `bytes` bytes, which need not be buffered. */
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
 * A process trace that is being read. proc.c owns it. The reader for its format finds the next record in the
 * input.
 */

/* Maximum number of bytes of a record's payload that are kept. A longer payload is truncated. */
#define KTREAD_PROC_PAYLOAD_MOST KTRX_PROC_PAYLOAD_MAX

struct ktread_proc_reader {
	enum ktread_proc_format format;
	const char *name;
	/* ELF machine (e_machine) of traces in this format; 0: the machine is in the trace */
	uint16_t machine;
	uint8_t address_size;			 /* size of a pointer in bytes */
	const struct ktread_proc_layout *layout; /* layout of a head; used only for the formats of the BSDs */
	const struct ktread_proc_layout
		/*
		 * layout of a record head with KTREAD_BSD_VERSIONED; NULL: the format has no such heads
		 */
		*versioned;
	/* Reads the data before the first record, if there are any. Returns 0 or an error. */
	int (*begin)(struct ktread_proc *trace);
	/*
	 * Reads the next record, and sets trace->record and trace->used. Returns 1 on success, 0 at the end
	 * (perhaps only for now), or an error.
	 */
	int (*next)(struct ktread_proc *trace, const struct ktread_proc_reader *reader);
};

struct ktread_proc {
	struct ktread_proc_input input;
	struct ktread_proc_options options;
	/* reader for the trace's format; NULL: the format is not known yet */
	const struct ktread_proc_reader *reader;
	struct ktread_proc_info info;
	struct ktread_proc_record record;
	uint64_t arg[KTREAD_PROC_ARGS_MOST];
	/* size of the record that was returned last, in bytes; the next call steps over it */
	uint64_t used;
	struct ktread_proc_processes processes;
	bool ended; /* true if nothing more is read, even if more bytes follow */

	/* The following members are used only for our own format. */
	uint32_t record_head; /* size of a record's head, in bytes */
	/* true if the next record was checked already when the previous one was returned */
	bool known;
	uint64_t damage; /* if `damaged` is set: offset at which the damage begins */
	bool damaged;	 /* true while the reader steps over damage */
	/* if the record that was returned last was truncated by the end of the file, its size; otherwise 0 */
	size_t torn;
	char *table;
	size_t table_size, table_room;
	uint64_t tabled; /* `table` contains the text of all TABLE records before this offset */

	char message[KTREAD_MESSAGE_SIZE];
};

extern const struct ktread_proc_reader ktread_proc_ktrx;
/* The readers of the BSDs' formats, the most likely first. The last element has format KTREAD_PROC_AUTO. */
extern const struct ktread_proc_reader ktread_proc_bsd[];

/*
 * Reports damage after which nothing more can be read. The message contains the file and the offset. Returns
 * KTREAD_E_FORMAT.
 */
int ktread_proc_stop(struct ktread_proc *trace, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Called if bytes of a record are missing. Returns 0 if the missing bytes may still come. Otherwise returns
 * an error, and nothing more is read. `bytes` is the size of the whole record. Requires: fewer than `bytes`
 * bytes are buffered.
 */
int ktread_proc_cut_short(struct ktread_proc *trace, uint64_t bytes);

/* Sets the record's payload, and sets the record's data to the whole payload. */
static inline void ktread_proc_set_payload(struct ktread_proc_record *record, const uint8_t *payload,
					   uint32_t size)
{
	record->payload = record->data = payload;
	record->payload_size = record->data_size = size;
}

/* Sets the record's data to the bytes of the payload after the first `bytes` bytes. */
static inline void ktread_proc_set_data(struct ktread_proc_record *record, uint32_t bytes)
{
	record->data = record->payload + bytes;
	record->data_size = record->payload_size - bytes;
}

/*
 * Decodes STRUCT and STRUCT_ARRAY: a name and its NUL are at offset `at` of the payload, and the data
 * follows. Sets the number of elements to one; the caller may change this. Returns false if the name has no
 * NUL.
 */
bool ktread_proc_set_structure(struct ktread_proc_record *record, uint32_t at);
/* Sets the size of an element, and the number of whole elements in the data. */
void ktread_proc_set_elements(struct ktread_proc_record *record, uint64_t size);

/* Copies a name up to a NUL, but at most `size` bytes, and at most as many bytes as `name` can hold. */
static inline void ktread_proc_set_name(char *name, const uint8_t *from, size_t size)
{
	const size_t most = sizeof(((struct ktread_proc_record *)0)->name) - 1;
	size_t length = strnlen((const char *)from, size < most ? size : most);

	memcpy(name, from, length);
	name[length] = '\0';
}

/* Functions shared by the source files of our own format's reader. */

/*
 * Returns true if the record at the input's current position has a size that no kernel gives to a record of
 * its type. If so, the size may be wrong, and the payload may contain the records after it. Examines only
 * buffered bytes.
 */
bool ktread_proc_ktrx_is_doubtful(const struct ktread_proc *trace);

/* Decodes the payload of trace->record by its type. Returns false if the payload cannot be of that type. */
bool ktread_proc_ktrx_payload(struct ktread_proc *trace);

/* Forgets the text of the TABLE records. */
void ktread_proc_table_clear(struct ktread_proc *trace);
/*
 * Adds the text of the TABLE records at the input's current position. Reads and buffers these records, but
 * does not step over them.
 */
void ktread_proc_table_gather(struct ktread_proc *trace);
/* Adds the text of the TABLE record at `offset`, unless ktread_proc_table_gather() has added it already. */
void ktread_proc_table_add(struct ktread_proc *trace, uint64_t offset, const uint8_t *text, uint32_t size);

/*
 * Reads fields of a record's head in the input, at any alignment. Loading single fields is faster than
 * copying the head.
 */
struct __attribute__((packed, may_alias)) ktread_proc_ktrx_record {
	struct ktrx_proc_record is;
};

/*
 * Returns true if these bytes can be a record's head: the mark and the size are possible. Reads at most
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
 * The ktrace files of DragonFly and FreeBSD. Heads have no magic. Each head is followed by its payload. The
 * head and the payload are structures of the kernel, with the layout of the machine's C ABI.
 */

/* Bits in the type field of a head. */
#define KTREAD_BSD_LOST	     0x8000u /* FreeBSD: at least one record before this record was lost */
#define KTREAD_BSD_VERSIONED 0x4000u /* FreeBSD: the head has a version */

/* The layout of a head. All heads have the payload's size at offset 0 and the type at offset 4. */
struct ktread_proc_layout {
	uint8_t head;	  /* size of the head in bytes */
	uint8_t word;	  /* size in bytes of a pointer, a register, and each of the two words of the time */
	uint8_t pid, tid; /* offsets of the process and thread numbers in the head */
	uint8_t tid_size;
	uint8_t comm, comm_size;
	/* offset of the time: one word for seconds, then one for microseconds or nanoseconds */
	uint8_t time;
	bool nanoseconds; /* true if the second word of the time is nanoseconds */
	uint8_t cpu;	  /* offset of the 32-bit CPU number; 0: there is none */
	/* offset of DragonFly's 16-bit flags, whose upper eight bits are the CPU number; 0: there is none */
	uint8_t flags;
	/* bits of the head's type field that are flags, and not part of the type's number */
	uint16_t type_flags;
	uint32_t types; /* set of the record types that the kernel writes: bit n is for type n */
};

/* A decoded head. */
struct ktread_proc_bsd_head {
	int32_t size; /* size of the payload in the file */
	uint16_t type;
	bool lost;
	uint32_t pid, tid, cpu;
	int64_t seconds;
	/* fraction of the second, in the unit that the layout specifies (microseconds or nanoseconds) */
	uint64_t part;
};

/* Returns the layout of the head that begins with the eight bytes at `bytes`. */
const struct ktread_proc_layout *ktread_proc_bsd_layout(const struct ktread_proc_reader *reader,
							const uint8_t *bytes);
void ktread_proc_bsd_take_head(const struct ktread_proc_layout *layout, const uint8_t *bytes,
			       struct ktread_proc_bsd_head *head);
/*
 * Returns true if the payload is one that a kernel can write after this head. `left` is the number of
 * buffered bytes.
 */
bool ktread_proc_bsd_fits(const struct ktread_proc_layout *layout, const struct ktread_proc_bsd_head *head,
			  const uint8_t *payload, size_t left);

/* Functions that load a word from the file, at any alignment. */
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

/* Loads a pointer or an unsigned register. */
static inline uint64_t ktread_bsd_word(const struct ktread_proc_layout *layout, const uint8_t *bytes)
{
	return layout->word == 8 ? ktread_bsd_64(bytes) : ktread_bsd_32(bytes);
}

/* Loads a signed register, or one of the two words of the time. */
static inline int64_t ktread_bsd_signed_word(const struct ktread_proc_layout *layout, const uint8_t *bytes)
{
	return layout->word == 8 ? (int64_t)ktread_bsd_64(bytes) : (int32_t)ktread_bsd_32(bytes);
}

#endif
