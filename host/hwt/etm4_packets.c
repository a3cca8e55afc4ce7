/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <string.h>

#include "hwt/etm4_packets.h"
#include "hwt/etm4_tree.h"

#define SEPARATOR " : "

struct lines {
	struct etm4_tree tree;
	void (*line)(void *to, uint64_t offset, const char *name, const char *text);
	void *to;
};

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t operation,
					const ocsd_trc_index_t index, const void *packet)
{
	const struct lines *lines = context;
	char name[512], *text;

	if (operation != OCSD_OP_DATA || !packet)
		return OCSD_RESP_CONT;
	if (ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, packet, name, sizeof(name)) != OCSD_OK)
		return OCSD_RESP_CONT;
	text = strstr(name, SEPARATOR);
	if (strncmp(name, "I_BAD_SEQUENCE", 14) == 0 || strncmp(name, "I_RESERVED", 10) == 0) {
		lines->line(lines->to, etm4_tree_offset(&lines->tree, index), HWT_PACKET_DAMAGE, name);
		return OCSD_RESP_CONT;
	}
	if (text) {
		*text = '\0';
		text += strlen(SEPARATOR);
	}
	lines->line(lines->to, etm4_tree_offset(&lines->tree, index), name, text ? text : "");
	return OCSD_RESP_CONT;
}

void etm4_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
		  void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to)
{
	struct lines lines = { .line = line, .to = to };
	const char *message;

	if (etm4_tree_open(&lines.tree, stream, piece, OCSD_CREATE_FLG_PACKET_PROC, &message) < 0) {
		line(to, 0, "error", message ? message : "out of memory");
		return;
	}
	if (ocsd_dt_attach_packet_callback(lines.tree.handle, lines.tree.id, OCSD_C_API_CB_PKT_SINK,
					   (void *)(uintptr_t)take_packet, &lines) == OCSD_OK)
		while (etm4_tree_feed(&lines.tree) != ETM4_FED_ALL)
			;
	etm4_tree_close(&lines.tree);
}
