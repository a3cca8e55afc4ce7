/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/output.h"
#include "cmd/terminal.h"

#ifndef KTRACE_VERSION
#define KTRACE_VERSION "unknown" /* this file was not built by host.mk */
#endif

/*
 * Prints text that may contain any bytes, such as a file name or quoted text. Escapes unsafe bytes, except
 * newlines.
 */
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

	progress_clear();
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

int command_bad_value(const char *name, const char *option, const char *value, const char *allowed)
{
	command_message(name, "invalid value for %s: '%s'%s%s%s", option, value, *allowed ? " (" : "",
			allowed, *allowed ? ")" : "");
	return command_usage(name);
}

/*
 * Reserves the numbers of standard input, output and error that are closed. Otherwise the next file that is
 * opened gets such a number, and messages are written into that file. Reading standard input and writing
 * standard output still fail with EBADF. Programs that are started find the files closed.
 */
static void reserve_closed(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/*
 * Gives standard output a buffer that holds most outputs completely, because the C library does not report
 * errors of writes before fflush().
 */
void command_begin(void)
{
	static char buffer[BASE_OUTPUT_BUFFER];

	reserve_closed();
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

int command_flush(const char *name)
{
	const int error = fflush(stdout) != 0 ? errno : 0;

	if (error && error != EPIPE)
		command_message(name, "standard output: %s", strerror(error));
	else if (!error && ferror(stdout))
		command_message(name, "standard output: some of the text could not be written");
	return error || ferror(stdout) ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

const char *command_word(const char *word, char *to, size_t size)
{
	static const char usual[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
	const bool plain = *word && strspn(word, usual) == strlen(word);
	size_t used = (size_t)snprintf(to, size, "%s", plain ? "" : "'");

	for (; *word && used < size; word++) {
		const char one[2] = { (unsigned char)*word < ' ' ? '?' : *word, '\0' };

		used += (size_t)snprintf(to + used, size - used, "%s", *word == '\'' ? "'\\''" : one);
	}
	if (!plain && used < size)
		snprintf(to + used, size - used, "'");
	return to;
}

const char *command_version(void)
{
	return KTRACE_VERSION;
}

void command_self(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[length > 0 ? length : 0] = '\0';
	/* without /proc, use the path that was given to exec() */
	if (length <= 0 && !realpath((const char *)getauxval(AT_EXECFN), path))
		path[0] = '\0';
}
