/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace take: extracts files from the log of a guest's console. The guest's command `give` has printed them
 * to the console. The log is untrusted: names, sizes and contents come from the guest.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/take_file.h"

#define FILES_MOST 1000u	       /* maximum number of files in one log */
#define BYTES_MOST (UINT64_C(1) << 32) /* maximum total size, in bytes, of all files of a log */
#define LINE_ROOM  512 /* size in bytes of a line of the log, with a NUL; the rest is ignored */

struct taking {
	const char *name; /* text that begins each message */
	const char *log;  /* name of the log in messages */
	const char *out;  /* file name given with --out; NULL: use the names given by the guest */
	bool standard;	  /* "-" was given with --out */
	bool partial;
	struct take_folder folder;
	struct take_file file; /* the current file; file.stream is NULL if no file is open */
	/* directory to create when the first file begins; "" if no directory has to be created */
	char new_folder[PATH_MAX];
	char called[TAKE_NAME_ROOM];
	uint64_t line;	/* number of the current line of the log */
	uint64_t size;	/* number of bytes of the current file that were decoded so far */
	uint64_t bytes; /* number of bytes of all files that were decoded so far */
	uint32_t check;
	bool damaged;
	unsigned files; /* number of files whose beginning was found in the log */
	unsigned good, bad;
	/* names of the complete and partial files that were written */
	char (*used)[TAKE_NAME_ROOM];
	unsigned names;
};

/* ---- Writing one file -------------------------------------------------------------------------- */

static bool is_used(const struct taking *taking, const char *name)
{
	for (unsigned n = 0; n < taking->names; n++)
		if (strcmp(taking->used[n], name) == 0)
			return true;
	return false;
}

/*
 * Chooses the name under which a file is written: the name given by the guest. If this name was already used,
 * appends a number.
 */
static void choose_name(const struct taking *taking, char to[TAKE_NAME_ROOM], const char *ending)
{
	snprintf(to, TAKE_NAME_ROOM, "%.*s%s", NAME_MAX, taking->called, ending);
	for (unsigned n = 2; !taking->out && is_used(taking, to); n++)
		snprintf(to, TAKE_NAME_ROOM, "%.*s.%u%s", NAME_MAX, taking->called, n, ending);
}

/* Begins a new file. Returns 0, or an exit status after a message. */
static int begin(struct taking *taking, const char *name)
{
	const char *out = taking->out;

	if ((out || taking->standard) && taking->files > 0) {
		command_message(taking->name,
				"%s: line %" PRIu64
				": the log has more than one file, but --out names only one",
				taking->log, taking->line);
		return EXIT_BAD_INPUT;
	}
	if (taking->files++ >= FILES_MOST) {
		command_message(taking->name, "%s: line %" PRIu64 ": more than %u files", taking->log,
				taking->line, FILES_MOST);
		return EXIT_BAD_INPUT;
	}
	if (out)
		snprintf(taking->called, sizeof(taking->called), "%s", out);
	else
		take_file_name(taking->called, name);
	if (*taking->new_folder && taking->folder.descriptor < 0 &&
	    take_folder_make(&taking->folder, taking->new_folder) < 0)
		return EXIT_BAD_INPUT;
	taking->size = 0;
	taking->check = UINT32_C(2166136261);
	taking->damaged = false;
	return take_file_begin(&taking->file, taking->standard ? NULL : &taking->folder, taking->name) < 0
		       ? EXIT_BAD_INPUT
		       : 0;
}

static int value_of(char letter)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = letter ? strchr(letters, letter) : NULL;

	return at ? (int)(at - letters) : -1;
}

static void put_byte(struct taking *taking, uint8_t byte)
{
	if (taking->bytes >= BYTES_MOST) {
		taking->damaged = true;
		return;
	}
	taking->bytes++;
	taking->size++;
	taking->check = (taking->check ^ byte) * UINT32_C(16777619);
	putc(byte, taking->file.stream);
}

/* Decodes base64: four letters encode three bytes, and '=' replaces a missing letter. */
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

/* Writes the file. Appends `ending` to its name. Returns whether it was written. */
static bool keep(struct taking *taking, const char *ending)
{
	char(*used)[TAKE_NAME_ROOM] = realloc(taking->used, (taking->names + 1) * sizeof(*used));
	char name[TAKE_NAME_ROOM];

	if (!used) {
		command_message(taking->name, "out of memory");
		take_file_abandon(&taking->file);
		return false;
	}
	taking->used = used;
	if (taking->standard)
		return take_file_print(&taking->file, taking->name) == 0;
	choose_name(taking, name, ending);
	if (take_file_commit(&taking->file, name) < 0)
		return false;
	memcpy(taking->used[taking->names++], name, sizeof(name));
	if (!taking->out)
		command_message(taking->name, "%s/%s: %" PRIu64 " byte%s", taking->folder.path, name,
				taking->size, taking->size == 1 ? "" : "s");
	return true;
}

/*
 * Ends the current file. `wrong`: reason why the file is incomplete or damaged, which is reported; NULL if it
 * is correct.
 */
static void end(struct taking *taking, const char *wrong)
{
	if (wrong)
		command_message(taking->name, "%s: line %" PRIu64 ": file '%s': %s, after %" PRIu64 " byte%s",
				taking->log, taking->line, taking->called, wrong, taking->size,
				taking->size == 1 ? "" : "s");
	if (wrong && taking->partial && taking->size > 0)
		keep(taking, ".partial");
	if (!wrong && keep(taking, ""))
		taking->good++;
	else
		taking->bad++;
	take_file_abandon(&taking->file);
}

static void check_end(struct taking *taking, const char *text)
{
	uint64_t size, check;
	int length = 0;

	if (sscanf(text, "%" SCNu64 " %" SCNx64 " %n", &size, &check, &length) != 2 || text[length])
		end(taking, "its last line cannot be read");
	else if (taking->bytes >= BYTES_MOST)
		end(taking, "the files of the log are larger than 4 GiB");
	else if (taking->damaged || size != taking->size || check != taking->check)
		end(taking, "damaged, or lines are missing");
	else
		end(taking, NULL);
}

/* ---- Reading the log --------------------------------------------------------------------------- */

/* Returns the text after `word` if the line begins with `word`, otherwise NULL. */
static const char *after(const char *line, const char *word)
{
	size_t length = strlen(word);

	return strncmp(line, word, length) == 0 ? line + length : NULL;
}

/*
 * Handles a line of the log. In the first line of a file, the guest's prompt may come first. Returns 0, or an
 * exit status after a message.
 */
static int take_line(struct taking *taking, const char *line)
{
	static const char first[] = "ktrace-file ", last[] = "ktrace-file-end ";
	const char *rest = taking->file.stream ? after(line, last) : strstr(line, first);

	if (!taking->file.stream)
		return rest ? begin(taking, rest + sizeof(first) - 1) : 0;
	if (rest) {
		check_end(taking, rest);
		return 0;
	}
	rest = after(line, first);
	if (rest) {
		end(taking, "another file begins inside this file");
		return begin(taking, rest);
	}
	if (line[0] == '~')
		take_data(taking, line + 1);
	return 0;
}

/*
 * Reads a line of the log into `line`, without its end. Leaves out NUL bytes, and what does not fit. Returns
 * false at the end of the log.
 */
static bool read_line(FILE *log, char line[LINE_ROOM])
{
	size_t length = 0;
	int byte;

	while ((byte = getc(log)) != EOF && byte != '\n')
		if (byte != '\0' && length < LINE_ROOM - 1)
			line[length++] = (char)byte;
	line[length] = '\0';
	line[strcspn(line, "\r")] = '\0';
	return byte != EOF || length > 0;
}

/* Reads the log. Returns 0, or an exit status after a message. */
static int take_all(struct taking *taking, FILE *log)
{
	char line[LINE_ROOM];
	int status = 0;

	while (!status && read_line(log, line)) {
		taking->line++;
		status = take_line(taking, line);
	}
	if (!status && ferror(log)) {
		command_message(taking->name, "%s: %s", taking->log, strerror(errno));
		status = EXIT_BAD_INPUT;
	}
	if (taking->file.stream)
		end(taking, "the log ends inside this file");
	return status;
}

/* ---- The directory to which files are written ------------------------------------------------------ */

/* Opens the directory that contains the file of --out. */
static int open_folder_of(struct taking *taking, const char *out)
{
	const char *slash = strrchr(out, '/');
	char path[PATH_MAX];

	taking->out = slash ? slash + 1 : out;
	if (!*taking->out || strcmp(taking->out, ".") == 0 || strcmp(taking->out, "..") == 0 ||
	    strlen(taking->out) > TAKE_NAME_MOST) {
		command_message(taking->name, "--out %s: not a file name, or longer than %u bytes", out,
				TAKE_NAME_MOST);
		return -1;
	}
	if (!slash)
		return take_folder_open(&taking->folder, ".");
	snprintf(path, sizeof(path), "%.*s", slash == out ? 1 : (int)(slash - out), out);
	return take_folder_open(&taking->folder, path);
}

/*
 * Chooses the directory. Without --dir and --out, files go into a new directory in the working directory,
 * named after the log.
 */
static int open_folder(struct taking *taking, const char *dir, const char *out, const char *log)
{
	const char *slash = log ? strrchr(log, '/') : NULL;

	taking->folder.descriptor = -1;
	taking->standard = out && strcmp(out, "-") == 0;
	if (taking->standard)
		return 0;
	if (dir)
		return take_folder_open(&taking->folder, dir);
	if (out)
		return open_folder_of(taking, out);
	snprintf(taking->new_folder, sizeof(taking->new_folder), "./%.200s.files",
		 slash ? slash + 1
		 : log ? log
		       : "console");
	return 0;
}

/*
 * Opens the log. A pipe is accepted only as standard input: opening a FIFO named LOG could block without
 * limit.
 */
static FILE *open_log(const char *name, const char *path)
{
	const int fd = path ? base_open_regular(path, O_RDONLY) : STDIN_FILENO;
	FILE *log = !path ? stdin : fd < 0 ? NULL : fdopen(fd, "rb");

	if (!log && errno == ENOTSUP)
		command_message(name, "%s: not a regular file; pass it as standard input: %s <%s", path, name,
				path);
	else if (!log)
		command_message(name, "%s: %s", path, strerror(errno));
	return log;
}

static int take(struct taking *taking, const char *dir, const char *out, const char *path)
{
	FILE *log = open_log(taking->name, path);
	int status;

	if (!log)
		return EXIT_BAD_INPUT;
	taking->log = path ? path : "stdin";
	if (fstat(fileno(log), &taking->folder.log) < 0 || !S_ISREG(taking->folder.log.st_mode))
		taking->folder.log.st_ino = 0;
	if (open_folder(taking, dir, out, path) < 0) {
		fclose(log);
		return EXIT_BAD_INPUT;
	}
	status = take_all(taking, log);
	fclose(log);
	take_folder_close(&taking->folder);
	free(taking->used);
	if (!status && taking->files == 0)
		command_message(taking->name, "%s: no file found: no line begins with 'ktrace-file NAME'",
				taking->log);
	if (taking->folder.made) {
		puts(taking->folder.path);
		status |= command_flush(taking->name);
	}
	return status || taking->bad || !taking->good ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

struct take_command {
	struct taking taking;
	const char *dir, *out;
};

#define AT(member) .to = offsetof(struct take_command, member)
static const struct option_row rows[] = {
	{ "dir", 'd', "DIR", "write the files into this directory", options_set_text, AT(dir) },
	{ "out", 'o', "FILE", "write the only file that LOG contains to FILE; '-' is standard output",
	  options_set_text, AT(out), .instead = true },
	{ "force", 'f', NULL, "replace existing files, but never LOG", options_set_flag,
	  AT(taking.folder.replace) },
	{ "partial", 'p', NULL, "write the readable part of a damaged file to NAME.partial", options_set_flag,
	  AT(taking.partial) },
	{ NULL, 'h', NULL, NULL, options_set_help, .to = 0 },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace take [OPTION]... [LOG]",
	.about = "Restores the files that the demo kernel's command `give` printed on the console. "
		 "LOG is the console's output (default: standard input). "
		 "Files go into a new directory, LOG.files, whose name is printed.",
	.lists = { rows },
	.end = "Status: 0 all files were restored, 1 a file is damaged or could not be written, "
	       "or there is none, 2 usage error.\n",
};

static int run(int argc, char **argv)
{
	struct take_command command = { .taking = { .name = argv[0], .folder.command = argv[0] } };
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	const char *out, *log = NULL;
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	out = command.out;
	if (command.taking.folder.replace && (out ? strcmp(out, "-") == 0 : !command.dir))
		return options_refuse(
			&line, "--force replaces files in an existing directory: it needs --dir or --out");
	if (command.dir && out)
		return options_refuse(&line, "--dir and --out cannot be used together");
	if (argc - optind > 1)
		return options_refuse(&line, "only one log can be given");
	if (optind < argc && strcmp(argv[optind], "-") != 0)
		log = argv[optind];
	return take(&command.taking, command.dir, out, log);
}

const struct command command_take = {
	.name = "take",
	.purpose = "restore files that a guest printed on its console",
	.run = run,
};
