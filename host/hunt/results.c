/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The file of results: a line of JSON about the hunt, then one for each run. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "results.h"

#define VERSION 1

static int fail(struct hunt *hunt, const char *path, const char *why)
{
	snprintf(hunt->error, sizeof(hunt->error), "%.300s: %s", path, why);
	return -1;
}

/* The properties that must be the same when a hunt is resumed. */
static json_t *describe(const struct hunt *hunt)
{
	const struct hunt_options *options = hunt->options;
	json_t *words = json_array(), *head;

	for (char **word = hunt->options->run->command; words && *word; word++)
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
	return head;
}

static const char *text_of(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? text : "";
}

static bool unpack(const json_t *json, struct hunt_run *run)
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
	snprintf(run->text, sizeof(run->text), "%s", text_of(json, "text"));
	snprintf(run->verdict, sizeof(run->verdict), "%s", text_of(json, "verdict"));
	snprintf(run->what, sizeof(run->what), "%s", text_of(json, "what"));
	snprintf(run->rule, sizeof(run->rule), "%s", text_of(json, "rule"));
	snprintf(run->violation, sizeof(run->violation), "%s", text_of(json, "violation"));
	return true;
}

/* Reads the lines of an earlier hunt. *end: offset of the end of the last complete line. */
static int read_lines(struct hunt *hunt, const char *path, FILE *file, hunt_take_result *take, off_t *end)
{
	json_t *wanted = describe(hunt), *line;
	struct hunt_run run;
	char *text = NULL;
	size_t room = 0;
	ssize_t length;
	int error = 0;

	*end = 0;
	while (!error && (length = getline(&text, &room, file)) > 0 && text[length - 1] == '\n') {
		line = json_loadb(text, (size_t)length, 0, NULL);
		if (*end == 0 && !json_equal(line, wanted))
			error = fail(hunt, path,
				     "results of another command line; choose another folder with --out");
		else if (*end > 0 && unpack(line, &run))
			take(hunt, &run);
		json_decref(line);
		*end += length;
	}
	free(text);
	json_decref(wanted);
	return error;
}

static int write_head(struct hunt *hunt, const char *path, FILE *file)
{
	json_t *head = describe(hunt);
	int error = !head || json_dumpf(head, file, JSON_COMPACT) != 0 || fputc('\n', file) == EOF ||
		    fflush(file) != 0;

	json_decref(head);
	return error ? fail(hunt, path, "cannot be written") : 0;
}

/* Reads the file, and removes the last line if it is incomplete. */
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
 * Returns whether the file has results after the line that describes the hunt. A hunt without results may
 * begin again.
 */
static bool has_results(const char *path)
{
	FILE *file = base_is_readable(path) ? fopen(path, "re") : NULL;
	char *text = NULL;
	size_t room = 0;
	ssize_t length;
	json_t *head;
	bool found;

	if (!file)
		return false;
	length = getline(&text, &room, file);
	head = length > 0 ? json_loadb(text, (size_t)length, 0, NULL) : NULL;
	found = length > 0 && (!json_object_get(head, "command") || fgetc(file) != EOF);
	json_decref(head);
	free(text);
	fclose(file);
	return found;
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
		     "another folder with --out");
		return HUNT_E_RESULTS;
	}
	resumed = hunt->options->resume && base_is_readable(path);
	*file = fopen(path, resumed ? "r+e" : "we");
	if (!*file)
		return fail(hunt, path, strerror(errno));
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
	int error = !json || json_dumpf(json, file, JSON_COMPACT) != 0 || fputc('\n', file) == EOF ||
		    fflush(file) != 0;

	json_decref(json);
	return error ? -1 : 0;
}
