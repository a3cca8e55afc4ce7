/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * QEMU's monitor protocol: the connection that `ktrace run` answers, and the one that `ktrace extract` makes.
 */
#ifndef CAPTURE_QMP_H
#define CAPTURE_QMP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The connection over which QEMU says what becomes of its guest: QEMU dials our socket when it starts, one
 * line of JSON each way. Never blocks.
 */

#define CAPTURE_QMP_MOST      1023u		  /* bytes of a command */
#define CAPTURE_QMP_REGISTERS "info registers -a" /* of the human monitor: of all CPUs */

struct capture_qmp {
	int listener; /* -1: closed */
	int fd;	      /* -1: nobody has dialled, or QEMU hung up */
	char *line;   /* received so far */
	size_t used;
	size_t room;
};

/* Called for each message, which is borrowed. A line that is not JSON is skipped. */
typedef void capture_qmp_handler(void *context, json_t *message);

int capture_qmp_listen(struct capture_qmp *qmp, const char *path);
/* Takes the connection. 0, or CAPTURE_E_ABSENT if there is none yet, or CAPTURE_E_SYSTEM. */
int capture_qmp_accept(struct capture_qmp *qmp);
/* One command with an id, of CAPTURE_QMP_MOST bytes at most. Errors show later, as a hung-up connection. */
void capture_qmp_send(struct capture_qmp *qmp, const char *id, const char *command, const char *arguments);
/* Reads what has come, of very much a part. 0, or CAPTURE_E_ABSENT once QEMU hung up. */
int capture_qmp_receive(struct capture_qmp *qmp, capture_qmp_handler *handler, void *context);
void capture_qmp_close(struct capture_qmp *qmp);

/*
 * Arguments of memsave, which writes memory as CPU `cpu` sees it into a file, or of pmemsave, which writes
 * physical memory, if that is negative. `path` goes between quotes as it is.
 */
void capture_qmp_put_save(char arguments[CAPTURE_QMP_MOST + 1], uint64_t address, size_t bytes,
			  const char *path, int64_t cpu);

/*
 * QMP as a client: one command, then its answer, in bounded time. For a QEMU that was started by someone else
 * and listens; `ktrace run` listens itself (machine.h). Events that come in between are passed over.
 */

#define CAPTURE_MONITOR_UNDERWAY 8u /* commands whose answers have not been fetched */

struct capture_monitor {
	struct capture_qmp qmp;
	const char *address; /* borrowed */
	int timeout_ms;	     /* for each answer */
	unsigned sequence;   /* id of the last command */
	json_t *answer
		[CAPTURE_MONITOR_UNDERWAY]; /* to ids modulo this; the greeting is 0; NULL: not received */
	bool greeted;
	uint64_t stopped,
		resumed; /* when the last such event was, by QEMU's clock in µs; 0: there was none */
};

/* Dials, is greeted, enables commands. 0 or an error. */
int capture_monitor_open(struct capture_monitor *monitor, const char *address, int timeout_ms);
/*
 * Has a command carried out. 0 with what it returned, which lasts until the next command; CAPTURE_E_FORMAT
 * with QEMU's own words if it refused; CAPTURE_E_ABSENT if QEMU hung up or is silent.
 */
int capture_monitor_command(struct capture_monitor *monitor, const char *command, const char *arguments,
			    const json_t **answer);
/*
 * The two halves of that, for commands that need not wait for one another: first their ids, then the answers,
 * each of which lasts until CAPTURE_MONITOR_UNDERWAY more commands.
 */
unsigned capture_monitor_send(struct capture_monitor *monitor, const char *command, const char *arguments);
int capture_monitor_answer(struct capture_monitor *monitor, unsigned id, const char *command,
			   const json_t **answer);
/* What a command of the human monitor printed; free() it. */
int capture_monitor_print(struct capture_monitor *monitor, const char *line, char **text);
/* The two halves of that. */
unsigned capture_monitor_send_line(struct capture_monitor *monitor, const char *line);
int capture_monitor_printed(struct capture_monitor *monitor, unsigned id, const char *line, char **text);
void capture_monitor_close(struct capture_monitor *monitor);

/* Messages of QMP, parsed by jansson. Every function takes NULL for a value that is not there. */

/*
 * Parses one message. Returns NULL if it is not JSON or memory is short. The caller releases it with
 * json_decref().
 */
json_t *capture_json_parse(const char *text, size_t length);
/* Returns the member of an object by a path of names such as "data.reason", or NULL. Borrowed from `json`. */
const json_t *capture_json_at(const json_t *json, const char *path);
/* Returns whether that member is that string. */
bool capture_json_is(const json_t *json, const char *path, const char *string);

#endif
