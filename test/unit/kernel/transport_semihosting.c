/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kernel/transport/drivers.h"
#include "transport_fake/machine.h"
#include "transport_fake/test.h"

/* A simulated host: the results that it returns, and the data that it has received. */
static struct {
	bool present;
	const char *line; /* the command line that the host returns; if NULL, the request for it fails */
	int64_t handle;	  /* result that the host returns when a file is opened */
	/* number of bytes that a write leaves unwritten; if UINT64_MAX, the write fails */
	uint64_t unwritten;
	unsigned calls;
	char path[32];
	uint64_t mode;
	char console[32], file[32];
	size_t console_count, file_count;
} host;

bool ktrace_semihosting_present(void)
{
	return host.present;
}

static int64_t open_file(const uint64_t *block)
{
	const char *path = (const char *)(uintptr_t)block[0];

	assert_int_equal(block[2], strlen(path));
	memcpy(host.path, path, block[2] + 1);
	host.mode = block[1];
	return host.handle;
}

static int64_t write_file(const uint64_t *block)
{
	assert_int_equal(block[0], host.handle);
	if (host.unwritten > block[2])
		return (int64_t)host.unwritten;
	memcpy(host.file + host.file_count, (const void *)(uintptr_t)block[1], block[2] - host.unwritten);
	host.file_count += block[2] - host.unwritten;
	return (int64_t)host.unwritten;
}

static int64_t get_line(const uint64_t *block)
{
	if (!host.line)
		return -1;
	assert_in_range(strlen(host.line), 0, block[1]);
	memcpy((void *)(uintptr_t)block[0], host.line, strlen(host.line) + 1);
	return 0;
}

int64_t ktrace_semihosting_call(uint64_t operation, const void *block)
{
	host.calls++;
	switch (operation) {
	case 1:
		return open_file(block);
	case 3:
		host.console[host.console_count++] = *(const char *)block;
		return 0;
	case 5:
		return write_file(block);
	case 0x15:
		return get_line(block);
	default:
		fail_msg("unexpected operation %d", (int)operation);
		return -1;
	}
}

static struct ktrace_transport *plug(struct ktrace_semihosting *driver, const char *path)
{
	memset(&host, 0, sizeof(host));
	host.present = true;
	host.handle = 5;
	return ktrace_semihosting_init(driver, path);
}

static void an_absent_host_is_detected_without_a_call(void **state)
{
	struct ktrace_semihosting driver;
	struct ktrace_transport *transport = plug(&driver, "trace");

	(void)state;
	host.present = false;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
	assert_int_equal(host.calls, 0);
}

static void a_file_takes_one_trap_per_buffer(void **state)
{
	struct ktrace_semihosting driver;
	struct ktrace_transport *transport = plug(&driver, "trace.ktrx");

	(void)state;
	assert_int_equal(transport->probe(transport), 0);
	assert_string_equal(host.path, "trace.ktrx");
	assert_int_equal(host.mode, 5);
	assert_int_equal(transport->send(transport, "0123456789", 10), 10);
	assert_memory_equal(host.file, "0123456789", 10);
	assert_int_equal(host.calls, 2);
}

static void a_short_write_is_reported(void **state)
{
	struct ktrace_semihosting driver;
	struct ktrace_transport *transport = plug(&driver, "trace");

	(void)state;
	assert_int_equal(transport->probe(transport), 0);
	host.unwritten = 4;
	assert_int_equal(transport->send(transport, "0123456789", 10), 6);
	host.unwritten = 10;
	assert_int_equal(transport->send(transport, "0123456789", 10), 0);
}

static void an_error_is_not_taken_for_a_length(void **state)
{
	struct ktrace_semihosting driver;
	struct ktrace_transport *transport = plug(&driver, "trace");

	(void)state;
	assert_int_equal(transport->probe(transport), 0);
	host.unwritten = UINT64_MAX;
	assert_int_equal(transport->send(transport, "0123456789", 10), KTRACE_OUTPUT_FAILED);
}

static void the_console_is_used_if_no_file_opens(void **state)
{
	struct ktrace_semihosting driver;
	struct ktrace_transport *transport = plug(&driver, "/no/such/folder");

	(void)state;
	host.handle = -1;
	assert_int_equal(transport->probe(transport), 0);
	assert_int_equal(transport->send(transport, "A\0B", 3), 3);
	assert_memory_equal(host.console, "A\0B", 3);
	assert_int_equal(host.console_count, 3);
}

static void the_file_may_come_from_the_hosts_command_line(void **state)
{
	struct ktrace_semihosting driver;
	struct ktrace_transport *transport = plug(&driver, NULL);

	(void)state;
	host.line = "kernel.elf ktrace=sched=on no-ktrace-file=a ktrace-file=/tmp/b.ktrx ktrace-file=c";
	assert_int_equal(transport->probe(transport), 0);
	assert_string_equal(host.path, "/tmp/b.ktrx");
	assert_int_equal(transport->send(transport, "A", 1), 1);
	assert_int_equal(host.file_count, 1);
}

static void without_any_path_the_console_is_used(void **state)
{
	static const char *const lines[] = { NULL, "", "kernel.elf", "ktrace", " ktrace-file =x" };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct ktrace_semihosting driver;
		struct ktrace_transport *transport = plug(&driver, NULL);

		host.line = lines[i];
		assert_int_equal(transport->probe(transport), 0);
		assert_string_equal(host.path, "");
		assert_int_equal(transport->send(transport, "A", 1), 1);
		assert_int_equal(host.console_count, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_absent_host_is_detected_without_a_call),
		cmocka_unit_test(a_file_takes_one_trap_per_buffer),
		cmocka_unit_test(a_short_write_is_reported),
		cmocka_unit_test(an_error_is_not_taken_for_a_length),
		cmocka_unit_test(the_console_is_used_if_no_file_opens),
		cmocka_unit_test(the_file_may_come_from_the_hosts_command_line),
		cmocka_unit_test(without_any_path_the_console_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
