/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the addresses of a function: one, or several if a program ran in several processes. */
#include <stdlib.h>

#include "base/grow.h"
#include "base/index.h"
#include "flow/flow.h"
#include "ktread/ktread.h"

static int compare(const void *left, const void *right)
{
	const struct flow_range *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

int flow_find_function(struct flow *flow, const char *image, const char *function, struct flow_range **range,
		       size_t *ranges)
{
	struct flow_range *grown;
	uint64_t address, size;
	uint32_t room = 0;

	*range = NULL;
	*ranges = 0;
	while (hwt_images_find(flow->images, image, function, *ranges, &address, &size) == 0) {
		grown = base_grow(*range, &room, *ranges + 1, sizeof(*grown));
		if (!grown) {
			free(*range);
			*range = NULL;
			return KTREAD_E_MEMORY;
		}
		*range = grown;
		grown[(*ranges)++] = (struct flow_range){ address, address + (size ? size : 1) };
	}
	if (*ranges == 0)
		return KTREAD_E_ABSENT;
	qsort(*range, *ranges, sizeof(**range), compare);
	return 0;
}

int flow_select_function(struct flow *flow, const char *image, const char *function)
{
	struct flow_range *range;
	size_t ranges;
	int status = flow_find_function(flow, image, function, &range, &ranges);

	if (status < 0)
		return status;
	free(flow->range);
	flow->select.range = flow->range = range;
	flow->select.ranges = ranges;
	return 0;
}

const struct flow_range *flow_range_find(const struct flow_range *range, size_t ranges, uint64_t address)
{
	const size_t n =
		base_count_up_to(range, ranges, sizeof(*range), offsetof(struct flow_range, begin), address);

	return n && address < range[n - 1].end ? &range[n - 1] : NULL;
}
