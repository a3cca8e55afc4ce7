/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Inodes are in separate pages, which are never freed. An inode is found by its number. The inode of a file
 * points to the file's pages: to the first pages directly, to the other pages through two levels of tables.
 * For a part of the file that was never written, there is no page.
 */
#include "arch.h"
#include "args.h"
#include "clock.h"
#include "mutex.h"
#include "page.h"
#include "process.h"
#include "ramfs.h"
#include "string.h"

#define DEFAULT_LIMIT	(UINT64_C(16) << 20)
#define FAN		(PAGE_SIZE / sizeof(void *)) /* number of pointers in a page */
#define FILE_PAGES	(INODE_DIRECT + FAN * FAN)
#define INODES_PER_PAGE (PAGE_SIZE / sizeof(struct inode))

static struct mutex lock = MUTEX("files");
static uint64_t pages_left;

static struct inode *inodes[FAN]; /* pages that contain the inodes */
static uint32_t inode_pages;
static struct inode *free_inodes;

void tree_lock(void)
{
	mutex_lock_at(&lock, KTRACE_RETURN_ADDRESS);
}

void tree_unlock(void)
{
	mutex_unlock(&lock);
}

void ramfs_init(void)
{
	pages_left = arg_number("ramdisk", DEFAULT_LIMIT) / PAGE_SIZE;
}

/* Allocates a zeroed page for the file system. Returns NULL if its limit is reached, or if out of memory. */
static void *disk_take(void)
{
	void *page = pages_left ? page_alloc(1) : NULL;

	if (page)
		pages_left--;
	return page;
}

/* Frees the page to which *page points and sets *page to NULL. Does nothing if *page is NULL. */
static void disk_give(void **page)
{
	if (!*page)
		return;
	page_free(*page, 1);
	*page = NULL;
	pages_left++;
}

/* ---- Inodes ------------------------------------------------------------------------------------ */

struct inode *ramfs_inode(uint32_t number)
{
	return &inodes[number / INODES_PER_PAGE][number % INODES_PER_PAGE];
}

static bool add_inodes(void)
{
	struct inode *page = inode_pages < FAN ? disk_take() : NULL;

	if (!page)
		return false;
	for (uint32_t i = INODES_PER_PAGE; i-- > 0;) {
		page[i].number = inode_pages * (uint32_t)INODES_PER_PAGE + i;
		if (page[i].number == 0) /* inode 0 is not used, because number 0 means "no inode" */
			continue;
		page[i].next_free = free_inodes;
		free_inodes = &page[i];
	}
	inodes[inode_pages++] = page;
	return true;
}

struct inode *ramfs_new(uint32_t mode, const struct credentials *who)
{
	struct inode *inode;

	if (!free_inodes && !add_inodes())
		return NULL;
	inode = free_inodes;
	free_inodes = inode->next_free;
	*inode = (struct inode){
		.number = inode->number,
		.mode = mode,
		.uid = who->effective_uid,
		.gid = who->effective_gid,
		.mtime_ns = clock_ns(),
	};
	return inode;
}

static bool in_use(struct inode *inode)
{
	return inode->links > 0 || __atomic_load_n(&inode->references, __ATOMIC_ACQUIRE) > 0;
}

void ramfs_drop(struct inode *inode)
{
	/*
	 * When an inode is freed, it releases its reference to its parent. Then the parent may have to be
	 * freed as well.
	 */
	while (inode && !in_use(inode)) {
		struct inode *parent = inode->parent;

		ramfs_resize(inode, 0);
		inode->next_free = free_inodes;
		free_inodes = inode;
		inode = parent;
		if (inode)
			__atomic_sub_fetch(&inode->references, 1, __ATOMIC_RELEASE);
	}
}

struct inode *inode_get(struct inode *inode)
{
	if (inode)
		__atomic_add_fetch(&inode->references, 1, __ATOMIC_RELAXED);
	return inode;
}

void inode_put(struct inode *inode)
{
	uint32_t references;

	if (!inode)
		return;
	/* Only the release of the last reference needs the tree's lock. */
	references = __atomic_load_n(&inode->references, __ATOMIC_RELAXED);
	while (references > 1)
		if (__atomic_compare_exchange_n(&inode->references, &references, references - 1, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	tree_lock();
	__atomic_sub_fetch(&inode->references, 1, __ATOMIC_RELEASE);
	ramfs_drop(inode);
	tree_unlock();
}

/* ---- Contents of files ------------------------------------------------------------------------- */

/*
 * Returns the table to which *pointer points. If *pointer is NULL and `make` is true, allocates a table
 * first. Returns NULL if there is no table.
 */
static void **follow(void **pointer, bool make)
{
	if (!*pointer && make)
		*pointer = disk_take();
	return *pointer;
}

/*
 * Returns the address of the pointer to the nth page of a file. Returns NULL if a table that leads there is
 * missing; if `make` is true, tries to allocate the missing tables.
 */
static void **page_pointer(struct inode *inode, uint64_t n, bool make)
{
	void **table;

	if (n < INODE_DIRECT)
		return &inode->direct[n];
	n -= INODE_DIRECT;
	table = follow((void **)&inode->indirect, make);
	if (table)
		table = follow(&table[n / FAN], make);
	return table ? &table[n % FAN] : NULL;
}

static size_t rest_of_page(uint64_t offset, uint64_t size)
{
	uint64_t rest = PAGE_SIZE - offset % PAGE_SIZE;

	return (size_t)(size < rest ? size : rest);
}

size_t ramfs_read(const struct inode *inode, void *to, uint64_t offset, size_t size)
{
	size_t done = 0;

	if (offset >= inode->size)
		return 0;
	if (size > inode->size - offset)
		size = (size_t)(inode->size - offset);
	while (done < size) {
		size_t n = rest_of_page(offset, size - done);
		void **page = page_pointer((struct inode *)inode, offset / PAGE_SIZE, false);

		if (page && *page)
			memcpy((char *)to + done, (char *)*page + offset % PAGE_SIZE, n);
		else
			memset((char *)to + done, 0, n);
		done += n;
		offset += n;
	}
	return done;
}

int64_t ramfs_write(struct inode *inode, const void *from, uint64_t offset, size_t size)
{
	const uint64_t limit = FILE_PAGES * PAGE_SIZE;
	size_t done = 0;

	if (offset >= limit && size)
		return -EFBIG;
	if (size > limit - offset)
		size = (size_t)(limit - offset);
	while (done < size) {
		size_t n = rest_of_page(offset, size - done);
		void **page = page_pointer(inode, offset / PAGE_SIZE, true);

		if (!page || !follow(page, true))
			break;
		memcpy((char *)*page + offset % PAGE_SIZE, (const char *)from + done, n);
		done += n;
		offset += n;
	}
	if (offset > inode->size && done)
		inode->size = offset;
	inode->mtime_ns = clock_ns();
	return done || !size ? (int64_t)done : -ENOSPC;
}

/* Frees the nth page of a file and all pages after it, and the tables that become empty. */
static void drop_pages(struct inode *inode, uint64_t n)
{
	for (uint64_t i = n; i < INODE_DIRECT; i++)
		disk_give(&inode->direct[i]);
	for (uint64_t i = 0; inode->indirect && i < FAN; i++) {
		const uint64_t first = INODE_DIRECT + i * FAN;
		void **table = inode->indirect[i];

		for (uint64_t k = 0; table && k < FAN; k++)
			if (first + k >= n)
				disk_give(&table[k]);
		if (first >= n)
			disk_give(&inode->indirect[i]);
	}
	if (n <= INODE_DIRECT)
		disk_give((void **)&inode->indirect);
}

int ramfs_resize(struct inode *inode, uint64_t size)
{
	if (size > FILE_PAGES * PAGE_SIZE)
		return -EFBIG;
	if (size < inode->size) {
		void **page = page_pointer(inode, size / PAGE_SIZE, false);

		drop_pages(inode, (size + PAGE_SIZE - 1) / PAGE_SIZE);
		/* If the file grows again later, the bytes after the present end must read as 0. */
		if (size % PAGE_SIZE && page && *page)
			memset((char *)*page + size % PAGE_SIZE, 0, PAGE_SIZE - size % PAGE_SIZE);
	}
	inode->size = size;
	inode->mtime_ns = clock_ns();
	return 0;
}

void ramfs_end_set_id(struct inode *inode)
{
	inode->mode &= ~(uint32_t)(S_ISUID | S_ISGID);
}

size_t inode_read(struct inode *inode, void *to, uint64_t offset, size_t size)
{
	size_t done;

	tree_lock();
	done = ramfs_read(inode, to, offset, size);
	tree_unlock();
	return done;
}
