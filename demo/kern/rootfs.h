/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The first contents of the file system: a POSIX ustar archive that make packs from build/demo/<arch>/root and
 * links into the kernel (rootfs.S).
 */
#ifndef DEMO_ROOTFS_H
#define DEMO_ROOTFS_H

#include <stddef.h>
#include <stdint.h>

/* One file or directory of the archive. Pointers lead into the archive, but for path. */
struct rootfs_entry {
	char path[257]; /* relative to the root, NUL-terminated; "" is the root itself */
	uint32_t mode;	/* S_IFREG or S_IFDIR and permissions */
	uint32_t uid, gid;
	const void *data;
	size_t size;
};

/*
 * Reads the entry at *at, which starts at 0, and moves *at behind it. 1, 0 at the end of the archive, or -EINVAL
 * if it is damaged. Kinds other than files and directories are skipped.
 */
int rootfs_next(size_t *at, struct rootfs_entry *entry);

/* Puts all of it into the tree. What cannot be unpacked is reported on the console. */
void rootfs_unpack(void);

#endif
