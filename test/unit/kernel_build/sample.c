/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel that uses ktrace, for build tests: it records every type of event and calls every function.
 * Compiles as C11 and C++17. Needs no headers except ktrace's.
 */
#include <stdbool.h>

#include <ktrace/console.h>
#include <ktrace/ktrace.h>

enum colour { RED, GREEN };
enum level { LOW = -1, HIGH = 1 };
enum address { LAST = 0xffffffffffull };

/* A field has the same type in C and in C++. */
KTRX_STATIC_ASSERT((KTRACE_RULE(enum colour) & 15) == KTRX_TYPE_U32, "unsigned enumeration");
KTRX_STATIC_ASSERT((KTRACE_RULE(enum level) & 15) == KTRX_TYPE_I32, "signed enumeration");
KTRX_STATIC_ASSERT((KTRACE_RULE(enum address) & 15) == KTRX_TYPE_U64, "wide enumeration");

/*
 * Names of groups and events may also be macros. For example, gcc defines `unix`, and kernels define
 * `current`.
 */
#undef current
#define current 7
#define running +1
KTRACE_EVENT(unix, send, "%u", (uint32_t, bytes));
KTRACE_EVENT(current, running, "%u", (uint32_t, n));
KTRACE_EVENT_V1(9, linux, current, "%u", (uint32_t, n));

KTRACE_EVENT(sched, switch, "%u -> %u after %llu ns", (uint32_t, prev), (uint32_t, next),
	     (unsigned long long, ran, ns));
KTRACE_EVENT(irq, spurious, "spurious interrupt");
KTRACE_EVENT_V1(0, syscall, enter, "%u(%lx, %lx, %lx, %lx, %lx, %lx)", (uint16_t, number), (unsigned long, a),
		(unsigned long, b), (unsigned long, c), (unsigned long, d), (unsigned long, e),
		(unsigned long, f));
KTRACE_EVENT(vfs, open, "%s %d %p %d", (const char *, path), (enum colour, colour), (void *, file),
	     (bool, found));
KTRACE_EVENT(mm, odd, "%d %u %d %llx %d", (signed char, a), (uint16_t, b), (char, c), (unsigned long long, d),
	     (short, e));
KTRACE_EVENT(user, most, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", (int, a), (int, b), (int, c),
	     (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j), (int, k), (int, l),
	     (int, m), (int, n), (int, o), (int, p));

static uint32_t word32;
static uint64_t word64;
KTRACE_SETTING_U32("sample.word32", word32, 0);
KTRACE_SETTING_U64("sample.word64", word64, KTRX_SETTING_READ_ONLY);
KTRACE_SETTING_RANGE("sample.limited", word32, 0, 2);
KTRACE_SETTING_BIT32("sample.bit32", word32, 31);
KTRACE_SETTING_BIT64("sample.bit64", word64, 63);

KTRACE_BEGIN_C

static int visit(void *cookie, const char *name)
{
	return ktrace_setting_get(name, (char *)cookie, 4);
}

static void put(const struct ktrace_console *console, const char *text, size_t bytes)
{
	*(char *)console->cookie = bytes ? text[bytes - 1] : 0;
}

void kernel_main(const char *path, int x);

void kernel_main(const char *path, int x)
{
	const struct ktrace_console console = { put, KTRACE_NULL, 24, &x };

	KTRACE(sched, switch, 1, 2, 3);
	ktrace_thread_switch(1, 2);
	ktrace_switch(1, 2, 0); /* the kernel has an event with the same name as this event of the library */
	ktrace_acquire(path, KTRACE_BY_CPU);
	KTRACE(irq, spurious);
	KTRACE(unix, send, 1);
	KTRACE_EARLY(current, running, 2);
	KTRACE_IF(1, linux, current, 3);
	KTRACE(syscall, enter, 1, 2, 3, 4, 5, 6, 7);
	KTRACE_IF(x > 3, vfs, open, path, GREEN, &x, true);
	KTRACE_EARLY(mm, odd, 1, 2, 'c', 4, 5);
	KTRACE(user, most, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	KTRACE_TEXT("x=%d path=%s", x, path);
	KTRACE_TEXT("no argument");
	ktrace_heartbeat(0);
	ktrace_mode(KTRX_MODE_IDLE);
	ktrace_cpu_online(0);
	ktrace_thread_name(1, path);
	ktrace_control(path);
	ktrace_boot_argument(path);
	ktrace_setting_set(path);
	ktrace_setting_each(visit, &word32);
	ktrace_init(KTRACE_NULL);
#ifndef __cplusplus
	KTRACE_INIT(1 << 20, .cpus = 4, .kernel = "sample");
#endif
	ktrace_clear();
	ktrace_stop();
	ktrace_start();
	ktrace_probe_cost();
	ktrace_console_set(&console);
	ktrace_console_show(&console, path);
	ktrace_console_settings(&console, path);
	ktrace_console_refusal(&console, ktrace_control(path));
	ktrace_panic(path);
	ktrace_exit(x);
}

KTRACE_END_C
