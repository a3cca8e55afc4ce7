/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * sysctl -a: prints all settings and their values.
 * sysctl NAME: prints one setting, or all whose names begin with "NAME."; -n before it prints only the
 * values.
 * sysctl NAME=VALUE: sets a setting; -w before it has no effect. Everything that the kernel's boot argument
 * ktrace= accepts works as well: sysctl 'sched.*=on', sysctl -sched. Options can be combined: -nw, -an.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES  160
#define VALUE_BYTES 1088

static void show_near(const char *wanted)
{
	char name[NAME_BYTES];

	for (int n = 0; setting_near(wanted, n, name, sizeof(name)) > 0; n++)
		dprintf(STDERR, "sysctl: did you mean %s?\n", name);
}

static const char *reason_of(int64_t error)
{
	switch (error) {
	case -ENOENT:
		return "no such event or setting";
	case -EACCES:
		return "read-only";
	case -EPERM:
		return "only root may change settings";
	case -EINVAL:
		return "bad syntax or value";
	default:
		return "too long";
	}
}

static int fail(const char *name, int64_t error)
{
	dprintf(STDERR, "sysctl: %s: %s\n", name, reason_of(error));
	show_near(name);
	return 1;
}

static int value_alone;

/* Prints a setting. Returns the result of setting_get(), which is negative if there is no such setting. */
static int64_t show_one(const char *name)
{
	char value[VALUE_BYTES];
	int64_t n = setting_get(name, value, sizeof(value));

	if (n >= 0 && value_alone)
		printf("%s\n", value);
	else if (n >= 0)
		printf("%s: %s\n", name, value);
	return n;
}

static int is_below(const char *name, const char *branch)
{
	return string_starts(name, branch) && name[strlen(branch)] == '.';
}

/*
 * Prints all settings whose names begin with "BRANCH.", or all settings if `branch` is NULL. Returns the
 * number of settings printed.
 */
static int show_branch(const char *branch)
{
	char name[NAME_BYTES];
	int shown = 0;

	for (int n = 0; setting_name(n, name, sizeof(name)) > 0; n++)
		if (!branch || is_below(name, branch))
			shown += show_one(name) >= 0;
	return shown;
}

static int show(const char *name)
{
	int64_t error = show_one(name);

	if (error >= 0 || show_branch(name) > 0)
		return 0;
	return fail(name, error);
}

/*
 * Changes settings or events. For "NAME=VALUE" with the name of a setting, prints the old and the new value.
 */
static int set(const char *text)
{
	char name[NAME_BYTES], before[VALUE_BYTES], after[VALUE_BYTES];
	const char *value = strchr(text, '=');
	size_t size = value ? (size_t)(value - text) + 1 : sizeof(name);
	int64_t known, error;

	string_copy(name, text, size < sizeof(name) ? size : sizeof(name));
	known = setting_get(name, before, sizeof(before));
	error = setting_set(text);
	if (error < 0)
		return fail(text, error);
	if (known > 0 && setting_get(name, after, sizeof(after)) > 0)
		printf("%s: %s -> %s\n", name, before, after);
	return 0;
}

/* Returns whether a word consists of options: -a, -n and -w, alone or combined. */
static int is_options(const char *word)
{
	const char *letter = word + 1;

	while (*letter == 'a' || *letter == 'n' || *letter == 'w')
		letter++;
	return word[0] == '-' && word[1] && !*letter;
}

/* Obeys a word of options. Returns nonzero if it is the option -a and there is no setting. */
static int obey(const char *options)
{
	value_alone |= strchr(options, 'n') != NULL;
	return strchr(options, 'a') && show_branch(NULL) == 0;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	if (argc < 2)
		dprintf(STDERR, "usage: sysctl [-n] -a | [-n] NAME... | [-w] NAME=VALUE... | "
				"PATTERN=STATE... | -PATTERN...\n");
	for (int i = 1; i < argc; i++) {
		if (is_options(argv[i]))
			failed |= obey(argv[i]);
		else
			failed |= argv[i][0] == '-' || strchr(argv[i], '=') ? set(argv[i]) : show(argv[i]);
	}
	return failed;
}
