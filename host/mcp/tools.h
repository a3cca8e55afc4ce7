/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The table of tools: the command that each tool runs, and the arguments that it takes. */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include <jansson.h>
#include <limits.h>

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
/*
 * Resolves the name of a file, which is absolute or relative to the directory. Follows symbolic links, and
 * opens nothing. Stores the path relative to the directory in `to`. Returns 0, or -1 with the reason in
 * `why`: the file is absent, not below the directory, or not a regular file.
 */
int mcp_folder_find(const struct mcp_folder *folder, const char *name, char to[PATH_MAX], char why[MCP_WHY]);

#endif
