/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The loop of the server: reads lines from standard input, and the output of commands from pipes. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mcp/server.h"

#define READ_BYTES 65536u

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- Calls ---- */

struct mcp_call *mcp_call_find(struct mcp_server *server, const json_t *id)
{
	for (unsigned n = 0; n < MCP_CALLS; n++)
		if (server->calls[n].id && json_equal(server->calls[n].id, id))
			return &server->calls[n];
	return NULL;
}

struct mcp_call *mcp_call_add(struct mcp_server *server, json_t *id)
{
	for (unsigned n = 0; n < MCP_CALLS; n++)
		if (!server->calls[n].id) {
			server->calls[n] = (struct mcp_call){ .id = json_incref(id),
							      .number = ++server->number,
							      .child = MCP_NO_CHILD };
			return &server->calls[n];
		}
	return NULL;
}

void mcp_call_remove(struct mcp_call *call)
{
	if (call->child.pid > 0)
		mcp_child_end(&call->child, true);
	mcp_child_free(&call->child);
	mcp_line_free(&call->line);
	json_decref(call->id);
	call->id = NULL;
}

static unsigned running(const struct mcp_server *server)
{
	unsigned count = 0;

	for (unsigned n = 0; n < MCP_CALLS; n++)
		count += server->calls[n].child.pid > 0;
	return count;
}

/* Returns the oldest call that waits to be started; NULL if no call waits. */
static struct mcp_call *next_call(struct mcp_server *server)
{
	struct mcp_call *next = NULL;

	for (unsigned n = 0; n < MCP_CALLS; n++) {
		struct mcp_call *call = &server->calls[n];

		if (call->id && call->child.pid == 0 && (!next || call->number < next->number))
			next = call;
	}
	return next;
}

static void start_calls(struct mcp_server *server)
{
	struct mcp_call *call;
	char why[MCP_WHY];
	int error;

	while (running(server) < MCP_RUNNING && (call = next_call(server))) {
		error = mcp_child_start(&call->child, server->options->self, call->line.word,
					server->folder.descriptor, (size_t)call->line.budget);
		call->deadline = now() + server->options->seconds;
		if (!error)
			continue;
		snprintf(why, sizeof(why), "ktrace could not be started: %s", strerror(error));
		mcp_answer_refusal(server, call->id, why);
		mcp_call_remove(call);
	}
}

/* Answers a call whose command has ended, or whose time limit has passed. */
static void finish_call(struct mcp_server *server, struct mcp_call *call)
{
	const bool late = now() >= call->deadline && !mcp_child_is_done(&call->child);
	char why[MCP_WHY];
	int status;

	if (!late && !mcp_child_is_done(&call->child))
		return;
	status = mcp_child_end(&call->child, late);
	if (late) {
		snprintf(why, sizeof(why),
			 "the command did not end within %.0f s, and was ended: ask for less, such as a "
			 "shorter time window",
			 server->options->seconds);
		mcp_answer_refusal(server, call->id, why);
	} else {
		mcp_answer_output(server, call, status);
	}
	mcp_call_remove(call);
}

/* ---- Standard input ---- */

/* Handles the complete lines in the buffer. Discards the rest of a line that is too long. */
static void take_lines(struct mcp_server *server)
{
	char *line = server->input, *end = line + server->length, *next;

	while ((next = memchr(line, '\n', (size_t)(end - line)))) {
		if (server->discarding)
			mcp_answer_long(server);
		else
			mcp_message(server, line, (size_t)(next - line));
		server->discarding = false;
		line = next + 1;
	}
	server->length = (size_t)(end - line);
	memmove(server->input, line, server->length);
	if (server->length == MCP_LINE_MOST) {
		server->discarding = true;
		server->length = 0;
	}
}

static void read_input(struct mcp_server *server)
{
	const size_t room = MCP_LINE_MOST - server->length;
	const ssize_t got =
		read(STDIN_FILENO, server->input + server->length, room < READ_BYTES ? room : READ_BYTES);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got > 0) {
		server->length += (size_t)got;
		take_lines(server);
		return;
	}
	server->ended = true;
	if (server->length && !server->discarding) /* the last line has no newline */
		mcp_message(server, server->input, server->length);
}

/* ---- The loop ---- */

struct polled {
	struct pollfd descriptor[1 + 2 * MCP_CALLS];
	nfds_t count;
	int timeout; /* timeout in milliseconds; negative: no timeout */
};

static void add_polled(struct polled *polled, int descriptor)
{
	if (descriptor >= 0)
		polled->descriptor[polled->count++] = (struct pollfd){ .fd = descriptor, .events = POLLIN };
}

static struct polled what_to_poll(const struct mcp_server *server)
{
	struct polled polled = { .timeout = -1 };
	const double time = now();

	add_polled(&polled, server->ended ? -1 : STDIN_FILENO);
	for (unsigned n = 0; n < MCP_CALLS; n++) {
		const struct mcp_call *call = &server->calls[n];
		const double left = call->deadline - time;
		int wait;

		if (call->child.pid <= 0)
			continue;
		wait = left <= 0 ? 0 : left > 1e6 ? 1000000000 : (int)(left * 1000) + 1;
		if (polled.timeout < 0 || wait < polled.timeout)
			polled.timeout = wait;
		add_polled(&polled, call->child.out.descriptor);
		add_polled(&polled, call->child.messages.descriptor);
	}
	return polled;
}

static int serve(struct mcp_server *server)
{
	while (!server->failed) {
		struct polled polled;

		start_calls(server);
		if (server->ended && running(server) == 0)
			return 0;
		polled = what_to_poll(server);
		if (poll(polled.descriptor, polled.count, polled.timeout) < 0 && errno != EINTR)
			return errno;
		if (!server->ended && polled.descriptor[0].revents)
			read_input(server);
		for (unsigned n = 0; n < MCP_CALLS; n++)
			if (server->calls[n].child.pid > 0) {
				mcp_child_read(&server->calls[n].child);
				finish_call(server, &server->calls[n]);
			}
	}
	return server->failed;
}

int mcp_serve(const struct mcp_options *options)
{
	struct mcp_server *server = calloc(1, sizeof(*server));
	int error = server ? mcp_folder_open(&server->folder, options->folder) : ENOMEM;

	if (!error) {
		server->options = options;
		/* if a trace names other files, the commands open only files below the directory */
		if (setenv("KTRACE_FOLDER", server->folder.path, 1) != 0)
			error = errno;
		server->input = malloc(MCP_LINE_MOST);
		if (!server->input)
			error = ENOMEM;
	}
	if (error)
		fprintf(stderr, "%s: %s: %s\n", options->name, options->folder, strerror(error));
	else
		error = serve(server);
	if (server && server->failed && server->failed != EPIPE)
		fprintf(stderr, "%s: standard output: %s\n", options->name, strerror(server->failed));
	for (unsigned n = 0; server && n < MCP_CALLS; n++)
		if (server->calls[n].id)
			mcp_call_remove(&server->calls[n]);
	if (server)
		free(server->input);
	free(server);
	return error;
}
