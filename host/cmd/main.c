/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace: finds the subcommand and runs it. If ktrace is started under the name of a tool (ktrace-decode),
 * it runs the subcommand of that tool. If the first argument is an option, it runs the subcommand
 * OPTIONS_MEAN.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/changed.h"
#include "cmd/command.h"

#define COMMAND(name) extern const struct command command_##name;
#include "commands.list"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "commands.list"
#undef COMMAND
};

/*
 * subcommand that runs if the first argument is an option, because `ktrace -f OUT COMMAND` records a command
 * on the BSDs
 */
#define OPTIONS_MEAN "record"

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *to)
{
	fputs("usage: ktrace COMMAND [OPTION]... [FILE]\n\n", to);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(to, "  %-12s %s\n", commands[i]->name, commands[i]->purpose);
	fprintf(to, "\nSee 'ktrace COMMAND --help'. This is ktrace %s.\n", command_version());
}

static const struct command *find_tool(const char *tool)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (commands[i]->tool && strcmp(commands[i]->tool, tool) == 0)
			return commands[i];
	return NULL;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/*
 * Runs a subcommand. `name` becomes its argv[0], with which its messages begin. Returns an error status if a
 * mapped file could not be read: the subcommand has then read zeros, so neither its success nor its verdict
 * is certain.
 */
static int run(const struct command *command, char *name, int argc, char **argv)
{
	int status;

	base_changed_watch();
	argv[0] = name;
	status = command->run(argc, argv);
	if (!base_changed_file())
		return status;
	command_message(name, "%s: %s", base_changed_file(), base_changed_how());
	return command->unreadable ? command->unreadable : EXIT_BAD_INPUT;
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	char *called = argc > 0 ? argv[0] + (slash ? slash - argv[0] + 1 : 0) : NULL;
	const struct command *command;
	char name[64];

	/* a write to a closed pipe returns EPIPE instead of killing the process */
	signal(SIGPIPE, SIG_IGN);
	command_begin();

	command = called ? find_tool(called) : NULL;
	if (command)
		return run(command, called, argc, argv);
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return command_flush("ktrace");
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("ktrace %s\n", command_version());
		return command_flush("ktrace");
	}
	if (argv[1][0] == '-' && find_command(OPTIONS_MEAN))
		return run(find_command(OPTIONS_MEAN), called, argc, argv);
	command = find_command(argv[1]);
	if (!command) {
		command_message("ktrace", "there is no command '%s'", argv[1]);
		print_usage(stderr);
		return EXIT_USAGE;
	}
	snprintf(name, sizeof(name), "ktrace %s", command->name);
	return run(command, name, argc - 1, argv + 1);
}
