/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A running QEMU, through QMP. If the guest's RAM is a shared file, this file is read. Otherwise, the memory
 * of QEMU's process is read if that is permitted. If it is not permitted, QEMU is asked to save ranges of
 * physical memory to a temporary file (pmemsave), which QEMU can do while the guest runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/open.h"
#include "error.h"
#include "wait.h"
#include "qmp.h"
#include "extract.h"
#include "memory.h"
#include "cpu_state.h"

#define PIECE	     ((size_t)16 << 20) /* maximum number of bytes that one command saves */
#define SAMPLE	     4096u
#define SAMPLE_TRIES 3u
/* a value in place of a CPU number that means: addresses are physical */
#define PHYSICAL (-1)

struct file {
	char path[PATH_MAX]; /* path of the file; "" until the file was created */
	int fd;
};

struct peer_qmp {
	struct capture_peer peer;
	struct capture_monitor monitor;
	struct capture_map map;
	struct file file[CAPTURE_STACK_PAGES]; /* files to which QEMU saves memory */
	double halted;			       /* time at which we halted the guest */
	/* id of the command that prints the registers; 0: the command was not sent */
	unsigned registers;
};

/* Returns the QMP command that saves memory: by virtual addresses of CPU `cpu`, or by physical addresses. */
static const char *save_command(int64_t cpu)
{
	return cpu < 0 ? "pmemsave" : "memsave";
}

/* Asks QEMU to save memory to `file`. Returns the id of the command. */
static unsigned send_save(struct peer_qmp *qmp, int64_t cpu, uint64_t address, size_t bytes,
			  const struct file *file)
{
	char arguments[CAPTURE_QMP_MOST + 1];

	capture_qmp_put_save(arguments, address, bytes, file->path, cpu);
	return capture_monitor_send(&qmp->monitor, save_command(cpu), arguments);
}

/* Waits for the command `id`, and reads from `file` the memory that the command has saved. */
static int take_saved(struct peer_qmp *qmp, int64_t cpu, unsigned id, const struct file *file, void *to,
		      size_t bytes)
{
	const json_t *answer;
	size_t done = 0;
	int error = capture_monitor_answer(&qmp->monitor, id, save_command(cpu), &answer);

	while (!error && done < bytes) {
		ssize_t got = pread(file->fd, (char *)to + done, bytes - done, (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			error = capture_fail(
				CAPTURE_E_SYSTEM,
				"%s: the memory that QEMU saved is not here: does it run on another machine? "
				"Use --gdb, which needs no common directory",
				qmp->monitor.address);
		else
			done += (size_t)got;
	}
	return error;
}

static int save_piece(struct peer_qmp *qmp, uint64_t physical, void *to, size_t bytes)
{
	unsigned id = send_save(qmp, PHYSICAL, physical, bytes, &qmp->file[0]);

	return take_saved(qmp, PHYSICAL, id, &qmp->file[0], to, bytes);
}

static int qmp_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	struct peer_qmp *qmp = context;
	char *to = buffer;

	for (size_t part; bytes; bytes -= part, to += part, physical += part) {
		part = bytes < PIECE ? bytes : PIECE;
		if (capture_check_interrupt(qmp->monitor.address) != 0 ||
		    save_piece(qmp, physical, to, part) != 0)
			return KTREAD_E_SYSTEM;
	}
	return 0;
}

/* Returns true if the text contains nothing that has to be escaped in a JSON string. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			return false;
	return true;
}

static int make_file(struct file *file, const char *folder)
{
	snprintf(file->path, sizeof(file->path), "%s/ktrace-memory-XXXXXX", folder);
	file->fd = mkostemp(file->path, O_CLOEXEC);
	if (file->fd >= 0)
		return 0;
	file->path[0] = '\0';
	return capture_fail_errno("%s: cannot create a file for the guest's memory", folder);
}

static int make_files(struct peer_qmp *qmp)
{
	const char *folder = getenv("TMPDIR");
	int error = 0;

	if (!folder || !*folder)
		folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	if (!is_plain(folder) || strlen(folder) > CAPTURE_QMP_MOST - 200)
		return capture_fail(CAPTURE_E_USAGE, "TMPDIR: '%.40s' cannot be passed to QEMU", folder);
	for (unsigned i = 0; !error && i < CAPTURE_STACK_PAGES; i++)
		error = make_file(&qmp->file[i], folder);
	return error;
}

static int open_by_command(struct peer_qmp *qmp)
{
	static const struct ktread_memory_ops ops = { .read = qmp_read, .message = capture_memory_message };
	struct ktread_range range[CAPTURE_MAP_RANGES];

	for (uint32_t i = 0; i < qmp->map.ranges; i++)
		range[i] = (struct ktread_range){ qmp->map.range[i].physical, qmp->map.range[i].length };
	if (ktread_memory_open(&qmp->peer.memory, &ops, qmp, range, qmp->map.ranges) == 0)
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
}

/* Returns the id of the process that created the socket; 0 if that process is not on this machine. */
static pid_t process_of(const struct peer_qmp *qmp)
{
	struct ucred who = { 0 };
	socklen_t size = sizeof(who);

	return getsockopt(qmp->monitor.qmp.fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 ? who.pid : 0;
}

/*
 * Asks QEMU where each range of the guest's RAM is in QEMU's own memory. Returns false if QEMU does not
 * answer.
 */
static bool find_host_addresses(struct peer_qmp *qmp, struct capture_map *map)
{
	*map = qmp->map;
	for (uint32_t i = 0; i < map->ranges; i++) {
		char line[64], *text, *found;
		int error;

		snprintf(line, sizeof(line), "gpa2hva 0x%" PRIx64, map->range[i].physical);
		error = capture_monitor_print(&qmp->monitor, line, &text);
		if (error)
			return false;
		found = strstr(text, ") is 0x");
		map->range[i].offset = found ? strtoull(found + strlen(") is "), NULL, 16) : 0;
		free(text);
		if (!map->range[i].offset)
			return false;
	}
	return true;
}

/*
 * Returns whether `memory` is the guest's. This is checked because a process other than QEMU may have created
 * the socket. Reads the start of the largest range, which usually contains the kernel's code, both through
 * QEMU and from `memory`, and compares the bytes.
 */
static bool is_guest_memory(struct peer_qmp *qmp, struct ktread_memory *memory)
{
	char saved[SAMPLE], read[SAMPLE];
	uint32_t largest = 0;

	for (uint32_t i = 1; i < qmp->map.ranges; i++)
		if (qmp->map.range[i].length > qmp->map.range[largest].length)
			largest = i;
	/* several attempts, because the guest may write to this memory between the two reads */
	for (unsigned tries = 0; tries < SAMPLE_TRIES; tries++) {
		uint64_t physical = qmp->map.range[largest].physical;

		if (save_piece(qmp, physical, saved, SAMPLE) != 0 ||
		    ktread_memory_read(memory, physical, read, SAMPLE) != 0)
			return false;
		if (memcmp(saved, read, SAMPLE) == 0)
			return true;
	}
	return false;
}

/*
 * Opens the memory of QEMU's process. Returns 0, or an error if memory must be read by QMP commands instead.
 */
static int open_by_process(struct peer_qmp *qmp)
{
	struct capture_map map;
	pid_t pid = process_of(qmp);

	if (pid <= 0 || !find_host_addresses(qmp, &map) ||
	    capture_process_open(&qmp->peer.memory, pid, &map) != 0)
		return CAPTURE_E_ABSENT;
	if (is_guest_memory(qmp, qmp->peer.memory))
		return 0;
	ktread_memory_close(qmp->peer.memory);
	qmp->peer.memory = NULL;
	return CAPTURE_E_ABSENT;
}

/* Reads a property of a QEMU object as text. The text is "" if there is no such property. */
static void get_property(struct peer_qmp *qmp, const char *object, const char *property, char *text,
			 size_t size)
{
	char arguments[256];
	const json_t *answer;

	text[0] = '\0';
	if (!is_plain(object))
		return;
	snprintf(arguments, sizeof(arguments), "{\"path\":\"%s\",\"property\":\"%s\"}", object, property);
	if (capture_monitor_command(&qmp->monitor, "qom-get", arguments, &answer) != 0)
		return;
	if (json_is_string(answer))
		snprintf(text, size, "%s", json_string_value(answer));
	else if (json_is_boolean(answer))
		snprintf(text, size, "%s", json_is_true(answer) ? "true" : "false");
}

/*
 * Writes the path of the file that holds the guest's RAM ("" if there is none), and the id of the memory
 * backend of the RAM.
 */
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
	error = make_files(qmp);
	if (error)
		return error;
	/*
	 * the path that QEMU reports may lead to a directory of huge pages or a FIFO, or to a file on another
	 * machine
	 */
	if (path[0] && base_is_readable(path))
		return capture_ram_open(&qmp->peer.memory, path, &qmp->map, NULL);
	return open_by_process(qmp) == 0 ? 0 : open_by_command(qmp);
}

static int open_guest(struct peer_qmp *qmp)
{
	const json_t *answer;
	int error = capture_monitor_command(&qmp->monitor, "query-status", NULL, &answer);

	if (error)
		return error;
	qmp->peer.was_halted = !capture_json_is(answer, "status", "running");
	return open_memory(qmp);
}

static int qmp_halt(struct capture_peer *peer)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;
	const json_t *answer;
	unsigned stop;

	if (peer->was_halted || peer->halted)
		return 0;
	qmp->halted = capture_now();
	/* set even if no answer arrives, because QEMU may have halted the guest nevertheless */
	peer->halted = true;
	stop = capture_monitor_send(&qmp->monitor, "stop", NULL);
	qmp->registers = capture_monitor_send_line(
		/*
		 * sent without waiting for the answer to "stop", to shorten the time for which the guest is
		 * halted
		 */
		&qmp->monitor, CAPTURE_QMP_REGISTERS);
	return capture_monitor_answer(&qmp->monitor, stop, "stop", &answer);
}

static int qmp_resume(struct capture_peer *peer)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;
	const json_t *answer;
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
	return capture_fail(CAPTURE_E_SYSTEM, "%s; the guest may still be halted: QMP's cont resumes it",
			    why);
}

static int qmp_registers(struct capture_peer *peer, uint16_t machine, char **text)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;
	char *printed;
	int error;

	(void)machine;
	if (!qmp->registers)
		qmp->registers = capture_monitor_send_line(&qmp->monitor, CAPTURE_QMP_REGISTERS);
	error = capture_monitor_printed(&qmp->monitor, qmp->registers, CAPTURE_QMP_REGISTERS, &printed);
	if (error)
		return error;
	*text = capture_registers_of_qemu(printed);
	free(printed);
	return *text ? 0 : capture_fail_errno("registers");
}

static int qmp_read_pages(struct capture_peer *peer, struct capture_stack_page *page, unsigned pages)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;
	unsigned id[CAPTURE_STACK_PAGES];
	int error = 0;

	for (unsigned i = 0; i < pages; i++)
		id[i] = send_save(qmp, page[i].cpu, page[i].address, CAPTURE_STACK_PAGE, &qmp->file[i]);
	for (unsigned i = 0; i < pages && error != CAPTURE_E_ABSENT; i++) {
		error = take_saved(qmp, page[i].cpu, id[i], &qmp->file[i], page[i].bytes, CAPTURE_STACK_PAGE);
		page[i].readable = !error;
	}
	return error == CAPTURE_E_ABSENT ? error : 0;
}

static void qmp_close(struct capture_peer *peer)
{
	struct peer_qmp *qmp = (struct peer_qmp *)peer;

	qmp_resume(peer);
	ktread_memory_close(peer->memory);
	capture_monitor_close(&qmp->monitor);
	for (unsigned i = 0; i < CAPTURE_STACK_PAGES && qmp->file[i].path[0]; i++) {
		unlink(qmp->file[i].path);
		close(qmp->file[i].fd);
	}
	free(qmp);
}

int capture_peer_open_qmp(struct capture_peer **peer, const char *address, int timeout_ms)
{
	static const struct capture_peer_ops ops = { .halt = qmp_halt,
						     .resume = qmp_resume,
						     .registers = qmp_registers,
						     .read_pages = qmp_read_pages,
						     .close = qmp_close };
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
