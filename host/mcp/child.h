/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A command that runs for a call: its process and its output. */
#ifndef MCP_CHILD_H
#define MCP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MCP_MESSAGES_MOST ((size_t)4 << 10) /* maximum number of bytes of standard error that are kept */

/* What a pipe of a child delivered. */
struct mcp_output {
	int descriptor; /* negative: the pipe has ended */
	char *text;
	size_t length, most;
	bool cut; /* the output was longer than `most` bytes, and was cut */
};

struct mcp_child {
	pid_t pid;
	struct mcp_output out, messages; /* standard output and standard error */
};

/* A child that has not started. */
#define MCP_NO_CHILD                                                         \
	(struct mcp_child)                                                   \
	{                                                                    \
		.out = { .descriptor = -1 }, .messages = {.descriptor = -1 } \
	}

/*
 * Starts a program with its arguments, which end with NULL, in the folder. The program's standard input is
 * empty. Keeps at most `most` bytes of its output. Returns 0 or an errno.
 */
int mcp_child_start(struct mcp_child *child, const char *path, char *const *words, int folder, size_t most);
/* Reads the output that is available. If the output is longer than its limit, kills the program. */
void mcp_child_read(struct mcp_child *child);
/* Returns whether the program has closed its output. */
bool mcp_child_is_done(const struct mcp_child *child);
/* Kills the program if it still runs, and waits for it. Returns its status, as waitpid(2) stores it. */
int mcp_child_end(struct mcp_child *child, bool kill_it);
void mcp_child_free(struct mcp_child *child);

#endif
