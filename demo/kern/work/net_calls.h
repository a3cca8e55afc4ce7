/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Socket calls for kernel threads. Most of these functions panic after an unexpected error. */
#ifndef DEMO_WORK_NET_CALLS_H
#define DEMO_WORK_NET_CALLS_H

#include "socket.h"

#define PORT_ECHO 7000
#define PORT_DNS  53

/* Panics if `result` differs from the expected value. */
void net_expect(const char *what, int64_t result, int64_t wanted);

struct abi_sockaddr net_at(uint16_t port);

struct file *net_open_socket(int type);
struct file *net_open_listener(uint16_t port);
struct file *net_accept_from(struct file *listener);

/* These functions return what the corresponding system call would return. */
int net_bind_to(struct file *file, uint16_t port);
int net_connect_to(struct file *file, uint16_t port);
int64_t net_send_bytes(struct file *file, const void *from, size_t size);
int64_t net_receive_bytes(struct file *file, void *to, size_t size);

/* Waits until the socket can be read and then returns 1. Returns 0 after the timeout. */
int64_t net_wait_readable(struct file *file, int64_t timeout_ms);

/* Checks that invalid operations fail with the right errors. */
void net_check_failures(void);

#endif
