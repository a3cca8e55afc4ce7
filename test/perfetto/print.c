/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Prints a Perfetto trace as text: perfetto-text FILE. */
#include <stdio.h>
#include <stdlib.h>

#include "perfetto/text.h"

static unsigned char *read_all(FILE *file, size_t *length)
{
	unsigned char *bytes = NULL, *more;
	size_t room = 0, got;

	*length = 0;
	do {
		if (*length == room) {
			room = room ? room * 2 : 65536;
			more = realloc(bytes, room);
			if (!more)
				break;
			bytes = more;
		}
		got = fread(bytes + *length, 1, room - *length, file);
		*length += got;
	} while (got > 0);
	return bytes;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	unsigned char *bytes;
	size_t length;
	int status;

	if (!file) {
		fprintf(stderr, "usage: perfetto-text FILE\n");
		return 2;
	}
	bytes = read_all(file, &length);
	fclose(file);
	status = perfetto_text(stdout, bytes, length);
	free(bytes);
	return status == 0 ? 0 : 1;
}
