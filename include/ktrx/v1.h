/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * KTRX version 1: a 64-byte header, then one ring of 32-byte records for each CPU. All little-endian.
 *
 * A v1 dump has no write index, so losses are unknown, and records within a ring are ordered by timestamp.
 * ktrace will always read and write this format. A writer leaves out, and counts, records that the format
 * cannot hold (of a ninth CPU, or with an event id above 1023). Normative text: spec/ktrx1.md.
 */
#ifndef KTRX_V1_H
#define KTRX_V1_H

#include "ktrx/base.h"

#define KTRX1_VERSION	  1u
#define KTRX1_RECORD_SIZE 32u
#define KTRX1_MAX_CPUS	  8u	/* a record has 3 bits for the CPU */
#define KTRX1_MAX_EVENT	  1023u /* a record has 10 bits for the event */
#define KTRX1_PID_MASK	  2047u /* a record has 11 bits for the pid, which is stored modulo 2048 */

struct ktrx1_header {
	uint8_t magic[4];     /* "KTRX" */
	uint32_t version;     /* 1 */
	uint64_t frequency;   /* counter ticks per second */
	uint32_t cpus;	      /* number of rings that follow, in CPU order */
	uint32_t slots;	      /* number of records in each ring, a power of two */
	uint32_t record_size; /* 32 */
	uint32_t flags;	      /* 0 */
	uint8_t reserved[32]; /* 0 */
};

struct ktrx1_record {
	uint64_t stamp;	  /* raw counter value; 0 marks an empty slot */
	uint32_t header;  /* bits 31:24 flags, 23:13 pid modulo 2048, 12:10 CPU, 9:0 event */
	uint32_t data[5]; /* values whose meaning depends on the event */
};

/* clang-format is off, because it would treat these macros as casts. */
/* clang-format off */
#define KTRX1_HEADER(event, cpu, pid, flags)                                                                 \
	((KTRX_CAST(uint32_t, flags) & 0xffu) << 24 | (KTRX_CAST(uint32_t, pid) & 0x7ffu) << 13 |     \
	 (KTRX_CAST(uint32_t, cpu) & 7u) << 10 |     \
	 (KTRX_CAST(uint32_t, event) & 0x3ffu))
#define KTRX1_EVENT(header) ((header) & 0x3ffu)
#define KTRX1_CPU(header)   ((header) >> 10 & 7u)
#define KTRX1_PID(header)   ((header) >> 13 & 0x7ffu)
#define KTRX1_FLAGS(header) ((header) >> 24)
/* clang-format on */

/* Well-known event ids. */
#define KTRX1_SYSCALL_ENTER    0u
#define KTRX1_SYSCALL_EXIT     1u
#define KTRX1_CTX_SWITCH       5u
#define KTRX1_PAGE_FAULT       10u
#define KTRX1_PTE_MAP	       11u
#define KTRX1_PTE_MAP_EXISTING 12u
#define KTRX1_PAGE_CONTENT     13u
#define KTRX1_SIGNAL_SEND      20u
#define KTRX1_SIGNAL_CHECK     21u
#define KTRX1_SIGNAL_DELIVER   22u
#define KTRX1_WAITQ_SLEEP      70u
#define KTRX1_WAITQ_WAKE       71u
#define KTRX1_NET_CONNECT      193u
#define KTRX1_NET_SEND	       197u
#define KTRX1_NET_RECV	       198u
#define KTRX1_NET_POLL	       199u
#define KTRX1_NET_RX_PACKET    201u
#define KTRX1_NET_TX_PACKET    202u
#define KTRX1_NET_TCP_STATE    203u
#define KTRX1_NET_DNS_QUERY    204u

KTRX_ASSERT_SIZE(struct ktrx1_header, 64);
KTRX_ASSERT_OFFSET(struct ktrx1_header, version, 4);
KTRX_ASSERT_OFFSET(struct ktrx1_header, frequency, 8);
KTRX_ASSERT_OFFSET(struct ktrx1_header, cpus, 16);
KTRX_ASSERT_OFFSET(struct ktrx1_header, slots, 20);
KTRX_ASSERT_OFFSET(struct ktrx1_header, record_size, 24);
KTRX_ASSERT_OFFSET(struct ktrx1_header, flags, 28);
KTRX_ASSERT_SIZE(struct ktrx1_record, 32);
KTRX_ASSERT_OFFSET(struct ktrx1_record, header, 8);
KTRX_ASSERT_OFFSET(struct ktrx1_record, data, 12);

#endif
