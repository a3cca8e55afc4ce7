/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Pipes. Reads and writes copy the data to a buffer on the stack, because user memory must not be accessed
 * while a spinlock is held. Therefore, if a reader passes a bad address, the data that it read is lost. A
 * write of at most PIPE_ATOMIC bytes is not interleaved with other writes.
 */
#include "arch.h"
#include "page.h"
#include "process.h"

#define PIPE_SIZE   2048
#define PIPE_ATOMIC 512

struct pipe {
	/* The queue in which readers and writers wait. The queue's lock guards all fields. */
	struct wait_queue changed;
	bool has_reader, has_writer;
	/*
	 * Total numbers of bytes that writers have written and that readers have taken so far. The bytes in
	 * between are in the ring data[], from index taken % PIPE_SIZE on.
	 */
	size_t written, taken;
	char data[PIPE_SIZE];
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Waits until another thread changes the pipe. Returns 0, -EAGAIN or -EINTR. Requires: lock held. */
static int wait_for_change(struct pipe *pipe, bool may_wait)
{
	if (!may_wait)
		return -EAGAIN;
	return wait_sleep_until(&pipe->changed, WAIT_FOR_EVER) == WOKEN_BY_SIGNAL ? -EINTR : 0;
}

/* Called after a change of the pipe: wakes waiting threads and pollers, and releases the lock. */
static void change_done(struct pipe *pipe, bool irq_on)
{
	wait_wake_all(&pipe->changed);
	spin_unlock(&pipe->changed.lock, irq_on);
	poll_changed();
}

/*
 * Takes up to `size` bytes out of the pipe. Returns their number, 0 if there will be no more data, or -errno.
 */
static int64_t take(struct pipe *pipe, char *to, size_t size, bool may_wait)
{
	bool irq_on = spin_lock(&pipe->changed.lock);
	int error = 0;

	while (!error && pipe->written == pipe->taken && pipe->has_writer)
		error = wait_for_change(pipe, may_wait);
	if (error) {
		spin_unlock(&pipe->changed.lock, irq_on);
		return error;
	}
	size = least(size, pipe->written - pipe->taken);
	for (size_t i = 0; i < size; i++)
		to[i] = pipe->data[pipe->taken++ % PIPE_SIZE];
	change_done(pipe, irq_on);
	return (int64_t)size;
}

/* Waits until all bytes fit, then writes them in one piece. Returns 0 or -errno. */
static int give(struct pipe *pipe, const char *from, size_t size, bool may_wait)
{
	bool irq_on = spin_lock(&pipe->changed.lock);
	int error = 0;

	while (!error && pipe->has_reader && PIPE_SIZE - (pipe->written - pipe->taken) < size)
		error = wait_for_change(pipe, may_wait);
	if (!error && !pipe->has_reader)
		error = -EPIPE;
	if (error) {
		spin_unlock(&pipe->changed.lock, irq_on);
		return error;
	}
	for (size_t i = 0; i < size; i++)
		pipe->data[pipe->written++ % PIPE_SIZE] = from[i];
	change_done(pipe, irq_on);
	return 0;
}

static int64_t pipe_read(struct file *file, uintptr_t to, size_t size)
{
	char chunk[PIPE_ATOMIC];
	size_t done = 0;

	while (done < size) {
		bool may_wait = done == 0 && !(file->flags & O_NONBLOCK);
		int64_t n = take(file->object, chunk, least(size - done, sizeof(chunk)), may_wait);
		int64_t error = n > 0 ? vm_copy_out(&process_self()->vm, to + done, chunk, (size_t)n) : n;

		if (error)
			return done ? (int64_t)done : error;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

static int64_t pipe_write(struct file *file, uintptr_t from, size_t size)
{
	char chunk[PIPE_ATOMIC];
	size_t done = 0;

	while (done < size) {
		size_t n = least(size - done, sizeof(chunk));
		int error = vm_copy_in(&process_self()->vm, chunk, from + done, n);

		if (!error)
			error = give(file->object, chunk, n, !(file->flags & O_NONBLOCK));
		if (error == -EPIPE)
			signal_send_thread(thread_self(), SIGPIPE, SI_KERNEL);
		if (error)
			return done ? (int64_t)done : error;
		done += n;
	}
	return (int64_t)done;
}

static unsigned poll_reader(struct file *file)
{
	struct pipe *pipe = file->object;
	bool irq_on = spin_lock(&pipe->changed.lock);
	unsigned events = (pipe->written != pipe->taken ? POLLIN : 0) | (pipe->has_writer ? 0 : POLLHUP);

	spin_unlock(&pipe->changed.lock, irq_on);
	return events;
}

static unsigned poll_writer(struct file *file)
{
	struct pipe *pipe = file->object;
	bool irq_on = spin_lock(&pipe->changed.lock);
	bool has_room = PIPE_SIZE - (pipe->written - pipe->taken) >= PIPE_ATOMIC;
	unsigned events = pipe->has_reader ? (has_room ? POLLOUT : 0) : POLLERR;

	spin_unlock(&pipe->changed.lock, irq_on);
	return events;
}

/* Closes one end and wakes threads that wait at the other end. Frees the pipe when both ends are closed. */
static void close_end(struct pipe *pipe, bool *end)
{
	bool irq_on = spin_lock(&pipe->changed.lock);
	bool is_last;

	*end = false;
	is_last = !pipe->has_reader && !pipe->has_writer;
	change_done(pipe, irq_on);
	if (is_last)
		page_free(pipe, 1);
}

static void close_reader(struct file *file)
{
	struct pipe *pipe = file->object;

	close_end(pipe, &pipe->has_reader);
}

static void close_writer(struct file *file)
{
	struct pipe *pipe = file->object;

	close_end(pipe, &pipe->has_writer);
}

static const struct file_operations read_end_operations = {
	.kind = "pipe",
	.type = S_IFIFO,
	.read = pipe_read,
	.poll = poll_reader,
	.close = close_reader,
};

static const struct file_operations write_end_operations = {
	.kind = "pipe",
	.type = S_IFIFO,
	.write = pipe_write,
	.poll = poll_writer,
	.close = close_writer,
};

int pipe_open(struct file **read_end, struct file **write_end)
{
	struct pipe *pipe = page_alloc(1);
	struct file *reader = file_new(NULL, O_RDONLY), *writer = file_new(NULL, O_WRONLY);

	_Static_assert(sizeof(struct pipe) <= PAGE_SIZE, "one page is enough");
	if (!pipe || !reader || !writer) {
		if (reader)
			file_put(reader);
		if (writer)
			file_put(writer);
		if (pipe)
			page_free(pipe, 1);
		return pipe ? -ENFILE : -ENOMEM;
	}
	pipe->changed.lock.name = "pipe";
	pipe->has_reader = pipe->has_writer = true;
	reader->operations = &read_end_operations;
	writer->operations = &write_end_operations;
	reader->object = writer->object = pipe;
	*read_end = reader;
	*write_end = writer;
	return 0;
}
