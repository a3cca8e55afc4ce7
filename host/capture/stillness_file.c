/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <sys/stat.h>

#include "stillness.h"

void capture_stillness_of_file(const char *path, const char *machine, double *seconds)
{
	struct ktread_memory *memory;
	struct ktread_image *image;
	struct stat status;

	*seconds = -1;
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) ||
	    ktread_memory_open_ram(&memory, path, machine) != 0)
		return;
	if (ktread_memory_ended(memory) == 0 && ktread_image_find(&image, memory) == 0) {
		if (!ktread_image_is_kept(image))
			capture_stillness(image, NULL, NULL, seconds);
		ktread_image_close(image);
	}
	ktread_memory_close(memory);
}
