/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Memories: ranges of addresses over a source of bytes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "source.h"

static int compare_spans(const void *left, const void *right)
{
	const struct ktread_span *a = left, *b = right;

	return a->physical < b->physical ? -1 : a->physical > b->physical;
}

/* Drops empty ranges and cuts those that wrap or overlap the one before. Returns how many are left. */
static uint32_t tidy(struct ktread_span *span, uint32_t spans)
{
	uint32_t kept = 0;
	uint64_t end = 0;

	qsort(span, spans, sizeof(*span), compare_spans);
	for (uint32_t i = 0; i < spans; i++) {
		struct ktread_span now = span[i];

		if (now.length > UINT64_MAX - now.physical)
			now.length = UINT64_MAX - now.physical;
		if (now.physical < end) {
			uint64_t cut = end - now.physical;

			if (cut >= now.length)
				continue;
			now.physical += cut;
			now.position += cut;
			now.length -= cut;
		}
		if (now.length == 0)
			continue;
		end = now.physical + now.length;
		span[kept++] = now;
	}
	return kept;
}

int ktread_source_map(struct ktread_memory *memory, const struct ktread_span *span, uint32_t spans)
{
	struct ktread_span *copy = malloc((spans ? spans : 1) * sizeof(*copy));

	if (!copy)
		return ktread_fail_memory();
	memcpy(copy, span, spans * sizeof(*copy));
	free(memory->span);
	memory->span = copy;
	memory->spans = tidy(copy, spans);
	memory->size = 0;
	for (uint32_t i = 0; i < memory->spans; i++)
		memory->size += copy[i].length;
	return 0;
}

int ktread_source_create(struct ktread_memory **memory, const struct ktread_memory_ops *ops, void *context,
			 const struct ktread_span *span, uint32_t spans, const char *name)
{
	struct ktread_memory *created = calloc(1, sizeof(*created));
	int status;

	if (!created) {
		if (ops->close)
			ops->close(context);
		return ktread_fail_memory();
	}
	created->ops = *ops;
	created->context = context;
	created->name = strdup(name);
	status = created->name ? ktread_source_map(created, span, spans) : ktread_fail_memory();
	if (status < 0) {
		ktread_memory_close(created);
		return status;
	}
	*memory = created;
	return 0;
}

int ktread_memory_open(struct ktread_memory **memory, const struct ktread_memory_ops *ops, void *context,
		       const struct ktread_range *ranges, uint32_t range_count)
{
	struct ktread_span *span = malloc((range_count ? range_count : 1) * sizeof(*span));
	int status;

	if (!span) {
		if (ops->close)
			ops->close(context);
		return ktread_fail_memory();
	}
	for (uint32_t i = 0; i < range_count; i++)
		span[i] = (struct ktread_span){ ranges[i].physical, ranges[i].length, ranges[i].physical };
	status = ktread_source_create(memory, ops, context, span, range_count, "memory");
	free(span);
	if (status == 0)
		(*memory)->live = (*memory)->callers = true;
	return status;
}

void ktread_memory_close(struct ktread_memory *memory)
{
	if (!memory)
		return;
	if (memory->ops.close)
		memory->ops.close(memory->context);
	free(memory->span);
	free(memory->name);
	free(memory);
}

int ktread_memory_ended(const struct ktread_memory *memory)
{
	const int ended = memory->ops.ended ? memory->ops.ended(memory->context) : -1;

	return ended < 0 ? KTREAD_E_UNSUPPORTED : ended > 0;
}

uint32_t ktread_memory_ranges(const struct ktread_memory *memory, struct ktread_range *range, uint32_t most)
{
	uint32_t count = memory->spans < most ? memory->spans : most;

	for (uint32_t i = 0; i < count; i++)
		range[i] = (struct ktread_range){ memory->span[i].physical, memory->span[i].length };
	return count;
}

/* Index of the first range that ends behind `physical`; the number of ranges if none does. */
static uint32_t span_after(const struct ktread_memory *memory, uint64_t physical)
{
	uint32_t low = 0, high = memory->spans;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct ktread_span *span = &memory->span[middle];

		if (span->physical + span->length <= physical)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t ktread_memory_run(const struct ktread_memory *memory, uint64_t physical)
{
	uint64_t end = physical;

	for (uint32_t i = span_after(memory, physical); i < memory->spans; i++) {
		const struct ktread_span *span = &memory->span[i];

		if (span->physical > end)
			break;
		end = span->physical + span->length;
	}
	return end - physical;
}

int ktread_memory_read(struct ktread_memory *memory, uint64_t physical, void *buffer, size_t bytes)
{
	unsigned char *to = buffer;

	while (bytes) {
		uint32_t i = span_after(memory, physical);
		const struct ktread_span *span = &memory->span[i];
		uint64_t skip, part;
		int status;

		if (i == memory->spans || span->physical > physical)
			return ktread_fail(KTREAD_E_FORMAT, "%s: nothing to read at 0x%" PRIx64, memory->name,
					   physical);
		skip = physical - span->physical;
		part = span->length - skip < bytes ? span->length - skip : bytes;
		status = memory->ops.read(memory->context, span->position + skip, to, part);
		if (status == KTREAD_E_SYSTEM && memory->ops.message)
			return ktread_fail(status, "%s", memory->ops.message(memory->context));
		if (status < 0 && memory->callers)
			return ktread_fail(status, "%s: reading at 0x%" PRIx64 " failed", memory->name,
					   physical);
		if (status < 0)
			return status;
		to += part;
		physical += part;
		bytes -= part;
	}
	return 0;
}

uint64_t ktread_memory_next_data(const struct ktread_memory *memory, uint64_t physical)
{
	for (uint32_t i = span_after(memory, physical); i < memory->spans; i++) {
		const struct ktread_span *span = &memory->span[i];
		uint64_t start = physical > span->physical ? physical : span->physical;
		uint64_t position, next;

		if (!memory->ops.next_data)
			return start;
		position = span->position + (start - span->physical);
		next = memory->ops.next_data(memory->context, position);
		if (next < position)
			return start;
		if (next - span->position < span->length)
			return span->physical + (next - span->position);
	}
	return UINT64_MAX;
}

uint64_t ktread_source_physical(const struct ktread_memory *memory, uint64_t position)
{
	for (uint32_t i = 0; i < memory->spans; i++) {
		const struct ktread_span *span = &memory->span[i];

		if (position >= span->position && position - span->position < span->length)
			return span->physical + (position - span->position);
	}
	return UINT64_MAX;
}

int ktread_source_position(const struct ktread_memory *memory, uint64_t physical, uint64_t bytes,
			   uint64_t *position)
{
	uint32_t i = span_after(memory, physical);
	const struct ktread_span *span = &memory->span[i];

	if (i == memory->spans || span->physical > physical ||
	    span->length - (physical - span->physical) < bytes)
		return ktread_fail(KTREAD_E_FORMAT, "%s: 0x%" PRIx64 " is in no single place", memory->name,
				   physical);
	*position = span->position + (physical - span->physical);
	return 0;
}
