/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * sysctl -a: all settings and their values. sysctl NAME: one. sysctl NAME=VALUE: sets it; what the kernel's argument
 * ktrace= knows will do, too, as in sysctl 'sched.*=on'.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES  160
#define VALUE_BYTES 1088
#define FAR	    4 /* letters by which names differ that are not near any more */

static int fail(const char *name, int64_t error)
{
	dprintf(STDERR, "sysctl: %s: error %d\n", name, (int)-error);
	return 1;
}

static int show(const char *name)
{
	char value[VALUE_BYTES];
	int64_t n = setting_get(name, value, sizeof(value));

	if (n < 0)
		return fail(name, n);
	printf("%s: %s\n", name, value);
	return 0;
}

static int show_all(void)
{
	char name[NAME_BYTES];
	int failed = 0;

	for (int n = 0; setting_name(n, name, sizeof(name)) > 0; n++)
		failed |= show(name);
	return failed;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to put in, take out or replace to make one of the other. */
static unsigned distance(const char *left, const char *right)
{
	unsigned char row[NAME_BYTES + 1];
	size_t length = strlen(right);

	for (size_t i = 0; i <= length; i++)
		row[i] = (unsigned char)i;
	for (unsigned n = 1; *left; left++, n++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned char)n;
		for (size_t i = 1; i <= length; i++) {
			unsigned above = row[i];

			row[i] = (unsigned char)least(least(above, row[i - 1]) + 1,
						      diagonal + (*left != right[i - 1]));
			diagonal = above;
		}
	}
	return row[length];
}

static void show_near(const char *wanted)
{
	char name[NAME_BYTES];

	for (int n = 0; strlen(wanted) < NAME_BYTES && setting_name(n, name, sizeof(name)) > 0; n++)
		if (distance(wanted, name) < FAR)
			dprintf(STDERR, "sysctl: near it: %s\n", name);
}

static int look_up(const char *name)
{
	char value[VALUE_BYTES];

	if (setting_get(name, value, sizeof(value)) != -ENOENT)
		return show(name);
	dprintf(STDERR, "sysctl: %s: there is no such setting\n", name);
	show_near(name);
	return 1;
}

/* Says what it was and what it is, if it is one setting by name. */
static int set(const char *text)
{
	char name[NAME_BYTES], before[VALUE_BYTES], after[VALUE_BYTES];
	size_t length = (size_t)(strchr(text, '=') - text);
	int64_t known, error;

	string_copy(name, text, least((unsigned)length + 1, sizeof(name)));
	known = setting_get(name, before, sizeof(before));
	error = setting_set(text);
	if (error == -ENOENT)
		show_near(name);
	if (error < 0)
		return fail(text, error);
	if (known > 0 && setting_get(name, after, sizeof(after)) > 0)
		printf("%s: %s -> %s\n", name, before, after);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	if (argc < 2)
		dprintf(STDERR, "usage: sysctl -a | NAME... | NAME=VALUE...\n");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-a") == 0)
			failed |= show_all();
		else
			failed |= strchr(argv[i], '=') ? set(argv[i]) : look_up(argv[i]);
	}
	return failed;
}
