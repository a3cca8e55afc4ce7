/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "error.h"
#include "qmp.h"

#define LINE_MAX_BYTES ((size_t)16 << 20) /* a line that never ends is not QMP */
#define TURNS	       256u		  /* pieces at once: who never stops talking must not keep us */

int capture_qmp_listen(struct capture_qmp *qmp, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*qmp = (struct capture_qmp){ .listener = -1, .fd = -1 };
	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >= (int)sizeof(address.sun_path))
		return capture_fail(CAPTURE_E_USAGE, "%s: too long for a socket; set TMPDIR to a shorter one",
				    path);
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

int capture_qmp_accept(struct capture_qmp *qmp)
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

void capture_qmp_send(struct capture_qmp *qmp, const char *id, const char *command, const char *arguments)
{
	char text[CAPTURE_QMP_MOST + 1];
	int length = snprintf(text, sizeof(text), "{\"execute\":\"%s\",\"id\":\"%s\"%s%s}\n", command, id,
			      arguments ? ",\"arguments\":" : "", arguments ? arguments : "");

	if (qmp->fd < 0)
		return;
	/* Commands are few and short; a QEMU that leaves no room for one is as good as gone. */
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

/* Hands over whole lines and keeps the rest. `searched` bytes are known to hold no line end. */
static void hand_over(struct capture_qmp *qmp, size_t searched, capture_qmp_handler *handler, void *context)
{
	size_t begin = 0;
	char *end;

	while ((end = memchr(qmp->line + searched, '\n', qmp->used - searched))) {
		size_t next = (size_t)(end - qmp->line) + 1;

		handler(context, (struct capture_json){ qmp->line + begin, next - begin });
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

void capture_qmp_close(struct capture_qmp *qmp)
{
	if (qmp->listener >= 0)
		close(qmp->listener);
	if (qmp->fd >= 0)
		close(qmp->fd);
	free(qmp->line);
	*qmp = (struct capture_qmp){ .listener = -1, .fd = -1 };
}

void capture_qmp_put_save(char arguments[CAPTURE_QMP_MOST + 1], uint64_t address, size_t bytes,
			  const char *path, int64_t cpu)
{
	char of_cpu[40] = "";

	if (cpu >= 0)
		snprintf(of_cpu, sizeof(of_cpu), ",\"cpu-index\":%" PRId64, cpu);
	/* Numbers of QMP have a sign: those of a kernel's half of an address space are below 0. */
	snprintf(arguments, CAPTURE_QMP_MOST + 1, "{\"val\":%" PRId64 ",\"size\":%zu,\"filename\":\"%s\"%s}",
		 (int64_t)address, bytes, path, of_cpu);
}
