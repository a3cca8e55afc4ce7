/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declarations that all parts of the network share: its lock, the table of sockets, ports.
 *
 * One sleeping lock guards the whole state of the network. The network thread holds it while it handles a
 * frame. System calls hold it except while they wait. Code that changes a socket calls socket_changed;
 * threads that wait for the socket then check their conditions again.
 */
#ifndef DEMO_NET_SOCKETS_H
#define DEMO_NET_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/packet.h"
#include "net/stream_types.h"
#include "socket.h"
#include "wait.h"

#define SOCKETS_MAX 128

struct socket {
	/*
	 * Number by which the trace identifies the socket, never reused; 0 if this entry of sockets[] is
	 * free.
	 */
	uint32_t number;
	const struct socket_type *type;
	/* NULL if the socket has not been opened as a file yet, or its file has been closed. */
	struct file *file;
	uint32_t local_address, peer_address; /* local_address 0: any address; peer_address 0: no peer */
	uint16_t local_port, peer_port;	      /* port numbers; 0: no port */
	/*
	 * True if no other socket may bind to this socket's local port. An accepted connection shares the
	 * port of its listener and does not own it.
	 */
	bool owns_port;
	/*
	 * Set by shutdown(): no more data can be received (reading_over) or sent (writing_over). Streams use
	 * their state instead of writing_over.
	 */
	bool reading_over, writing_over;
	int error; /* error that the next operation on the socket must return */

	/*
	 * The queue of threads that wait for a change of the socket. The queue's lock guards only `changes`.
	 */
	struct wait_queue changed;
	uint32_t changes;

	struct packet_queue datagrams; /* datagrams that were received and not read yet */
	struct stream stream;
};

/*
 * Operations of a type of sockets: datagram sockets or streams. If an operation is NULL, the call fails with
 * -EOPNOTSUPP. Requires: network lock held.
 */
struct socket_type {
	int (*connect)(struct socket *socket, const struct abi_sockaddr *address);
	int (*listen)(struct socket *socket, unsigned backlog);
	int (*accept)(struct socket *socket, struct socket **connection);
	int64_t (*send)(struct socket *socket, uintptr_t from, size_t size, const struct abi_sockaddr *to);
	int64_t (*receive)(struct socket *socket, uintptr_t to, size_t size, struct abi_sockaddr *from);
	int (*shutdown)(struct socket *socket, int how);
	size_t (*readable)(struct socket *socket); /* returns the number of bytes that can be read */
	unsigned (*poll)(struct socket *socket);
	/*
	 * Called when the socket's file is closed. Frees the socket, immediately or when its connection has
	 * ended.
	 */
	void (*close)(struct socket *socket);
};

extern const struct socket_type udp_type, stream_type;

void network_lock(void);
void network_unlock(void);

/* All sockets; some entries are free. */
extern struct socket sockets[SOCKETS_MAX];

struct socket *socket_new(const struct socket_type *type); /* returns NULL if the table is full */
void socket_free(struct socket *socket);

/*
 * socket_take_port assigns a port to a socket; port 0 means any port that no socket owns. socket_need_port
 * assigns any such port if the socket has no port yet. Both return 0 or -errno.
 */
int socket_take_port(struct socket *socket, uint32_t address, uint16_t port);
int socket_need_port(struct socket *socket);

/*
 * Returns true if the socket's local address and port match an address and port to which a packet was sent.
 */
bool socket_is_at(const struct socket *socket, uint32_t address, uint16_t port);

/*
 * Sleeps until the socket changes. The network lock is released during the sleep. Returns 0, -EAGAIN without
 * sleeping (O_NONBLOCK), or -EINTR.
 */
int socket_wait(struct socket *socket);
void socket_changed(struct socket *socket);

/* Clears the error of an earlier event and returns it as -errno; returns 0 if there is none. */
int socket_take_error(struct socket *socket);

/*
 * Copy from or to the memory of the running thread: user memory, or kernel memory if it is a kernel thread.
 * Return 0 or -EFAULT.
 */
int socket_copy_in(void *to, uintptr_t from, size_t size);
int socket_copy_out(uintptr_t to, const void *from, size_t size);

#endif
