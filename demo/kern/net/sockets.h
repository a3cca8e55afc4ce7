/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the network's parts share: its lock, the table of sockets, ports.
 *
 * One sleeping lock guards all of the network's state; the network thread holds it for each frame, calls hold it but
 * while they wait. Whatever changes a socket calls socket_changed; whoever waits looks again.
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
	uint32_t number; /* what the trace calls it, unique for ever; 0: this place is free */
	const struct socket_type *type;
	struct file *file;		      /* NULL: nobody has it open, any more or yet */
	uint32_t local_address, peer_address; /* 0: any; none */
	uint16_t local_port, peer_port;	      /* 0: none */
	bool owns_port; /* nobody else may bind to it; a connection that was accepted has its listener's port */
	bool reading_over, writing_over; /* by shutdown; a stream's state tells the second */
	int error;			 /* what went wrong behind the owner's back, to be told once */

	struct wait_queue changed; /* its lock guards changes alone */
	uint32_t changes;

	struct packet_queue datagrams; /* received */
	struct stream stream;
};

/* Kinds of sockets. Network lock held. NULL: -EOPNOTSUPP. */
struct socket_type {
	int (*connect)(struct socket *socket, const struct abi_sockaddr *address);
	int (*listen)(struct socket *socket, unsigned backlog);
	int (*accept)(struct socket *socket, struct socket **connection);
	int64_t (*send)(struct socket *socket, uintptr_t from, size_t size, const struct abi_sockaddr *to);
	int64_t (*receive)(struct socket *socket, uintptr_t to, size_t size, struct abi_sockaddr *from);
	int (*shutdown)(struct socket *socket, int how);
	size_t (*readable)(struct socket *socket); /* bytes waiting */
	unsigned (*poll)(struct socket *socket);
	void (*close)(struct socket *socket); /* no longer open: frees it, at once or later */
};

extern const struct socket_type udp_type, stream_type;

void network_lock(void);
void network_unlock(void);

/* The table's places, some of them free, for walks. */
extern struct socket sockets[SOCKETS_MAX];

struct socket *socket_new(const struct socket_type *type); /* NULL: table full */
void socket_free(struct socket *socket);

/* Gives a socket a port, any that nobody owns for 0; the second only to one that has none. 0 or -errno. */
int socket_take_port(struct socket *socket, uint32_t address, uint16_t port);
int socket_need_port(struct socket *socket);

/* Does this socket's local side take what is sent there? */
bool socket_is_at(const struct socket *socket, uint32_t address, uint16_t port);

/* Sleeps until the socket changes, network lock released. 0, -EAGAIN (O_NONBLOCK) or -EINTR. */
int socket_wait(struct socket *socket);
void socket_changed(struct socket *socket);

/* The pending error as -errno, which is none any more; else 0. */
int socket_take_error(struct socket *socket);

/* To and from the caller's memory: a program's, or the kernel's if a kernel thread calls. 0 or -EFAULT. */
int socket_copy_in(void *to, uintptr_t from, size_t size);
int socket_copy_out(uintptr_t to, const void *from, size_t size);

#endif
