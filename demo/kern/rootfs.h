/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The initial contents of the file system: a POSIX ustar archive that make builds from build/demo/<arch>/root
 * and links into the kernel (rootfs.S).
 */
#ifndef DEMO_ROOTFS_H
#define DEMO_ROOTFS_H

#include <stddef.h>
#include <stdint.h>

/* A file or directory of the archive. `data` points into the archive. */
struct rootfs_entry {
	/* Path relative to the root directory, NUL-terminated; "" is the root directory itself. */
	char path[257];
	uint32_t mode; /* S_IFREG or S_IFDIR, and the permissions */
	uint32_t uid, gid;
	const void *data;
	size_t size;
};

/*
 * Reads the entry at offset *at, initially 0, and advances *at. Skips entries that are neither files nor
 * directories. Returns 1 if an entry was read, 0 at the end of the archive, or -EINVAL if the archive is
 * damaged.
 */
int rootfs_next(size_t *at, struct rootfs_entry *entry);

/* Copies the contents of the archive to the file system. Reports errors on the console. */
void rootfs_unpack(void);

#endif
