/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A server of the Model Context Protocol: offers the read-only commands of ktrace as tools for language
 * models. Requests and answers are lines of JSON on standard input and standard output. ktrace-mcp(1)
 * describes the server.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mcp_options {
	const char *name;    /* text that begins each message */
	const char *version; /* version of ktrace */
	const char *self;    /* path of the program ktrace */
	const char *folder;  /* directory; tools read only files below this directory */
	double seconds;	     /* time limit of a call, in seconds */
};

/*
 * Serves until standard input ends and all calls are answered, or until an answer cannot be written.
 * Returns 0 or an errno. Prints a message on standard error if the directory cannot be opened.
 */
int mcp_serve(const struct mcp_options *options);

/* The rest of this file is for the source files of this directory only. */

/* ---- Tools: the command that each tool runs, and the arguments that it takes ---- */

#define MCP_WORDS      32u  /* maximum number of arguments on a command line */
#define MCP_WORD_BYTES 4096 /* maximum length of a text that a client passes as an argument */
/* size of a buffer for a message that states why a request was refused */
#define MCP_WHY	  512u
#define MCP_SHOWN 200u /* maximum number of bytes of a name in a message of MCP_WHY bytes */

/* The directory that contains the files that tools may read. */
struct mcp_folder {
	int descriptor;
	char path[PATH_MAX]; /* absolute path without symbolic links */
};

struct mcp_tool;

/* A command line. mcp_line_free() frees its arguments. */
struct mcp_line {
	char *word[MCP_WORDS + 1]; /* the arguments, followed by NULL */
	unsigned count;
	long long budget; /* maximum number of bytes of the answer */
};

/* Returns the result of tools/list; the caller owns it. Returns NULL if memory runs out. */
json_t *mcp_tools_list(void);
/* Returns the tool of this name; NULL if there is none. */
const struct mcp_tool *mcp_tool_find(const char *name);
/*
 * Makes the command line of a call. `arguments` is an object or NULL. `seconds` is the time limit of the
 * call. Returns 0, or -1 with the reason in `why`: an argument is unknown, has a wrong type or value, or
 * names a file outside the directory.
 */
int mcp_line_make(struct mcp_line *line, const struct mcp_tool *tool, const json_t *arguments,
		  const struct mcp_folder *folder, double seconds, char why[MCP_WHY]);
void mcp_line_free(struct mcp_line *line);

/* Opens the directory and stores its path. Returns 0 or an errno. */
int mcp_folder_open(struct mcp_folder *folder, const char *path);

/* The state of the server, and the functions shared by its source files. */

/* ---- The process of a call ---- */

/* maximum number of bytes of standard error that are stored */
#define MCP_MESSAGES_MOST ((size_t)4 << 10)

/* Output that was read from a pipe of a child. */
struct mcp_output {
	int descriptor; /* descriptor of the pipe; negative: the pipe has ended */
	char *text;
	size_t length, most;
	bool cut; /* true if the output was longer than `most` bytes, and was truncated */
};

struct mcp_child {
	pid_t pid;
	struct mcp_output out, messages; /* output from standard output, and from standard error */
};

/* Initial value of a struct mcp_child: the child has not been started. */
#define MCP_NO_CHILD                                                         \
	(struct mcp_child)                                                   \
	{                                                                    \
		.out = { .descriptor = -1 }, .messages = {.descriptor = -1 } \
	}

/* ---- The server ---- */

#define MCP_LINE_MOST ((size_t)1 << 20) /* maximum length of a message from the client */
#define MCP_CALLS     32u		/* maximum number of calls that are running or waiting */
#define MCP_RUNNING   2u		/* maximum number of commands that run at the same time */

/* A call of a tool that has not been answered yet. */
struct mcp_call {
	json_t *id;	 /* id of the request; NULL: this element is free */
	uint64_t number; /* number of the call; calls start in the order of their numbers */
	struct mcp_line line;
	struct mcp_child child; /* child.pid is 0 before the command has been started */
	double deadline;	/* end of the time limit, in seconds of CLOCK_MONOTONIC */
};

struct mcp_server {
	const struct mcp_options *options;
	struct mcp_folder folder;
	struct mcp_call calls[MCP_CALLS];
	uint64_t number; /* number of the newest call */
	char *input;	 /* buffer of MCP_LINE_MOST bytes */
	size_t length;	 /* number of bytes in `input` */
	bool discarding; /* true if the current line is too long */
	bool ended;	 /* true if standard input has ended */
	int unread;	 /* errno of a failed read of standard input; 0: no read has failed */
	int failed;	 /* errno of the first failed write; 0: no write has failed */
};

/* Handles a message of the client: `length` bytes without the line feed. */
void mcp_message(struct mcp_server *server, const char *text, size_t length);

struct mcp_call *mcp_call_find(struct mcp_server *server, const json_t *id);
/* Returns a new call, which holds a reference to `id`. Returns NULL if there are already MCP_CALLS calls. */
struct mcp_call *mcp_call_add(struct mcp_server *server, json_t *id);
/* Kills the command of a call if it is running, and frees the call. */
void mcp_call_remove(struct mcp_call *call);

/* ---- Answers ---- */

/* Reports that a line was longer than MCP_LINE_MOST. */
void mcp_answer_long(struct mcp_server *server);
/* Answers a call that did not run to its end. The result is an error that states the reason. */
void mcp_answer_refusal(struct mcp_server *server, json_t *id, const char *why);
/* Answers a call with the output of its command. `status` is that of waitpid(2). */
void mcp_answer_output(struct mcp_server *server, const struct mcp_call *call, int status);

#endif
