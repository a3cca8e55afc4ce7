/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/open.h"
#include "error.h"

#define NANOSECONDS UINT64_C(1000000000)
#define POLL_NS	    1000000

struct capture_mailbox {
	const char *path;
	int descriptor;
	uint64_t at; /* offset of the mailbox in the file */
	uint64_t nonce;
	struct ktread_memory *memory;
	struct ktread_image *image;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
}

static int lock(const struct capture_mailbox *mailbox, uint64_t timeout_ns)
{
	uint64_t start = now();

	while (flock(mailbox->descriptor, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return capture_fail_errno("%s: cannot lock it", mailbox->path);
		if (now() - start >= timeout_ns)
			return capture_fail(CAPTURE_E_ABSENT, "%s: another ktrace control is running",
					    mailbox->path);
		pause_briefly();
	}
	return 0;
}

static int read_head(const struct capture_mailbox *mailbox, struct ktrx_mailbox *head)
{
	const size_t bytes = offsetof(struct ktrx_mailbox, request);

	if (pread(mailbox->descriptor, head, bytes, (off_t)mailbox->at) != (ssize_t)bytes)
		return capture_fail_errno("%s: cannot read its mailbox", mailbox->path);
	if (memcmp(head->magic, KTRX_MAILBOX_MAGIC, sizeof(head->magic)) != 0 ||
	    head->nonce != mailbox->nonce || head->capacity != KTRX_MAILBOX_REQUESTS)
		return capture_fail(CAPTURE_E_ABSENT, "%s: its mailbox is gone: has the guest booted again?",
				    mailbox->path);
	return 0;
}

static int write_at(const struct capture_mailbox *mailbox, uint64_t offset, const void *bytes, size_t size)
{
	if (pwrite(mailbox->descriptor, bytes, size, (off_t)(mailbox->at + offset)) == (ssize_t)size)
		return 0;
	return capture_fail_errno("%s: cannot write to its mailbox", mailbox->path);
}

static uint64_t place(uint32_t sequence)
{
	return offsetof(struct ktrx_mailbox, request) +
	       sequence % KTRX_MAILBOX_REQUESTS * sizeof(struct ktrx_request);
}

/*
 * Writes as many requests as fit into the mailbox. `head`: the contents of the mailbox, read a moment ago.
 * Returns the number of requests that were written, or an error.
 */
static int post(const struct capture_mailbox *mailbox, const struct ktrx_mailbox *head,
		struct ktrx_request *request, uint32_t count)
{
	uint32_t pending = head->requested - head->applied, sequence = head->requested;
	uint32_t room = pending < KTRX_MAILBOX_REQUESTS ? KTRX_MAILBOX_REQUESTS - pending : 0;
	int status = 0;

	if (count > room)
		count = room;
	for (uint32_t n = 0; n < count && status == 0; n++) {
		request[n].sequence = ++sequence;
		request[n].result = KTRX_RESULT_NONE;
		request[n].check = ktrx_request_check(&request[n]);
		status = write_at(mailbox, place(sequence), &request[n], sizeof(request[n]));
	}
	if (status == 0 && count)
		status = write_at(mailbox, offsetof(struct ktrx_mailbox, requested), &sequence,
				  sizeof(sequence));
	return status < 0 ? status : (int)count;
}

/*
 * Fetches the results of answered requests. The guest may have written any value: an unknown result counts as
 * refused.
 */
static int collect(const struct capture_mailbox *mailbox, struct ktrx_request *request, uint32_t count)
{
	for (uint32_t n = 0; n < count; n++) {
		uint32_t result;
		uint64_t at =
			mailbox->at + place(request[n].sequence) + offsetof(struct ktrx_request, result);

		if (pread(mailbox->descriptor, &result, sizeof(result), (off_t)at) != sizeof(result))
			return capture_fail_errno("%s: cannot read its mailbox", mailbox->path);
		request[n].result = result == KTRX_RESULT_DONE || result == KTRX_RESULT_TORN
					    ? result
					    : KTRX_RESULT_REFUSED;
	}
	return 0;
}

static uint64_t heartbeats(const struct capture_mailbox *mailbox)
{
	struct ktread_pulse pulse;

	return ktread_image_pulse(mailbox->image, &pulse) < 0 ? 0 : pulse.heartbeats;
}

/*
 * Returns an error whose message states the most likely reason why the guest does not answer. `before`:
 * number of heartbeats when the wait began.
 */
static int report_no_answer(const struct capture_mailbox *mailbox, uint64_t before)
{
	uint64_t after = heartbeats(mailbox);
	const char *why = "it takes timer ticks, but does not process its mailbox";

	if (after == 0)
		why = "its timer tick has never called ktrace_heartbeat()";
	else if (after == before)
		why = "it took no timer tick while we waited (is it halted?)";
	return capture_fail(CAPTURE_E_ABSENT, "%s: no answer from the guest: %s", mailbox->path, why);
}

static uint64_t deadline_in(uint64_t timeout_ns)
{
	uint64_t start = now();

	return timeout_ns < UINT64_MAX - start ? start + timeout_ns : UINT64_MAX;
}

int capture_mailbox_await_tick(struct capture_mailbox *mailbox, uint64_t timeout_ns)
{
	uint64_t deadline = deadline_in(timeout_ns);

	while (heartbeats(mailbox) == 0) {
		if (now() >= deadline)
			return report_no_answer(mailbox, 0);
		pause_briefly();
	}
	return 0;
}

/* Waits until the guest has processed all requests with numbers up to `sequence`. */
static int await(const struct capture_mailbox *mailbox, uint32_t sequence, uint64_t deadline, uint64_t beats)
{
	for (;;) {
		struct ktrx_mailbox head;
		int status = read_head(mailbox, &head);

		if (status < 0)
			return status;
		if ((int32_t)(head.applied - sequence) >= 0)
			return 0;
		if (now() >= deadline)
			return report_no_answer(mailbox, beats);
		pause_briefly();
	}
}

int capture_mailbox_send(struct capture_mailbox *mailbox, struct ktrx_request *request, uint32_t count,
			 uint64_t timeout_ns)
{
	uint64_t deadline = deadline_in(timeout_ns);
	uint64_t beats = heartbeats(mailbox);

	for (uint32_t n = 0; n < count; n++)
		request[n].result = KTRX_RESULT_NONE;
	while (count > 0) {
		struct ktrx_mailbox head;
		int posted, status = read_head(mailbox, &head);

		posted = status < 0 ? status : post(mailbox, &head, request, count);
		if (posted < 0)
			return posted;
		if (posted == 0 && now() >= deadline)
			return report_no_answer(mailbox, beats);
		if (posted == 0) /* the mailbox is full: the guest has not answered the earlier requests */
			status = await(mailbox, head.applied + 1, deadline, beats);
		else
			status = await(mailbox, request[posted - 1].sequence, deadline, beats);
		if (status == 0)
			status = collect(mailbox, request, (uint32_t)posted);
		if (status < 0)
			return status;
		request += posted;
		count -= (uint32_t)posted;
	}
	return 0;
}

static int find(struct capture_mailbox *mailbox, const char *architecture)
{
	if (ktread_memory_open_ram(&mailbox->memory, mailbox->path, architecture) < 0 ||
	    ktread_image_find(&mailbox->image, mailbox->memory) < 0)
		return capture_fail(CAPTURE_E_ABSENT, "%s", ktread_image_message());
	if (ktread_image_place(mailbox->image, KTRX_SECTION_MAILBOX, sizeof(struct ktrx_mailbox),
			       &mailbox->at) < 0)
		return capture_fail(CAPTURE_E_ABSENT,
				    "%s: the guest's ktrace has no mailbox: its version is too old",
				    mailbox->path);
	return 0;
}

int capture_mailbox_open(struct capture_mailbox **mailbox, const char *path, const char *architecture,
			 uint64_t nonce, uint64_t timeout_ns)
{
	struct capture_mailbox *opened = calloc(1, sizeof(*opened));
	struct ktrx_mailbox head;
	int status;

	if (!opened)
		return capture_fail_errno("%s", path);
	opened->path = path;
	opened->nonce = nonce;
	opened->descriptor = base_open_regular(path, O_RDWR);
	status = opened->descriptor < 0
			 ? capture_fail(CAPTURE_E_SYSTEM, "%s: %s", path, base_open_message(errno))
			 : lock(opened, timeout_ns);
	if (status == 0)
		status = find(opened, architecture);
	if (status == 0)
		status = read_head(opened, &head);
	if (status < 0) {
		capture_mailbox_close(opened);
		return status;
	}
	*mailbox = opened;
	return 0;
}

void capture_mailbox_close(struct capture_mailbox *mailbox)
{
	ktread_image_close(mailbox->image);
	ktread_memory_close(mailbox->memory);
	if (mailbox->descriptor >= 0)
		close(mailbox->descriptor);
	free(mailbox);
}
