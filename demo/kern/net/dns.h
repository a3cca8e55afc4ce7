/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Detects DNS queries and answers by their port when they are sent, for the trace only. */
#ifndef DEMO_NET_DNS_H
#define DEMO_NET_DNS_H

#include <stddef.h>
#include <stdint.h>

/* Examines the content of a datagram, which may be any bytes. */
void dns_watch(uint16_t from_port, uint16_t to_port, const uint8_t *message, size_t bytes);

#endif
