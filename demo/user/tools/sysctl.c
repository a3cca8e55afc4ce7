/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * sysctl -a: all settings and their values. sysctl NAME: one. sysctl NAME=VALUE: sets it; what the kernel's argument
 * ktrace= knows will do, too, as in sysctl 'sched.*=on' or sysctl -sched.
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
		dprintf(STDERR, "sysctl: near it: %s\n", name);
}

static const char *reason_of(int64_t error)
{
	switch (error) {
	case -ENOENT:
		return "no event or setting has such a name";
	case -EACCES:
		return "it can only be read";
	case -EPERM:
		return "only root sets";
	case -EINVAL:
		return "not understood, or out of range";
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

/* Says what it was and what it is, if it is one setting by name. */
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

int main(int argc, char **argv)
{
	int failed = argc < 2;

	if (argc < 2)
		dprintf(STDERR,
			"usage: sysctl -a | NAME... | NAME=VALUE... | PATTERN=STATE... | -PATTERN...\n");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-a") == 0)
			failed |= show_all();
		else
			failed |= argv[i][0] == '-' || strchr(argv[i], '=') ? set(argv[i]) : show(argv[i]);
	}
	return failed;
}
