/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "qmp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "error.h"
#include "wait.h"

/* maximum size of a line in bytes; a longer line is not QMP */
#define LINE_MAX_BYTES ((size_t)16 << 20)
/*
 * Maximum number of commas in a message, including those in its strings. This limits the memory that a
 * message needs: a parsed value takes about 80 bytes, far more than its text.
 */
#define COMMAS_MOST ((size_t)1 << 20)
/* maximum number of reads in one call, so that a peer that never stops sending cannot block ktrace */
#define TURNS 256u

static void capture_qmp_close(struct capture_qmp *qmp)
{
	if (qmp->listener >= 0)
		close(qmp->listener);
	if (qmp->fd >= 0)
		close(qmp->fd);
	free(qmp->line);
	*qmp = (struct capture_qmp){ .listener = -1, .fd = -1 };
}

/* Listens on a socket at `path`. Returns 0, CAPTURE_E_USAGE if the path is too long, or CAPTURE_E_SYSTEM. */
static int capture_qmp_listen(struct capture_qmp *qmp, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*qmp = (struct capture_qmp){ .listener = -1, .fd = -1 };
	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >= (int)sizeof(address.sun_path))
		return capture_fail(CAPTURE_E_USAGE,
				    "%s: too long for a socket; set TMPDIR to a shorter path", path);
	qmp->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (qmp->listener < 0)
		return capture_fail_errno("socket");
	if (bind(qmp->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(qmp->listener, 1) != 0) {
		capture_fail_errno("%s", path);
		capture_qmp_close(qmp);
		return CAPTURE_E_SYSTEM;
	}
	return 0;
}

/* Accepts the connection. Returns 0, CAPTURE_E_ABSENT if there is none yet, or CAPTURE_E_SYSTEM. */
static int capture_qmp_accept(struct capture_qmp *qmp)
{
	qmp->fd = accept4(qmp->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (qmp->fd < 0 && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR))
		return capture_fail(CAPTURE_E_ABSENT, "QEMU has not connected");
	if (qmp->fd < 0)
		return capture_fail_errno("QMP socket");
	close(qmp->listener);
	qmp->listener = -1;
	return 0;
}

/*
 * Sends a command with an id; both together have at most CAPTURE_QMP_MOST bytes. If this fails, the
 * connection is shut down, and capture_qmp_receive() reports that it is closed.
 */
static void capture_qmp_send(struct capture_qmp *qmp, const char *id, const char *command,
			     const char *arguments)
{
	char text[CAPTURE_QMP_MOST + 1];
	int length = snprintf(text, sizeof(text), "{\"execute\":\"%s\",\"id\":\"%s\"%s%s}\n", command, id,
			      arguments ? ",\"arguments\":" : "", arguments ? arguments : "");

	if (qmp->fd < 0)
		return;
	/*
	 * Commands are few and short. If a command does not fit into the socket's buffer, QEMU no longer
	 * reads: end the connection.
	 */
	if (length > (int)CAPTURE_QMP_MOST || send(qmp->fd, text, (size_t)length, MSG_NOSIGNAL) != length)
		shutdown(qmp->fd, SHUT_RDWR);
}

static bool make_room(struct capture_qmp *qmp)
{
	size_t room = qmp->room ? qmp->room * 2 : 4096;
	char *grown;

	if (qmp->used < qmp->room)
		return true;
	grown = room <= LINE_MAX_BYTES ? realloc(qmp->line, room) : NULL;
	if (!grown)
		return false;
	qmp->line = grown;
	qmp->room = room;
	return true;
}

/*
 * Passes the message in each complete line to the handler. Keeps an incomplete line at the end. The first
 * `searched` bytes were searched before, and contain no line end.
 */
static void hand_over(struct capture_qmp *qmp, size_t searched, capture_qmp_handler *handler, void *context)
{
	size_t begin = 0;
	char *end;

	while ((end = memchr(qmp->line + searched, '\n', qmp->used - searched))) {
		size_t next = (size_t)(end - qmp->line) + 1;

		json_t *message = capture_json_parse(qmp->line + begin, next - begin);

		if (message)
			handler(context, message);
		json_decref(message);
		begin = searched = next;
	}
	memmove(qmp->line, qmp->line + begin, qmp->used - begin);
	qmp->used -= begin;
}

int capture_qmp_receive(struct capture_qmp *qmp, capture_qmp_handler *handler, void *context)
{
	for (unsigned turn = 0; turn < TURNS && qmp->fd >= 0; turn++) {
		ssize_t got =
			make_room(qmp) ? recv(qmp->fd, qmp->line + qmp->used, qmp->room - qmp->used, 0) : 0;

		if (got > 0) {
			qmp->used += (size_t)got;
			hand_over(qmp, qmp->used - (size_t)got, handler, context);
		} else if (got < 0 && errno == EINTR) {
			continue;
		} else if (got < 0 && errno == EAGAIN) {
			return 0;
		} else {
			close(qmp->fd);
			qmp->fd = -1;
		}
	}
	return qmp->fd >= 0 ? 0 : CAPTURE_E_ABSENT;
}

void capture_qmp_put_save(char arguments[CAPTURE_QMP_MOST + 1], uint64_t address, size_t bytes,
			  const char *path, int64_t cpu)
{
	char of_cpu[40] = "";

	if (cpu >= 0)
		snprintf(of_cpu, sizeof(of_cpu), ",\"cpu-index\":%" PRId64, cpu);
	/* Numbers in QMP are signed: addresses in the kernel's half of the address space are negative. */
	snprintf(arguments, CAPTURE_QMP_MOST + 1, "{\"val\":%" PRId64 ",\"size\":%zu,\"filename\":\"%s\"%s}",
		 (int64_t)address, bytes, path, of_cpu);
}

/*
 * Records when the guest was halted and resumed, by QEMU's clock. Times by our own clock would include the
 * delay of the socket.
 */
static void take_event(struct capture_monitor *monitor, const json_t *message)
{
	const json_t *time = capture_json_at(message, "timestamp");
	uint64_t when = (uint64_t)json_integer_value(capture_json_at(time, "seconds")) * 1000000 +
			(uint64_t)json_integer_value(capture_json_at(time, "microseconds"));

	if (capture_json_is(message, "event", "STOP"))
		monitor->stopped = when;
	else if (capture_json_is(message, "event", "RESUME"))
		monitor->resumed = when;
}

/*
 * Sets *id to the id of the command that `message` answers. Returns false if no unanswered command has this
 * id.
 */
static bool find_id(const struct capture_monitor *monitor, const json_t *message, unsigned *id)
{
	const char *digits = json_string_value(capture_json_at(message, "id"));
	char *end;

	if (!digits || !*digits)
		return false;
	*id = (unsigned)strtoul(digits, &end, 10);
	return !*end && *id && *id <= monitor->sequence && monitor->sequence - *id < CAPTURE_MONITOR_UNDERWAY;
}

/* Stores the messages that callers wait for: first the greeting, then answers to unanswered commands. */
static void monitor_message(void *context, json_t *message)
{
	struct capture_monitor *monitor = context;
	unsigned id = 0;
	json_t **answer;

	take_event(monitor, message);
	if (!monitor->greeted ? !capture_json_at(message, "QMP") : !find_id(monitor, message, &id))
		return;
	answer = &monitor->answer[id % CAPTURE_MONITOR_UNDERWAY];
	if (!*answer)
		*answer = json_incref(message);
}

static int await_answer(struct capture_monitor *monitor, unsigned id)
{
	double end = capture_now() + monitor->timeout_ms / 1000.0;
	json_t **answer = &monitor->answer[id % CAPTURE_MONITOR_UNDERWAY];

	while (!*answer) {
		int left = (int)((end - capture_now()) * 1000);
		int error = capture_await(monitor->qmp.fd, false, left > 0 ? left : 0, monitor->address);

		if (error && error != CAPTURE_E_ABSENT)
			return error;
		if (!error && capture_qmp_receive(&monitor->qmp, monitor_message, monitor) != 0 && !*answer)
			return capture_fail(CAPTURE_E_ABSENT, "%s: QEMU closed the QMP connection",
					    monitor->address);
		/* the time limit has passed, but messages that arrived before were processed */
		if (!*answer && (error || left <= 0))
			return capture_fail(CAPTURE_E_ABSENT, "%s: QMP does not answer", monitor->address);
	}
	return 0;
}

static void forget(struct capture_monitor *monitor, unsigned id)
{
	json_decref(monitor->answer[id % CAPTURE_MONITOR_UNDERWAY]);
	monitor->answer[id % CAPTURE_MONITOR_UNDERWAY] = NULL;
}

unsigned capture_monitor_send(struct capture_monitor *monitor, const char *command, const char *arguments)
{
	unsigned number = ++monitor->sequence;
	char id[16];

	forget(monitor, number);
	snprintf(id, sizeof(id), "%u", number);
	capture_qmp_send(&monitor->qmp, id, command, arguments);
	return number;
}

int capture_monitor_answer(struct capture_monitor *monitor, unsigned id, const char *command,
			   const json_t **answer)
{
	const json_t *message;
	const char *words;
	int error;

	if (monitor->qmp.fd < 0 && !monitor->answer[id % CAPTURE_MONITOR_UNDERWAY])
		return capture_fail(CAPTURE_E_ABSENT, "%s: QEMU closed the QMP connection", monitor->address);
	error = await_answer(monitor, id);
	if (error)
		return error;
	message = monitor->answer[id % CAPTURE_MONITOR_UNDERWAY];
	*answer = capture_json_at(message, "return");
	if (*answer)
		return 0;
	words = json_string_value(capture_json_at(message, "error.desc"));
	if (!words)
		return capture_fail(CAPTURE_E_FORMAT, "%s: %s: neither result nor error", monitor->address,
				    command);
	return capture_fail(CAPTURE_E_FORMAT, "%s: %s: %.200s", monitor->address, command, words);
}

int capture_monitor_command(struct capture_monitor *monitor, const char *command, const char *arguments,
			    const json_t **answer)
{
	unsigned id = capture_monitor_send(monitor, command, arguments);

	return capture_monitor_answer(monitor, id, command, answer);
}

unsigned capture_monitor_send_line(struct capture_monitor *monitor, const char *line)
{
	char arguments[200];

	snprintf(arguments, sizeof(arguments), "{\"command-line\":\"%s\"}", line);
	return capture_monitor_send(monitor, "human-monitor-command", arguments);
}

int capture_monitor_printed(struct capture_monitor *monitor, unsigned id, const char *line, char **text)
{
	const json_t *answer;
	int error = capture_monitor_answer(monitor, id, "human-monitor-command", &answer);

	if (error)
		return error;
	*text = strdup(json_is_string(answer) ? json_string_value(answer) : "");
	return *text ? 0 : capture_fail_errno("%s", line);
}

int capture_monitor_print(struct capture_monitor *monitor, const char *line, char **text)
{
	return capture_monitor_printed(monitor, capture_monitor_send_line(monitor, line), line, text);
}

int capture_monitor_open(struct capture_monitor *monitor, const char *address, int timeout_ms)
{
	const json_t *answer;
	int fd = capture_dial(address, timeout_ms), error;

	*monitor = (struct capture_monitor){ .qmp = { .listener = -1, .fd = fd },
					     .address = address,
					     .timeout_ms = timeout_ms };
	if (fd < 0)
		return fd;
	error = await_answer(monitor, 0);
	if (error == CAPTURE_E_ABSENT)
		error = capture_fail(
			error, "%s: no greeting: not a QMP socket, or another program is connected to it",
			address);
	monitor->greeted = true;
	if (!error)
		error = capture_monitor_command(monitor, "qmp_capabilities", NULL, &answer);
	if (error)
		capture_monitor_close(monitor);
	return error;
}

void capture_monitor_close(struct capture_monitor *monitor)
{
	capture_qmp_close(&monitor->qmp);
	for (unsigned id = 0; id < CAPTURE_MONITOR_UNDERWAY; id++)
		forget(monitor, id);
}

json_t *capture_json_parse(const char *text, size_t length)
{
	size_t commas = 0;

	for (size_t n = 0; n < length; n++)
		commas += text[n] == ',';
	if (commas > COMMAS_MOST)
		return NULL;
	return json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

const json_t *capture_json_at(const json_t *json, const char *path)
{
	for (;;) {
		size_t length = strcspn(path, ".");

		json = json_object_getn(json, path, length);
		if (!path[length])
			return json;
		path += length + 1;
	}
}

bool capture_json_is(const json_t *json, const char *path, const char *string)
{
	const char *value = json_string_value(capture_json_at(json, path));

	return value && strcmp(value, string) == 0;
}

/* ---- The machine, as QEMU reports it to `ktrace run` ---- */

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
