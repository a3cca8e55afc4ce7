/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdlib.h>

#include "file.h"

void *hwt_grow(void *array, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room ? *room * 2 : 16;
	void *grown;

	if (count < *room)
		return array;
	grown = reallocarray(array, wanted, size);
	if (grown)
		*room = wanted;
	return grown;
}
