/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hwt/etm4.h"

#include <string.h>

#define FRAME	  16u
#define FEED_MOST 4096u

/* Elements that are not committed yet, at most: what a unit says more of we do not believe. */
#define SPECULATION_MOST 4096u

static int create_decoder(struct etm4_tree *tree, const struct ktrx_hwt_etm4 *unit, int flags)
{
	const ocsd_etmv4_cfg config = {
		.reg_idr0 = unit->idr0,
		.reg_idr1 = unit->idr1,
		.reg_idr2 = unit->idr2,
		.reg_idr8 = unit->idr8,
		.reg_idr9 = unit->idr9,
		.reg_idr10 = unit->idr10,
		.reg_idr11 = unit->idr11,
		.reg_idr12 = unit->idr12,
		.reg_idr13 = unit->idr13,
		.reg_configr = unit->configr,
		.reg_traceidr = unit->traceidr,
		.arch_ver = ARCH_AA64, /* knows the most instructions */
		.core_prof = profile_CortexA,
	};

	if (unit->idr8 > SPECULATION_MOST)
		return -1;
	return ocsd_dt_create_decoder(tree->handle, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, &tree->id) ==
			       OCSD_OK
		       ? 0
		       : -1;
}

int etm4_tree_open(struct etm4_tree *tree, const struct hwt_stream *stream, const struct hwt_piece *piece,
		   int flags, const char **message)
{
	memset(tree, 0, sizeof(*tree));
	tree->piece = piece;
	tree->formatted = stream->etm4.formatted != 0;
	tree->end = piece->size;
	if (tree->formatted) {
		/* Frames are aligned in the buffer, of which the piece may begin anywhere. */
		tree->at = (size_t)(-piece->position % FRAME);
		tree->at = tree->at < piece->size ? tree->at : piece->size;
		tree->end = piece->size - (piece->size - tree->at) % FRAME;
	}
	/* OpenCSD would print what it finds wrong in a stream. */
	ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
	tree->handle = ocsd_create_dcd_tree(
		tree->formatted ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
		tree->formatted ? OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC : 0);
	*message = NULL;
	if (tree->handle != C_API_INVALID_TREE_HANDLE && create_decoder(tree, &stream->etm4, flags) == 0)
		return 0;
	if (tree->handle != C_API_INVALID_TREE_HANDLE)
		*message = ETM4_TREE_REFUSED;
	etm4_tree_close(tree);
	return -1;
}

void etm4_tree_close(struct etm4_tree *tree)
{
	if (tree->handle != C_API_INVALID_TREE_HANDLE)
		ocsd_destroy_dcd_tree(tree->handle);
}

static ocsd_datapath_resp_t operate(struct etm4_tree *tree, ocsd_datapath_op_t operation)
{
	uint32_t used;

	return ocsd_dt_process_data(tree->handle, operation, (ocsd_trc_index_t)tree->at, 0, NULL, &used);
}

static ocsd_datapath_resp_t feed_bytes(struct etm4_tree *tree)
{
	size_t left = tree->end - tree->at;
	uint32_t size = left < FEED_MOST ? (uint32_t)left : FEED_MOST, used = 0;
	ocsd_datapath_resp_t response =
		ocsd_dt_process_data(tree->handle, OCSD_OP_DATA, (ocsd_trc_index_t)tree->at, size,
				     tree->piece->bytes + tree->at, &used);

	/* Whatever it says, it goes forward. */
	if (OCSD_DATA_RESP_IS_FATAL(response) && used == 0)
		used = tree->formatted ? FRAME : 1;
	tree->at += used < size ? used : size;
	return response;
}

enum etm4_fed etm4_tree_feed(struct etm4_tree *tree)
{
	bool ended = !tree->waiting && tree->at == tree->end;
	ocsd_datapath_resp_t response;

	if (tree->waiting)
		response = operate(tree, OCSD_OP_FLUSH);
	else
		response = ended ? operate(tree, OCSD_OP_EOT) : feed_bytes(tree);
	tree->waiting = OCSD_DATA_RESP_IS_WAIT(response);
	if (OCSD_DATA_RESP_IS_FATAL(response)) {
		operate(tree, OCSD_OP_RESET);
		if (!ended)
			return ETM4_FED_BAD;
	}
	return ended && !tree->waiting ? ETM4_FED_ALL : ETM4_FED;
}

uint64_t etm4_tree_offset(const struct etm4_tree *tree, ocsd_trc_index_t index)
{
	/* Never behind what has been fed, the part that is being fed now included. */
	uint64_t fed = tree->at + FEED_MOST;
	uint64_t offset = fed - (ocsd_trc_index_t)((ocsd_trc_index_t)fed - index);

	return offset < tree->piece->size ? offset : tree->piece->size;
}

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
