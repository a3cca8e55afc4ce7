/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Paths and permissions: the implementation of system calls that have a path as an argument. Each vfs_
 * function holds the lock of the tree from the lookup of the path to its end, so the result of the lookup
 * remains valid.
 */
#include <ktrace/ktrace.h>

#include "device.h"
#include "panic.h"
#include "process.h"
#include "process_trace.h"
#include "ramfs.h"
#include "rootfs.h"
#include "string.h"
#include "vfs.h"

KTRACE_EVENT(vfs, lookup, "%s: inode %u, result %d", (const char *, path), (uint32_t, inode),
	     (int32_t, result));
KTRACE_EVENT(vfs, open, "%s, flags %#o, mode %#o: %p on inode %u, result %d", (const char *, path),
	     (uint32_t, flags), (uint32_t, mode), (const void *, file), (uint32_t, inode), (int32_t, result));

struct inode *vfs_root;

const struct credentials vfs_superuser = { 0 };

/* The result of a path lookup. */
struct place {
	const char *path; /* the whole path that is looked up */
	/* Directory that contains the last component; NULL if the path has no component ("/"). */
	struct inode *directory;
	/* The last component: `length` characters at this address, within the path; not NUL-terminated. */
	const char *name;
	size_t length;
	struct inode *inode; /* the file itself; NULL if it does not exist */
};

static bool is_directory(const struct inode *inode)
{
	return (inode->mode & S_IFMT) == S_IFDIR;
}

unsigned vfs_rights(const struct inode *inode, const struct credentials *who)
{
	unsigned all = MAY_READ | MAY_WRITE | MAY_EXECUTE;

	if (credentials_is_superuser(who))
		return is_directory(inode) || inode->mode & 0111 ? all : all & ~(unsigned)MAY_EXECUTE;
	if (who->effective_uid == inode->uid)
		return inode->mode >> 6 & all;
	return (credentials_in_group(who, inode->gid) ? inode->mode >> 3 : inode->mode) & all;
}

int vfs_may(const struct inode *inode, const struct credentials *who, unsigned want, const char *path)
{
	unsigned rights = vfs_rights(inode, who);

	if (!(want & ~rights))
		return 0;
	trace_denied(KTRX_PROC_DENIED_RIGHTS, want, rights, path);
	return -EACCES;
}

/*
 * Checks that `who` is the superuser or, if `owner` is true, the superuser or the owner of the file. Returns
 * 0 or -EPERM.
 */
static int may_change(const struct place *place, const struct credentials *who, bool owner)
{
	if (credentials_is_superuser(who) || (owner && who->effective_uid == place->inode->uid))
		return 0;
	trace_denied(owner ? KTRX_PROC_DENIED_OWNER : KTRX_PROC_DENIED_PRIVILEGE, 0, 0, place->path);
	return -EPERM;
}

/* ---- Lookup of paths --------------------------------------------------------------------------- */

static bool is_dots(const struct place *place)
{
	return place->name[0] == '.' && (place->length == 1 || (place->length == 2 && place->name[1] == '.'));
}

static struct inode *step(const struct place *place)
{
	if (!is_dots(place))
		return directory_find(place->directory, place->name, place->length);
	return place->length == 1 ? place->directory : place->directory->parent;
}

/*
 * Looks up the component of the path that begins at *path, in the directory place->inode. Advances *path to
 * the end of the component.
 */
static int walk_component(const char **path, const struct credentials *who, struct place *place)
{
	int error;

	if (!place->inode)
		return -ENOENT;
	if (!is_directory(place->inode))
		return -ENOTDIR;
	error = vfs_may(place->inode, who, MAY_EXECUTE, place->path);
	if (error)
		return error;
	place->directory = place->inode;
	place->name = *path;
	while (**path && **path != '/')
		++*path;
	place->length = (size_t)(*path - place->name);
	if (place->length > NAME_MAX)
		return -ENAMETOOLONG;
	place->inode = step(place);
	return 0;
}

/* Looks up a path. If only the last component does not exist, returns 0 and sets place->inode to NULL. */
static int walk(const char *path, struct inode *cwd, const struct credentials *who, struct place *place)
{
	const char *at = path;
	int error = *path ? 0 : -ENOENT;

	*place = (struct place){ .path = path, .inode = *path == '/' || !cwd ? vfs_root : cwd };
	while (!error) {
		while (*at == '/')
			at++;
		if (!*at)
			break;
		error = walk_component(&at, who, place);
	}
	if (error)
		place->inode = NULL;
	KTRACE(vfs, lookup, path, place->inode ? place->inode->number : 0,
	       error || place->inode ? error : -ENOENT);
	return error;
}

/* Looks up a path. If the file does not exist, returns -ENOENT. */
static int walk_to(const char *path, struct inode *cwd, const struct credentials *who, struct place *place)
{
	int error = walk(path, cwd, who, place);

	return error || place->inode ? error : -ENOENT;
}

/*
 * Looks up a path whose name is to be removed. Checks that `who` may change the directory that contains the
 * name.
 */
static int walk_to_name(const char *path, struct inode *cwd, const struct credentials *who,
			struct place *place)
{
	int error = walk_to(path, cwd, who, place);

	if (error)
		return error;
	if (!place->directory)
		return -EBUSY; /* the place is the root directory */
	if (is_dots(place))
		return -EINVAL;
	return vfs_may(place->directory, who, MAY_WRITE, place->path);
}

int vfs_lookup(const char *path, struct inode *cwd, const struct credentials *who, struct inode **found)
{
	struct place place;
	int error;

	tree_lock();
	error = walk_to(path, cwd, who, &place);
	*found = error ? NULL : inode_get(place.inode);
	tree_unlock();
	return error;
}

/* ---- Creating and removing names --------------------------------------------------------------- */

/* Adds a directory entry for an inode: the name is the last component of the place's path. */
static int enter(struct place *place, struct inode *inode)
{
	int error;

	if (place->directory->links == 0) /* true if the directory was removed while it was in use */
		return -ENOENT;
	error = directory_add(place->directory, place->name, place->length, inode);
	if (error)
		return error;
	inode->links++;
	if (is_directory(inode))
		inode->parent = inode_get(place->directory);
	return 0;
}

/* Removes the directory entry at a place. May free the inode. */
static void leave(struct place *place)
{
	directory_remove(place->directory, place->name, place->length);
	place->inode->links--;
	ramfs_drop(place->inode);
}

/* Creates an inode and its directory entry, at a place where no file exists. */
static int create(struct place *place, uint32_t mode, const struct credentials *who)
{
	int error = vfs_may(place->directory, who, MAY_WRITE, place->path);
	struct inode *inode;

	if (error)
		return error;
	inode = ramfs_new(mode, who);
	if (!inode)
		return -ENOSPC;
	error = enter(place, inode);
	if (error)
		ramfs_drop(inode);
	else
		place->inode = inode;
	return error;
}

int vfs_mkdir(const char *path, uint32_t mode, struct inode *cwd, const struct credentials *who)
{
	struct place place;
	int error;

	tree_lock();
	error = walk(path, cwd, who, &place);
	if (!error)
		error = place.inode ? -EEXIST : create(&place, S_IFDIR | (mode & 07777), who);
	tree_unlock();
	return error;
}

/*
 * Checks whether a name may be removed: by rmdir if `directory` is nonzero, otherwise by unlink. Returns 0 or
 * -errno.
 */
static int check_removal(const struct place *place, int directory)
{
	if (!directory)
		return is_directory(place->inode) ? -EISDIR : 0;
	if (!is_directory(place->inode))
		return -ENOTDIR;
	return directory_is_empty(place->inode) ? 0 : -ENOTEMPTY;
}

int vfs_unlink(const char *path, struct inode *cwd, const struct credentials *who, int directory)
{
	struct place place;
	int error;

	tree_lock();
	error = walk_to_name(path, cwd, who, &place);
	if (!error)
		error = check_removal(&place, directory);
	if (!error)
		leave(&place);
	tree_unlock();
	return error;
}

static bool is_inside(const struct inode *inode, const struct inode *directory)
{
	while (inode != directory && inode != vfs_root)
		inode = inode->parent;
	return inode == directory;
}

/* Moves an inode to a place where no file exists. */
static int move(struct place *from, struct place *to)
{
	struct inode *inode = from->inode, *parent = inode->parent;
	int error = enter(to, inode);

	if (error)
		return error;
	leave(from);
	if (parent) {
		__atomic_sub_fetch(&parent->references, 1, __ATOMIC_RELEASE);
		ramfs_drop(parent);
	}
	return 0;
}

static int rename_places(struct place *from, struct place *to, const struct credentials *who)
{
	int error = to->directory ? vfs_may(to->directory, who, MAY_WRITE, to->path) : -EBUSY;

	if (error)
		return error;
	if (to->inode == from->inode)
		return 0;
	if (is_directory(from->inode) && is_inside(to->directory, from->inode))
		return -EINVAL;
	if (to->inode) {
		error = is_dots(to) ? -EBUSY : check_removal(to, is_directory(from->inode));
		if (error)
			return error;
		leave(to); /* there is now a free directory entry, so move() cannot fail */
	}
	return move(from, to);
}

int vfs_rename(const char *from, const char *to, struct inode *cwd, const struct credentials *who)
{
	struct place source, target;
	int error;

	tree_lock();
	error = walk_to_name(from, cwd, who, &source);
	if (!error)
		error = walk(to, cwd, who, &target);
	if (!error)
		error = rename_places(&source, &target, who);
	tree_unlock();
	return error;
}

/* ---- Opening files ----------------------------------------------------------------------------- */

static unsigned wanted(unsigned flags)
{
	static const unsigned by_mode[] = { MAY_READ, MAY_WRITE, MAY_READ | MAY_WRITE, MAY_READ | MAY_WRITE };

	return by_mode[flags & O_ACCMODE] | (flags & O_TRUNC ? MAY_WRITE : 0);
}

static int check_open(const struct place *place, unsigned flags, const struct credentials *who)
{
	const struct inode *inode = place->inode;

	if ((flags & O_CREAT) && (flags & O_EXCL))
		return -EEXIST;
	if (is_directory(inode) && (wanted(flags) & MAY_WRITE || flags & O_CREAT))
		return -EISDIR;
	return vfs_may(inode, who, wanted(flags), place->path);
}

/* Finds the file to open. If it does not exist and O_CREAT is set, creates it. */
static int open_place(struct place *place, unsigned flags, uint32_t mode, const struct credentials *who)
{
	int error;

	if (!place->inode)
		return flags & O_CREAT ? create(place, S_IFREG | (mode & 07777), who) : -ENOENT;
	error = check_open(place, flags, who);
	if (!error && flags & O_TRUNC && (place->inode->mode & S_IFMT) == S_IFREG) {
		ramfs_end_set_id(place->inode);
		error = ramfs_resize(place->inode, 0);
	}
	return error;
}

static const struct file_operations *operations_of(const struct inode *inode)
{
	if (inode->device)
		return inode->device;
	return is_directory(inode) ? &directory_operations : &regular_operations;
}

/*
 * Calls the device's function `open`, if the file is a device. After an error, file->operations remains NULL,
 * so the device's function `close` is not called.
 */
static int open_inode(struct file *file)
{
	const struct file_operations *operations = operations_of(file->inode);
	int error = operations->open ? operations->open(file) : 0;

	if (!error)
		file->operations = operations;
	return error;
}

int vfs_open(const char *path, unsigned flags, uint32_t mode, struct inode *cwd,
	     const struct credentials *who, struct file **file)
{
	struct file *opened = file_new(NULL, flags);
	struct place place = { 0 };
	int error = opened ? 0 : -ENFILE;

	if (opened) {
		tree_lock();
		error = walk(path, cwd, who, &place);
		if (!error)
			error = open_place(&place, flags, mode, who);
		if (!error) {
			opened->inode = inode_get(place.inode);
			opened->parent = inode_get(place.directory);
		}
		tree_unlock();
	}
	if (!error)
		error = open_inode(opened);
	if (error && opened) {
		file_put(opened);
		opened = NULL;
	}
	KTRACE(vfs, open, path, flags, mode, opened, opened ? opened->inode->number : 0, error);
	*file = opened;
	return error;
}

int vfs_make_device(const char *path, uint32_t mode, const struct credentials *who,
		    const struct file_operations *device, uint64_t number)
{
	struct place place;
	int error;

	tree_lock();
	error = walk(path, NULL, &vfs_superuser, &place);
	if (!error)
		error = place.inode ? -EEXIST : create(&place, S_IFCHR | (mode & 07777), &vfs_superuser);
	if (!error) {
		place.inode->uid = who->effective_uid;
		place.inode->gid = who->effective_gid;
		place.inode->device = device;
		place.inode->device_number = number;
	}
	tree_unlock();
	return error;
}

/* ---- Attributes of files ----------------------------------------------------------------------- */

int vfs_chmod(const char *path, uint32_t mode, struct inode *cwd, const struct credentials *who)
{
	struct place place;
	int error;

	tree_lock();
	error = walk_to(path, cwd, who, &place);
	if (!error)
		error = may_change(&place, who, true);
	/* Users must not create set-gid programs for groups to which they do not belong. */
	if (!error && !credentials_is_superuser(who) && !credentials_in_group(who, place.inode->gid))
		mode &= ~(uint32_t)S_ISGID;
	if (!error)
		place.inode->mode = (place.inode->mode & S_IFMT) | (mode & 07777);
	tree_unlock();
	return error;
}

int vfs_chown(const char *path, uint32_t uid, uint32_t gid, struct inode *cwd, const struct credentials *who)
{
	struct place place;
	int error;

	tree_lock();
	error = walk_to(path, cwd, who, &place);
	if (!error)
		error = may_change(&place, who, false);
	if (!error) {
		place.inode->uid = uid;
		place.inode->gid = gid;
		ramfs_end_set_id(place.inode);
	}
	tree_unlock();
	return error;
}

/*
 * Writes "/name" to the buffer so that it ends at *at, and moves *at to its start. Returns false if there is
 * no room.
 */
static bool put_name(const char *name, const char *buffer, char **at)
{
	size_t length = strlen(name);

	if ((size_t)(*at - buffer) < length + 1)
		return false;
	*at -= length;
	memcpy(*at, name, length);
	*--*at = '/';
	return true;
}

/*
 * Writes the path of a directory to the buffer so that it ends at *at, and moves *at to its start. Returns
 * false if there is no room, or the directory has been removed.
 */
static bool put_path(const struct inode *directory, const char *buffer, char **at)
{
	char name[NAME_MAX + 1];

	for (; directory != vfs_root; directory = directory->parent)
		if (directory->links == 0 || !directory_name(directory->parent, directory, name) ||
		    !put_name(name, buffer, at))
			return false;
	return true;
}

static bool put_file_path(const struct file *file, const char *buffer, char **at)
{
	char name[NAME_MAX + 1];

	return file->parent && directory_name(file->parent, file->inode, name) &&
	       put_name(name, buffer, at) && put_path(file->parent, buffer, at);
}

/*
 * Copies the path that begins at `at` and ends at the end of path[]. Returns its length without the NUL, or
 * -errno.
 */
static int64_t give_path(const char *path, const char *at, char *to, size_t size)
{
	size_t length = (size_t)(path + PATH_MAX - 1 - at);

	if (length + 1 > size)
		return -ERANGE;
	memcpy(to, at, length + 1);
	return (int64_t)length;
}

int64_t vfs_path(struct inode *directory, char *to, size_t size)
{
	char path[PATH_MAX];
	char *at = path + sizeof(path) - 1;
	bool found;

	*at = '\0';
	tree_lock();
	found = put_path(directory, path, &at);
	tree_unlock();
	if (!found)
		return -ENOENT;
	if (!*at)
		*--at = '/';
	return give_path(path, at, to, size);
}

int64_t vfs_file_path(const struct file *file, char *to, size_t size)
{
	char path[PATH_MAX];
	char *at = path + sizeof(path) - 1;
	bool found;

	*at = '\0';
	tree_lock();
	found = put_file_path(file, path, &at);
	tree_unlock();
	return found ? give_path(path, at, to, size) : -ENOENT;
}

void vfs_stat(struct inode *inode, struct abi_stat *stat)
{
	tree_lock();
	*stat = (struct abi_stat){
		.ino = inode->number,
		.size = inode->size,
		.mtime_ns = inode->mtime_ns,
		.mode = inode->mode,
		.nlink = inode->links,
		.uid = inode->uid,
		.gid = inode->gid,
	};
	tree_unlock();
}

int vfs_truncate(struct inode *inode, uint64_t size)
{
	int error;

	if ((inode->mode & S_IFMT) != S_IFREG)
		return -EINVAL;
	tree_lock();
	ramfs_end_set_id(inode);
	error = ramfs_resize(inode, size);
	tree_unlock();
	return error;
}

void vfs_init(void)
{
	ramfs_init();
	vfs_root = ramfs_new(S_IFDIR | 0755, &vfs_superuser);
	if (!vfs_root)
		panic("ramdisk=: too small for a directory");
	vfs_root->links = 1;
	vfs_root->parent = vfs_root;
	rootfs_unpack();
	device_init();
	vfs_mkdir("/tmp", 0777, NULL, &vfs_superuser);
	/* Needed if the archive contains a /tmp with another mode. */
	vfs_chmod("/tmp", 0777, NULL, &vfs_superuser);
}
