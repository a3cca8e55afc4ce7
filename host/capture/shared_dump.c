/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Notices when the guest stores a dump in memory that it shares with the host (ivshmem). A write to such
 * memory does not change the time of its file, so the heads of both dumps are read again and again.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "run_state.h"

#define HEAD 16384u /* bytes of a dump that are compared: two dumps differ in them, because time has passed */

void capture_shared_look(struct capture_run *run)
{
	struct capture_shared *shared = &run->shared;
	uint64_t words[HEAD / sizeof(uint64_t)], hash = 0;
	bool stored = false;
	struct stat status;
	int fd;

	if (run->options->transport != CAPTURE_IVSHMEM)
		return;
	fd = base_open_regular(run->place.file, O_RDONLY);
	if (fd < 0)
		return;
	if (fstat(fd, &status) != 0)
		status.st_size = 0;
	for (int half = 0; half < 2; half++) {
		memset(words, 0, sizeof(words));
		if (pread(fd, words, sizeof(words), status.st_size / 2 * half) < 0)
			break;
		stored |= words[0] != 0;
		for (size_t n = 0; n < HEAD / sizeof(words[0]); n++)
			hash = (hash ^ words[n]) * UINT64_C(0x100000001b3);
	}
	close(fd);
	if (stored && (shared->changed == 0 || hash != shared->hash))
		shared->changed = capture_now();
	shared->hash = hash;
}
