/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "error.h"
#include "run_state.h"

#define TURNS 16 /* pieces at once: a guest that never stops writing must not keep us from everything else */

/* Knuth, Morris and Pratt: each byte is looked at once, wherever a piece ends. */
int capture_expect_set(struct capture_expect *expect, const char *text)
{
	size_t length = 0;

	for (; *text; text++) {
		if (*text == '\r')
			continue;
		if (length == CAPTURE_EXPECT_MAX)
			return capture_fail(CAPTURE_E_USAGE, "--expect: more than %u bytes",
					    CAPTURE_EXPECT_MAX);
		expect->text[length++] = *text;
	}
	if (length == 0)
		return capture_fail(CAPTURE_E_USAGE, "--expect: an empty text is always there");
	expect->length = length;
	expect->matched = 0;
	expect->seen = false;
	expect->back[0] = 0;
	for (size_t n = 1, same = 0; n < length; n++) {
		while (same > 0 && expect->text[n] != expect->text[same])
			same = expect->back[same - 1];
		same += expect->text[n] == expect->text[same];
		expect->back[n] = (uint16_t)same;
	}
	return 0;
}

void capture_expect_feed(struct capture_expect *expect, const char *bytes, size_t length)
{
	for (size_t n = 0; n < length && !expect->seen; n++) {
		if (bytes[n] == '\r')
			continue;
		while (expect->matched > 0 && bytes[n] != expect->text[expect->matched])
			expect->matched = expect->back[expect->matched - 1];
		expect->matched += bytes[n] == expect->text[expect->matched];
		expect->seen = expect->matched == expect->length;
	}
}

int capture_expect_open(struct capture_expect *expect, const char *text)
{
	int ends[2], error;

	expect->from = expect->into = -1;
	if (!text)
		return 0;
	error = capture_expect_set(expect, text);
	if (error)
		return error;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return capture_fail_errno("pipe");
	expect->from = ends[0];
	expect->into = ends[1];
	fcntl(expect->from, F_SETFL, O_NONBLOCK);
	return 0;
}

void capture_expect_started(struct capture_expect *expect)
{
	if (expect->into >= 0)
		close(expect->into);
	expect->into = -1;
}

bool capture_expect_is_behind(const struct capture_expect *expect)
{
	return expect->begin < expect->end;
}

struct pollfd capture_expect_wait(const struct capture_expect *expect)
{
	return capture_expect_is_behind(expect) ? (struct pollfd){ .fd = STDOUT_FILENO, .events = POLLOUT }
						: (struct pollfd){ .fd = expect->from, .events = POLLIN };
}

/*
 * True when nothing is left. What has room for anything takes PIPE_BUF bytes without blocking. If nobody
 * listens any more, the guest goes on all the same.
 */
static bool pass_on(struct capture_expect *expect)
{
	while (capture_expect_is_behind(expect) && !expect->mute) {
		struct pollfd room = { .fd = STDOUT_FILENO, .events = POLLOUT };
		size_t left = expect->end - expect->begin;
		ssize_t written;

		if (poll(&room, 1, 0) <= 0)
			return false;
		written = write(STDOUT_FILENO, expect->piece + expect->begin,
				left < PIPE_BUF ? left : PIPE_BUF);
		if (written >= 0)
			expect->begin += (size_t)written;
		else if (errno == EAGAIN || errno == EINTR)
			return false;
		else
			expect->mute = true;
	}
	expect->begin = expect->end = 0;
	return true;
}

void capture_expect_read(struct capture_expect *expect)
{
	for (unsigned turn = 0; pass_on(expect) && turn < TURNS && expect->from >= 0; turn++) {
		ssize_t got = read(expect->from, expect->piece, sizeof(expect->piece));

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got <= 0) {
			close(expect->from);
			expect->from = -1;
			return;
		}
		expect->end = (size_t)got;
		capture_expect_feed(expect, expect->piece, expect->end);
	}
}

void capture_expect_close(struct capture_expect *expect)
{
	capture_expect_started(expect);
	if (expect->from >= 0)
		close(expect->from);
	expect->from = -1;
}
