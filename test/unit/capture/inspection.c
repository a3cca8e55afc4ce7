/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests reading registers and stacks from a QEMU that answers, refuses, sends garbage, sends no answer, or
 * closes the connection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analyze/symbols.h"
#include "capture/run_state.h"

#define REGISTERS                                                                                        \
	"{\"return\": \"CPU#0\\r\\nRIP=12 RBP=ffff800000001010\\r\\nCPU#1\\r\\nRIP=13\\r\\n\", \"id\": " \
	"\"ask\"}\r\n"

struct fixture {
	char directory[32];
	struct capture_machine machine;
	struct capture_inspection inspection;
	int qemu;
};

static int set_up(void **state)
{
	static struct fixture fixture;
	int end[2];

	fixture = (struct fixture){ .directory = "/tmp/ktrace-unit-XXXXXX" };
	assert_non_null(mkdtemp(fixture.directory));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, end), 0);
	assert_int_equal(fcntl(end[0], F_SETFL, O_NONBLOCK), 0);
	fixture.machine.qmp = (struct capture_qmp){ .listener = -1, .fd = end[0] };
	fixture.machine.running = true;
	fixture.inspection.directory = fixture.directory;
	fixture.qemu = end[1];
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	capture_inspection_reset(&fixture->inspection);
	capture_machine_close(&fixture->machine);
	close(fixture->qemu);
	return rmdir(fixture->directory); /* this fails if a file was left in the directory */
}

/* Checks that ktrace has just sent `words`. */
static void asked(const struct fixture *fixture, const char *words)
{
	char received[4096];
	ssize_t got = recv(fixture->qemu, received, sizeof(received) - 1, MSG_DONTWAIT);

	assert_true(got > 0);
	received[got] = '\0';
	assert_non_null(strstr(received, words));
}

/*
 * Makes steps until the thread that walks the stacks has ended its part, however long the host takes for that.
 * Returns whether the inspection is done.
 */
static bool step(struct fixture *fixture)
{
	bool done;

	do {
		if (fixture->inspection.begun > 0)
			fixture->inspection.begun = fixture->inspection.moved = capture_now();
		done = capture_inspection_step(&fixture->inspection, &fixture->machine);
	} while (!done && fixture->inspection.walking);
	return done;
}

static void send_answer(struct fixture *fixture, const char *text)
{
	assert_int_equal(send(fixture->qemu, text, strlen(text), 0), strlen(text));
	capture_machine_receive(&fixture->machine);
}

static bool answer(struct fixture *fixture, const char *text)
{
	send_answer(fixture, text);
	return step(fixture);
}

/*
 * Writes the file that QEMU writes for the command memsave: a page with a stack frame at offset 0x10, whose
 * return address is 0x77.
 */
static void save_page(const struct fixture *fixture)
{
	unsigned char page[CAPTURE_STACK_PAGE] = { [0x18] = 0x77 };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/page", fixture->directory);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
}

static void registers_and_stacks_are_taken(void **state)
{
	struct fixture *fixture = *state;

	assert_false(step(fixture));
	asked(fixture, "\"stop\"");
	assert_false(step(fixture));
	assert_false(answer(fixture, REGISTERS));
	asked(fixture, "\"memsave\",\"id\":\"ask\",\"arguments\":{\"val\":-140737488351232,\"size\":4096,");
	save_page(fixture);
	assert_true(answer(fixture, "{\"return\": {}, \"id\": \"ask\"}\r\n"));
	assert_string_equal(fixture->inspection.text,
			    "cpu 0 pc=12 rbp=ffff800000001010\ncpu 1 pc=13\nstack 0 77\n");
	assert_true(step(fixture));
}

/* Registers are reported even if no stack can be read. */
static void refused_pages_are_left_out(void **state)
{
	struct fixture *fixture = *state;

	step(fixture);
	assert_false(answer(fixture, REGISTERS));
	assert_true(answer(fixture, "{\"error\": {\"desc\": \"Invalid addr\"}, \"id\": \"ask\"}\r\n"));
	assert_string_equal(fixture->inspection.text, "cpu 0 pc=12 rbp=ffff800000001010\ncpu 1 pc=13\n");
}

/* QEMU reports that it saved a page, but there is no file. */
static void missing_page_file_is_harmless(void **state)
{
	struct fixture *fixture = *state;

	step(fixture);
	assert_false(answer(fixture, REGISTERS));
	assert_true(answer(fixture, "{\"return\": {}, \"id\": \"ask\"}\r\n"));
	assert_null(strstr(fixture->inspection.text, "stack"));
}

static void garbage_contains_no_registers(void **state)
{
	static const char *const rubbish[] = {
		"{\"error\": {\"desc\": \"no such command\"}, \"id\": \"ask\"}\r\n",
		"{\"return\": {\"a\": 1}, \"id\": \"ask\"}\r\n",
		"{\"id\": \"ask\"}\r\n",
		"{\"return\": \"\", \"id\": \"ask\"}\r\n",
		"{\"return\": \"CPU#CPU#CPU#=\\\\\", \"id\": \"ask\"}\r\n",
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rubbish) / sizeof(rubbish[0]); i++) {
		capture_inspection_reset(&fixture->inspection);
		assert_false(step(fixture));
		assert_true(answer(fixture, rubbish[i]));
		assert_true(!fixture->inspection.text || !strstr(fixture->inspection.text, "pc="));
	}
}

static void inspection_of_silent_qemu_times_out(void **state)
{
	struct fixture *fixture = *state;

	capture_inspection_step(&fixture->inspection, &fixture->machine);
	while (!capture_inspection_step(&fixture->inspection, &fixture->machine))
		poll(NULL, 0, 10);
	assert_null(fixture->inspection.text);
}

/* Each answer arrives in time, but all of them together take longer than one answer may take. */
static void slow_qemu_is_awaited(void **state)
{
	struct fixture *fixture = *state;

	capture_inspection_step(&fixture->inspection, &fixture->machine);
	assert_false(answer(fixture, REGISTERS));
	fixture->inspection.begun -= 4;
	assert_false(capture_inspection_step(&fixture->inspection, &fixture->machine));
	save_page(fixture);
	assert_true(answer(fixture, "{\"return\": {}, \"id\": \"ask\"}\r\n"));
	assert_string_equal(fixture->inspection.text,
			    "cpu 0 pc=12 rbp=ffff800000001010\ncpu 1 pc=13\nstack 0 77\n");
}

static void qemu_that_is_too_slow_is_left(void **state)
{
	struct fixture *fixture = *state;

	capture_inspection_step(&fixture->inspection, &fixture->machine);
	assert_false(answer(fixture, REGISTERS));
	fixture->inspection.begun -= 60;
	assert_true(capture_inspection_step(&fixture->inspection, &fixture->machine));
	assert_string_equal(fixture->inspection.text, "cpu 0 pc=12 rbp=ffff800000001010\ncpu 1 pc=13\n");
}

static void closed_connection_ends_inspection(void **state)
{
	struct fixture *fixture = *state;

	step(fixture);
	assert_false(answer(fixture, REGISTERS));
	shutdown(fixture->qemu, SHUT_RDWR);
	capture_machine_receive(&fixture->machine);
	assert_true(step(fixture));
	assert_string_equal(fixture->inspection.text, "cpu 0 pc=12 rbp=ffff800000001010\ncpu 1 pc=13\n");
}

/* ---- A slow file system -------------------------------------------------------------------------- */

#define MOST_POLLS 12000u /* after so many waits of 5 ms, the file system gives up */

/*
 * 1: the kernel's file is being opened; 2: the file system has answered; 3: it has given up, because the test
 * waited for it
 */
static atomic_int opening;

int __wrap_symbols_open(struct symbols **symbols, const char *elf, const struct ktread_info *info);

/*
 * Takes the place of symbols_open(), which opens the kernel's file. Fails when the file system has answered.
 */
int __wrap_symbols_open(struct symbols **symbols, const char *elf, const struct ktread_info *info)
{
	(void)elf;
	(void)info;
	*symbols = NULL;
	for (unsigned n = 0; n < MOST_POLLS && atomic_load(&opening) == 1; n++)
		poll(NULL, 0, 5);
	if (atomic_load(&opening) == 1)
		atomic_store(&opening, 3);
	return SYMBOLS_E_SYSTEM;
}

/*
 * Makes a step, and checks that it did not wait until the file system gave up. Returns whether the inspection
 * is done.
 */
static bool quick_step(struct fixture *fixture)
{
	const bool done = capture_inspection_step(&fixture->inspection, &fixture->machine);

	assert_int_not_equal(atomic_load(&opening), 3);
	return done;
}

static void slow_kernel_file_does_not_delay_the_caller(void **state)
{
	struct fixture *fixture = *state;

	atomic_store(&opening, 1);
	fixture->inspection.kernel.elf = "kernel.elf";
	assert_false(quick_step(fixture));
	send_answer(fixture, REGISTERS);
	assert_false(quick_step(fixture));
	/* the inspection must not time out if the host stops this program */
	fixture->inspection.moved += 3600;
	fixture->inspection.begun += 3600;
	for (unsigned n = 0; n < 3; n++)
		assert_false(quick_step(fixture));
	atomic_store(&opening, 2);
	while (fixture->inspection.walking)
		assert_false(quick_step(fixture));
	save_page(fixture);
	assert_true(answer(fixture, "{\"return\": {}, \"id\": \"ask\"}\r\n"));
	assert_string_equal(fixture->inspection.text,
			    "cpu 0 pc=12 rbp=ffff800000001010\ncpu 1 pc=13\nstack 0 77\n");
}

/* The file system does not answer. The inspection ends with the registers. */
static void silent_file_system_ends_inspection(void **state)
{
	struct fixture *fixture = *state;

	atomic_store(&opening, 1);
	fixture->inspection.kernel.elf = "kernel.elf";
	assert_false(quick_step(fixture));
	send_answer(fixture, REGISTERS);
	assert_false(quick_step(fixture));
	while (!quick_step(fixture))
		continue;
	assert_string_equal(fixture->inspection.text, "cpu 0 pc=12 rbp=ffff800000001010\ncpu 1 pc=13\n");
	capture_inspection_reset(&fixture->inspection);
	/* the file system answers after the walk was closed */
	atomic_store(&opening, 2);
	poll(NULL, 0, 100);
}

/* The file system stops answering after the first stack was found. The inspection ends with this stack. */
static void stacks_found_before_the_timeout_are_kept(void **state)
{
	struct fixture *fixture = *state;

	assert_false(quick_step(fixture));
	assert_false(answer(fixture, "{\"return\": \"CPU#0\\r\\nRIP=12 RBP=ffff800000001010\\r\\n"
				     "CPU#1\\r\\nRIP=13 RBP=ffff800000003010\\r\\n\", \"id\": \"ask\"}\r\n"));
	save_page(fixture);
	assert_false(answer(fixture, "{\"return\": {}, \"id\": \"ask\"}\r\n"));
	fixture->inspection.walking = true; /* as if a step read the kernel's file until the timeout */
	fixture->inspection.begun -= 60;
	assert_true(quick_step(fixture));
	assert_string_equal(fixture->inspection.text, "cpu 0 pc=12 rbp=ffff800000001010\n"
						      "cpu 1 pc=13 rbp=ffff800000003010\nstack 0 77\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(registers_and_stacks_are_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused_pages_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(missing_page_file_is_harmless, set_up, tear_down),
		cmocka_unit_test_setup_teardown(garbage_contains_no_registers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(inspection_of_silent_qemu_times_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(slow_qemu_is_awaited, set_up, tear_down),
		cmocka_unit_test_setup_teardown(qemu_that_is_too_slow_is_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(closed_connection_ends_inspection, set_up, tear_down),
		cmocka_unit_test_setup_teardown(slow_kernel_file_does_not_delay_the_caller, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(silent_file_system_ends_inspection, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_found_before_the_timeout_are_kept, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("capture_inspection", tests, NULL, NULL);
}
