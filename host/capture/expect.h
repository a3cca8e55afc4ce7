/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looks for a text in what the command writes to its standard output, where the guest's serial line usually leads. The
 * output passes through a pipe on its way, and on to our own standard output as it comes, byte for byte. Where that takes
 * nothing more, the command has to wait, and nobody else.
 *
 * Carriage returns do not matter: a text of two lines is found however the guest ends its lines.
 */
#ifndef CAPTURE_EXPECT_H
#define CAPTURE_EXPECT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_EXPECT_MAX   1024u
#define CAPTURE_EXPECT_PIECE 16384u

struct capture_expect {
	int from; /* the pipe's end to read, -1: no output is looked at, or there will be no more */
	int into; /* its other end, for the command; -1 once it is there */
	bool seen;
	bool mute; /* our own output is gone */
	char text[CAPTURE_EXPECT_MAX];
	uint16_t back
		[CAPTURE_EXPECT_MAX]; /* of the text's first n + 1 bytes: how many are the text's beginning again */
	size_t length, matched;
	char piece[CAPTURE_EXPECT_PIECE]; /* as it was read … */
	size_t begin, end;		  /* … and what of it was not passed on yet */
};

/* `text` NULL: nothing is looked for, and the output stays as it is. 0 or an error. */
int capture_expect_open(struct capture_expect *expect, const char *text);
/* The command has its end of the pipe. */
void capture_expect_started(struct capture_expect *expect);
/* What has to come before capture_expect_read() can do more. */
struct pollfd capture_expect_wait(const struct capture_expect *expect);
/* Takes what there is and passes it on, without waiting. */
void capture_expect_read(struct capture_expect *expect);
/* Whether there is something that our standard output has not taken. */
bool capture_expect_is_behind(const struct capture_expect *expect);
void capture_expect_close(struct capture_expect *expect);

/* The search alone: bytes in pieces of any length. */
int capture_expect_set(struct capture_expect *expect, const char *text);
void capture_expect_feed(struct capture_expect *expect, const char *bytes, size_t length);

#endif
