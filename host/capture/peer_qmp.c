/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A running QEMU by QMP. Where the guest's RAM is a file that is shared, the file is read; else QEMU is asked to
 * save pieces of physical memory into a file of ours (pmemsave), which it does while the guest runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "frequency.h"
#include "monitor.h"
#include "peer.h"
#include "ram.h"
#include "registers.h"

#define PIECE ((size_t)16 << 20) /* most that one command saves */

struct peer_qmp {
	struct capture_peer peer;
	struct capture_monitor monitor;
	struct capture_map map;
	char path[PATH_MAX]; /* of what pmemsave writes, "" until made */
	int fd;
	double halted; /* when we did */
};

/* `command` is pmemsave or memsave, `more` what it needs besides address, size and file. */
static int save_piece(struct peer_qmp *qmp, const char *command, const char *more, uint64_t address, char *to,
		      size_t bytes)
{
	char arguments[PATH_MAX + 120];
	struct capture_json answer;
	size_t done = 0;
	int error;

	/* Numbers of QMP have a sign: those of a kernel's half of an address space are below 0. */
	snprintf(arguments, sizeof(arguments), "{\"val\":%" PRId64 ",\"size\":%zu,\"filename\":\"%s\"%s}",
		 (int64_t)address, bytes, qmp->path, more);
	error = capture_monitor_command(&qmp->monitor, command, arguments, &answer);
	while (!error && done < bytes) {
		ssize_t got = pread(qmp->fd, to + done, bytes - done, (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			error = capture_fail(
				CAPTURE_E_SYSTEM,
				"%s: QEMU saved memory where it is not seen here: is it on another machine? "
				"--gdb needs no common folder",
				qmp->monitor.address);
		else
			done += (size_t)got;
	}
	return error;
}

static int qmp_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	char *to = buffer;

	for (size_t part; bytes; bytes -= part, to += part, physical += part) {
		part = bytes < PIECE ? bytes : PIECE;
		if (save_piece(context, "pmemsave", "", physical, to, part) != 0)
			return KTREAD_E_SYSTEM;
	}
	return 0;
}

/* A word that goes between quotes as it is. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			return false;
	return true;
}

static int make_file(struct peer_qmp *qmp)
{
	const char *folder = getenv("TMPDIR");

	if (!folder)
		folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	if (!is_plain(folder) || strlen(folder) > CAPTURE_QMP_MOST - 200)
		return capture_fail(CAPTURE_E_USAGE, "TMPDIR: '%.40s' cannot be told to QEMU", folder);
	snprintf(qmp->path, sizeof(qmp->path), "%s/ktrace-memory-XXXXXX", folder);
	qmp->fd = mkostemp(qmp->path, O_CLOEXEC);
	if (qmp->fd >= 0)
		return 0;
	qmp->path[0] = '\0';
	return capture_fail_errno("%s: a file for the guest's memory", folder);
}

static int open_by_command(struct peer_qmp *qmp)
{
	static const struct ktread_memory_ops ops = { .read = qmp_read };
	struct ktread_range range[CAPTURE_MAP_RANGES];

	for (uint32_t i = 0; i < qmp->map.ranges; i++)
		range[i] = (struct ktread_range){ qmp->map.range[i].physical, qmp->map.range[i].length };
	if (ktread_memory_open(&qmp->peer.memory, &ops, qmp, range, qmp->map.ranges) == 0)
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
}

/* A property of an object as text; "" if it has none. */
static void get_property(struct peer_qmp *qmp, const char *object, const char *property, char *text,
			 size_t size)
{
	char arguments[256];
	struct capture_json answer;

	text[0] = '\0';
	if (!is_plain(object))
		return;
	snprintf(arguments, sizeof(arguments), "{\"path\":\"%s\",\"property\":\"%s\"}", object, property);
	if (capture_monitor_command(&qmp->monitor, "qom-get", arguments, &answer) != 0)
		return;
	if (answer.length && answer.text[0] == '"')
		capture_json_string(answer, text, size);
	else
		snprintf(text, size, "%.*s", (int)answer.length, answer.text);
}

/* Path of the file that is the guest's RAM and the backend's id; "" if there is none. */
static void find_file(struct peer_qmp *qmp, char *path, size_t size, char *id, size_t id_size)
{
	char object[200], share[16];

	path[0] = '\0';
	get_property(qmp, "/machine", "memory-backend", id, id_size);
	if (id[0] == '/')
		memmove(id, strrchr(id, '/') + 1, strlen(strrchr(id, '/') + 1) + 1);
	if (!id[0] || snprintf(object, sizeof(object), "/objects/%s", id) >= (int)sizeof(object))
		return;
	get_property(qmp, object, "share", share, sizeof(share));
	if (strcmp(share, "true") == 0)
		get_property(qmp, object, "mem-path", path, size);
}

static int open_memory(struct peer_qmp *qmp)
{
	char path[PATH_MAX], id[100], *text;
	int error;

	find_file(qmp, path, sizeof(path), id, sizeof(id));
	error = capture_monitor_print(&qmp->monitor, "info mtree -f", &text);
	if (error)
		return error;
	error = capture_map_read(&qmp->map, text, id[0] ? id : NULL);
	free(text);
	if (error)
		return error;
	error = make_file(qmp);
	if (error)
		return error;
	if (path[0] && access(path, R_OK) == 0)
		return capture_ram_open(&qmp->peer.memory, path, &qmp->map, NULL);
	return open_by_command(qmp);
}

static int open_guest(struct peer_qmp *qmp)
{
	struct capture_json answer;
	int error = capture_monitor_command(&qmp->monitor, "query-status", NULL, &answer);

	if (error)
		return error;
	qmp->peer.was_halted = !capture_json_is(answer, "status", "running");
	return open_memory(qmp);
}

static int qmp_halt(struct capture_peer *peer)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;
	struct capture_json answer;

	if (peer->was_halted || peer->halted)
		return 0;
	qmp->halted = capture_now();
	peer->halted = true; /* also where the answer does not come: it may have been carried out */
	return capture_monitor_command(&qmp->monitor, "stop", NULL, &answer);
}

static int qmp_resume(struct capture_peer *peer)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;
	struct capture_json answer;
	char why[300];

	if (!peer->halted)
		return 0;
	peer->halted = false;
	if (capture_monitor_command(&qmp->monitor, "cont", NULL, &answer) == 0) {
		if (qmp->monitor.resumed > qmp->monitor.stopped && qmp->monitor.stopped)
			peer->pause = (double)(qmp->monitor.resumed - qmp->monitor.stopped) / 1e6;
		else
			peer->pause = capture_now() - qmp->halted;
		return 0;
	}
	snprintf(why, sizeof(why), "%s", capture_message());
	return capture_fail(CAPTURE_E_SYSTEM, "%s; the guest may still be halted: QMP's cont lets it go on",
			    why);
}

static int qmp_registers(struct capture_peer *peer, uint16_t machine, char **text)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;
	char *printed;
	int error = capture_monitor_print(&qmp->monitor, "info registers -a", &printed);

	(void)machine;
	if (error)
		return error;
	*text = capture_registers_of_qemu(printed);
	free(printed);
	return *text ? 0 : capture_fail_errno("registers");
}

static int qmp_read_virtual(struct capture_peer *peer, uint32_t cpu, uint64_t address, void *to, size_t bytes)
{
	char more[40];

	snprintf(more, sizeof(more), ",\"cpu-index\":%" PRIu32, cpu);
	return save_piece((struct peer_qmp *)peer, "memsave", more, address, to, bytes);
}

static void qmp_close(struct capture_peer *peer)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;

	qmp_resume(peer);
	ktread_memory_close(peer->memory);
	capture_monitor_close(&qmp->monitor);
	if (qmp->path[0]) {
		unlink(qmp->path);
		close(qmp->fd);
	}
	free(qmp);
}

int capture_peer_open_qmp(struct capture_peer **peer, const char *address, int timeout_ms)
{
	static const struct capture_peer_ops ops = { qmp_halt, qmp_resume, qmp_registers, qmp_read_virtual,
						     qmp_close };
	struct peer_qmp *qmp = calloc(1, sizeof(*qmp));
	int error;

	if (!qmp)
		return capture_fail_errno("%s", address);
	qmp->peer = (struct capture_peer){ .ops = &ops, .reads_running = true, .searchable = true };
	error = capture_monitor_open(&qmp->monitor, address, timeout_ms);
	if (error) {
		free(qmp);
		return error;
	}
	*peer = &qmp->peer;
	return open_guest(qmp);
}
