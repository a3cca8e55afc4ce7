/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Runs show ktr repeatedly while two threads record at full speed: each printed line must belong to a record
 * that was made.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ktrace/console.h"
#include "ktrace/ktrace.h"

#define WORKERS 2
#define SLOTS	4096u
#define SHOWS	400

KTRACE_EVENT(test, pair, "%llu %llu", (unsigned long long, number), (unsigned long long, complement));
KTRACE_EVENT(test, text, "%llu %llu %s %llu", (unsigned long long, number), (unsigned long long, complement),
	     (const char *, text), (unsigned long long, again));

__thread uint64_t threads_reserve;
__thread uint32_t threads_cpu;

static const char text[] = "a text of some length, so that a record takes a few slots";
static atomic_bool running;
static atomic_uint online;

static struct {
	char line[512];
	size_t length;
	uint64_t lines, overwritten;
	uint64_t stamp; /* timestamp of the previous line of the listing */
} screen;

static void check_record(const char *line)
{
	unsigned long long index, stamp, number, complement, again = 0;
	unsigned cpu;
	char event[32], shown[128] = "";
	int taken;

	assert_int_equal(sscanf(line,
				"cpu%u %llu: %llu test/unit/kernel/console_stress.c:%*u %31s %llu %llu%n",
				&cpu, &index, &stamp, event, &number, &complement, &taken),
			 6);
	assert_true(cpu < WORKERS);
	assert_true(number == ~complement);
	if (strcmp(event, "test_pair") == 0) {
		assert_string_equal(line + taken, "");
	} else {
		assert_string_equal(event, "test_text");
		assert_memory_equal(line + taken + 1, text, sizeof(text) - 1);
		assert_int_equal(sscanf(line + taken + sizeof(text), "%llu%127s", &again, shown), 1);
		assert_true(again == number);
	}
	assert_true(stamp <= screen.stamp);
	screen.stamp = stamp;
	screen.lines++;
}

static void check_line(const char *line)
{
	unsigned long long count;

	if (strstr(line, "slots overwritten while shown: ")) {
		assert_int_equal(sscanf(line, "slots overwritten while shown: %llu", &count), 1);
		screen.overwritten += count;
	} else if (!strstr(line, "unreadable slots: ") && strcmp(line, "no records") != 0) {
		check_record(line);
	}
}

static void screen_write(const struct ktrace_console *console, const char *bytes, size_t count)
{
	(void)console;
	for (size_t i = 0; i < count; i++) {
		assert_true(screen.length + 1 < sizeof(screen.line));
		screen.line[screen.length++] = bytes[i];
		if (bytes[i] != '\n')
			continue;
		screen.line[screen.length - 1] = '\0';
		check_line(screen.line);
		screen.length = 0;
	}
}

static void *work(void *argument)
{
	threads_cpu = *(const uint32_t *)argument;
	assert_int_equal(ktrace_cpu_online(threads_cpu), KTRACE_OK);
	online++;
	for (uint64_t n = 1; running; n++) {
		KTRACE(test, pair, n, ~n);
		KTRACE(test, text, n, ~n, text, n);
		if (n % 1024 == 0)
			sched_yield();
	}
	return NULL;
}

static void shown_records_are_records_that_were_made(void **state)
{
	static _Alignas(4096) unsigned char memory[1 << 20];
	static const uint32_t numbers[WORKERS] = { 0, 1 };
	static const struct ktrace_console console = { .write = screen_write };
	const struct ktrace_memory lent = { memory, sizeof(memory) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = WORKERS,
		.slots = SLOTS,
		.blocks = 1,
		.memory = &lent,
	};
	pthread_t thread[WORKERS];

	(void)state;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	running = true;
	for (unsigned i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, (void *)&numbers[i]), 0);
	while (online < WORKERS)
		sched_yield();
	for (unsigned i = 0; i < SHOWS || screen.overwritten == 0; i++) {
		screen.stamp = UINT64_MAX;
		assert_int_equal(ktrace_console_show(&console, "/va"), KTRACE_OK);
	}
	running = false;
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	screen.stamp = UINT64_MAX;
	assert_int_equal(ktrace_console_show(&console, "/va"), KTRACE_OK);
	assert_true(screen.lines > SLOTS);
	print_message("# %llu lines, %llu slots overwritten while shown\n", (unsigned long long)screen.lines,
		      (unsigned long long)screen.overwritten);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shown_records_are_records_that_were_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
