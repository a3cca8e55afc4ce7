/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "schedule.h"

#include <inttypes.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/note.h"
#include "base/open.h"
#include "error.h"
#include "json_text.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "plan.h"
#include "qmp.h"

#define VERSION 1
/*
 * maximum size in bytes of a file whose hash is recorded; for a larger file, only the size and the time are
 * recorded
 */
#define HASHED_MOST ((off_t)256 << 20)

/* ---- Files that the command line names ----------------------------------------------------------- */

/* Options whose values are names of files that QEMU writes, or text for the guest. */
static bool names_no_input(const struct capture_qemu_option *option)
{
	static const char *const names[] = { "append", "chardev", "D",	 "debugcon", "monitor",
					     "name",   "pidfile", "qmp", "serial",   "trace" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (capture_qemu_option_is(option, names[i]))
			return true;
	return false;
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * Computes the hash of a file. A replay compares a file more than once; the hashes of the last files are kept
 * for as long as the files have the same times. A file that has just changed may change again without another
 * time.
 */
static bool hash_file(const char *path, const struct stat *now, char hash[SHA256_DIGEST_STRING_LENGTH])
{
	static _Thread_local struct {
		struct stat status;
		char hash[SHA256_DIGEST_STRING_LENGTH];
	} known[4];
	static _Thread_local unsigned next;
	const time_t begun = time(NULL);

	for (unsigned n = 0; n < sizeof(known) / sizeof(known[0]); n++) {
		const struct stat *then = &known[n].status;

		if (known[n].hash[0] && then->st_dev == now->st_dev && then->st_ino == now->st_ino &&
		    then->st_size == now->st_size && is_same_time(&then->st_mtim, &now->st_mtim) &&
		    is_same_time(&then->st_ctim, &now->st_ctim)) {
			memcpy(hash, known[n].hash, sizeof(known[n].hash));
			return true;
		}
	}
	if (!SHA256File(path, hash))
		return false;
	if (begun - now->st_ctim.tv_sec < 2)
		return true;
	known[next].status = *now;
	memcpy(known[next].hash, hash, sizeof(known[next].hash));
	next = (next + 1) % (sizeof(known) / sizeof(known[0]));
	return true;
}

/* Describes the contents of a regular file. Returns false if it cannot be read. */
static bool describe_contents(json_t *file, const char *path)
{
	char hash[SHA256_DIGEST_STRING_LENGTH];
	struct stat status;

	if (!base_is_readable(path) || stat(path, &status) != 0)
		return false;
	json_object_set_new(file, "bytes", json_integer(status.st_size));
	if (status.st_size > HASHED_MOST)
		return json_object_set_new(file, "changed", json_integer(status.st_mtim.tv_sec)) == 0;
	return hash_file(path, &status, hash) && json_object_set_new(file, "sha256", json_string(hash)) == 0;
}

static void add_file(json_t *files, const char *path)
{
	char absolute[PATH_MAX];
	json_t *file;
	size_t n;

	if (capture_path_absolute(absolute, path) != 0)
		return;
	json_array_foreach(files, n, file) if (strcmp(json_string_value(json_object_get(file, "path")),
						      absolute) == 0) return;
	/*
	 * A JSON string is UTF-8. A file whose name is not UTF-8 is left out, because it could not be found
	 * again.
	 */
	file = json_pack("{s:s}", "path", absolute);
	if (file && describe_contents(file, absolute))
		json_array_append_new(files, file);
	else
		json_decref(file);
}

/*
 * Adds the files in a value of an option: the value itself may be a file name, or contain an item
 * "file=NAME".
 */
static void add_files_of(json_t *files, const char *value)
{
	char item[PATH_MAX];
	size_t used = 0;

	add_file(files, value);
	for (;; value++) {
		if (*value == ',' && value[1] == ',')
			value++;
		else if (*value == '=') {
			used = 0;
			continue;
		} else if (*value == ',' || *value == '\0') {
			item[used] = '\0';
			if (used)
				add_file(files, item);
			used = 0;
			if (*value == '\0')
				return;
			continue;
		}
		if (used + 1 < sizeof(item))
			item[used++] = *value;
	}
}

json_t *capture_recipe_files(char *const *words)
{
	struct capture_qemu_option option;
	json_t *files = json_array();
	size_t at = 1;

	while (files && capture_qemu_option_next(words, &at, &option)) {
		if (!option.name[0])
			add_file(files, words[option.index]);
		else if (option.value && !names_no_input(&option))
			add_files_of(files, option.value);
	}
	return files;
}

int capture_recipe_save(char *const *words, const char *path)
{
	char directory[PATH_MAX];
	json_t *list = json_array(), *recipe;
	int error = 0;

	for (size_t i = 0; list && words[i] && !error; i++)
		if (json_array_append_new(list, json_string(words[i])) != 0)
			error = capture_fail(CAPTURE_E_SYSTEM,
					     "'%s': a run whose QEMU line is not UTF-8 cannot be repeated",
					     words[i]);
	if (!error && !getcwd(directory, sizeof(directory)))
		error = capture_fail_errno("current directory");
	if (error) {
		json_decref(list);
		return error;
	}
	recipe = json_pack("{s:i, s:s, s:o, s:o}", "version", VERSION, "directory", directory, "words", list,
			   "files", capture_recipe_files(words));
	if (!recipe)
		error = capture_fail(CAPTURE_E_SYSTEM,
				     "'%s': a run in a directory whose name is not UTF-8 cannot be repeated",
				     directory);
	else if (capture_json_save(recipe, path) != 0)
		error = capture_fail_errno("%s", path);
	json_decref(recipe);
	return error;
}

/* Returns whether the guest can write to a file that the arguments in the recipe name. */
static bool guest_writes(const json_t *recipe)
{
	const json_t *list = json_object_get(recipe, "words"), *item;
	struct capture_words words = { 0 };
	bool writes;
	size_t n;

	json_array_foreach(list, n, item) if (json_is_string(item))
		capture_words_add(&words, json_string_value(item));
	writes = words.failed || !words.word || capture_schedule_writes(words.word);
	capture_words_free(&words);
	return writes;
}

void capture_recipe_hash(const char *path, const char *qemu, char hash[CAPTURE_RECIPE_HASH])
{
	json_t *recipe = json_load_file(path, 0, NULL), *files = json_object_get(recipe, "files"), *file;
	char *text = NULL;
	size_t n;

	_Static_assert(CAPTURE_RECIPE_HASH == SHA256_DIGEST_STRING_LENGTH, "a hash fits");
	*hash = '\0';
	json_array_foreach(files, n, file) json_object_del(file, "path");
	if (json_array_size(files) > 0 && !guest_writes(recipe) &&
	    json_array_append_new(files, json_string(qemu)) == 0)
		text = json_dumps(files, JSON_COMPACT | JSON_SORT_KEYS);
	if (text)
		SHA256Data((const uint8_t *)text, strlen(text), hash);
	free(text);
	json_decref(recipe);
}

/* ---- The line of JSON in a trace ----------------------------------------------------------------- */

static json_t *pack_noise(const struct schedule_noise *noise)
{
	const char *kind = noise->kind < CAPTURE_NOISE_KINDS ? capture_noise_names[noise->kind] : "";

	return json_pack("{s:I, s:I, s:s}", "seed", (json_int_t)noise->seed, "mean", (json_int_t)noise->mean,
			 "kind", kind);
}

/* addresses are stored as strings, because a number in JSON is signed */
static json_t *pack_hooks(const struct schedule_hooks *hooks)
{
	json_t *list = json_array();

	for (uint64_t n = 0; list && n < hooks->count && n < SCHEDULE_HOOKS_MOST; n++) {
		char text[24];

		snprintf(text, sizeof(text), "0x%" PRIx64, hooks->address[n]);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

/* Converts a position in memory that is read through a map to an offset in the RAM file. NULL: no map. */
static uint64_t offset_of(const struct capture_map *map, uint64_t position)
{
	for (uint32_t n = 0; map && n < map->ranges; n++)
		if (position >= map->range[n].physical &&
		    position - map->range[n].physical < map->range[n].length)
			return map->range[n].offset + (position - map->range[n].physical);
	return position;
}

/* Lists, for each ring, the positions of its slots in the RAM file: [[offset, length, position], …]. */
static json_t *pack_rings(const struct ktread_image *image, const struct capture_map *map)
{
	const uint32_t count = image ? ktread_image_rings(image) : 0;
	struct ktread_ring_piece piece;
	json_t *rings = json_array();

	for (uint32_t ring = 0; rings && ring < count; ring++) {
		json_t *pieces = json_array();

		for (uint32_t n = 0; ktread_image_ring_piece(image, ring, n, &piece) > 0; n++)
			json_array_append_new(pieces, json_pack("[I, I, I]", (json_int_t)piece.offset,
								(json_int_t)piece.length,
								(json_int_t)offset_of(map, piece.position)));
		json_array_append_new(rings, pieces);
	}
	return rings;
}

static uint64_t item(const json_t *array, size_t n)
{
	return (uint64_t)json_integer_value(json_array_get(array, n));
}

int capture_recipe_slot(const struct capture_recipe *recipe, const struct ktread *trace,
			const struct ktread_event *event, uint64_t *position, uint64_t *word)
{
	const json_t *pieces = json_array_get(json_object_get(recipe->json, "rings"), event->ring), *piece;
	const struct ktread_ring *ring = ktread_ring(trace, event->ring);
	unsigned char slot[KTRX_SLOT_SIZE];
	uint64_t offset;
	size_t n;

	if (!ring || ring->slots == 0 || ktread_slot(trace, event->ring, event->index, slot) != 0)
		return capture_fail(CAPTURE_E_FORMAT, "%s: the event's slot cannot be read", recipe->path);
	memcpy(word, slot, sizeof(*word));
	offset = event->index % ring->slots * KTRX_SLOT_SIZE;
	json_array_foreach(pieces, n, piece)
	{
		if (offset < item(piece, 0) || offset - item(piece, 0) >= item(piece, 1))
			continue;
		*position = item(piece, 2) + (offset - item(piece, 0));
		return 0;
	}
	return capture_fail(CAPTURE_E_FORMAT,
			    "%s: the place of the event's ring in the guest's RAM was not recorded",
			    recipe->path);
}

int capture_recipe_finish(const char *path, const struct capture_recipe_run *run, char **line)
{
	const struct capture_schedule *schedule = &run->schedule;
	json_t *recipe = json_load_file(path, 0, NULL), *added;

	*line = NULL;
	if (!recipe)
		return capture_fail(CAPTURE_E_FORMAT, "%s: unreadable", path);
	added = json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:s, s:s, s:b, s:b, s:I, s:I, s:o, s:s, s:o}",
			  "ktrace", run->ktrace, "qemu", run->qemu, "noise", pack_noise(&schedule->noise),
			  "later", pack_noise(&schedule->later), "change", (json_int_t)schedule->change,
			  "deadline", (json_int_t)schedule->deadline, "events", run->events, "transport",
			  run->transport, "trace_unit", run->trace_unit, "allow_reboot", run->allow_reboot,
			  "mean", (json_int_t)run->mean, "ended", (json_int_t)run->ended, "rings",
			  pack_rings(run->image, run->map), "input", schedule->input ? schedule->input : "",
			  "hooks", pack_hooks(&schedule->hooks));
	if (added && json_object_update(recipe, added) == 0)
		*line = capture_json_text(recipe, JSON_COMPACT);
	json_decref(added);
	json_decref(recipe);
	return *line ? 0 : capture_fail(CAPTURE_E_SYSTEM, "out of memory");
}

/* Returns a member of the recipe that is a time in ns or a count; 0 if the recipe has no such member. */
static uint64_t number_at(const json_t *json, const char *path)
{
	json_int_t value = json_integer_value(capture_json_at(json, path));

	return value > 0 ? (uint64_t)value : 0;
}

static const char *text_at(const json_t *json, const char *path)
{
	const char *text = json_string_value(capture_json_at(json, path));

	return text ? text : "";
}

/*
 * An older version of ktrace stored no kind of schedule, because SCHEDULE_TIMERS was the only kind. Returns
 * false if the kind is unknown.
 */
static bool unpack_noise(const json_t *json, const char *name, struct schedule_noise *to)
{
	const json_t *noise = json_object_get(json, name);
	const char *kind = text_at(noise, "kind");

	*to = (struct schedule_noise){ .seed = number_at(noise, "seed"), .mean = number_at(noise, "mean") };
	for (unsigned n = 0; n < CAPTURE_NOISE_KINDS; n++)
		if (strcmp(kind, capture_noise_names[n]) == 0) {
			to->kind = n;
			return true;
		}
	return !*kind;
}

/* Reads the addresses of hooks. Returns false if there are too many hooks, or if an address is invalid. */
static bool unpack_hooks(const json_t *json, struct schedule_hooks *to)
{
	const json_t *hooks = json_object_get(json, "hooks"), *hook;
	size_t n;

	if (json_array_size(hooks) > SCHEDULE_HOOKS_MOST)
		return false;
	json_array_foreach(hooks, n, hook)
	{
		const char *text = json_string_value(hook);
		char *end = NULL;

		to->address[n] = text ? strtoull(text, &end, 16) : 0;
		if (!text || end == text || *end)
			return false;
	}
	to->count = json_array_size(hooks);
	return true;
}

/* Reads by which rule the running CPU is chosen. Returns false if a member is invalid. */
static bool unpack_schedule(const json_t *json, struct capture_schedule *to)
{
	return unpack_noise(json, "noise", &to->noise) && unpack_noise(json, "later", &to->later) &&
	       unpack_hooks(json, &to->hooks) &&
	       (to->hooks.count > 0 || !capture_schedule_has_hooks(&to->noise, &to->later));
}

/* Reads the members. Returns false if a required member is missing or invalid. */
static bool unpack(struct capture_recipe *recipe)
{
	const json_t *json = recipe->json, *words = json_object_get(json, "words"), *word;
	struct capture_recipe_run *run = &recipe->run;
	size_t n;

	recipe->directory = text_at(json, "directory");
	if (number_at(json, "version") != VERSION || json_array_size(words) == 0 ||
	    recipe->directory[0] != '/')
		return false;
	json_array_foreach(words, n, word)
	{
		if (!json_is_string(word))
			return false;
		capture_words_add(&recipe->words, json_string_value(word));
	}
	recipe->transport = text_at(json, "transport");
	*run = (struct capture_recipe_run){
		.schedule = { .on = true,
			      .change = number_at(json, "change"),
			      .deadline = number_at(json, "deadline"),
			      .input = *text_at(json, "input") ? text_at(json, "input") : NULL },
		.ktrace = text_at(json, "ktrace"),
		.qemu = text_at(json, "qemu"),
		.events = text_at(json, "events"),
		.trace_unit = json_is_true(json_object_get(json, "trace_unit")),
		.allow_reboot = json_is_true(json_object_get(json, "allow_reboot")),
		.mean = number_at(json, "mean"),
		.ended = number_at(json, "ended"),
	};
	return unpack_schedule(json, &run->schedule) && !recipe->words.failed &&
	       capture_qemu_program(recipe->words.word[0]);
}

int capture_recipe_load(struct capture_recipe *recipe, const char *path)
{
	struct ktread *trace = NULL;
	const char *line;
	size_t length = 0;

	*recipe = (struct capture_recipe){ 0 };
	if (capture_path_absolute(recipe->path, path) != 0)
		return CAPTURE_E_FORMAT;
	if (ktread_open(&trace, path, NULL) != 0) {
		capture_fail(CAPTURE_E_FORMAT, "%s", ktread_message(trace));
		ktread_close(trace);
		return CAPTURE_E_FORMAT;
	}
	line = note_find(ktread_info(trace)->note, "recipe", &length);
	if (line)
		recipe->json = capture_json_parse(line, length);
	ktread_close(trace);
	if (!line)
		return capture_fail(CAPTURE_E_FORMAT,
				    "%s: the run cannot be repeated: it was not recorded with --seed or "
				    "--deterministic",
				    path);
	if (recipe->json && unpack(recipe))
		return 0;
	capture_recipe_free(recipe);
	return capture_fail(CAPTURE_E_FORMAT, "%s: the recipe of the run is damaged or of another version",
			    path);
}

enum capture_recipe_contents capture_recipe_compare(const json_t *file, const char *path)
{
	static const char *const members[] = { "bytes", "sha256", "changed" };
	json_t *now = json_object();
	bool same = now && describe_contents(now, path), readable = same;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const json_t *before = json_object_get(file, members[i]);
		const json_t *after = json_object_get(now, members[i]);

		same = same && (before ? json_equal(before, after) : !after);
	}
	json_decref(now);
	if (!readable)
		return CAPTURE_RECIPE_UNREADABLE;
	return same ? CAPTURE_RECIPE_SAME : CAPTURE_RECIPE_CHANGED;
}

int capture_recipe_check(const struct capture_recipe *recipe)
{
	const json_t *file;
	size_t n;

	json_array_foreach(json_object_get(recipe->json, "files"), n, file)
	{
		const char *path = text_at(file, "path");
		const enum capture_recipe_contents contents = capture_recipe_compare(file, path);

		if (contents == CAPTURE_RECIPE_UNREADABLE)
			return capture_fail(
				CAPTURE_E_FORMAT,
				"%s: cannot be read, but the run needs this file; put a copy into the "
				"directory of the trace or into the current directory",
				path);
		if (contents == CAPTURE_RECIPE_CHANGED)
			return capture_fail(CAPTURE_E_FORMAT, "%s: changed since the run was recorded", path);
	}
	return 0;
}

bool capture_recipe_names(const struct capture_recipe *recipe, const char *path)
{
	const json_t *file;
	struct stat wanted, other;
	size_t n;

	if (stat(path, &wanted) != 0)
		return false;
	json_array_foreach(json_object_get(recipe->json, "files"), n,
			   file) if (stat(text_at(file, "path"), &other) == 0 &&
				     wanted.st_dev == other.st_dev &&
				     wanted.st_ino == other.st_ino) return true;
	return false;
}

void capture_recipe_free(struct capture_recipe *recipe)
{
	json_decref(recipe->json);
	capture_words_free(&recipe->words);
	*recipe = (struct capture_recipe){ 0 };
}
