/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdbool.h>

#include "abi.h"
#include "print.h"
#include "process.h"
#include "ramfs.h"
#include "rootfs.h"
#include "string.h"

/* defined in rootfs.S */
extern const char rootfs_archive[], rootfs_archive_end[];

/*
 * Header of a file in a ustar archive, in the block before the file's contents. Numbers are written in octal
 * digits and end with a NUL or blank.
 */
struct ustar_header {
	char name[100];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12], checksum[8];
	char type;
	char link[100];
	char magic[6], version[2];
	char user[32], group[32];
	char major[8], minor[8];
	char prefix[155]; /* first part of a long path, without the slash that separates it from `name` */
	char padding[12];
};

#define BLOCK 512
_Static_assert(sizeof(struct ustar_header) == BLOCK, "as POSIX has it");

enum { TYPE_FILE = '0', TYPE_DIRECTORY = '5' };

static uint64_t parse_octal(const char *digits, size_t length)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length && digits[i] >= '0' && digits[i] <= '7'; i++)
		value = value * 8 + (uint64_t)(digits[i] - '0');
	return value;
}

#define NUMBER(field) parse_octal(field, sizeof(field))

/*
 * Checks the checksum: the sum of all bytes of the header, with blanks in place of the bytes of the checksum
 * field.
 */
static bool has_valid_checksum(const struct ustar_header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	uint64_t sum = sizeof(header->checksum) * ' ';

	for (size_t i = 0; i < BLOCK; i++)
		sum += bytes[i];
	for (size_t i = 0; i < sizeof(header->checksum); i++)
		sum -= (unsigned char)header->checksum[i];
	return sum == NUMBER(header->checksum);
}

/* Appends the text of a field, which may end without a NUL. Returns the new length of the text. */
static size_t append(char *to, size_t at, const char *field, size_t size)
{
	for (size_t i = 0; i < size && field[i]; i++)
		to[at++] = field[i];
	return at;
}

static void read_path(const struct ustar_header *header, struct rootfs_entry *entry)
{
	const char *name = header->name;
	size_t size = sizeof(header->name);
	size_t length = append(entry->path, 0, header->prefix, sizeof(header->prefix));

	if (length)
		entry->path[length++] = '/';
	else if (name[0] == '.' && name[1] == '/')
		name += 2, size -= 2;
	length = append(entry->path, length, name, size);
	entry->path[length] = '\0';
}

int rootfs_next(size_t *at, struct rootfs_entry *entry)
{
	const size_t end = (size_t)(rootfs_archive_end - rootfs_archive);

	while (end - *at >= BLOCK) {
		const struct ustar_header *header = (const void *)(rootfs_archive + *at);
		size_t rest = end - *at - BLOCK;

		if (!header->name[0]) /* a block of zeroes marks the end of the archive */
			return 0;
		entry->size = NUMBER(header->size);
		if (!has_valid_checksum(header) || entry->size > rest)
			return -EINVAL;
		*at += BLOCK + (entry->size + BLOCK - 1) / BLOCK * BLOCK;
		if (header->type != TYPE_FILE && header->type != TYPE_DIRECTORY)
			continue;
		read_path(header, entry);
		entry->mode = (uint32_t)NUMBER(header->mode) & 07777;
		entry->mode |= header->type == TYPE_FILE ? S_IFREG : S_IFDIR;
		entry->uid = (uint32_t)NUMBER(header->uid);
		entry->gid = (uint32_t)NUMBER(header->gid);
		entry->data = header + 1;
		return 1;
	}
	return 0;
}

static int unpack_file(const struct rootfs_entry *entry)
{
	const unsigned flags = O_WRONLY | O_CREAT | O_EXCL;
	struct file *file;
	int64_t written;
	int error = vfs_open(entry->path, flags, entry->mode & 07777, NULL, &vfs_superuser, &file);

	if (error)
		return error;
	tree_lock();
	written = ramfs_write(file->inode, entry->data, 0, entry->size);
	tree_unlock();
	file_put(file);
	return written == (int64_t)entry->size ? 0 : -ENOSPC;
}

void rootfs_unpack(void)
{
	struct rootfs_entry entry;
	size_t at = 0;
	int found, error = 0;

	while (!error && (found = rootfs_next(&at, &entry)) > 0) {
		if (!entry.path[0])
			continue;
		if ((entry.mode & S_IFMT) == S_IFDIR)
			error = vfs_mkdir(entry.path, entry.mode, NULL, &vfs_superuser);
		else
			error = unpack_file(&entry);
		if (!error && (entry.uid || entry.gid))
			error = vfs_chown(entry.path, entry.uid, entry.gid, NULL, &vfs_superuser);
	}
	if (error)
		kprintf("rootfs: cannot unpack %s: error %d\n", entry.path, -error);
	else if (found < 0)
		kprintf("rootfs: damaged at byte %lu\n", (unsigned long)at);
}
