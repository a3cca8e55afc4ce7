/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace mcp: offers ktrace's read-only commands as tools for language models. */
#include "mcp/mcp.h"

#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "cmd/command.h"
#include "cmd/options.h"

#define AT(member) .to = offsetof(struct mcp_options, member)
static const struct option_row rows[] = {
	{ "dir", 'd', "DIR", "read no files outside of DIR (default: the current directory)",
	  options_set_text, AT(folder) },
	{ "timeout", 0, "S", "end a command that takes longer than S seconds (60)", options_set_seconds,
	  AT(seconds), .least = 1 },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace mcp [OPTION]...",
	.about = "Lets a language model read traces: serves the Model Context Protocol on standard input and "
		 "standard output, with the commands that only read a trace as tools. Writes no file, and "
		 "opens no file outside the directory.",
	.lists = { rows },
	.end = "Example of an entry in a client's list of servers:\n"
	       "  {\"mcpServers\":{\"ktrace\":{\"command\":\"ktrace\",\n"
	       "    \"args\":[\"mcp\",\"--dir\",\"/home/me/traces\"]}}}\n",
};

static int run(int argc, char **argv)
{
	struct mcp_options mcp = {
		.name = argv[0], .version = command_version(), .folder = ".", .seconds = 60
	};
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &mcp };
	char self[PATH_MAX];
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	if (optind < argc)
		return options_refuse(&line, "there are no arguments besides options");
	command_self(self);
	mcp.self = self;
	return mcp_serve(&mcp) ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

const struct command command_mcp = {
	.name = "mcp",
	.purpose = "let a language model read traces, through the Model Context Protocol",
	.run = run,
};
