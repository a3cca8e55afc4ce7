/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "machine.h"

int capture_machine_open(struct capture_machine *machine, const char *path)
{
	*machine = (struct capture_machine){ .backend = "" };
	return capture_qmp_listen(&machine->qmp, path);
}

int capture_machine_connect(struct capture_machine *machine, const char *backend, bool starts)
{
	int error = capture_qmp_accept(&machine->qmp);

	if (error)
		return error;
	machine->backend = backend;
	machine->starts = starts;
	capture_qmp_send(&machine->qmp, "hello", "qmp_capabilities", NULL);
	capture_qmp_send(&machine->qmp, "map", "human-monitor-command",
			 "{\"command-line\":\"info mtree -f\"}");
	capture_qmp_send(&machine->qmp, "tree", "human-monitor-command", "{\"command-line\":\"info qtree\"}");
	capture_qmp_send(&machine->qmp, "state", "query-status", NULL);
	if (starts)
		capture_qmp_send(&machine->qmp, "start", "cont", NULL);
	return 0;
}

int capture_machine_descriptor(const struct capture_machine *machine)
{
	return machine->qmp.fd >= 0 ? machine->qmp.fd : machine->qmp.listener;
}

/*
 * if QEMU's answer contains no map, `map` stays empty, and capture_ram_open() assumes the usual board of the
 * architecture
 */
static void take_map(struct capture_machine *machine, const char *text)
{
	if (capture_map_read(&machine->map, text, machine->backend) != 0)
		machine->map.ranges = 0;
}

static void take_tree(struct capture_machine *machine, const char *text)
{
	static const char key[] = "timebase-freq = ";
	const char *found = strstr(text, key);

	if (found)
		machine->timebase = strtoull(found + strlen(key), NULL, 10);
}

/* The greeting: {"QMP": {"version": {"qemu": {"major": 7, …}, "package": "Debian …"}}}. */
static void take_greeting(struct capture_machine *machine, const json_t *version)
{
	const char *package = json_string_value(capture_json_at(version, "package"));

	snprintf(machine->version, sizeof(machine->version), "%d.%d.%d%s%s%s",
		 (int)json_integer_value(capture_json_at(version, "qemu.major")),
		 (int)json_integer_value(capture_json_at(version, "qemu.minor")),
		 (int)json_integer_value(capture_json_at(version, "qemu.micro")),
		 package && *package ? " (" : "", package ? package : "", package && *package ? ")" : "");
}

/* Passes the text that a command of the human monitor printed to `take`. */
static void take_text(struct capture_machine *machine, const json_t *message,
		      void (*take)(struct capture_machine *machine, const char *text))
{
	const char *text = json_string_value(capture_json_at(message, "return"));

	if (text)
		take(machine, text);
}

/* Returns true for run states that QEMU does not leave by itself, except a halt by a debugger. */
static bool is_final(const char *state)
{
	static const char *const final[] = { "internal-error", "io-error", "guest-panicked", "shutdown",
					     "watchdog" };

	for (size_t i = 0; i < sizeof(final) / sizeof(final[0]); i++)
		if (strcmp(state, final[i]) == 0)
			return true;
	return false;
}

static void take_state(struct capture_machine *machine, const json_t *message)
{
	const char *state = json_string_value(capture_json_at(message, "return.status"));

	if (!state)
		return;
	snprintf(machine->state, sizeof(machine->state), "%s", state);
	machine->running = strcmp(machine->state, "running") == 0;
	machine->ran |= machine->running;
	machine->stopped_for_good = is_final(machine->state);
}

static void take_shutdown(struct capture_machine *machine, const json_t *event)
{
	static const struct {
		const char *reason;
		enum capture_shutdown shutdown;
	} reasons[] = {
		{ "guest-shutdown", CAPTURE_SHUTDOWN_GUEST }, { "guest-reset", CAPTURE_SHUTDOWN_RESET },
		{ "guest-panic", CAPTURE_SHUTDOWN_PANIC },    { "host-qmp-quit", CAPTURE_SHUTDOWN_USER },
		{ "host-ui", CAPTURE_SHUTDOWN_USER },	      { "host-signal", CAPTURE_SHUTDOWN_SIGNAL },
	};

	/* the first SHUTDOWN event contains the cause; later events belong to QEMU's own exit */
	if (machine->shutdown != CAPTURE_SHUTDOWN_NONE)
		return;
	machine->shutdown = CAPTURE_SHUTDOWN_ERROR;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (capture_json_is(event, "data.reason", reasons[i].reason))
			machine->shutdown = reasons[i].shutdown;
	/* a panic device also causes an event of its own, before this one */
	if (machine->shutdown == CAPTURE_SHUTDOWN_PANIC && !machine->panicked)
		machine->shutdown = CAPTURE_SHUTDOWN_FAILURE;
}

static void take_answer(struct capture_machine *machine, const json_t *message)
{
	const json_t *returned = capture_json_at(message, "return");

	machine->answered = true;
	machine->refused = !returned;
	if (json_is_string(returned))
		machine->answer = strdup(json_string_value(returned));
}

static void take_message(void *context, json_t *message)
{
	struct capture_machine *machine = context;

	if (capture_json_at(message, "QMP")) {
		take_greeting(machine, capture_json_at(message, "QMP.version"));
	} else if (capture_json_is(message, "id", "map")) {
		take_text(machine, message, take_map);
	} else if (capture_json_is(message, "id", "tree")) {
		take_text(machine, message, take_tree);
	} else if (capture_json_is(message, "id", "state")) {
		take_state(machine, message);
	} else if (capture_json_is(message, "id", "ask")) {
		take_answer(machine, message);
	} else if (capture_json_is(message, "event", "RESUME")) {
		machine->running = machine->ran = true;
		machine->stopped_for_good = false;
	} else if (capture_json_is(message, "event", "STOP")) {
		machine->running = false;
		capture_qmp_send(&machine->qmp, "state", "query-status", NULL);
	} else if (capture_json_is(message, "event", "GUEST_PANICKED")) {
		machine->panicked = true;
	} else if (capture_json_is(message, "event", "SHUTDOWN")) {
		take_shutdown(machine, message);
	}
}

void capture_machine_receive(struct capture_machine *machine)
{
	if (capture_qmp_receive(&machine->qmp, take_message, machine) == 0)
		return;
	machine->ended = true;
	machine->running = false;
}

void capture_machine_pause(struct capture_machine *machine)
{
	capture_qmp_send(&machine->qmp, "stop", "stop", NULL);
}

void capture_machine_resume(struct capture_machine *machine)
{
	capture_qmp_send(&machine->qmp, "resume", "cont", NULL);
}

void capture_machine_ask(struct capture_machine *machine, const char *command, const char *arguments)
{
	free(machine->answer);
	machine->answer = NULL;
	machine->answered = machine->refused = false;
	capture_qmp_send(&machine->qmp, "ask", command, arguments);
}

void capture_machine_quit(struct capture_machine *machine)
{
	capture_qmp_send(&machine->qmp, "quit", "quit", NULL);
}

void capture_machine_close(struct capture_machine *machine)
{
	capture_qmp_close(&machine->qmp);
	free(machine->answer);
	machine->answer = NULL;
}
