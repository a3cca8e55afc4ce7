/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The connection over which QEMU says what becomes of its guest: QEMU dials our socket when it starts, one
 * line of JSON each way. Never blocks.
 */
#ifndef CAPTURE_QMP_H
#define CAPTURE_QMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

#define CAPTURE_QMP_MOST      1023u		  /* bytes of a command */
#define CAPTURE_QMP_REGISTERS "info registers -a" /* of the human monitor: of all CPUs */

struct capture_qmp {
	int listener; /* -1: closed */
	int fd;	      /* -1: nobody has dialled, or QEMU hung up */
	char *line;   /* received so far */
	size_t used;
	size_t room;
};

/* Called for each message. */
typedef void capture_qmp_handler(void *context, struct capture_json message);

int capture_qmp_listen(struct capture_qmp *qmp, const char *path);
/* Takes the connection. 0, or CAPTURE_E_ABSENT if there is none yet, or CAPTURE_E_SYSTEM. */
int capture_qmp_accept(struct capture_qmp *qmp);
/* One command with an id, of CAPTURE_QMP_MOST bytes at most. Errors show later, as a hung-up connection. */
void capture_qmp_send(struct capture_qmp *qmp, const char *id, const char *command, const char *arguments);
/* Reads what has come, of very much a part. 0, or CAPTURE_E_ABSENT once QEMU hung up. */
int capture_qmp_receive(struct capture_qmp *qmp, capture_qmp_handler *handler, void *context);
void capture_qmp_close(struct capture_qmp *qmp);

/*
 * Arguments of memsave, which writes memory as CPU `cpu` sees it into a file, or of pmemsave, which writes physical memory,
 * if that is negative. `path` goes between quotes as it is.
 */
void capture_qmp_put_save(char arguments[CAPTURE_QMP_MOST + 1], uint64_t address, size_t bytes,
			  const char *path, int64_t cpu);

#endif
