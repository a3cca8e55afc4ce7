/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The input of a process trace: a window that moves over the bytes of a file or a pipe, whose content may be
 * compressed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "proc_state.h"
#include "source.h"

#define MAGIC_SIZE (sizeof(KTREAD_ZSTD_MAGIC) - 1)

/* Returns true if read() will not block, or if this is unknown because poll() has failed. */
static bool is_readable(const struct ktread_proc_input *input)
{
	struct pollfd end = { .fd = input->descriptor, .events = POLLIN };

	return poll(&end, 1, 0) != 0;
}

/*
 * Called at the end of an input that is followed. Returns 0 if nothing can be read now.
 *
 * The file may have become shorter, because its writer removes a record that was not written completely. If
 * the file has lost bytes that were already decoded, its writer has replaced the content: returns an error.
 */
static int handle_end(struct ktread_proc_input *input)
{
	off_t position = lseek(input->descriptor, 0, SEEK_CUR), gone;
	struct stat state;

	if (position < 0) {
		input->closed = true;
		return 0;
	}
	if (fstat(input->descriptor, &state) < 0 || !S_ISREG(state.st_mode) || state.st_size >= position)
		return 0;
	gone = position - state.st_size;
	if (input->unpacker || (uint64_t)gone > ktread_proc_at_hand(input) ||
	    lseek(input->descriptor, state.st_size, SEEK_SET) < 0)
		return ktread_fail(KTREAD_E_FORMAT,
				   "%s: the file became shorter than the %" PRIu64 " bytes already read",
				   input->name, (uint64_t)position);
	input->end -= (size_t)gone;
	return 0;
}

/*
 * Reads once. Returns the number of bytes read, or an error. Returns 0 at the end of the input; if the input
 * is followed, also if no bytes can be read now.
 */
static ssize_t read_some(void *context, uint8_t *to, size_t room)
{
	struct ktread_proc_input *input = context;
	ssize_t got;

	if (input->follow && !is_readable(input))
		return 0;
	do
		got = read(input->descriptor, to, room);
	while (got < 0 && errno == EINTR && !input->follow);
	if (got < 0 && errno == EINTR)
		return 0;
	if (got < 0)
		return ktread_fail_errno("%s: cannot read near offset %" PRIu64, input->name, input->offset);
	return got == 0 && input->follow ? handle_end(input) : got;
}

/* Stores an error. After an error, nothing more is read. */
static void give_up(struct ktread_proc_input *input, int error)
{
	input->failed = error;
	memcpy(input->failure, ktread_fail_text(), sizeof(input->failure));
}

/*
 * Moves the buffered bytes to the start of the window. Enlarges the window if it is full or smaller than
 * `bytes` bytes. Returns false if the memory is not sufficient.
 */
static bool make_room(struct ktread_proc_input *input, size_t bytes)
{
	size_t have = ktread_proc_at_hand(input);
	uint8_t *grown;

	memmove(input->window, input->window + input->begin, have);
	input->begin = 0;
	input->end = have;
	if (bytes <= input->room && have < input->room)
		return true;
	grown = realloc(input->window, KTREAD_PROC_WINDOW_MOST);
	if (!grown) {
		give_up(input, ktread_fail_memory());
		return false;
	}
	input->window = grown;
	input->room = KTREAD_PROC_WINDOW_MOST;
	return true;
}

/* Makes room for `bytes` buffered bytes, and calls read() once. Returns the number of bytes read. */
static size_t refill(struct ktread_proc_input *input, size_t bytes)
{
	size_t have = ktread_proc_at_hand(input), room;
	ssize_t got;

	if (!make_room(input, bytes))
		return 0;
	room = input->room - have;
	if (room > KTREAD_PROC_CHUNK)
		room = KTREAD_PROC_CHUNK;
	if (input->unpacker)
		got = ktread_proc_unpack(input->unpacker, read_some, input, input->window + have, room);
	else
		got = read_some(input, input->window + have, room);
	if (got < 0)
		give_up(input, (int)got);
	input->ended = got <= 0;
	if (input->ended)
		return 0;
	input->end += (size_t)got;
	return (size_t)got;
}

/*
 * Finds out whether the input is compressed. Returns false on an error, or if too few bytes have arrived to
 * decide.
 */
static bool start(struct ktread_proc_input *input)
{
	ssize_t got = 1;
	int status;

	while (input->end < MAGIC_SIZE && got > 0) {
		got = read_some(input, input->window + input->end, MAGIC_SIZE - input->end);
		input->ended = got <= 0;
		if (got < 0)
			give_up(input, (int)got);
		else
			input->end += (size_t)got;
	}
	if (got < 0 || (got == 0 && ktread_proc_may_grow(input)))
		return false;
	input->started = true;
	if (got == 0 || memcmp(input->window, KTREAD_ZSTD_MAGIC, MAGIC_SIZE) != 0)
		return true;
	input->end = 0;
	status = ktread_proc_unpacker_open(&input->unpacker, input->name, input->follow);
	if (status < 0)
		give_up(input, status);
	return status == 0;
}

/*
 * Reads and discards the bytes that the reader has to step over. Returns false if some of these bytes cannot
 * be read yet.
 */
static bool skip_rest(struct ktread_proc_input *input)
{
	while (input->to_skip) {
		uint64_t got = refill(input, 1);

		if (got == 0)
			return false;
		if (got > input->to_skip)
			got = input->to_skip;
		input->to_skip -= got;
		input->begin += got;
		input->offset += got;
	}
	return true;
}

bool ktread_proc_input_fill(struct ktread_proc_input *input, size_t bytes)
{
	if (input->ended && !ktread_proc_may_grow(input))
		return false;
	if (!input->started && !start(input))
		return false;
	if (!skip_rest(input))
		return false;
	while (ktread_proc_at_hand(input) < bytes)
		if (refill(input, bytes) == 0)
			return false;
	return true;
}

void ktread_proc_input_skip(struct ktread_proc_input *input, uint64_t bytes)
{
	size_t have = ktread_proc_at_hand(input);

	input->begin = input->end;
	input->offset += have;
	input->to_skip = bytes - have;
}

static int open_descriptor(struct ktread_proc_input *input, const char *path)
{
	struct stat state;

	if (strcmp(path, "-") == 0)
		input->descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		input->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (input->descriptor < 0 || fstat(input->descriptor, &state) < 0)
		return ktread_fail_errno("%s", input->name);
	if (S_ISDIR(state.st_mode))
		return ktread_fail(KTREAD_E_FORMAT, "%s: is a directory, not a trace", input->name);
	input->start = lseek(input->descriptor, 0, SEEK_CUR);
	return 0;
}

int ktread_proc_input_open(struct ktread_proc_input *input, const char *path, bool follow)
{
	int status;

	*input = (struct ktread_proc_input){ .descriptor = -1, .follow = follow };
	input->name = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
	input->room = 2 * KTREAD_PROC_CHUNK;
	input->window = malloc(input->room);
	status = input->name && input->window ? open_descriptor(input, path) : ktread_fail_memory();
	if (status < 0)
		ktread_proc_input_close(input);
	return status;
}

void ktread_proc_input_close(struct ktread_proc_input *input)
{
	ktread_proc_unpacker_close(input->unpacker);
	if (input->descriptor >= 0)
		close(input->descriptor);
	free(input->window);
	free(input->name);
	*input = (struct ktread_proc_input){ .descriptor = -1 };
}

int ktread_proc_input_rewind(struct ktread_proc_input *input)
{
	if (input->start < 0)
		return ktread_fail(KTREAD_E_UNSUPPORTED, "%s: a pipe cannot be read twice", input->name);
	if (lseek(input->descriptor, input->start, SEEK_SET) < 0)
		return ktread_fail_errno("%s", input->name);
	ktread_proc_unpacker_close(input->unpacker);
	input->unpacker = NULL;
	input->started = input->ended = input->closed = false;
	input->failed = 0;
	input->begin = input->end = 0;
	input->offset = input->to_skip = 0;
	return 0;
}
