/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 2u /* initial number of elements; small, because each of 100,000 threads may have an array */

void *base_grow(void *array, uint32_t *room, size_t wanted, size_t size)
{
	uint64_t larger = *room > LEAST / 2 ? 2 * (uint64_t)*room : LEAST;
	char *grown;

	if (wanted <= *room)
		return array;
	if (larger < wanted)
		larger = wanted;
	if (larger > UINT32_MAX || larger > SIZE_MAX / size)
		return NULL;
	grown = realloc(array, (size_t)larger * size);
	if (!grown)
		return NULL;
	memset(grown + *room * size, 0, (size_t)(larger - *room) * size);
	*room = (uint32_t)larger;
	return grown;
}
