/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Shared by all parts of the network: its lock, the table of sockets, ports.
 *
 * One sleeping lock guards the whole state of the network. The network thread holds it while it handles a
 * frame. System calls hold it except while they wait. Code that changes a socket calls socket_changed, and
 * waiting threads check again.
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
	uint32_t number; /* number of the socket in the trace, never reused; 0: this entry is free */
	const struct socket_type *type;
	struct file *file;		      /* NULL: not opened as a file yet, or already closed */
	uint32_t local_address, peer_address; /* 0: any (local), none (peer) */
	uint16_t local_port, peer_port;	      /* 0: none */
	/*
	 * No other socket may bind to the local port. An accepted connection has its listener's port and does
	 * not own it.
	 */
	bool owns_port;
	/* set by shutdown(); a stream uses its state instead of writing_over */
	bool reading_over, writing_over;
	int error; /* error of an earlier operation; the next operation returns it */

	/* queue of threads that wait for a change; its lock guards only `changes` */
	struct wait_queue changed;
	uint32_t changes;

	struct packet_queue datagrams; /* received */
	struct stream stream;
};

/*
 * Operations of one type of sockets: datagram or stream. A NULL operation means -EOPNOTSUPP. Requires:
 * network lock held.
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
	/* Called when the file is closed: frees the socket, now or later. */
	void (*close)(struct socket *socket);
};

extern const struct socket_type udp_type, stream_type;

void network_lock(void);
void network_unlock(void);

/* All sockets; some entries are free. */
extern struct socket sockets[SOCKETS_MAX];

struct socket *socket_new(const struct socket_type *type); /* NULL: table full */
void socket_free(struct socket *socket);

/*
 * Assign a port to a socket; port 0 means any unowned port. socket_need_port does it only if the socket has
 * none. Return 0 or -errno.
 */
int socket_take_port(struct socket *socket, uint32_t address, uint16_t port);
int socket_need_port(struct socket *socket);

/* Returns true if the socket receives packets sent to that address and port. */
bool socket_is_at(const struct socket *socket, uint32_t address, uint16_t port);

/*
 * Sleeps until the socket changes. The network lock is released during the sleep. Returns 0, -EAGAIN
 * (O_NONBLOCK) or -EINTR.
 */
int socket_wait(struct socket *socket);
void socket_changed(struct socket *socket);

/* Returns the pending error as -errno and clears it; 0 if there is none. */
int socket_take_error(struct socket *socket);

/*
 * Copy from or to the caller's memory. The caller's memory is user memory, or kernel memory if the caller is
 * a kernel thread. Return 0 or -EFAULT.
 */
int socket_copy_in(void *to, uintptr_t from, size_t size);
int socket_copy_out(uintptr_t to, const void *from, size_t size);

#endif
