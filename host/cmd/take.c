/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace take: files that a guest's `give` handed out over its console, out of what the console said. Everything in there
 * may be hostile: names lead nowhere but into the folder, sizes are counted here.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"

#define NAME_MOST 64u

static const char usage[] =
	"usage: ktrace take [-o FILE] [-d DIR] [LOG]\n\n"
	"Makes files of what the demo kernel's command `give` printed. LOG is what its "
	"console said, standard\n"
	"input if not given; text between the lines of a file does not matter.\n\n"
	"  -o, --out FILE   the one file of LOG goes there, '-' is standard output\n"
	"  -d, --dir DIR    files go there, by their own names (.), in place of those that are called so\n\n"
	"Status: 0 all were taken, 1 one is damaged or there is none, 2 usage.\n";

/* A file on its way. */
struct taking {
	const char *name; /* signs messages */
	const char *out;  /* NULL: by its own name */
	const char *folder;
	FILE *to; /* NULL: between files */
	char path[NAME_MOST + 4096];
	uint64_t line; /* of the log */
	uint64_t size;
	uint32_t check;
	bool damaged;
	unsigned good, bad;
};

/* ---- One file ---------------------------------------------------------------------------------- */

/* Letters, digits and "._-", with no dot in front: nothing that leads elsewhere. */
static void put_path(struct taking *taking, const char *name)
{
	size_t length = strnlen(name, NAME_MOST), at;

	at = (size_t)snprintf(taking->path, sizeof(taking->path) - NAME_MOST, "%s/", taking->folder);
	for (size_t n = 0; n < length; n++, at++) {
		bool plain =
			strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", name[n]) ||
			(name[n] == '.' && n > 0);

		taking->path[at] = plain ? name[n] : '_';
	}
	if (length == 0)
		taking->path[at++] = '_';
	taking->path[at] = '\0';
}

static FILE *open_file(const struct taking *taking)
{
	int fd = open(taking->path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? NULL : fdopen(fd, "wb");
}

/* 0, or an exit status after a message. */
static int begin(struct taking *taking, const char *name)
{
	bool standard = taking->out && strcmp(taking->out, "-") == 0;

	if (taking->out && taking->good + taking->bad > 0) {
		command_message(taking->name, "line %" PRIu64 ": there are more files than one for --out",
				taking->line);
		return EXIT_BAD_INPUT;
	}
	if (taking->out)
		snprintf(taking->path, sizeof(taking->path), "%s", taking->out);
	else
		put_path(taking, name);
	taking->to = standard ? stdout : open_file(taking);
	taking->size = 0;
	taking->check = UINT32_C(2166136261);
	taking->damaged = false;
	if (taking->to)
		return 0;
	command_message(taking->name, "%s: %s", taking->path, strerror(errno));
	return EXIT_BAD_INPUT;
}

static int value_of(char letter)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = letter ? strchr(letters, letter) : NULL;

	return at ? (int)(at - letters) : -1;
}

static void put_byte(struct taking *taking, uint8_t byte)
{
	taking->size++;
	taking->check = (taking->check ^ byte) * UINT32_C(16777619);
	putc(byte, taking->to);
}

/* Four letters each are three bytes, '=' in the place of what is missing. */
static void take_data(struct taking *taking, const char *text)
{
	uint32_t bits = 0;
	unsigned count = 0;

	for (; *text && *text != '='; text++) {
		int value = value_of(*text);

		if (value < 0) {
			taking->damaged = true;
			return;
		}
		bits = bits << 6 | (uint32_t)value;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		put_byte(taking, (uint8_t)(bits >> count));
	}
}

/* How it ended: NULL, or what is wrong with it. 0, or an exit status after a message. */
static int end(struct taking *taking, const char *wrong)
{
	int failed = ferror(taking->to);

	failed |= taking->to == stdout ? fflush(stdout) : fclose(taking->to);
	taking->to = NULL;
	if (failed) {
		command_message(taking->name, "%s: %s", taking->path, strerror(errno));
		return EXIT_BAD_INPUT;
	}
	if (wrong) {
		command_message(taking->name, "line %" PRIu64 ": %s: %s, after %" PRIu64 " bytes",
				taking->line, taking->path, wrong, taking->size);
		taking->bad++;
	} else {
		taking->good++;
	}
	return 0;
}

static int check_end(struct taking *taking, const char *text)
{
	uint64_t size;
	uint32_t check;

	if (sscanf(text, "%" SCNu64 " %" SCNx32, &size, &check) != 2)
		return end(taking, "its end cannot be read");
	if (taking->damaged || size != taking->size || check != taking->check)
		return end(taking, "lines of it are damaged or missing");
	return end(taking, NULL);
}

/* ---- The log ----------------------------------------------------------------------------------- */

/* What stands behind the word that the line begins with; NULL: it does not. A prompt may stand in front of a file's first line. */
static const char *behind(const char *line, const char *word)
{
	size_t length = strlen(word);

	return strncmp(line, word, length) == 0 ? line + length : NULL;
}

static int take_line(struct taking *taking, const char *line)
{
	static const char first[] = "ktrace-file ", last[] = "ktrace-file-end ";
	const char *rest = taking->to ? behind(line, last) : strstr(line, first);
	int status;

	if (!taking->to)
		return rest ? begin(taking, rest + sizeof(first) - 1) : 0;
	if (rest)
		return check_end(taking, rest);
	rest = behind(line, first);
	if (!rest) {
		if (line[0] == '~')
			take_data(taking, line + 1);
		return 0;
	}
	status = end(taking, "another one begins before its end");
	return status ? status : begin(taking, rest);
}

static int take_all(struct taking *taking, FILE *log)
{
	char line[512];
	int status = 0;
	bool whole = true; /* the last line read ended where the buffer did */

	while (!status && fgets(line, sizeof(line), log)) {
		bool begins = whole;

		whole = strchr(line, '\n') != NULL;
		taking->line += begins;
		line[strcspn(line, "\r\n")] = '\0';
		if (begins)
			status = take_line(taking, line);
	}
	if (!status && taking->to)
		status = end(taking, "the log ends before it does");
	if (status && taking->to)
		end(taking, NULL);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "out", required_argument, NULL, 'o' },
		{ "dir", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct taking taking = { .name = argv[0], .folder = "." };
	FILE *log = stdin;
	int option, status;

	while ((option = getopt_long(argc, argv, "o:d:h", options, NULL)) != -1) {
		if (option == 'o')
			taking.out = optarg;
		else if (option == 'd')
			taking.folder = optarg;
		else if (option == 'h')
			return fputs(usage, stdout) < 0 || fflush(stdout) ? EXIT_BAD_INPUT : EXIT_SUCCESS;
		else
			return command_usage(argv[0]);
	}
	if (argc - optind > 1 || strlen(taking.folder) >= sizeof(taking.path) - NAME_MOST - 1)
		return command_usage(argv[0]);
	if (optind < argc && strcmp(argv[optind], "-") != 0)
		log = fopen(argv[optind], "rb");
	if (!log) {
		command_message(argv[0], "%s: %s", argv[optind], strerror(errno));
		return EXIT_BAD_INPUT;
	}
	status = take_all(&taking, log);
	if (log != stdin)
		fclose(log);
	if (!status && taking.good + taking.bad == 0)
		command_message(argv[0], "no file was handed out there");
	return status || taking.bad || !taking.good ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

const struct command command_take = {
	.name = "take",
	.purpose = "files that a guest handed out over its console",
	.run = run,
};
