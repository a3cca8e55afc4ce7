/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A server of the Model Context Protocol: offers the read-only commands of ktrace as tools for language
 * models. Requests and answers are lines of JSON on standard input and standard output. ktrace-mcp(1)
 * describes the server.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

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

#endif
