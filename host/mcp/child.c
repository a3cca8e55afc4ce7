/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "mcp/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

int mcp_child_start(struct mcp_child *child, const char *path, char *const *words, int folder, size_t most)
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

void mcp_child_read(struct mcp_child *child)
{
	read_output(&child->messages);
	read_output(&child->out);
	if (child->out.cut && child->pid > 0)
		kill(child->pid, SIGKILL);
}

bool mcp_child_is_done(const struct mcp_child *child)
{
	return child->out.descriptor < 0 && child->messages.descriptor < 0;
}

int mcp_child_end(struct mcp_child *child, bool kill_it)
{
	int status = 0;

	if (kill_it)
		kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	child->pid = 0;
	return status;
}

void mcp_child_free(struct mcp_child *child)
{
	close_pipe(&child->out);
	close_pipe(&child->messages);
	free(child->out.text);
	free(child->messages.text);
	*child = MCP_NO_CHILD;
}
