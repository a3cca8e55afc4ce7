/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the message about a trace that the guest has overwritten in its memory. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/run_state.h"
#include "unit/support/ktread_sample.h"

static const struct capture_map map = {
	.range = { { 0, WRITER_MEMORY_SIZE, 0 } },
	.ranges = 1,
};

struct guest {
	struct capture_view view;
	const char *path;
};

static int open_guest(void **state)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);
	struct writer writer;

	begin(&writer, 2);
	put_switch(&writer, 1, 1000, 1);
	writer_memory(&writer, memory, 0);
	writer_close(&writer);
	guest->path = temporary(memory, WRITER_MEMORY_SIZE);
	assert_int_equal(capture_view_open(&guest->view, guest->path, &map, NULL), 0);
	free(memory);
	*state = guest;
	return 0;
}

static int close_guest(void **state)
{
	struct guest *guest = *state;

	capture_view_close(&guest->view);
	free(guest);
	return 0;
}

/* Overwrites the memory, as a stack that grows over the kernel's data does. */
static void overwrite(const struct guest *guest)
{
	unsigned char *bytes = malloc(WRITER_MEMORY_SIZE);
	int fd = open(guest->path, O_WRONLY);

	memset(bytes, 0x5a, WRITER_MEMORY_SIZE);
	assert_int_equal(write(fd, bytes, WRITER_MEMORY_SIZE), WRITER_MEMORY_SIZE);
	close(fd);
	free(bytes);
}

static void overwritten_root_is_reported(void **state)
{
	struct guest *guest = *state;
	char text[400];

	capture_view_look(&guest->view, false, 0);
	assert_non_null(guest->view.image);
	overwrite(guest);
	assert_int_equal(capture_view_search_again(&guest->view), CAPTURE_E_ABSENT);
	capture_view_explain_loss(&guest->view, false, text, sizeof(text));
	assert_non_null(strstr(text, "ktrace_root was found at physical 0x10000, with "));
	assert_non_null(strstr(text, "has been overwritten since"));
	assert_null(strstr(text, "reset"));
	capture_view_explain_loss(&guest->view, true, text, sizeof(text));
	assert_non_null(strstr(text, "or a reset"));
}

/* The root is overwritten before the run ends, so reading the pulse fails. */
static void root_overwritten_during_run_is_reported(void **state)
{
	struct guest *guest = *state;
	char text[400];

	capture_view_look(&guest->view, false, 0);
	overwrite(guest);
	capture_view_look(&guest->view, false, 0);
	assert_null(guest->view.image);
	assert_int_equal(capture_view_search_again(&guest->view), CAPTURE_E_ABSENT);
	capture_view_explain_loss(&guest->view, false, text, sizeof(text));
	assert_non_null(strstr(text, "physical 0x10000"));
}

static void root_never_found_is_not_reported(void **state)
{
	struct guest *guest = *state;
	char text[400] = "unset";

	overwrite(guest);
	capture_view_look(&guest->view, false, 0);
	assert_int_equal(capture_view_search_again(&guest->view), CAPTURE_E_ABSENT);
	capture_view_explain_loss(&guest->view, true, text, sizeof(text));
	assert_string_equal(text, "");
}

/* Does as if the last look at the guest was that many seconds ago. */
static void pass(struct capture_view *view, double seconds)
{
	view->looked -= seconds;
	view->watch.last_alive -= seconds;
	view->watch.last_moved -= seconds;
	view->watch.stuck_since -= seconds;
}

/* The host stops ktrace and the guest, or the whole machine, for four seconds. */
static void time_without_a_look_is_no_silence(void **state)
{
	struct guest *guest = *state;
	struct capture_watch *watch = &guest->view.watch;

	capture_view_look(&guest->view, true, 0);
	pass(&guest->view, 4);
	capture_view_look(&guest->view, true, 0);
	assert_true(capture_watch_silence(watch, guest->view.looked) < 0.9);
	assert_true(capture_watch_still(watch, guest->view.looked) < 0.9);
	assert_true(capture_watch_stuck(watch, guest->view.looked) < 0.9);
}

/* The host holds up ktrace again and again, and the guest hangs. For a part of the time, QEMU did not run. */
static void silence_is_noticed_although_looks_are_late(void **state)
{
	struct guest *guest = *state;
	struct capture_watch *watch = &guest->view.watch;

	capture_view_look(&guest->view, true, 0);
	for (unsigned n = 0; n < 16; n++) {
		pass(&guest->view, 4);
		capture_view_look(&guest->view, true, n % 2 ? 4 : 0);
	}
	assert_true(capture_watch_silence(watch, guest->view.looked) > 0.2);
	for (unsigned n = 0; n < 300; n++) {
		pass(&guest->view, 0.2);
		capture_view_look(&guest->view, true, 0);
	}
	assert_true(capture_watch_silence(watch, guest->view.looked) > 59);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_guest, close_guest)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(overwritten_root_is_reported),
		TEST(root_overwritten_during_run_is_reported),
		TEST(root_never_found_is_not_reported),
		TEST(time_without_a_look_is_no_silence),
		TEST(silence_is_noticed_although_looks_are_late),
	};

	return cmocka_run_group_tests_name("capture view", tests, NULL, temporary_teardown);
}
