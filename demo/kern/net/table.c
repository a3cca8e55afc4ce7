/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The table of sockets; ports of sockets; waiting for changes of sockets. */
#include "arch.h"
#include "mutex.h"
#include "net/sockets.h"
#include "net/stream.h"
#include "page.h"
#include "process.h"
#include "string.h"
#include "thread.h"

#define PORT_FIRST_FREE 49152 /* lowest port that the kernel chooses for a socket; the highest is 65535 */
#define PORTS_FREE	(65536 - PORT_FIRST_FREE)

struct socket sockets[SOCKETS_MAX];

static struct mutex network = MUTEX("network");
static uint32_t last_number;

void network_lock(void)
{
	mutex_lock_at(&network, KTRACE_RETURN_ADDRESS);
}

void network_unlock(void)
{
	mutex_unlock(&network);
}

/* ---- The table of sockets ---------------------------------------------------------------------- */

/* Returns true if the socket has no other purpose than to prevent an early reuse of its ports (TIME_WAIT). */
static bool only_lingers(const struct socket *socket)
{
	return socket->number != 0 && !socket->file && socket->stream.state == STREAM_TIME_WAIT;
}

/*
 * Returns a free entry of the table. If there is none, frees the entry of the connection that has been in
 * TIME_WAIT for the longest time. Returns NULL if there is no such connection.
 */
static struct socket *find_place(void)
{
	struct socket *oldest = NULL;

	for (struct socket *s = sockets; s < sockets + SOCKETS_MAX; s++) {
		if (s->number == 0)
			return s;
		if (only_lingers(s) && (!oldest || s->stream.deadline_ns < oldest->stream.deadline_ns))
			oldest = s;
	}
	if (oldest)
		stream_fail(oldest, 0);
	return oldest;
}

struct socket *socket_new(const struct socket_type *type)
{
	struct socket *socket = find_place();

	if (!socket)
		return NULL;
	*socket = (struct socket){
		.number = ++last_number,
		.type = type,
		.changed = WAIT_QUEUE("socket"),
	};
	return socket;
}

void socket_free(struct socket *socket)
{
	packet_free_all(&socket->datagrams);
	if (socket->stream.reserve)
		packet_free(socket->stream.reserve);
	if (socket->stream.buffer)
		page_free(socket->stream.buffer, STREAM_BUFFER_BYTES / PAGE_SIZE);
	*socket = (struct socket){ 0 };
}

/* ---- Ports ------------------------------------------------------------------------------------- */

bool socket_is_at(const struct socket *socket, uint32_t address, uint16_t port)
{
	return socket->local_port == port && port != 0 &&
	       (socket->local_address == INADDR_ANY || socket->local_address == address);
}

static bool is_taken(const struct socket_type *type, uint32_t address, uint16_t port)
{
	for (const struct socket *s = sockets; s < sockets + SOCKETS_MAX; s++)
		if (s->number != 0 && s->type == type && s->owns_port &&
		    (socket_is_at(s, address, port) || (address == INADDR_ANY && s->local_port == port)))
			return true;
	return false;
}

static int take_port(struct socket *socket, uint32_t address, uint16_t port)
{
	if (is_taken(socket->type, address, port))
		return -EADDRINUSE;
	socket->local_address = address;
	socket->local_port = port;
	socket->owns_port = true;
	return 0;
}

static int take_any_port(struct socket *socket, uint32_t address)
{
	static uint32_t turn;
	int error = -EADDRINUSE;

	for (unsigned tries = 0; error && tries < PORTS_FREE; tries++)
		error = take_port(socket, address, (uint16_t)(PORT_FIRST_FREE + turn++ % PORTS_FREE));
	return error;
}

int socket_take_port(struct socket *socket, uint32_t address, uint16_t port)
{
	if (socket->local_port != 0)
		return -EINVAL;
	return port ? take_port(socket, address, port) : take_any_port(socket, address);
}

int socket_need_port(struct socket *socket)
{
	return socket->local_port ? 0 : take_any_port(socket, socket->local_address);
}

/* ---- Waiting for changes of a socket ----------------------------------------------------------- */

int socket_wait(struct socket *socket)
{
	uint32_t seen = socket->changes;
	enum wake_reason reason = WOKEN_BY_EVENT;
	bool irq_on;

	if (socket->file->flags & O_NONBLOCK)
		return -EAGAIN;
	network_unlock();
	irq_on = spin_lock(&socket->changed.lock);
	while (socket->changes == seen && reason == WOKEN_BY_EVENT)
		reason = wait_sleep_until(&socket->changed, WAIT_FOR_EVER);
	spin_unlock(&socket->changed.lock, irq_on);
	network_lock();
	return reason == WOKEN_BY_SIGNAL ? -EINTR : 0;
}

void socket_changed(struct socket *socket)
{
	bool irq_on = spin_lock(&socket->changed.lock);

	socket->changes++;
	wait_wake_all(&socket->changed);
	spin_unlock(&socket->changed.lock, irq_on);
	poll_changed();
}

int socket_take_error(struct socket *socket)
{
	int error = socket->error;

	socket->error = 0;
	return -error;
}

/* ---- Copying from and to the caller's memory --------------------------------------------------- */

int socket_copy_in(void *to, uintptr_t from, size_t size)
{
	struct process *process = thread_self()->process;

	if (process)
		return vm_copy_in(&process->vm, to, from, size);
	memcpy(to, (const void *)from, size);
	return 0;
}

int socket_copy_out(uintptr_t to, const void *from, size_t size)
{
	struct process *process = thread_self()->process;

	if (process)
		return vm_copy_out(&process->vm, to, from, size);
	memcpy((void *)to, from, size);
	return 0;
}
