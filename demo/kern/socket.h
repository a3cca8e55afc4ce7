/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sockets over one loopback device. A packet is a real frame (IPv4 with UDP, or IPv4 with our small stream
 * protocol). The sender queues it at the device, and the network thread receives it; sockets exchange data in
 * no other way. The stream protocol has the handshake, sequence numbers, acknowledgements, window, FIN, RST
 * and states of TCP.
 */
#ifndef DEMO_SOCKET_H
#define DEMO_SOCKET_H

#include "file.h"

void network_init(void); /* starts the network device and its thread; requires: threads can be created */

/*
 * All functions return 0, a number of bytes, or -errno. Socket addresses (abi_sockaddr) are in kernel memory.
 * May sleep. Requires: thread context.
 */
int socket_open(int family, int type, struct file **file);
int socket_bind(struct file *file, const struct abi_sockaddr *address);
int socket_connect(struct file *file, const struct abi_sockaddr *address);
int socket_listen(struct file *file, int backlog);
int socket_accept(struct file *file, struct file **connection, struct abi_sockaddr *peer);
/* If `to` is NULL, sends to the peer to which the socket is connected. */
int64_t socket_send(struct file *file, uintptr_t from, size_t size, const struct abi_sockaddr *to);
int64_t socket_receive(struct file *file, uintptr_t to, size_t size, struct abi_sockaddr *from);
int socket_shutdown(struct file *file, int how);
int socket_name(struct file *file, struct abi_sockaddr *address);

#endif
