/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests reading QEMU's output: JSON, its memory map, and events over a real socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "capture/qmp.h"

static json_t *json(const char *text)
{
	return capture_json_parse(text, strlen(text));
}

static void members_are_found(void **state)
{
	json_t *message = json(
		"{\"a\": {\"b\": [1, {\"reason\": \"x\"}], \"reason\" : \"q\\\"\\n\\u0041\"}, \"c\": true, "
		"\"event\": \"STOP\"}");

	(void)state;
	assert_string_equal(json_string_value(capture_json_at(message, "a.reason")), "q\"\nA");
	assert_true(json_is_true(capture_json_at(message, "c")));
	assert_null(json_string_value(capture_json_at(message, "c")));
	assert_null(capture_json_at(message, "reason"));
	assert_null(capture_json_at(message, "a.b.reason"));
	assert_null(capture_json_at(NULL, "a"));
	assert_true(capture_json_is(message, "event", "STOP"));
	assert_false(capture_json_is(message, "event", "STO"));
	assert_false(capture_json_is(message, "c", "true"));
	json_decref(message);
}

static void json_escapes_become_utf8(void **state)
{
	static const char *const expected[][2] = {
		{ "\\u00e9\\u20AC", "\xc3\xa9\xe2\x82\xac" },
		/* a pair of surrogates, which are one character */
		{ "\\ud83d\\udc1e!", "\xf0\x9f\x90\x9e!" },
		{ "a\\u0000b", "a" }, /* the escaped NUL ends the string */
	};
	char quoted[64];

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		json_t *string;

		snprintf(quoted, sizeof(quoted), "\"%s\"", expected[i][0]);
		string = json(quoted);
		assert_string_equal(json_string_value(string), expected[i][1]);
		json_decref(string);
	}
}

static void bad_escapes_are_not_json(void **state)
{
	static const char *const bad[] = { "\"\\ud83d\"", "\"\\udc1e\\ud83d\"", "\"\\u00g0\"", "\"\x80\"",
					   "\"" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(json(bad[i]));
}

/*
 * A message is truncated at each length. It must be refused, and no byte after its end may be read (the
 * sanitizer checks this).
 */
static void cut_json_is_refused(void **state)
{
	const char *text =
		"{\"a\": {\"b\": [1, \"\\u00e9\"]}, \"event\": \"S\\\\\\ud83d\\udc1e\", \"c\": [{}]}";

	(void)state;
	for (size_t length = 0; length < strlen(text); length++) {
		char *cut = malloc(length + !length);

		memcpy(cut, text, length);
		assert_null(capture_json_parse(cut, length));
		free(cut);
	}
}

static const char map_text[] =
	"FlatView #0\r\n AS \"I/O\", root: io\r\n  0000000000000000-0000000000000007 (prio 0, i/o): "
	"dma\r\n\r\n"
	"FlatView #1\r\n AS \"cpu-memory-0\", root: system\r\n AS \"memory\", root: system\r\n Root memory "
	"region: system\r\n"
	"  0000000000000000-000000000009ffff (prio 0, ram): ktrace-ram KVM\r\n"
	"  00000000000a0000-00000000000bffff (prio 1, i/o): vga\r\n"
	"  00000000000c0000-00000000000cafff (prio 0, rom): ktrace-ram @00000000000c0000 KVM\r\n"
	"  00000000000cb000-00000000bfffffff (prio 0, ram): ktrace-ram @00000000000cb000\r\n"
	"  00000000fffc0000-00000000ffffffff (prio 0, rom): pc.bios\r\n"
	"  0000000100000000-000000017fffffff (prio 0, ram): ktrace-ram @00000000c0000000\r\n\r\n";

static void the_memory_map_is_read(void **state)
{
	struct capture_map map;

	(void)state;
	assert_int_equal(capture_map_read(&map, map_text, "ktrace-ram"), 0);
	assert_int_equal(map.ranges, 3);
	assert_int_equal(map.range[0].length, 0xa0000);
	assert_int_equal(map.range[1].physical, 0xc0000);
	assert_int_equal(map.range[1].length, 0xc0000000 - 0xc0000);
	assert_int_equal(map.range[2].physical, 0x100000000);
	assert_int_equal(map.range[2].offset, 0xc0000000);
	assert_true(capture_map_read(&map, map_text, "ktrace") < 0);
	assert_true(capture_map_read(&map, "", "ktrace-ram") < 0);
}

/* Connects as QEMU does. Returns QEMU's end of the socket. */
static int connect_qemu(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void send_line(struct capture_machine *machine, int fd, const char *line)
{
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	capture_machine_receive(machine);
}

static void events_report_the_end(void **state)
{
	char path[] = "/tmp/ktrace-unit-XXXXXX";
	struct capture_machine machine;
	char received[1024];
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	unlink(path);
	assert_int_equal(capture_machine_open(&machine, path), 0);
	fd = connect_qemu(path);
	assert_int_equal(capture_machine_connect(&machine, "ktrace-ram", true), 0);
	received[read(fd, received, sizeof(received) - 1)] = '\0';
	assert_non_null(strstr(received, "qmp_capabilities"));
	assert_non_null(strstr(received, "\"cont\""));
	send_line(&machine, fd, "{\"QMP\": {}}\r\n{\"id\": \"state\", \"return\": {\"status\": \"prel");
	assert_false(machine.ran);
	send_line(&machine, fd, "aunch\"}}\r\n{\"event\": \"RESUME\"}\r\n");
	assert_true(machine.ran && machine.running);
	send_line(&machine, fd,
		  "{\"event\": \"STOP\"}\r\n{\"id\": \"state\", \"return\": {\"status\": "
		  "\"internal-error\"}}\r\n");
	assert_true(machine.stopped_for_good && !machine.running);
	assert_string_equal(machine.state, "internal-error");
	send_line(&machine, fd,
		  "{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"reason\": \"guest-reset\"}}\r\n");
	send_line(
		&machine, fd,
		"{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": false, \"reason\": \"host-qmp-quit\"}}\r\n");
	assert_int_equal(machine.shutdown, CAPTURE_SHUTDOWN_RESET);
	assert_false(machine.ended);
	close(fd);
	capture_machine_receive(&machine);
	assert_true(machine.ended);
	capture_machine_quit(&machine);
	capture_machine_close(&machine);
	unlink(path);
}

/* Returns the reason that is found for the end of QEMU if QEMU sends these lines. */
static enum capture_shutdown shutdown_after(const char *lines)
{
	char path[] = "/tmp/ktrace-unit-XXXXXX";
	struct capture_machine machine;
	enum capture_shutdown shutdown;
	int fd = mkstemp(path);

	close(fd);
	unlink(path);
	assert_int_equal(capture_machine_open(&machine, path), 0);
	fd = connect_qemu(path);
	assert_int_equal(capture_machine_connect(&machine, "ktrace-ram", true), 0);
	send_line(&machine, fd, "{\"QMP\": {}}\r\n");
	send_line(&machine, fd, lines);
	shutdown = machine.shutdown;
	close(fd);
	capture_machine_close(&machine);
	unlink(path);
	return shutdown;
}

#define PANICKED "{\"event\": \"GUEST_PANICKED\", \"data\": {\"action\": \"pause\"}}\r\n"
#define ENDED_BY_PANIC \
	"{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"reason\": \"guest-panic\"}}\r\n"

/* If a RISC-V guest writes a failure to its test device, QEMU 8.2 reports that the guest ended by a panic. */
static void a_failure_is_not_a_panic(void **state)
{
	(void)state;
	assert_int_equal(shutdown_after(ENDED_BY_PANIC), CAPTURE_SHUTDOWN_FAILURE);
	assert_int_equal(shutdown_after(PANICKED ENDED_BY_PANIC), CAPTURE_SHUTDOWN_PANIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found),	    cmocka_unit_test(json_escapes_become_utf8),
		cmocka_unit_test(bad_escapes_are_not_json), cmocka_unit_test(cut_json_is_refused),
		cmocka_unit_test(the_memory_map_is_read),   cmocka_unit_test(events_report_the_end),
		cmocka_unit_test(a_failure_is_not_a_panic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
