/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the files of a recipe on another machine, where they have other paths. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "plan.h"
#include "schedule.h"

/* ---- Arguments of the command line --------------------------------------------------------------- */

struct move {
	const char *directory; /* directory of the first run, to which paths in the arguments are relative */
	const char *from, *to; /* absolute path of the file */
};

/* Returns whether a name refers to the file whose path is being replaced. */
static bool names(const struct move *move, const char *name)
{
	char path[PATH_MAX];

	if (name[0] == '/')
		return strcmp(name, move->from) == 0;
	return capture_path_join(path, move->directory, name) == 0 && strcmp(path, move->from) == 0;
}

/* An argument that is being built. `failed`: the argument did not fit into the buffer. */
struct text {
	char bytes[2 * PATH_MAX];
	size_t length;
	bool failed;
};

static void put(struct text *text, const char *bytes, size_t length)
{
	if (length >= sizeof(text->bytes) - text->length) {
		text->failed = true;
		return;
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

/* Appends an item of a list. QEMU expects each comma in the item to be doubled. */
static void put_item(struct text *text, const char *item)
{
	for (; *item; item++) {
		put(text, item, 1);
		if (*item == ',')
			put(text, item, 1);
	}
}

/*
 * Reads an item of a list up to the next '=' or single comma. *item: the item's text, with double commas
 * replaced by single commas. Returns the end of the item in `list`.
 */
static const char *read_item(const char *list, char item[PATH_MAX])
{
	size_t used = 0;

	for (; *list && *list != '=' && (*list != ',' || list[1] == ','); list++) {
		list += *list == ',';
		if (used + 1 < PATH_MAX)
			item[used++] = *list;
	}
	item[used] = '\0';
	return list;
}

/* Replaces the name of the file in an argument. The name is the whole argument, or items of its list. */
static void move_in_word(const struct move *move, char **word)
{
	struct text text = { .length = 0 };
	char item[PATH_MAX], *changed;
	const bool whole = names(move, *word);
	bool found = whole;

	if (whole)
		put(&text, move->to, strlen(move->to));
	for (const char *at = *word, *end; !whole; at = end + 1) {
		end = read_item(at, item);
		if (item[0] && names(move, item)) {
			put_item(&text, move->to);
			found = true;
		} else {
			put(&text, at, (size_t)(end - at));
		}
		if (!*end)
			break;
		put(&text, end, 1);
	}
	changed = found && !text.failed ? strdup(text.bytes) : NULL;
	if (!changed)
		return;
	free(*word);
	*word = changed;
}

/* ---- The search for files ------------------------------------------------------------------------ */

struct search {
	struct capture_recipe *recipe;
	char before[PATH_MAX]; /* directory of the first run */
	char beside[PATH_MAX]; /* directory of the trace */
	char current[PATH_MAX];
	void (*say)(void *context, const char *sentence);
	void *context;
};

static void say(const struct search *search, const char *from, const char *to)
{
	char sentence[2 * PATH_MAX + 64];

	snprintf(sentence, sizeof(sentence), "%s is used instead of %s: it has the same contents", to, from);
	search->say(search->context, sentence);
}

/* Checks whether a file with this name in a directory has the right contents. */
static bool try_file(const json_t *file, const char *folder, const char *name, char found[PATH_MAX])
{
	return capture_path_join(found, folder, name) == 0 &&
	       capture_recipe_compare(file, found) == CAPTURE_RECIPE_SAME;
}

/*
 * Looks for a file with the same contents. It may be at the same place relative to the directory of the
 * trace or the current directory, or have the same name in one of these directories.
 */
static bool find_file(const struct search *search, const json_t *file, const char *path, char found[PATH_MAX])
{
	const size_t length = strlen(search->before);
	const char *relative =
		strncmp(path, search->before, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	return (relative && (try_file(file, search->beside, relative, found) ||
			     try_file(file, search->current, relative, found))) ||
	       try_file(file, search->beside, name, found) || try_file(file, search->current, name, found);
}

static void move_file(const struct search *search, json_t *file, const char *to)
{
	const char *from = json_string_value(json_object_get(file, "path"));
	const struct move move = { .directory = search->before, .from = from, .to = to };
	struct capture_words *words = &search->recipe->words;

	for (size_t n = 1; n < words->count; n++)
		if (strcmp(words->word[n - 1], "-append") != 0 && strcmp(words->word[n - 1], "--append") != 0)
			move_in_word(&move, &words->word[n]);
	say(search, from, to);
	json_object_set_new(file, "path", json_string(to));
}

static void find_files(const struct search *search)
{
	json_t *file;
	size_t n;

	json_array_foreach(json_object_get(search->recipe->json, "files"), n, file)
	{
		const char *path = json_string_value(json_object_get(file, "path"));
		char found[PATH_MAX];

		if (path && capture_recipe_compare(file, path) != CAPTURE_RECIPE_SAME &&
		    find_file(search, file, path, found))
			move_file(search, file, found);
	}
}

/* If the directory of the first run does not exist, the run is repeated in the current directory. */
static int choose_folder(const struct search *search)
{
	struct capture_recipe *recipe = search->recipe;
	char sentence[2 * PATH_MAX + 64];
	struct stat status;

	if (stat(recipe->directory, &status) == 0)
		return 0;
	snprintf(sentence, sizeof(sentence), "%s does not exist: the run is repeated in %s",
		 recipe->directory, search->current);
	search->say(search->context, sentence);
	if (json_object_set_new(recipe->json, "directory", json_string(search->current)) != 0)
		return capture_fail(CAPTURE_E_SYSTEM, "'%s': the directory's name is not UTF-8",
				    search->current);
	recipe->directory = json_string_value(json_object_get(recipe->json, "directory"));
	return 0;
}

/* If QEMU is not at its path, looks for a program of the same name in PATH. */
static void choose_program(const struct search *search)
{
	char **word = search->recipe->words.word;
	const char *slash = strrchr(word[0], '/');
	char *name = slash && access(word[0], X_OK) != 0 ? strdup(slash + 1) : NULL;
	char sentence[2 * PATH_MAX + 64];

	if (!name)
		return;
	snprintf(sentence, sizeof(sentence), "%.*s does not exist: %s is looked for in PATH", PATH_MAX,
		 word[0], name);
	search->say(search->context, sentence);
	free(word[0]);
	word[0] = name;
}

int capture_recipe_find(struct capture_recipe *recipe, void (*call)(void *context, const char *sentence),
			void *context)
{
	struct search search = { .recipe = recipe, .say = call, .context = context };
	int error;

	snprintf(search.before, sizeof(search.before), "%s", recipe->directory);
	if (!getcwd(search.current, sizeof(search.current)))
		return capture_fail_errno("current directory");
	error = capture_path_folder(search.beside, recipe->path);
	if (!error)
		error = choose_folder(&search);
	if (error)
		return error;
	choose_program(&search);
	find_files(&search);
	return 0;
}
