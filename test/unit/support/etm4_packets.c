/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/etm4_packets.h"

static const uint32_t code[] = {
	/* 401000 */ NOP,  B_EQ(3), NOP,  BL(5),
	/* 401010 */ NOP,  CBZ(-4), BLR,  B(-7),
	/* 401020 */ NOP,  RET,	    NOP,  SVC,
	/* 401030 */ ISB,  BR,	    ERET, NOP,
	/* 401040 */ NOP,  TEXIT,   NOP,  RETAA,
	/* 401050 */ B(1),
};

struct etm4_asked etm4_asked;

/* Replaces the function in images.c. */
size_t hwt_images_read(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
		       uint64_t address, void *to, size_t size)
{
	uint64_t left;

	(void)images;
	etm4_asked.pid = pid;
	etm4_asked.space = space;
	etm4_asked.stamp = stamp;
	if (address >= 0x900000 && address < 0x1900000) { /* this range contains only NOPs */
		for (size_t i = 0; i < size; i++)
			((unsigned char *)to)[i] = (unsigned char)(NOP >> (address + i) % 4 * 8);
		return size;
	}
	if (address == CHANGED) { /* after the first timestamp, this address has different code */
		const uint32_t word = stamp ? RET : B_EQ(2);

		memcpy(to, &word, sizeof(word));
		return sizeof(word);
	}
	if (address < BASE || address >= BASE + sizeof(code))
		return 0;
	left = BASE + sizeof(code) - address;
	memcpy(to, (const unsigned char *)code + (address - BASE), size < left ? size : left);
	return size < left ? size : left;
}

/* Replaces the function in decoder.c. */
uint64_t hwt_stream_stamp(const struct hwt_stream *stream, uint64_t unit_time)
{
	(void)stream;
	return unit_time + 1000;
}

const struct hwt_stream etm4_unit = {
	.context = { .encoding = KTRX_HWT_ENCODING_ETM4 },
	.etm4 = { .configr = 1u << 11 | 1u << 6,
		  .traceidr = 1,
		  .idr0 = 0x28000001,
		  .idr1 = 0x430,
		  .idr2 = 8u | 4u << 5 },
	.pid = 3,
};

static const char *const kinds[] = {
	"run", "on", "off", "async", "space", "overflow", "gap", "sample", "note"
};
static const char *const branches[] = {
	"",	    "call",	     "return",	     "jump",	    "conditional",
	"indirect", "indirect-call", "enter-kernel", "leave-kernel"
};

static char *put_step(char *to, const struct hwt_step *step)
{
	to += sprintf(to, "%s", kinds[step->kind]);
	if (step->has_address)
		to += sprintf(to, " %llx", (unsigned long long)step->address);
	if (step->kind == HWT_RUN)
		to += sprintf(to, "-%llx (%u)%s%s%s", (unsigned long long)step->last, step->instructions,
			      step->branch ? " " : "", branches[step->branch],
			      step->branch && !step->taken ? " not" : "");
	if (step->has_to)
		to += sprintf(to, " to %llx", (unsigned long long)step->to);
	if (step->kind == HWT_SPACE)
		to += sprintf(to, " %llx", (unsigned long long)step->space);
	if (step->kind == HWT_SPACE && step->tid)
		to += sprintf(to, " of %u", step->tid);
	if (step->has_stamp)
		to += sprintf(to, " at %llu", (unsigned long long)step->stamp);
	if (step->text)
		to += sprintf(to, ": %s%s", step->text,
			      step->gap == HWT_GAP_DAMAGED	? "!"
			      : step->gap == HWT_GAP_OTHER_CODE ? "?"
								: "");
	return to + sprintf(to, "\n");
}

const char *etm4_steps_of(const struct hwt_stream *stream, const unsigned char *bytes, size_t size)
{
	static char all[65536];
	const struct hwt_piece piece = { .bytes = bytes, .size = size };
	const char *message;
	struct hwt_step step;
	char *end = all;
	void *decoder = hwt_encoding_etm4.open(stream, &piece, NULL, &message);

	assert_non_null(decoder);
	all[0] = '\0';
	while (hwt_encoding_etm4.next(decoder, &step) > 0) {
		end = put_step(end, &step);
		assert_true(end < all + sizeof(all) - 512);
		assert_true(step.offset <= size);
	}
	assert_int_equal(hwt_encoding_etm4.next(decoder, &step), 0);
	hwt_encoding_etm4.close(decoder);
	return all;
}

/* OpenCSD never frees the memory that it allocates for a callback or for a canceled address. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:ocsd_dt_set_gen_elem_outfn\nleak:ocsd_dt_attach_packet_callback\n"
	       "leak:EtmV4P0Stack::createAddrElem\n";
}
