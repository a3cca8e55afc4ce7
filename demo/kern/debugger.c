/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/console.h>
#include <ktrace/ktrace.h>

#include "arch.h"
#include "backtrace.h"
#include "clock.h"
#include "cpu.h"
#include "debugger.h"
#include "ipi.h"
#include "power.h"
#include "print.h"
#include "probes.h"

#define LINE_SIZE     80
#define HEARTBEAT_NS  (10 * NS_PER_MS)
#define BACKTRACE_MAX 1000 /* largest COUNT that limits the output; a larger one means no limit */

enum { BACKSPACE = 'H' & 31, KILL_LINE = 'U' & 31, RUBOUT = 0x7f };

static bool has_panicked;
static bool is_leaving;

/* ---- Keys -------------------------------------------------------------------------------------- */

/*
 * Called repeatedly while the prompt waits for a key. Handles IPIs, because other CPUs wait for the answers,
 * and updates the heartbeat, because the host checks it.
 */
static void handle_while_waiting(void)
{
	static uint64_t last_heartbeat_ns;

	if (!has_panicked)
		ipi_handle();
	if (clock_ns() - last_heartbeat_ns < HEARTBEAT_NS)
		return;
	last_heartbeat_ns = clock_ns();
	ktrace_heartbeat((uintptr_t)handle_while_waiting);
}

static int wait_key(void)
{
	int c;

	while ((c = arch_console_getc()) < 0) {
		handle_while_waiting();
		arch_relax();
	}
	return c;
}

static size_t erase(size_t length, size_t count)
{
	for (; count > 0 && length > 0; count--, length--)
		console_write("\b \b", 3);
	return length;
}

static void read_line(char *line, size_t size)
{
	size_t length = 0;

	for (;;) {
		int c = wait_key();

		if (c == '\r' || c == '\n')
			break;
		if (c == BACKSPACE || c == RUBOUT) {
			length = erase(length, 1);
		} else if (c == KILL_LINE) {
			length = erase(length, length);
		} else if (c >= ' ' && c < RUBOUT && length + 1 < size) {
			line[length++] = (char)c;
			console_write(&line[length - 1], 1);
		}
	}
	line[length] = '\0';
	console_write("\n", 1);
}

/* ---- Commands ---------------------------------------------------------------------------------- */

static void viewer_write(const struct ktrace_console *console, const char *text, size_t bytes)
{
	(void)console;
	console_write(text, bytes);
}

static int viewer_key(const struct ktrace_console *console)
{
	(void)console;
	return wait_key();
}

static const struct ktrace_console viewer = { .write = viewer_write, .key = viewer_key };

static void show_trace(const char *how)
{
	int error = ktrace_console_show(&viewer, how);

	if (error == KTRACE_ERROR_SYNTAX)
		kprintf("show ktr[/v][a][c<CPU>] [PATTERN...]\n");
	else if (error == KTRACE_ERROR_ARGUMENT)
		kprintf("no such CPU; try show cpus\n");
	else
		ktrace_console_refusal(&viewer, error);
}

static void show_settings(const char *how)
{
	int error = ktrace_console_settings(&viewer, how);

	if (error == KTRACE_ERROR_SYNTAX)
		kprintf("show settings[/a] [PREFIX]\n");
	else
		ktrace_console_refusal(&viewer, error);
}

static void set(const char *text)
{
	if (*text == '\0')
		kprintf("set NAME=VALUE, set PATTERN=STATE, set PATTERN, set -PATTERN\n");
	else
		ktrace_console_refusal(&viewer, ktrace_control(text));
	if (has_panicked && probes_pending())
		kprintf("probes do not run after a panic\n");
}

static void show_backtrace(const char *count)
{
	int limit = 0;

	for (; *count >= '0' && *count <= '9' && limit < BACKTRACE_MAX; count++)
		limit = limit * 10 + (*count - '0');
	print_backtrace(limit ? limit : -1);
}

static void show_cpus(const char *unused)
{
	(void)unused;
	for (unsigned i = 0; i < cpu_count; i++)
		kprintf("cpu%u %s thread %u%s\n", i, cpus[i].online ? "online " : "stopped",
			cpus[i].trace_context & KTRX_THREAD_MAX,
			&cpus[i] == arch_this_cpu() ? "  at this prompt" : "");
}

static void leave(const char *unused)
{
	(void)unused;
	if (has_panicked)
		kprintf("cannot continue after a panic\n");
	else
		is_leaving = true;
}

static void halt(const char *unused)
{
	(void)unused;
	if (!has_panicked)
		power_off(0);
	is_leaving = true;
}

static void help(const char *unused);

static const struct command {
	const char *name, *help;
	void (*run)(const char *arguments); /* `arguments` is the text after the command's name */
} commands[] = {
	{ "show ktr", "the trace, newest first: show ktr[/v][a][c<CPU>] [PATTERN...]", show_trace },
	{ "show settings", "the settings of ktrace: show settings[/a] [PREFIX]", show_settings },
	{ "show cpus", "the state and thread of each CPU", show_cpus },
	{ "bt", "the backtrace of this prompt: bt [COUNT]", show_backtrace },
	{ "set", "changes settings and events: set NAME=VALUE, set sched.*=on, set -mm.fault", set },
	{ "c", "continues", leave },
	{ "halt", "switches the machine off", halt },
	{ "help", "this list", help },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(const char *unused)
{
	(void)unused;
	for (size_t i = 0; i < COMMANDS; i++)
		kprintf("%-14s %s\n", commands[i].name, commands[i].help);
}

/*
 * If the line begins with the command's name, returns the text after the name and the blanks that follow it;
 * otherwise NULL.
 */
static const char *arguments_of(const struct command *command, const char *line)
{
	for (const char *name = command->name; *name; name++, line++)
		if (*line != *name)
			return NULL;
	if (*line != '\0' && *line != ' ' && *line != '/')
		return NULL;
	while (*line == ' ')
		line++;
	return line;
}

static void obey(const char *line)
{
	while (*line == ' ')
		line++;
	for (size_t i = 0; i < COMMANDS; i++) {
		const char *arguments = arguments_of(&commands[i], line);

		if (arguments) {
			commands[i].run(arguments);
			return;
		}
	}
	if (*line)
		kprintf("no such command; try help\n");
}

static void prompt(void)
{
	char line[LINE_SIZE];

	is_leaving = false;
	while (!is_leaving) {
		console_write("db> ", 4);
		read_line(line, sizeof(line));
		obey(line);
	}
}

void debugger_enter(void)
{
	kprintf("\nCPU %u stopped at this prompt; the other CPUs continue. Type c to continue, or help\n",
		arch_this_cpu()->id);
	prompt();
}

void debugger_enter_after_panic(void)
{
	has_panicked = true;
	prompt();
}
