/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace: finds the subcommand and hands over. Started by another name (ktrace-decode), it is the subcommand
 * of that name. An option in its place means one subcommand, too.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cmd/command.h"
#include "base/escape.h"

#define COMMAND(name) extern const struct command command_##name;
#include "commands.list"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "commands.list"
#undef COMMAND
};

/* `ktrace -f OUT COMMAND`, as the BSDs have it. */
#define OPTIONS_MEAN "record"

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* File names and what libraries quote may hold any bytes; line feeds are the message's own. */
static void print_harmless(const char *text)
{
	char line[1024];

	for (const char *end; *text; text = end) {
		end = text + strcspn(text, "\n");
		while (text < end) {
			size_t piece = base_utf8_cut(text, (size_t)(end - text),
						     sizeof(line) / BASE_ESCAPE_TEXT_GROWTH);

			fwrite(line, 1, (size_t)(base_escape_utf8(line, text, piece, sizeof(line)) - line),
			       stderr);
			text += piece;
		}
		if (*end == '\n')
			fputc(*end++, stderr);
	}
}

void command_message(const char *name, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	fprintf(stderr, "%s: ", name);
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) >= 0) {
		print_harmless(text);
		free(text);
	}
	va_end(arguments);
	fputc('\n', stderr);
}

int command_usage(const char *name)
{
	command_message(name, "try '%s --help'", name);
	return EXIT_USAGE;
}

int command_help(const char *usage)
{
	return fputs(usage, stdout) < 0 || fflush(stdout) != 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

void command_self(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[length > 0 ? length : 0] = '\0';
}

static void print_usage(FILE *to)
{
	fputs("usage: ktrace COMMAND [OPTION]... [FILE]\n\n", to);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(to, "  %-12s %s\n", commands[i]->name, commands[i]->purpose);
	fputs("\n'ktrace COMMAND --help' tells more; this is ktrace " KTRACE_VERSION ".\n", to);
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

/* `name` signs all messages of the command. */
static int run(const struct command *command, char *name, int argc, char **argv)
{
	argv[0] = name;
	return command->run(argc, argv);
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	char *called = argc > 0 ? argv[0] + (slash ? slash - argv[0] + 1 : 0) : NULL;
	const struct command *command;
	char name[64];

	/* A reader that went away is seen as EPIPE by whoever writes. */
	signal(SIGPIPE, SIG_IGN);

	command = called ? find_tool(called) : NULL;
	if (command)
		return run(command, called, argc, argv);
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_BAD_INPUT;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("ktrace " KTRACE_VERSION);
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_BAD_INPUT;
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
