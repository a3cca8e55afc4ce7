/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * QMP, QEMU's monitor protocol: a connection that QEMU makes to `ktrace run`, and one that `ktrace extract`
 * makes to QEMU.
 */
#ifndef CAPTURE_QMP_H
#define CAPTURE_QMP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The connection over which QEMU reports the state of its guest. QEMU connects to our socket when it starts.
 * A message is one line of JSON. No function waits.
 */

#define CAPTURE_QMP_MOST 1023u /* maximum size of a command in bytes */
/* command of the human monitor that prints the registers of all CPUs */
#define CAPTURE_QMP_REGISTERS "info registers -a"

struct capture_qmp {
	int listener; /* descriptor of the socket; -1: closed */
	/* descriptor of the connection; -1: QEMU has not connected, or has closed the connection */
	int fd;
	char *line; /* received bytes of a line that is still incomplete */
	size_t used;
	size_t room;
};

/* Called for each message, which is borrowed. Lines that are not JSON are ignored. */
typedef void capture_qmp_handler(void *context, json_t *message);

/* Listens on a socket at `path`. Returns 0, CAPTURE_E_USAGE if the path is too long, or CAPTURE_E_SYSTEM. */
int capture_qmp_listen(struct capture_qmp *qmp, const char *path);
/* Accepts the connection. Returns 0, CAPTURE_E_ABSENT if there is none yet, or CAPTURE_E_SYSTEM. */
int capture_qmp_accept(struct capture_qmp *qmp);
/*
 * Sends a command with an id; both together have at most CAPTURE_QMP_MOST bytes. If this fails, the
 * connection is shut down, and capture_qmp_receive() reports that it is closed.
 */
void capture_qmp_send(struct capture_qmp *qmp, const char *id, const char *command, const char *arguments);
/*
 * Passes the messages that have arrived to the handler. If many messages have arrived, processes only some of
 * them. Returns 0, or CAPTURE_E_ABSENT once QEMU has closed the connection.
 */
int capture_qmp_receive(struct capture_qmp *qmp, capture_qmp_handler *handler, void *context);
void capture_qmp_close(struct capture_qmp *qmp);

/*
 * Writes the arguments of memsave, which saves memory by virtual addresses of CPU `cpu` to a file. If `cpu`
 * is negative, writes the arguments of pmemsave, which saves memory by physical addresses. Requires: `path`
 * needs no escaping in a JSON string.
 */
void capture_qmp_put_save(char arguments[CAPTURE_QMP_MOST + 1], uint64_t address, size_t bytes,
			  const char *path, int64_t cpu);

/*
 * A client of QMP: sends a command and waits for its answer, in bounded time. It is for a QEMU that was
 * started without ktrace and listens on a QMP socket. (Under `ktrace run`, QEMU connects to us: machine.h.)
 * Events are skipped; only the times of STOP and RESUME are stored.
 */

/* maximum number of commands whose answers have not been fetched */
#define CAPTURE_MONITOR_UNDERWAY 8u

struct capture_monitor {
	struct capture_qmp qmp;
	const char *address; /* address of QEMU's socket, for messages; borrowed */
	int timeout_ms;	     /* maximum time, in ms, to wait for an answer */
	unsigned sequence;   /* id of the last command */
	/*
	 * received answers: the answer to command `id` is element `id` modulo the size, the greeting is
	 * element 0; NULL: not received yet
	 */
	json_t *answer[CAPTURE_MONITOR_UNDERWAY];
	bool greeted;
	/* times of the last STOP and of the last RESUME event, in µs by QEMU's clock; 0: no such event */
	uint64_t stopped, resumed;
};

/* Connects, waits for the greeting, and enables commands. `address` is borrowed. Returns 0 or an error. */
int capture_monitor_open(struct capture_monitor *monitor, const char *address, int timeout_ms);
/*
 * Sends a command and waits for its answer. *answer is valid until the next command is sent. Returns 0;
 * CAPTURE_E_FORMAT with QEMU's message if QEMU refused the command; CAPTURE_E_ABSENT if QEMU closed the
 * connection or does not answer in time; or CAPTURE_E_SYSTEM.
 */
int capture_monitor_command(struct capture_monitor *monitor, const char *command, const char *arguments,
			    const json_t **answer);
/*
 * The two steps of capture_monitor_command(), for callers that send several commands before they wait for the
 * answers. capture_monitor_send() returns the command's id. capture_monitor_answer() waits for the answer to
 * the command with this id. An answer is valid until CAPTURE_MONITOR_UNDERWAY more commands have been sent.
 */
unsigned capture_monitor_send(struct capture_monitor *monitor, const char *command, const char *arguments);
int capture_monitor_answer(struct capture_monitor *monitor, unsigned id, const char *command,
			   const json_t **answer);
/* Runs a command of the human monitor. *text: the output of the command; the caller frees it. */
int capture_monitor_print(struct capture_monitor *monitor, const char *line, char **text);
/* The two steps of capture_monitor_print(), for several commands that are sent together. */
unsigned capture_monitor_send_line(struct capture_monitor *monitor, const char *line);
int capture_monitor_printed(struct capture_monitor *monitor, unsigned id, const char *line, char **text);
void capture_monitor_close(struct capture_monitor *monitor);

/*
 * Functions for QMP messages, parsed by jansson. Every function accepts NULL and treats it as a missing
 * value.
 */

/*
 * Parses one message. Returns NULL if it is not JSON, has too many values, or memory runs out. The caller
 * releases it with json_decref().
 */
json_t *capture_json_parse(const char *text, size_t length);
/*
 * Returns the member of `json` at a path of names such as "data.reason"; NULL if it is missing. The member is
 * borrowed from `json`.
 */
const json_t *capture_json_at(const json_t *json, const char *path);
/* Returns true if the member at `path` is a string and equals `string`. */
bool capture_json_is(const json_t *json, const char *path, const char *string);

#endif
