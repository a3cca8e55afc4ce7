/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * All threads that poll wait in one queue. Whenever any file changes, each of them checks all its files. This
 * is simple, and fast enough for few pollers. `changes` counts the changes: if the count grows while a poller
 * checks its files, the poller checks them again.
 */
#include <ktrace/ktrace.h>

#include "clock.h"
#include "file.h"

KTRACE_EVENT(vfs, poll, "%u files for %d ms: %d ready", (uint32_t, files), (int32_t, timeout, ms),
	     (int32_t, result));

static struct wait_queue pollers = WAIT_QUEUE("poll");
static unsigned poller_count; /* number of threads in poll(); accessed atomically, like `changes` */
static unsigned changes;

void poll_changed(void)
{
	bool irq_on;

	__atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&poller_count, __ATOMIC_SEQ_CST) == 0)
		return;
	irq_on = spin_lock(&pollers.lock);
	wait_wake_all(&pollers);
	spin_unlock(&pollers.lock, irq_on);
}

static unsigned look_at(struct files *files, const struct abi_pollfd *fd)
{
	struct file *file = files_get(files, fd->fd);
	unsigned events;

	if (!file)
		return POLLNVAL;
	if (file->operations->poll)
		events = file->operations->poll(file) & ((unsigned)fd->events | POLLERR | POLLHUP);
	else
		events = (POLLIN | POLLOUT) & (unsigned)fd->events;
	file_put(file);
	return events;
}

static int look_at_all(struct files *files, struct abi_pollfd *fds, size_t count)
{
	int ready = 0;

	for (size_t i = 0; i < count; i++) {
		fds[i].revents = fds[i].fd < 0 ? 0 : (int16_t)look_at(files, &fds[i]);
		ready += fds[i].revents != 0;
	}
	return ready;
}

/*
 * Sleeps until a file changes, a signal arrives, or the deadline passes. Returns the reason. `seen` is an
 * earlier value of `changes`: if `changes` has changed since then, a file has already changed, and this
 * function only checks for signals, by wait_sleep_until() with deadline 0. Without this check, a poller
 * would not notice a signal while files change all the time.
 */
static enum wake_reason wait_for_change(unsigned seen, uint64_t deadline_ns)
{
	bool irq_on = spin_lock(&pollers.lock);
	bool changed = __atomic_load_n(&changes, __ATOMIC_SEQ_CST) != seen;
	enum wake_reason reason = wait_sleep_until(&pollers, changed ? 0 : deadline_ns);

	spin_unlock(&pollers.lock, irq_on);
	if (changed && reason == WOKEN_BY_TIME && clock_ns() < deadline_ns)
		return WOKEN_BY_EVENT;
	return reason;
}

static int look_until(struct files *files, struct abi_pollfd *fds, size_t count, uint64_t deadline_ns)
{
	for (;;) {
		unsigned seen = __atomic_load_n(&changes, __ATOMIC_SEQ_CST);
		int ready = look_at_all(files, fds, count);

		if (ready)
			return ready;
		switch (wait_for_change(seen, deadline_ns)) {
		case WOKEN_BY_EVENT:
			break;
		case WOKEN_BY_TIME:
			return 0;
		case WOKEN_BY_SIGNAL:
			return -EINTR;
		}
	}
}

int64_t poll_wait(struct files *files, struct abi_pollfd *fds, size_t count, int64_t timeout_ms)
{
	uint64_t deadline_ns = timeout_ms < 0 ? WAIT_FOR_EVER : clock_ns() + (uint64_t)timeout_ms * NS_PER_MS;
	int result;

	__atomic_add_fetch(&poller_count, 1, __ATOMIC_SEQ_CST);
	result = look_until(files, fds, count, deadline_ns);
	__atomic_sub_fetch(&poller_count, 1, __ATOMIC_SEQ_CST);
	KTRACE(vfs, poll, (uint32_t)count, (int32_t)timeout_ms, result);
	return result;
}
