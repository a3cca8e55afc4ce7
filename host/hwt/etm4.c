/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decodes ETMv4 with OpenCSD. OpenCSD is fed with a few bytes at a time. It calls back with elements, which
 * become steps in a queue; while the queue is full, it waits. After damage, OpenCSD is reset, and
 * synchronizes at the next A-Sync.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwt/decoder.h"
#include "hwt/etm4.h"

/*
 * OpenCSD's decode tree for one unit. It also records the position in the piece up to which the tree has been
 * fed.
 */

/* Error message if OpenCSD does not accept the registers of a unit. */
#define ETM4_TREE_REFUSED "OpenCSD cannot decode a trace unit with these register values"

struct etm4_tree {
	dcd_tree_handle_t handle;
	const struct hwt_piece *piece;
	/*
	 * `at`: offset of the next byte to feed; `end`: offset after the last byte. If `formatted` is set,
	 * only complete frames are fed.
	 */
	size_t at, end;
	bool formatted;
	bool waiting; /* OpenCSD returned WAIT, and must be flushed */
	unsigned char id;
};

enum etm4_fed {
	ETM4_FED,     /* call again: bytes were fed, or OpenCSD waits until steps are taken from the queue */
	ETM4_FED_ALL, /* the whole piece and its end have been fed */
	ETM4_FED_BAD, /* OpenCSD could not decode bytes before `at`, and has been reset */
};

#define FRAME	  16u
#define FEED_MOST 4096u

/*
 * Maximum number of elements that a unit may leave uncommitted. Units whose registers allow more are refused.
 */
#define SPECULATION_MOST 4096u

/*
 * Returns TRCIDR1 with the version in it, as in an ETMv4. An ETE has its version in TRCDEVARCH: the number 5,
 * and the revision. OpenCSD decodes both kinds of unit by the same code, but its C API does not show packets
 * of its ETE protocol.
 */
static uint32_t version_of(const struct ktrx_hwt_etm4 *unit)
{
	if (!etm4_is_ete(unit))
		return unit->idr1;
	return (unit->idr1 & ~UINT32_C(0xff0)) | 5u << 8 | (unit->devarch >> 16 & 15u) << 4;
}

static int create_decoder(struct etm4_tree *tree, const struct ktrx_hwt_etm4 *unit, int flags)
{
	const ocsd_etmv4_cfg config = {
		.reg_idr0 = unit->idr0,
		.reg_idr1 = version_of(unit),
		.reg_idr2 = unit->idr2,
		.reg_idr8 = unit->idr8,
		.reg_idr9 = unit->idr9,
		.reg_idr10 = unit->idr10,
		.reg_idr11 = unit->idr11,
		.reg_idr12 = unit->idr12,
		.reg_idr13 = unit->idr13,
		.reg_configr = unit->configr,
		.reg_traceidr = unit->traceidr,
		/* of all possible values, the one with which OpenCSD decodes the most instructions */
		.arch_ver = ARCH_AA64,
		.core_prof = profile_CortexA,
	};

	/*
	 * with this flag, OpenCSD ends a range of instructions at each branch, even if an ETE's packet gives
	 * only the source address of the next taken branch
	 */
	if (etm4_is_ete(unit))
		flags |= ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS;
	if (unit->idr8 > SPECULATION_MOST)
		return -1;
	return ocsd_dt_create_decoder(tree->handle, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, &tree->id) ==
			       OCSD_OK
		       ? 0
		       : -1;
}

static void tree_close(struct etm4_tree *tree)
{
	if (tree->handle != C_API_INVALID_TREE_HANDLE)
		ocsd_destroy_dcd_tree(tree->handle);
}

/*
 * Creates OpenCSD's decode tree for a piece. Returns 0, or -1 and sets *message, which is NULL if memory is
 * short. `flags`: OCSD_CREATE_FLG_*.
 */
static int tree_open(struct etm4_tree *tree, const struct hwt_stream *stream, const struct hwt_piece *piece,
		     int flags, const char **message)
{
	memset(tree, 0, sizeof(*tree));
	tree->piece = piece;
	tree->formatted = stream->etm4.formatted != 0;
	tree->end = piece->size;
	if (tree->formatted) {
		/* frames are aligned in the buffer, but the piece may begin anywhere in it */
		tree->at = (size_t)(-piece->position % FRAME);
		tree->at = tree->at < piece->size ? tree->at : piece->size;
		tree->end = piece->size - (piece->size - tree->at) % FRAME;
	}
	/* Prevents OpenCSD from printing errors of the stream. */
	ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
	tree->handle = ocsd_create_dcd_tree(
		tree->formatted ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
		tree->formatted ? OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC : 0);
	*message = NULL;
	if (tree->handle != C_API_INVALID_TREE_HANDLE && create_decoder(tree, &stream->etm4, flags) == 0)
		return 0;
	if (tree->handle != C_API_INVALID_TREE_HANDLE)
		*message = ETM4_TREE_REFUSED;
	tree_close(tree);
	return -1;
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

	/* step over a byte, so that the loop makes progress even if OpenCSD has used no byte */
	if (OCSD_DATA_RESP_IS_FATAL(response) && used == 0)
		used = tree->formatted ? FRAME : 1;
	tree->at += used < size ? used : size;
	return response;
}

/* Feeds more bytes to OpenCSD. */
static enum etm4_fed tree_feed(struct etm4_tree *tree)
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

/* Converts OpenCSD's index, which has only 32 bits, to an offset in the piece. */
static uint64_t tree_offset(const struct etm4_tree *tree, ocsd_trc_index_t index)
{
	/* the offset cannot be after the end of the bytes that are being fed now */
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
		lines->line(lines->to, tree_offset(&lines->tree, index), HWT_PACKET_DAMAGE, name);
		return OCSD_RESP_CONT;
	}
	if (text) {
		*text = '\0';
		text += strlen(SEPARATOR);
	}
	lines->line(lines->to, tree_offset(&lines->tree, index), name, text ? text : "");
	return OCSD_RESP_CONT;
}

/* Implements hwt_encoding.packets. */
static void write_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
			  void (*line)(void *to, uint64_t offset, const char *name, const char *text),
			  void *to)
{
	struct lines lines = { .line = line, .to = to };
	const char *message;

	if (tree_open(&lines.tree, stream, piece, OCSD_CREATE_FLG_PACKET_PROC, &message) < 0) {
		line(to, 0, "error", message ? message : "out of memory");
		return;
	}
	if (ocsd_dt_attach_packet_callback(lines.tree.handle, lines.tree.id, OCSD_C_API_CB_PKT_SINK,
					   (void *)(uintptr_t)take_packet, &lines) == OCSD_OK)
		while (tree_feed(&lines.tree) != ETM4_FED_ALL)
			;
	tree_close(&lines.tree);
}

/* ---- Steps from OpenCSD's elements ---- */

/*
 * Maximum size, in bytes, of a sequence of instructions without a branch. Without this limit, a hostile
 * stream could make OpenCSD walk through all memory for each packet.
 */
#define WALK_MOST 65536u
#define TEXTS	  ETM4_QUEUE_ROOM /* number of buffers for texts: one for each step in the queue */

struct etm4 {
	struct etm4_tree tree;
	struct etm4_steps steps;
	struct etm4_guard guard;
	const struct hwt_stream *stream;
	struct hwt_images *images;
	bool ended;
	/* true if an A-Sync has come, or if it was already reported that the piece begins without one */
	bool begun;
	/*
	 * The state at the packet that is being decoded. OpenCSD asks for code before it pushes the element
	 * that contains this state.
	 */
	uint64_t packet_stamp, packet_space;
	/*
	 * OpenCSD's current walk through code: the address up to which OpenCSD has read, and the number of
	 * bytes so far.
	 */
	uint64_t walk_end;
	uint32_t walked;
	unsigned texts;
	/*
	 * buffers for texts that describe damage; they are used in turn, and there are enough for all steps
	 * in the queue
	 */
	char text[TEXTS][128];
};

/* Returns the context of a callback, which OpenCSD passes as const. */
static struct etm4 *self(const void *context)
{
	return (struct etm4 *)(uintptr_t)context;
}

/* Returns true if the range ends in an untaken branch to the next instruction. */
static bool is_to_next(struct etm4 *etm4, const ocsd_generic_trace_elem *element)
{
	uint32_t word;

	if (element->elem_type != OCSD_GEN_TRC_ELEM_INSTR_RANGE || element->last_i_type != OCSD_INSTR_BR ||
	    element->last_instr_exec)
		return false;
	return hwt_images_read(etm4->images, etm4->stream->pid, etm4->packet_space, etm4->packet_stamp,
			       element->en_addr - sizeof(word), &word, sizeof(word)) == sizeof(word) &&
	       etm4_guard_distance(word) == sizeof(word);
}

static ocsd_datapath_resp_t take_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
					 const ocsd_generic_trace_elem *element)
{
	struct etm4 *etm4 = self(context);

	(void)id;
	etm4->walked = 0;
	etm4->steps.offset = tree_offset(&etm4->tree, index);
	etm4->steps.to_next = is_to_next(etm4, element);
	etm4_steps_take(&etm4->steps, element);
	return etm4_queue_full(&etm4->steps.queue) ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

/*
 * If the first instruction that OpenCSD asks for is a branch that this version of OpenCSD does not know,
 * stores the branch's address. OpenCSD then gets no bytes of this instruction.
 */
static void note_branch(struct etm4 *etm4, uint64_t address, const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	if (!etm4_guard_too_new(ocsd_get_version(), word))
		return;
	etm4->steps.has_new = true;
	etm4->steps.new_branch = address;
}

static bool has_address(const ocsd_etmv4_i_pkt *packet)
{
	switch (packet->type) {
	case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS0:
	case ETM4_PKT_I_ADDR_MATCH:
	case ETM4_PKT_I_ADDR_S_IS0:
	case ETM4_PKT_I_ADDR_L_32IS0:
	case ETM4_PKT_I_ADDR_L_64IS0:
		return true;
	default:
		return false;
	}
}

static uint32_t read_code(const void *context, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t space,
			  const uint32_t size, uint8_t *to)
{
	struct etm4 *etm4 = self(context);
	uint32_t most;
	size_t got;

	(void)space;
	/* OpenCSD asks again for an instruction if it got only the first two of its bytes. */
	etm4->walked = etm4->walk_end - address < ETM4_INSTRUCTION ? etm4->walked : 0;
	/* The limit does not depend on the number of bytes for which OpenCSD asks at a time. */
	most = WALK_MOST - etm4->walked;
	if (!most || address >= ETM4_CODE_END)
		return 0;
	got = hwt_images_read(etm4->images, etm4->stream->pid, etm4->packet_space, etm4->packet_stamp,
			      address, to, size < most ? size : most);
	if (got >= ETM4_INSTRUCTION)
		note_branch(etm4, address, to);
	got = etm4_guard_code(address, to, got);
	etm4->walk_end = address + got;
	etm4->walked += (uint32_t)got;
	return (uint32_t)got;
}

static int give_code(struct etm4 *etm4)
{
	return ocsd_dt_add_callback_mem_acc(etm4->tree.handle, 0, UINT64_MAX, OCSD_MEM_SPACE_ANY, read_code,
					    etm4) == OCSD_OK
		       ? 0
		       : -1;
}

/*
 * Sets the timestamp and address space to read code for. OpenCSD caches code; replacing the memory accessor
 * clears the cache.
 */
static void read_as_of(struct etm4 *etm4, uint64_t stamp, uint64_t space)
{
	if (etm4->packet_stamp == stamp && etm4->packet_space == space)
		return;
	etm4->packet_stamp = stamp;
	etm4->packet_space = space;
	ocsd_dt_remove_mem_acc(etm4->tree.handle, 0, OCSD_MEM_SPACE_ANY);
	give_code(etm4);
}

static void watch_packet(const void *context, const ocsd_datapath_op_t operation,
			 const ocsd_trc_index_t index, const void *bytes, const uint32_t size,
			 const uint8_t *data)
{
	struct etm4 *etm4 = self(context);
	/*
	 * The packet is changed in OpenCSD's own memory: OpenCSD decodes it after this function has returned.
	 */
	ocsd_etmv4_i_pkt *packet = (ocsd_etmv4_i_pkt *)(uintptr_t)bytes;

	(void)size;
	(void)data;
	if (operation != OCSD_OP_DATA || !packet)
		return;
	if (!etm4_guard_allows(&etm4->guard, &etm4->stream->etm4, packet)) {
		packet->type = ETM4_PKT_I_BAD_SEQUENCE;
		etm4->steps.unread = etm4->guard.unread;
	}
	if (!etm4->begun && packet->type == ETM4_PKT_I_NOTSYNC)
		etm4_steps_begin_torn(&etm4->steps);
	etm4->begun = true;
	if (has_address(packet))
		etm4_steps_anchor(&etm4->steps, tree_offset(&etm4->tree, index));
	if (packet->type == ETM4_PKT_I_TIMESTAMP)
		read_as_of(etm4, hwt_stream_stamp(etm4->stream, packet->ts.timestamp), etm4->packet_space);
	else if (packet->context.updated_c)
		read_as_of(etm4, etm4->packet_stamp,
			   etm4_space(etm4->steps.software, packet->context.ctxtID));
}

static int connect(struct etm4 *etm4)
{
	struct etm4_tree *tree = &etm4->tree;

	if (ocsd_dt_set_gen_elem_outfn(tree->handle, take_element, etm4) != OCSD_OK)
		return -1;
	if (ocsd_dt_attach_packet_callback(tree->handle, tree->id, OCSD_C_API_CB_PKT_MON,
					   (void *)(uintptr_t)watch_packet, etm4) != OCSD_OK)
		return -1;
	return give_code(etm4);
}

/*
 * Returns a description of the packets that this unit may write but OpenCSD cannot decode. Returns NULL if
 * there are none.
 */
static const char *unread_by_library(uint32_t configr)
{
	static const struct {
		uint32_t bits;
		const char *message;
	} unread[] = {
		{ 3u << 1, "loads and stores as elements (TRCCONFIGR.INSTP0) are not decoded" },
		{ 7u << 8, "conditional elements (TRCCONFIGR.COND) are not decoded" },
		{ 3u << 13, "Q elements (TRCCONFIGR.QE) are not decoded" },
		{ 3u << 16, "data trace (TRCCONFIGR.DA, DV) is not decoded" },
	};

	for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++)
		if (configr & unread[i].bits)
			return unread[i].message;
	return NULL;
}

static void *etm4_open(const struct hwt_stream *stream, const struct hwt_piece *piece,
		       struct hwt_images *images, const char **message)
{
	struct etm4 *etm4 = calloc(1, sizeof(*etm4));

	*message = etm4 ? unread_by_library(stream->etm4.configr) : NULL;
	if (!etm4 || *message) {
		free(etm4);
		return NULL;
	}
	etm4->images = images;
	etm4->stream = stream;
	etm4->steps.software = stream->context.backend == KTRX_HWT_BACKEND_QEMU;
	if (tree_open(&etm4->tree, stream, piece, OCSD_CREATE_FLG_FULL_DECODER, message) < 0) {
		free(etm4);
		return NULL;
	}
	if (connect(etm4) == 0)
		return etm4;
	*message = ETM4_TREE_REFUSED;
	tree_close(&etm4->tree);
	free(etm4);
	return NULL;
}

static void etm4_close(void *decoder)
{
	struct etm4 *etm4 = decoder;

	tree_close(&etm4->tree);
	free(etm4);
}

/* Reports OpenCSD's last error as damage. */
static void report_damage(struct etm4 *etm4)
{
	char *text = etm4->text[etm4->texts++ % TEXTS];
	ocsd_trc_index_t index;
	uint8_t id;
	char message[256], error[96];

	ocsd_err_str(ocsd_get_last_err(&index, &id, message, sizeof(message)), error, sizeof(error));
	snprintf(text, sizeof(etm4->text[0]), "OpenCSD: %s", error);
	etm4->steps.offset = etm4->tree.at;
	etm4->guard = (struct etm4_guard){ 0 };
	etm4_steps_damage(&etm4->steps, text);
}

/*
 * Returns the offset of the last A-Sync at or before `offset`. Returns 0 if the bytes are in frames, because
 * only unpacking the frames would show an A-Sync.
 */
static size_t etm4_begin(const struct hwt_stream *stream, const struct hwt_piece *piece, size_t offset)
{
	static const unsigned char sync[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80 };

	if (piece->size < sizeof(sync) || stream->etm4.formatted)
		return 0;
	if (offset > piece->size - sizeof(sync))
		offset = piece->size - sizeof(sync);
	while (offset && memcmp(piece->bytes + offset, sync, sizeof(sync)) != 0)
		offset--;
	return offset;
}

static int etm4_next(void *decoder, struct hwt_step *step)
{
	struct etm4 *etm4 = decoder;

	while (!etm4_queue_take(&etm4->steps.queue, step)) {
		if (etm4->ended)
			return 0;
		if (etm4_queue_full(&etm4->steps.queue)) {
			etm4_queue_settle(&etm4->steps.queue);
			continue;
		}
		switch (tree_feed(&etm4->tree)) {
		case ETM4_FED_BAD:
			report_damage(etm4);
			break;
		case ETM4_FED_ALL:
			etm4_queue_settle(&etm4->steps.queue);
			etm4->ended = true;
			break;
		default:
			break;
		}
	}
	return 1;
}

const struct hwt_encoding hwt_encoding_etm4 = {
	.name = "etm4",
	.open = etm4_open,
	.next = etm4_next,
	.close = etm4_close,
	.begin = etm4_begin,
	.packets = write_packets,
};
