/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The well-known events of version 1. For some of them the published layout and what real traces carry
 * differ; rows marked SPEC or KEVLAR belong to one of the two.
 */
#include <stddef.h>

#include "ktrx/v1.h"
#include "ktrx/v2.h"
#include "types.h"

#define U32(name)                       \
	{                               \
		name, "", KTRX_TYPE_U32 \
	}
#define U32_OF(name, of)                \
	{                               \
		name, of, KTRX_TYPE_U32 \
	}
#define U64(name)                       \
	{                               \
		name, "", KTRX_TYPE_U64 \
	}
#define I64(name)                       \
	{                               \
		name, "", KTRX_TYPE_I64 \
	}
#define ADDRESS(name)                       \
	{                                   \
		name, "", KTRX_TYPE_POINTER \
	}
#define V1_FIELDS 5

enum layouts {
	BOTH = -1,
	KEVLAR = KTREAD_V1_KEVLAR,
	SPEC = KTREAD_V1_SPEC,
};

struct well_known {
	uint16_t id;
	int8_t layout;
	uint8_t fields;
	const char *group, *name, *text;
	struct ktread_field field[V1_FIELDS];
};

static const struct well_known table[] = {
	{ KTRX1_SYSCALL_ENTER,
	  BOTH,
	  3,
	  "syscall",
	  "SYSCALL_ENTER",
	  "nr=%u a1=0x%llx a2=0x%llx",
	  { U32("nr"), U64("a1"), U64("a2") } },
	{ KTRX1_SYSCALL_EXIT,
	  BOTH,
	  2,
	  "syscall",
	  "SYSCALL_EXIT",
	  "nr=%u result=%lld",
	  { U32("nr"), I64("result") } },
	{ KTRX1_CTX_SWITCH,
	  BOTH,
	  2,
	  "sched",
	  "CTX_SWITCH",
	  "from_pid=%u to_pid=%u",
	  { U32("from_pid"), U32("to_pid") } },
	{ KTRX1_PAGE_FAULT,
	  SPEC,
	  2,
	  "mm",
	  "PAGE_FAULT",
	  "addr=0x%llx error=0x%x",
	  { ADDRESS("addr"), U32("error") } },
	{ KTRX1_PAGE_FAULT,
	  KEVLAR,
	  3,
	  "mm",
	  "PAGE_FAULT",
	  "addr=0x%llx rip=0x%llx reason=0x%x",
	  { ADDRESS("addr"), ADDRESS("rip"), U32("reason") } },
	{ KTRX1_PTE_MAP,
	  BOTH,
	  5,
	  "mm",
	  "PTE_MAP",
	  "d0=0x%x d1=0x%x d2=0x%x d3=0x%x d4=0x%x",
	  { U32("d0"), U32("d1"), U32("d2"), U32("d3"), U32("d4") } },
	{ KTRX1_PTE_MAP_EXISTING,
	  BOTH,
	  5,
	  "mm",
	  "PTE_MAP_EXISTING",
	  "d0=0x%x d1=0x%x d2=0x%x d3=0x%x d4=0x%x",
	  { U32("d0"), U32("d1"), U32("d2"), U32("d3"), U32("d4") } },
	{ KTRX1_PAGE_CONTENT,
	  BOTH,
	  5,
	  "mm",
	  "PAGE_CONTENT",
	  "d0=0x%x d1=0x%x d2=0x%x d3=0x%x d4=0x%x",
	  { U32("d0"), U32("d1"), U32("d2"), U32("d3"), U32("d4") } },
	{ KTRX1_SIGNAL_SEND,
	  BOTH,
	  5,
	  "signal",
	  "SIGNAL_SEND",
	  "d0=0x%x d1=0x%x d2=0x%x d3=0x%x d4=0x%x",
	  { U32("d0"), U32("d1"), U32("d2"), U32("d3"), U32("d4") } },
	{ KTRX1_SIGNAL_CHECK,
	  BOTH,
	  5,
	  "signal",
	  "SIGNAL_CHECK",
	  "d0=0x%x d1=0x%x d2=0x%x d3=0x%x d4=0x%x",
	  { U32("d0"), U32("d1"), U32("d2"), U32("d3"), U32("d4") } },
	{ KTRX1_SIGNAL_DELIVER,
	  BOTH,
	  5,
	  "signal",
	  "SIGNAL_DELIVER",
	  "d0=0x%x d1=0x%x d2=0x%x d3=0x%x d4=0x%x",
	  { U32("d0"), U32("d1"), U32("d2"), U32("d3"), U32("d4") } },
	{ KTRX1_WAITQ_SLEEP, BOTH, 1, "sched", "WAITQ_SLEEP", "waitq=0x%x", { U32("waitq") } },
	{ KTRX1_WAITQ_WAKE,
	  BOTH,
	  2,
	  "sched",
	  "WAITQ_WAKE",
	  "waitq=0x%x woken=%u",
	  { U32("waitq"), U32("woken") } },
	{ KTRX1_NET_CONNECT,
	  SPEC,
	  2,
	  "net",
	  "NET_CONNECT",
	  "ip=0x%x port=%u",
	  { U32_OF("ip", "ipv4"), U32("port") } },
	{ KTRX1_NET_CONNECT,
	  KEVLAR,
	  4,
	  "net",
	  "NET_CONNECT",
	  "fd=%u ip=0x%x port=%u result=%u",
	  { U32("fd"), U32_OF("ip", "ipv4"), U32("port"), U32("result") } },
	{ KTRX1_NET_SEND, SPEC, 1, "net", "NET_SEND", "len=%u", { U32_OF("len", "bytes") } },
	{ KTRX1_NET_SEND,
	  KEVLAR,
	  3,
	  "net",
	  "NET_SEND",
	  "fd=%u len=%u result=%u",
	  { U32("fd"), U32_OF("len", "bytes"), U32("result") } },
	{ KTRX1_NET_RECV, SPEC, 1, "net", "NET_RECV", "len=%u", { U32_OF("len", "bytes") } },
	{ KTRX1_NET_RECV,
	  KEVLAR,
	  3,
	  "net",
	  "NET_RECV",
	  "fd=%u len=%u result=%u",
	  { U32("fd"), U32_OF("len", "bytes"), U32("result") } },
	{ KTRX1_NET_POLL, SPEC, 1, "net", "NET_POLL", "events=0x%x", { U32("events") } },
	{ KTRX1_NET_POLL,
	  KEVLAR,
	  3,
	  "net",
	  "NET_POLL",
	  "fd=%u unused=%u revents=0x%x",
	  { U32("fd"), U32("unused"), U32("revents") } },
	{ KTRX1_NET_RX_PACKET,
	  BOTH,
	  2,
	  "net",
	  "NET_RX_PACKET",
	  "frame_len=%u protocol=%u",
	  { U32_OF("frame_len", "bytes"), U32("protocol") } },
	{ KTRX1_NET_TX_PACKET,
	  BOTH,
	  2,
	  "net",
	  "NET_TX_PACKET",
	  "frame_len=%u protocol=%u",
	  { U32_OF("frame_len", "bytes"), U32("protocol") } },
	{ KTRX1_NET_TCP_STATE, SPEC, 2, "net", "NET_TCP_STATE", "old=%u new=%u", { U32("old"), U32("new") } },
	{ KTRX1_NET_TCP_STATE,
	  KEVLAR,
	  3,
	  "net",
	  "NET_TCP_STATE",
	  "handle=%u old=%u new=%u",
	  { U32("handle"), U32("old"), U32("new") } },
	{ KTRX1_NET_DNS_QUERY, BOTH, 1, "net", "NET_DNS_QUERY", "id=%u", { U32("id") } },
};

uint32_t ktread_types_load_v1(struct ktread_types *types, enum ktread_v1_layout layout)
{
	uint32_t loaded = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct well_known *known = &table[i];

		if (known->layout != BOTH && known->layout != (int)layout)
			continue;
		types->row[known->id] = (struct ktread_type){
			.id = known->id,
			.fields = known->fields,
			.state = KTRX_STATE_RECORD,
			.wanted = KTRX_STATE_RECORD,
			.name_alone = 1,
			.thread_bits = KTRX1_PID_MASK,
			.group = known->group,
			.name = known->name,
			.text = known->text,
			.file = "",
			.field = known->field,
		};
		loaded++;
	}
	return loaded;
}
