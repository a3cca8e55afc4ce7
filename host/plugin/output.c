/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "output.h"

static void go_to(struct output *output, uint32_t piece, uint64_t into, uint64_t position)
{
	output->at = piece;
	output->next = output->piece[piece].bytes + into;
	output->end = output->piece[piece].bytes + output->piece[piece].size;
	output->base = position + (output->piece[piece].size - into);
}

void output_seek(struct output *output, uint64_t position)
{
	uint64_t into;
	uint32_t i;

	output->size = 0;
	for (i = 0; i < output->pieces; i++)
		output->size += output->piece[i].size;
	into = position % output->size;
	for (i = 0; into >= output->piece[i].size; i++)
		into -= output->piece[i].size;
	go_to(output, i, into, position);
}

void output_put_split(struct output *output, const void *bytes, unsigned size)
{
	const unsigned char *from = bytes;

	while (size > 0) {
		uint64_t room = (uint64_t)(output->end - output->next);
		unsigned part = room < size ? (unsigned)room : size;

		memcpy(output->next, from, part);
		output->next += part;
		from += part;
		size -= part;
		if (output->next == output->end)
			go_to(output, output->at + 1 < output->pieces ? output->at + 1 : 0, 0, output->base);
	}
}
