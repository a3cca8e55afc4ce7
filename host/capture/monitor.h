/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * QMP as a client: one command, then its answer, in bounded time. For a QEMU that was started by someone else and
 * listens; `ktrace run` listens itself (machine.h). Events that come in between are passed over.
 */
#ifndef CAPTURE_MONITOR_H
#define CAPTURE_MONITOR_H

#include <stdint.h>

#include "qmp.h"

#define CAPTURE_MONITOR_UNDERWAY 8u /* commands whose answers have not been fetched */

struct capture_monitor {
	struct capture_qmp qmp;
	const char *address; /* borrowed */
	int timeout_ms;	     /* for each answer */
	unsigned sequence;   /* id of the last command */
	struct {
		char *text; /* NULL: has not come */
		size_t length;
	} answer[CAPTURE_MONITOR_UNDERWAY]; /* the messages to ids modulo this; the greeting is 0 */
	bool greeted;
	uint64_t stopped,
		resumed; /* when the last such event was, by QEMU's clock in µs; 0: there was none */
};

/* Dials, is greeted, enables commands. 0 or an error. */
int capture_monitor_open(struct capture_monitor *monitor, const char *address, int timeout_ms);
/*
 * Has a command carried out. 0 with what it returned, which lasts until the next command; CAPTURE_E_FORMAT with
 * QEMU's own words if it refused; CAPTURE_E_ABSENT if QEMU hung up or is silent.
 */
int capture_monitor_command(struct capture_monitor *monitor, const char *command, const char *arguments,
			    struct capture_json *answer);
/*
 * The two halves of that, for commands that need not wait for one another: first their ids, then the answers, each of
 * which lasts until CAPTURE_MONITOR_UNDERWAY more commands.
 */
unsigned capture_monitor_send(struct capture_monitor *monitor, const char *command, const char *arguments);
int capture_monitor_answer(struct capture_monitor *monitor, unsigned id, const char *command,
			   struct capture_json *answer);
/* What a command of the human monitor printed; free() it. */
int capture_monitor_print(struct capture_monitor *monitor, const char *line, char **text);
/* The two halves of that. */
unsigned capture_monitor_send_line(struct capture_monitor *monitor, const char *line);
int capture_monitor_printed(struct capture_monitor *monitor, unsigned id, const char *line, char **text);
void capture_monitor_close(struct capture_monitor *monitor);

#endif
