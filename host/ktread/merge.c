/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Memory of the tournament tree. */
#include <stdlib.h>

#include "merge.h"
#include "message.h"

int ktread_merge_init(struct ktread_merge *merge, uint32_t rings)
{
	uint32_t leaves = 1;

	while (leaves < rings)
		leaves *= 2;
	merge->tree = malloc(2 * (size_t)leaves * sizeof(*merge->tree));
	if (!merge->tree)
		return ktread_fail_memory();
	merge->leaves = leaves;
	for (uint32_t i = 0; i < 2 * leaves; i++)
		merge->tree[i] = (struct ktread_match){ KTREAD_MERGE_END, i < leaves ? 0 : i - leaves };
	return 0;
}

void ktread_merge_free(struct ktread_merge *merge)
{
	free(merge->tree);
	merge->tree = NULL;
}
