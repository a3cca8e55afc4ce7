/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Detects DNS queries and answers by the port of each datagram that is sent, and records them in the
 * trace.
 */
#ifndef DEMO_NET_DNS_H
#define DEMO_NET_DNS_H

#include <stddef.h>
#include <stdint.h>

/* Examines a datagram. Its content is not trusted. */
void dns_watch(uint16_t from_port, uint16_t to_port, const uint8_t *message, size_t bytes);

#endif
