/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which RAM file is found if there are several, and some of their guests have ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/open.h"
#include "live/live.h"

#define GUESTS 4u

static char folder[64], usual[96], file[GUESTS][128];
static struct stat about[GUESTS];
static int ended[GUESTS]; /* what base_file_ended() returns for each guest */

int __wrap_base_file_ended(int descriptor);

int __wrap_base_file_ended(int descriptor)
{
	struct stat status;

	assert_int_equal(fstat(descriptor, &status), 0);
	for (unsigned n = 0; n < GUESTS; n++)
		if (status.st_ino == about[n].st_ino)
			return ended[n];
	fail();
	return 1;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	return a->st_ctim.tv_sec != b->st_ctim.tv_sec ? a->st_ctim.tv_sec > b->st_ctim.tv_sec
						      : a->st_ctim.tv_nsec > b->st_ctim.tv_nsec;
}

/* Makes RAM files of guests. Each file is newer than the previous one. */
static int make_files(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/ktrace-guest.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(usual, sizeof(usual), "%s/ktrace.ktrx", folder);
	for (unsigned n = 0; n < GUESTS; n++) {
		snprintf(file[n], sizeof(file[n]), "%s.%u.ram", usual, 9 - n);
		do { /* waits until the clock of the file system has advanced */
			FILE *made = fopen(file[n], "w");

			if (!made || fputs("x", made) < 0 || fclose(made) != 0 ||
			    stat(file[n], &about[n]) != 0)
				return -1;
		} while (n > 0 && !is_newer(&about[n], &about[n - 1]));
	}
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	for (unsigned n = 0; n < GUESTS; n++)
		unlink(file[n]);
	return rmdir(folder);
}

static void expect(int first, int second, int third, int fourth, int result, int found)
{
	const int states[GUESTS] = { first, second, third, fourth };
	char path[PATH_MAX] = "";

	memcpy(ended, states, sizeof(ended));
	assert_int_equal(live_guest_find_running(usual, path), result);
	assert_string_equal(path, found < 0 ? "" : file[found]);
}

static void the_newest_guest_that_runs_is_found(void **state)
{
	(void)state;
	expect(0, 0, 0, 0, 1, 3);
	expect(1, 0, 0, 1, 1, 2);
	expect(0, 1, 1, 1, 1, 0);
	expect(1, 1, 1, 1, 0, -1);
}

static void a_guest_of_which_it_is_unknown_is_found_if_none_runs(void **state)
{
	(void)state;
	expect(0, -1, -1, -1, 1, 0);
	expect(-1, -1, 1, 0, 1, 3);
	expect(-1, -1, 1, 1, -1, 1);
	expect(-1, -1, -1, -1, -1, 3);
}

static void the_newest_file_is_found_even_if_its_guest_has_ended(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_true(live_guest_find(usual, path));
	assert_string_equal(path, file[GUESTS - 1]);
}

static void without_a_file_nothing_is_found(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(live_guest_find_running(folder, path), 0);
	assert_false(live_guest_find(folder, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_guest_that_runs_is_found),
		cmocka_unit_test(a_guest_of_which_it_is_unknown_is_found_if_none_runs),
		cmocka_unit_test(the_newest_file_is_found_even_if_its_guest_has_ended),
		cmocka_unit_test(without_a_file_nothing_is_found),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
