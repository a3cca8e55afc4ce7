/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Directories: files that consist of struct abi_dirent entries, in no particular order. An entry whose inode
 * number is 0 is free.
 */
#include "ramfs.h"
#include "string.h"

#define ENTRY_SIZE sizeof(struct abi_dirent)

static bool read_entry(const struct inode *directory, uint64_t offset, struct abi_dirent *entry)
{
	return ramfs_read(directory, entry, offset, ENTRY_SIZE) == ENTRY_SIZE;
}

static bool has_name(const struct abi_dirent *entry, const char *name, size_t length)
{
	return entry->ino && memcmp(entry->name, name, length) == 0 && entry->name[length] == '\0';
}

/* Copies the entry with that name to *entry and returns its offset, or -1 if no entry has that name. */
static int64_t find(const struct inode *directory, const char *name, size_t length, struct abi_dirent *entry)
{
	for (uint64_t at = 0; read_entry(directory, at, entry); at += ENTRY_SIZE)
		if (has_name(entry, name, length))
			return (int64_t)at;
	return -1;
}

struct inode *directory_find(struct inode *directory, const char *name, size_t length)
{
	struct abi_dirent entry;

	return find(directory, name, length, &entry) < 0 ? NULL : ramfs_inode(entry.ino);
}

int directory_add(struct inode *directory, const char *name, size_t length, struct inode *inode)
{
	struct abi_dirent entry;
	uint64_t at = 0;

	while (read_entry(directory, at, &entry) && entry.ino)
		at += ENTRY_SIZE;
	entry = (struct abi_dirent){ .ino = inode->number };
	memcpy(entry.name, name, length);
	/* An entry never crosses a page boundary, so the write is complete or has no effect. */
	return ramfs_write(directory, &entry, at, ENTRY_SIZE) < 0 ? -ENOSPC : 0;
}

void directory_remove(struct inode *directory, const char *name, size_t length)
{
	struct abi_dirent entry;
	int64_t at = find(directory, name, length, &entry);

	if (at < 0)
		return;
	entry = (struct abi_dirent){ 0 };
	ramfs_write(directory, &entry, (uint64_t)at, ENTRY_SIZE);
}

bool directory_is_empty(const struct inode *directory)
{
	struct abi_dirent entry;

	for (uint64_t at = 0; read_entry(directory, at, &entry); at += ENTRY_SIZE)
		if (entry.ino)
			return false;
	return true;
}

bool directory_name(const struct inode *directory, const struct inode *inode, char *name)
{
	struct abi_dirent entry;

	for (uint64_t at = 0; read_entry(directory, at, &entry); at += ENTRY_SIZE) {
		if (entry.ino != inode->number)
			continue;
		string_copy(name, entry.name, NAME_MAX + 1);
		return true;
	}
	return false;
}
