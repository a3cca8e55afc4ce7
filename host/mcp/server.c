/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The loop of the server: reads lines from standard input, runs commands, and reads their output. */
#include "mcp/mcp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The process of a call ---- */

#define EXIT_NO_PROGRAM 127

/* Executes the program in the child. Calls only functions that are allowed after fork(). */
static _Noreturn void become(const char *path, char *const *words, int folder, int out, int messages,
			     pid_t parent)
{
	const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || nothing < 0 || fchdir(folder) != 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(messages, STDERR_FILENO) < 0)
		_exit(EXIT_NO_PROGRAM);
	execv(path, words);
	_exit(EXIT_NO_PROGRAM);
}

static int open_pipe(struct mcp_output *output, int *writes, size_t most)
{
	int ends[2];

	*output = (struct mcp_output){ .descriptor = -1, .most = most };
	*writes = -1;
	output->text = malloc(most + 1);
	if (!output->text)
		return ENOMEM;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	output->descriptor = ends[0];
	*writes = ends[1];
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ? errno : 0;
}

static void close_pipe(struct mcp_output *output)
{
	if (output->descriptor >= 0)
		close(output->descriptor);
	output->descriptor = -1;
}

/* Frees the output of the program. */
static void mcp_child_free(struct mcp_child *child)
{
	close_pipe(&child->out);
	close_pipe(&child->messages);
	free(child->out.text);
	free(child->messages.text);
	*child = MCP_NO_CHILD;
}

/*
 * Starts a program with its arguments, which end with NULL, in the directory. The program's standard input is
 * empty. Stores at most `most` bytes of its output. Returns 0 or an errno.
 */
static int mcp_child_start(struct mcp_child *child, const char *path, char *const *words, int folder,
			   size_t most)
{
	const pid_t self = getpid();
	int out, messages = -1, error;

	*child = MCP_NO_CHILD;
	error = open_pipe(&child->out, &out, most);
	if (!error)
		error = open_pipe(&child->messages, &messages, MCP_MESSAGES_MOST);
	if (!error) {
		child->pid = fork();
		if (child->pid == 0)
			become(path, words, folder, out, messages, self);
		if (child->pid < 0)
			error = errno;
	}
	if (out >= 0)
		close(out);
	if (messages >= 0)
		close(messages);
	if (error) {
		child->pid = 0;
		mcp_child_free(child);
	}
	return error;
}

/*
 * Reads until the pipe is empty. If bytes do not fit into the buffer, discards these bytes, sets `cut` and
 * stops reading.
 */
static void read_output(struct mcp_output *output)
{
	char rest[4096];
	ssize_t got = 0;

	while (output->descriptor >= 0) {
		const size_t room = output->most - output->length;

		got = room ? read(output->descriptor, output->text + output->length, room)
			   : read(output->descriptor, rest, sizeof(rest));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0)
			close_pipe(output);
		else if (room)
			output->length += (size_t)got;
		else {
			output->cut = true;
			return;
		}
	}
}

/* Reads the output that is available. Kills the program if its output is longer than the limit. */
static void mcp_child_read(struct mcp_child *child)
{
	read_output(&child->messages);
	read_output(&child->out);
	if (child->out.cut && child->pid > 0)
		kill(child->pid, SIGKILL);
}

/* Returns whether the program has closed its standard output and standard error. */
static bool mcp_child_is_done(const struct mcp_child *child)
{
	return child->out.descriptor < 0 && child->messages.descriptor < 0;
}

/* Kills the program if it still runs, and waits for it. Returns its status, as waitpid(2) stores it. */
static int mcp_child_end(struct mcp_child *child, bool kill_it)
{
	int status = 0;

	if (kill_it)
		kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	child->pid = 0;
	return status;
}

/* ---- The server ---- */

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
	server->unread = got < 0 ? errno : 0;
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
			return server->unread;
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
	if (server && server->unread)
		fprintf(stderr, "%s: standard input: %s\n", options->name, strerror(server->unread));
	for (unsigned n = 0; server && n < MCP_CALLS; n++)
		if (server->calls[n].id)
			mcp_call_remove(&server->calls[n]);
	if (server)
		free(server->input);
	free(server);
	return error;
}
