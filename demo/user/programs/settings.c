/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * settings: checks that settings are found by number and by name, that every user can read them, and that
 * only root can set them.
 */
#include <program.h>
#include <string.h>
#include <unistd.h>

#define BIT	    "debug.b64_63"
#define NAME_BYTES  160
#define VALUE_BYTES 1088

static bool is_listed(const char *wanted)
{
	char name[NAME_BYTES];

	for (int n = 0; setting_name(n, name, sizeof(name)) > 0; n++)
		if (strcmp(name, wanted) == 0)
			return true;
	return false;
}

static void check_value(const char *name, const char *expected)
{
	char value[VALUE_BYTES];

	check_equal((int64_t)strlen(expected) + 1, setting_get(name, value, sizeof(value)),
		    "the value's length");
	check(strcmp(value, expected) == 0, "the value");
}

static void names_and_values(void)
{
	char name[NAME_BYTES], value[VALUE_BYTES];

	check(is_listed("debug.ktr.version"), "a word is listed");
	check(is_listed(BIT), "a bit is listed");
	check_value("debug.ktr.version", "2");
	check_equal(-ENOENT, setting_name(100000, name, sizeof(name)), "no name after the last one");
	check_equal(-ENOENT, setting_get("debug.ktr.nothing", value, sizeof(value)), "no such setting");
	check_equal(-ERANGE, setting_get("debug.ktr.version", value, 1),
		    "a buffer that is too small for the value");
	check_equal(-EFAULT, setting_get((const char *)8, value, sizeof(value)), "a name at a bad address");
	check_equal(-EFAULT, setting_get(BIT, (void *)8, sizeof(value)), "a buffer at a bad address");
}

static void near_names(void)
{
	char name[NAME_BYTES];

	check_equal(13, setting_near("sched.swich=on", 0, name, sizeof(name)),
		    "an event with a similar name is found");
	check(strcmp(name, "sched.switch") == 0, "it is sched.switch");
	check_equal(-ENOENT, setting_near("sched.swich=on", 1, name, sizeof(name)),
		    "no second name is similar");
	check_equal(-ENOENT, setting_near(BIT, 0, name, sizeof(name)), "no suggestion for a known name");
	check_equal(-ERANGE, setting_near("sched.swich", 0, name, 12),
		    "a buffer that is too small for the name");
	check_equal(-EFAULT, setting_near((const char *)8, 0, name, sizeof(name)), "a word at a bad address");
}

static void root_sets(void)
{
	check_equal(0, setting_set(BIT "=1"), "a bit is set");
	check_value(BIT, "1");
	check_equal(0, setting_set(BIT "=0"), "a bit is cleared");
	check_value(BIT, "0");
	check_equal(-EINVAL, setting_set(BIT "=2"), "a bit is only 0 or 1");
	check_equal(-EACCES, setting_set("debug.ktr.version=3"), "a read-only word cannot be set");
	check_equal(-ENOENT, setting_set("debug.ktr.nothing=1"), "no such setting");
	check_equal(-ENOENT, setting_set("nosuch.event=on"), "no such event");
}

static void others_look(void)
{
	check_equal(0, setuid(1), "the user is set");
	check_value(BIT, "0");
	check_equal(-EPERM, setting_set(BIT "=1"), "only root sets");
	check_value(BIT, "0");
	finish();
}

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	names_and_values();
	near_names();
	root_sets();
	check_equal(0, wait_for(start_child(others_look)), "the child's status");
	finish();
}
