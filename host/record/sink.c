/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "record/registers.h"

#define BUFFER	   (256u << 10)
#define TROUBLES   2048
#define NAME_MOST  512u /* maximum number of bytes of a file name in a message */
#define END_SIZE   (sizeof(struct ktrx_proc_record) + sizeof(struct ktrx_proc_end))
#define NS_PER_S   UINT64_C(1000000000)
#define PADDING(n) ((8 - (n) % 8) % 8)

struct record_sink {
	struct record_sink *next;
	char *path;
	int fd;
	unsigned references;
	dev_t device;
	ino_t inode;
	/*
	 * errno of the write that failed; 0: no write has failed. After a failed write, all records are lost.
	 */
	int error;
	uint64_t records, lost, bytes;
	uint64_t reported; /* number of lost records that were reported by records in the file */
	size_t used;
	/* offset of the first record in `buffer`; it is not 0 if the head of a session comes first */
	size_t first_record;
	unsigned char buffer[BUFFER];
};

static struct record_sink *sinks;
static char troubles[TROUBLES];

const char *record_sink_troubles(void)
{
	return troubles;
}

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- Files ------------------------------------------------------------------------------------- */

static int open_new(const char *path, int *fd)
{
	struct stat stat;

	if (lstat(path, &stat) == 0) {
		if (!S_ISREG(stat.st_mode))
			return EACCES;
		if (unlink(path) != 0)
			return errno;
	}
	*fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return *fd < 0 ? errno : 0;
}

/* Returns whether the file is a trace or is empty. */
static bool is_trace(int fd, const struct stat *stat)
{
	char magic[sizeof(KTRX_PROC_MAGIC) - 1];

	return stat->st_size == 0 || (pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
				      memcmp(magic, KTRX_PROC_MAGIC, sizeof(magic)) == 0);
}

/*
 * Opens an existing file. If `own` is true, the file must belong to this user. Returns 0 or a positive errno.
 */
static int open_old(const char *path, bool own, int *fd)
{
	struct stat stat;
	int error = 0;

	*fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return errno == ELOOP || errno == EISDIR ? EACCES : errno;
	if (fstat(*fd, &stat) != 0)
		error = errno;
	else if (!S_ISREG(stat.st_mode))
		error = EACCES;
	else if (own && stat.st_uid != geteuid())
		error = EPERM;
	else if (!is_trace(*fd, &stat))
		error = EINVAL;
	if (error) {
		close(*fd);
		*fd = -1;
	}
	return error;
}

static int open_file(const char *path, enum record_sink_mode mode, int *fd)
{
	int error;

	if (mode == RECORD_SINK_NEW)
		return open_new(path, fd);
	error = open_old(path, mode == RECORD_SINK_APPEND, fd);
	return error == ENOENT && mode == RECORD_SINK_APPEND ? open_new(path, fd) : error;
}

/* ---- Writing bytes ----------------------------------------------------------------------------- */

/*
 * Called when a write has failed after `done` bytes. Truncates the file after its last complete record that
 * leaves room for the END record, which contains the error. Counts all records in the buffer after this
 * complete record as lost.
 */
static void give_up(struct record_sink *sink, size_t done)
{
	size_t at = sink->first_record, whole = at <= done ? at : 0;
	struct ktrx_proc_record record;
	struct stat stat;

	for (; at < sink->used; at += sizeof(record) + record.size + PADDING(record.size)) {
		memcpy(&record, sink->buffer + at, sizeof(record));
		if (at + sizeof(record) + record.size + PADDING(record.size) + END_SIZE <= done) {
			whole = at + sizeof(record) + record.size + PADDING(record.size);
		} else {
			sink->records--;
			sink->lost++;
		}
	}
	if (whole < done && fstat(sink->fd, &stat) == 0 &&
	    ftruncate(sink->fd, stat.st_size - (off_t)(done - whole)) == 0)
		sink->bytes -= done - whole;
}

static void write_out(struct record_sink *sink)
{
	size_t done = 0;

	while (done < sink->used && !sink->error) {
		ssize_t wrote = write(sink->fd, sink->buffer + done, sink->used - done);

		if (wrote > 0)
			done += (size_t)wrote;
		else if (wrote == 0 || errno != EINTR)
			sink->error = wrote == 0 ? ENOSPC : errno;
	}
	sink->bytes += done;
	if (done < sink->used)
		give_up(sink, done);
	sink->used = sink->first_record = 0;
}

static void put_bytes(struct record_sink *sink, const void *data, size_t size)
{
	if (size > 0)
		memcpy(sink->buffer + sink->used, data, size);
	sink->used += size;
}

static void put_zeroes(struct record_sink *sink, size_t size)
{
	memset(sink->buffer + sink->used, 0, size);
	sink->used += size;
}

static void put_head(struct record_sink *sink)
{
	struct ktrx_proc_head head = { .version = KTRX_PROC_VERSION,
				       .frequency = NS_PER_S,
				       .machine = record_machine_own(),
				       .head_size = sizeof(struct ktrx_proc_head),
				       .record_head = sizeof(struct ktrx_proc_record) };

	memcpy(head.magic, KTRX_PROC_MAGIC, sizeof(head.magic));
	head.wall_stamp = clock_now(CLOCK_MONOTONIC);
	head.wall_ns = clock_now(CLOCK_REALTIME);
	head.check = ktrx_proc_check(&head);
	put_bytes(sink, &head, sizeof(head));
}

void record_sink_add(struct record_sink *sink, const struct ktrx_proc_record *head,
		     const struct record_payload *payload)
{
	struct ktrx_proc_record record = *head;
	const size_t size = payload->first_size + payload->second_size;

	if (sink->used + sizeof(record) + size + PADDING(size) > BUFFER)
		write_out(sink);
	sink->lost += record.lost;
	if (sink->error) {
		sink->lost++;
		return;
	}
	record.size = (uint32_t)size;
	if (record.stamp == 0) {
		record.stamp = clock_now(CLOCK_MONOTONIC);
		record.cpu = KTRX_PROC_NO_CPU;
	}
	sink->reported += record.lost;
	record.mark = KTRX_PROC_MARK;
	sink->records++;
	put_bytes(sink, &record, sizeof(record));
	put_bytes(sink, payload->first, payload->first_size);
	put_bytes(sink, payload->second, payload->second_size);
	put_zeroes(sink, PADDING(size));
}

void record_sink_lose(struct record_sink *sink, uint64_t count)
{
	sink->lost += count;
}

void record_sink_flush_all(void)
{
	for (struct record_sink *sink = sinks; sink; sink = sink->next)
		write_out(sink);
}

/* ---- Beginning and end of a session ------------------------------------------------------------ */

struct record_sink *record_sink_find(dev_t device, ino_t inode)
{
	struct record_sink *sink = sinks;

	while (sink && (sink->device != device || sink->inode != inode))
		sink = sink->next;
	return sink;
}

struct record_sink *record_sink_get(struct record_sink *sink)
{
	sink->references++;
	return sink;
}

/*
 * Begins a session at the end of the file. If the file ends with an incomplete record, pads it to a multiple
 * of 8 bytes, so that readers find the head of the new session.
 */
static int begin(struct record_sink **made, const char *path, int fd, const struct stat *stat)
{
	struct record_sink *sink = malloc(sizeof(*sink));
	char *copy = strdup(path);

	if (!sink || !copy) {
		free(sink);
		free(copy);
		return ENOMEM;
	}
	memset(sink, 0, offsetof(struct record_sink, buffer));
	sink->path = copy;
	sink->fd = fd;
	sink->references = 1;
	sink->device = stat->st_dev;
	sink->inode = stat->st_ino;
	sink->next = sinks;
	sinks = sink;
	put_zeroes(sink, PADDING((uint64_t)stat->st_size));
	put_head(sink);
	sink->first_record = sink->used;
	*made = sink;
	return 0;
}

int record_sink_open(struct record_sink **sink, const char *path, enum record_sink_mode mode)
{
	struct stat stat;
	int fd = -1, error = open_file(path, mode, &fd);

	if (error)
		return error;
	if (fstat(fd, &stat) != 0) {
		error = errno;
	} else if (record_sink_find(stat.st_dev, stat.st_ino)) {
		*sink = record_sink_get(record_sink_find(stat.st_dev, stat.st_ino));
		close(fd);
		return 0;
	} else {
		error = begin(sink, path, fd, &stat);
	}
	if (error)
		close(fd);
	return error;
}

static void add_trouble(const struct record_sink *sink)
{
	size_t used = strlen(troubles);
	char name[NAME_MOST + 1];

	/* escape the name, because a traced program may have chosen it */
	*base_escape_text(name, sink->path, strlen(sink->path), NAME_MOST) = '\0';
	if (sink->error)
		snprintf(troubles + used, sizeof(troubles) - used,
			 "%s: %s: %" PRIu64 " records written, %" PRIu64 " lost\n", name,
			 strerror(sink->error), sink->records, sink->lost);
	else if (sink->lost)
		snprintf(troubles + used, sizeof(troubles) - used,
			 "%s: %" PRIu64
			 " records of page faults lost: they came faster than they were read\n",
			 name, sink->lost);
}

/*
 * Adds the END record. There is room for it even after a failed write, because give_up() has truncated the
 * file. The END record is not included in the count of records.
 */
static void put_end(struct record_sink *sink)
{
	struct ktrx_proc_record record = { .type = KTRX_PROC_END };
	struct ktrx_proc_end end;
	uint64_t records, lost;
	int error;

	write_out(sink);
	error = sink->error;
	records = sink->records;
	lost = sink->lost;
	end = (struct ktrx_proc_end){ .reason = error ? KTRX_PROC_ENDED_ERROR : KTRX_PROC_ENDED_CLOSED,
				      .error = error,
				      .records = records,
				      .lost = lost,
				      .bytes = sink->bytes };
	record.lost = lost - sink->reported > UINT32_MAX ? UINT32_MAX : (uint32_t)(lost - sink->reported);
	sink->error = 0;
	record_sink_add(sink, &record, &(struct record_payload){ .first = &end, .first_size = sizeof(end) });
	write_out(sink);
	if (error)
		sink->error = error;
	sink->records = records;
	sink->lost = lost;
}

void record_sink_put(struct record_sink *sink)
{
	struct record_sink **link = &sinks;

	if (!sink || --sink->references > 0)
		return;
	put_end(sink);
	while (*link != sink)
		link = &(*link)->next;
	*link = sink->next;
	if (close(sink->fd) != 0 && !sink->error)
		sink->error = errno;
	add_trouble(sink);
	free(sink->path);
	free(sink);
}
