/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The bytes of a process trace from first to last: a file or a pipe, unpacked if zstd packed it, seen through a window of
 * bounded size, so that a trace may be as long as it likes and may come from another program.
 *
 * Invariant: begin <= end <= room <= KTREAD_PROC_WINDOW_MOST, and `offset` is that of window[begin].
 */
#ifndef KTREAD_PROC_INPUT_H
#define KTREAD_PROC_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ktrx/proc.h"
#include "message.h"

/* Bytes asked of the system at once. */
#define KTREAD_PROC_CHUNK (UINT32_C(64) << 10)
/* The most that may be wanted: two of the largest records with their heads, one inside the other's payload at worst. */
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
 * Whether so many bytes are at hand; if not, the end is before that, or reading failed, which is to be told when what is at
 * hand has been made use of. At most KTREAD_PROC_WANT_MOST.
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

#endif
