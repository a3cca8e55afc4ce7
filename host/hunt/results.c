/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The file of results: the first line of JSON describes the hunt, and each further line describes one run. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/open.h"
#include "capture/json_text.h"
#include "capture/schedule.h"
#include "hunt.h"

#define VERSION 1
/* maximum size of a line in bytes; a longer line is not a result */
#define LINE_MOST ((size_t)1 << 20)

static int fail(struct hunt *hunt, const char *path, const char *why)
{
	snprintf(hunt->error, sizeof(hunt->error), "%.300s: %s", path, why);
	return -1;
}

/*
 * Returns the properties of the hunt that must be the same if it is resumed. If the command is a program
 * that starts QEMU, the files that QEMU reads are unknown. If the guest can write to a disk, each run
 * changes a file.
 */
static json_t *describe(const struct hunt *hunt)
{
	const struct hunt_options *options = hunt->options;
	char **command = options->run->command;
	json_t *words = json_array(), *head, *files = NULL;

	for (char **word = command; words && *word; word++)
		json_array_append_new(words, json_string(*word));
	head = json_pack("{s:i, s:o, s:I, s:I, s:s}", "version", VERSION, "command", words, "noise",
			 (json_int_t)options->run->schedule.noise.mean, "deadline",
			 (json_int_t)options->run->schedule.deadline, "expect",
			 options->run->expect ? options->run->expect : "");
	if (options->run->schedule.noise.kind != SCHEDULE_TIMERS)
		json_object_set_new(head, "kind",
				    json_string(capture_noise_names[options->run->schedule.noise.kind]));
	if (options->rules)
		json_object_set_new(head, "rules", json_string(options->rules));
	if (command && command[0] && capture_qemu_program(command[0]) && !capture_schedule_writes(command))
		files = capture_recipe_files(command);
	if (json_array_size(files) > 0)
		json_object_set(head, "files", files);
	json_decref(files);
	return head;
}

/* Compares the first line of an earlier hunt with that of this hunt. Returns 0 or a negative error. */
static int check_head(struct hunt *hunt, const char *path, json_t *line, json_t *wanted)
{
	json_t *copy = json_copy(line);
	int error = 0;

	/* the first lines of older versions have no files */
	if (!json_object_get(line, "files"))
		json_object_set(copy, "files", json_object_get(wanted, "files"));
	if (!json_equal(copy, wanted)) {
		json_object_set(copy, "files", json_object_get(wanted, "files"));
		error = fail(
			hunt, path,
			json_equal(copy, wanted)
				? "results of other contents of the files that the command line names, "
				  "such as the kernel; choose another directory with --out"
				: "results of another command line, or of other values of --noise, "
				  "--deadline, --expect or --check; choose another directory with --out");
	}
	json_decref(copy);
	return error;
}

void hunt_copy_string(char *to, size_t size, const json_t *text)
{
	*to = '\0';
	if (json_is_string(text))
		*base_escape_utf8(to, json_string_value(text), json_string_length(text), size - 1) = '\0';
}

void hunt_copy_text(char *to, size_t size, const json_t *json, const char *name)
{
	hunt_copy_string(to, size, json_object_get(json, name));
}

static bool unpack(const struct hunt *hunt, const json_t *json, struct hunt_run *run)
{
	if (!json_is_integer(json_object_get(json, "seed")))
		return false;
	*run = (struct hunt_run){
		.seed = (uint64_t)json_integer_value(json_object_get(json, "seed")),
		.status = (int)json_integer_value(json_object_get(json, "status")),
		.traced = json_is_true(json_object_get(json, "traced")),
		.wrong = json_is_true(json_object_get(json, "wrong")),
		.seconds = json_number_value(json_object_get(json, "seconds")),
		.ended = (uint64_t)json_integer_value(json_object_get(json, "ended")),
	};
	hunt_copy_text(run->files, sizeof(run->files), json, "files");
	hunt_copy_text(run->text, sizeof(run->text), json, "text");
	hunt_copy_text(run->verdict, sizeof(run->verdict), json, "verdict");
	hunt_copy_text(run->what, sizeof(run->what), json, "what");
	if (hunt->options->rules) {
		hunt_copy_text(run->rule, sizeof(run->rule), json, "rule");
		hunt_copy_text(run->violation, sizeof(run->violation), json, "violation");
	}
	return true;
}

/*
 * Reads a line into `text`, which has room for LINE_MOST bytes. Returns the length of the line with its
 * newline; 0 if no complete line is left; -1 if the line is too long.
 */
static ssize_t read_line(FILE *file, char *text)
{
	size_t length = 0;
	int byte;

	while ((byte = getc_unlocked(file)) != EOF) {
		if (length == LINE_MOST)
			return -1;
		text[length++] = (char)byte;
		if (byte == '\n')
			return (ssize_t)length;
	}
	return 0;
}

/* Reads the lines of an earlier hunt. *end: offset of the end of the last complete line. */
static int read_lines(struct hunt *hunt, const char *path, FILE *file, hunt_take_result *take, off_t *end)
{
	json_t *wanted = describe(hunt), *line;
	char *text = malloc(LINE_MOST);
	struct hunt_run run;
	ssize_t length = 0;
	int error = text ? 0 : fail(hunt, path, strerror(ENOMEM));

	*end = 0;
	while (!error && (length = read_line(file, text)) > 0) {
		line = json_loadb(text, (size_t)length, JSON_ALLOW_NUL, NULL);
		if (*end == 0)
			error = check_head(hunt, path, line, wanted);
		else if (unpack(hunt, line, &run))
			take(hunt, &run);
		json_decref(line);
		*end += length;
	}
	if (!error && length < 0)
		error = fail(hunt, path,
			     "a line is too long for a result; choose another directory with --out");
	free(text);
	json_decref(wanted);
	return error;
}

static int write_head(struct hunt *hunt, const char *path, FILE *file)
{
	json_t *head = describe(hunt);
	int error = !head || capture_json_write(head, JSON_COMPACT, file) != 0 || fflush(file) != 0;

	json_decref(head);
	return error ? fail(hunt, path, "cannot be written") : 0;
}

/* Reads the file, and removes its last line if that line is incomplete. */
static int continue_file(struct hunt *hunt, const char *path, FILE *file, hunt_take_result *take)
{
	off_t end;

	if (read_lines(hunt, path, file, take, &end) != 0)
		return -1;
	if (fseeko(file, end, SEEK_SET) != 0 || ftruncate(fileno(file), end) != 0)
		return fail(hunt, path, strerror(errno));
	return end > 0 ? 0 : write_head(hunt, path, file);
}

/*
 * Returns whether the file has results after the line that describes the hunt. If there are no results, the
 * hunt may begin again.
 */
static bool has_results(const char *path)
{
	FILE *file = base_is_readable(path) ? fopen(path, "re") : NULL;
	char *text = malloc(LINE_MOST);
	ssize_t length = 0;
	json_t *head = NULL;
	bool found;

	if (file && text)
		length = read_line(file, text);
	if (length > 0)
		head = json_loadb(text, (size_t)length, JSON_ALLOW_NUL, NULL);
	/*
	 * A file whose first line is truncated or too long counts as a file with results. If memory runs out,
	 * the contents are unknown, and the file must not be removed.
	 */
	found = file &&
		(!text || (ftello(file) > 0 && (!json_object_get(head, "command") || fgetc(file) != EOF)));
	json_decref(head);
	free(text);
	if (file)
		fclose(file);
	return found;
}

/*
 * Opens the file. Never waits, and follows no symbolic link: the directory may belong to another user, whose
 * links may lead to files that must not be changed.
 */
static FILE *open_file(const char *path, bool resumed)
{
	const int more = resumed ? 0 : O_CREAT | O_TRUNC;
	const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | more, 0666);
	struct stat status;
	FILE *file = NULL;
	int error;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
		errno = ENOTSUP;
	else
		file = fdopen(fd, resumed ? "r+" : "w");
	error = errno;
	if (!file)
		close(fd);
	errno = error;
	return file;
}

int hunt_results_open(struct hunt *hunt, FILE **file, hunt_take_result *take)
{
	const char *folder = hunt->options->folder;
	char path[PATH_MAX];
	bool resumed;
	int error;

	*file = NULL;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return fail(hunt, folder, strerror(errno));
	if (snprintf(path, sizeof(path), "%s/results.jsonl", folder) >= (int)sizeof(path))
		return fail(hunt, folder, strerror(ENAMETOOLONG));
	if (!hunt->options->resume && !hunt->options->replace && has_results(path)) {
		fail(hunt, folder,
		     "has results of an earlier hunt: continue it with --resume, or choose "
		     "another directory with --out");
		return HUNT_E_RESULTS;
	}
	resumed = hunt->options->resume && base_is_readable(path);
	*file = open_file(path, resumed);
	if (!*file)
		return fail(hunt, path, base_open_message(errno));
	error = resumed ? continue_file(hunt, path, *file, take) : write_head(hunt, path, *file);
	if (error) {
		fclose(*file);
		*file = NULL;
	}
	return error;
}

json_t *hunt_run_json(const struct hunt_run *run)
{
	return json_pack("{s:I, s:i, s:s, s:b, s:b, s:s, s:s, s:s, s:s, s:f, s:I}", "seed",
			 (json_int_t)run->seed, "status", run->status, "text", run->text, "traced",
			 run->traced, "wrong", run->wrong, "verdict", run->verdict, "what", run->what, "rule",
			 run->rule, "violation", run->violation, "seconds", run->seconds, "ended",
			 (json_int_t)run->ended);
}

int hunt_results_add(FILE *file, const struct hunt_run *run)
{
	json_t *json = hunt_run_json(run);
	int error = !json || json_object_set_new(json, "files", json_string(run->files)) != 0 ||
		    capture_json_write(json, JSON_COMPACT, file) != 0 || fflush(file) != 0;

	json_decref(json);
	return error ? -1 : 0;
}
