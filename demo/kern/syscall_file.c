/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * System calls on files: these functions check and fetch the arguments; vfs.c, file.c and others do the work.
 */
#include "process.h"
#include "process_trace.h"
#include "syscall.h"
#include "vfs.h"

/* ---- Open files -------------------------------------------------------------------------------- */

int64_t sys_open(const struct call *call)
{
	struct process *self = process_self();
	unsigned flags = (unsigned)call->a[1];
	char path[PATH_MAX];
	struct file *file;
	int error = call_path(call, 0, path);

	if (!error)
		error = vfs_open(path, flags, (uint32_t)call->a[2], call_cwd(), &self->cred, &file);
	return error ? error : files_install(&process_self()->files, file, flags);
}

int64_t sys_close(const struct call *call)
{
	return files_close(&process_self()->files, (int)call->a[0]);
}

int64_t sys_read(const struct call *call)
{
	struct file *file = call_file(call, 0);

	if (!file)
		return -EBADF;
	return trace_transfer((int)call->a[0], 0, call->a[1], file_read(file, call->a[1], call->a[2]));
}

int64_t sys_write(const struct call *call)
{
	struct file *file = call_file(call, 0);

	if (!file)
		return -EBADF;
	return trace_transfer((int)call->a[0], 1, call->a[1], file_write(file, call->a[1], call->a[2]));
}

int64_t sys_lseek(const struct call *call)
{
	struct file *file = call_file(call, 0);

	if (!file)
		return -EBADF;
	return file->operations->seek ? file->operations->seek(file, (int64_t)call->a[1], (int)call->a[2])
				      : -ESPIPE;
}

int64_t sys_ioctl(const struct call *call)
{
	struct file *file = call_file(call, 0);

	if (!file)
		return -EBADF;
	return file->operations->ioctl ? file->operations->ioctl(file, (unsigned)call->a[1], call->a[2])
				       : -ENOTTY;
}

int64_t sys_ftruncate(const struct call *call)
{
	struct file *file = call_file(call, 0);
	int64_t size = (int64_t)call->a[1];

	if (!file)
		return -EBADF;
	if (!file->inode || size < 0 || (file->flags & O_ACCMODE) == O_RDONLY)
		return -EINVAL;
	return vfs_truncate(file->inode, (uint64_t)size);
}

int64_t sys_getdents(const struct call *call)
{
	struct file *file = call_file(call, 0);

	if (!file)
		return -EBADF;
	return file->operations->list ? file->operations->list(file, call->a[1], call->a[2]) : -ENOTDIR;
}

int64_t sys_dup(const struct call *call)
{
	struct file *file = call_file(call, 0);

	return file ? files_install(&process_self()->files, file_get(file), 0) : -EBADF;
}

int64_t sys_dup2(const struct call *call)
{
	struct file *file = call_file(call, 0);
	int fd = (int)call->a[1];

	if (!file || fd < 0 || fd >= FILES_MAX)
		return -EBADF;
	if (fd != (int)call->a[0])
		files_replace(&process_self()->files, file_get(file), fd);
	return fd;
}

int64_t sys_pipe(const struct call *call)
{
	struct process *self = process_self();
	struct file *read_end, *write_end;
	int32_t fds[2];
	int error = pipe_open(&read_end, &write_end);

	if (error)
		return error;
	fds[0] = files_install(&process_self()->files, read_end, 0);
	fds[1] = files_install(&process_self()->files, write_end, 0);
	error = fds[0] < 0 || fds[1] < 0 ? -EMFILE : vm_copy_out(&self->vm, call->a[0], fds, sizeof(fds));
	if (error) {
		files_close(&self->files, fds[0]);
		files_close(&self->files, fds[1]);
	}
	return error;
}

static void trace_pollfds(struct process *self, const struct abi_pollfd *fds, size_t count)
{
	ktrace_proc_struct_array(&self->trace, &thread_self()->trace, "pollfd", fds, sizeof(fds[0]),
				 (uint32_t)count);
}

int64_t sys_poll(const struct call *call)
{
	struct process *self = process_self();
	struct abi_pollfd fds[FILES_MAX];
	size_t count = call->a[1];
	int64_t ready;
	int error;

	if (count > FILES_MAX)
		return -EINVAL;
	error = vm_copy_in(&self->vm, fds, call->a[0], count * sizeof(fds[0]));
	if (error)
		return error;
	trace_pollfds(self, fds, count);
	ready = poll_wait(&self->files, fds, count, (int)call->a[2]);
	if (ready >= 0)
		trace_pollfds(self, fds, count);
	if (ready >= 0)
		error = vm_copy_out(&self->vm, call->a[0], fds, count * sizeof(fds[0]));
	return error ? error : ready;
}

/* ---- Names of files ---------------------------------------------------------------------------- */

int64_t sys_mkdir(const struct call *call)
{
	struct process *self = process_self();
	char path[PATH_MAX];
	int error = call_path(call, 0, path);

	return error ? error : vfs_mkdir(path, (uint32_t)call->a[1], call_cwd(), &self->cred);
}

static int64_t remove(const struct call *call, int directory)
{
	struct process *self = process_self();
	char path[PATH_MAX];
	int error = call_path(call, 0, path);

	return error ? error : vfs_unlink(path, call_cwd(), &self->cred, directory);
}

int64_t sys_rmdir(const struct call *call)
{
	return remove(call, 1);
}

int64_t sys_unlink(const struct call *call)
{
	return remove(call, 0);
}

int64_t sys_rename(const struct call *call)
{
	struct process *self = process_self();
	char from[PATH_MAX], to[PATH_MAX];
	int error = call_path(call, 0, from);

	if (!error)
		error = call_path(call, 1, to);
	return error ? error : vfs_rename(from, to, call_cwd(), &self->cred);
}

int64_t sys_chmod(const struct call *call)
{
	struct process *self = process_self();
	char path[PATH_MAX];
	int error = call_path(call, 0, path);

	return error ? error : vfs_chmod(path, (uint32_t)call->a[1], call_cwd(), &self->cred);
}

int64_t sys_chown(const struct call *call)
{
	struct process *self = process_self();
	char path[PATH_MAX];
	int error = call_path(call, 0, path);

	if (error)
		return error;
	return vfs_chown(path, (uint32_t)call->a[1], (uint32_t)call->a[2], call_cwd(), &self->cred);
}

/* ---- Attributes and the working directory ------------------------------------------------------ */

int64_t sys_stat(const struct call *call)
{
	struct process *self = process_self();
	struct abi_stat stat;
	struct inode *inode;
	char path[PATH_MAX];
	int error = call_path(call, 0, path);

	if (!error)
		error = vfs_lookup(path, call_cwd(), &self->cred, &inode);
	if (error)
		return error;
	vfs_stat(inode, &stat);
	inode_put(inode);
	trace_struct(stat, &stat);
	return vm_copy_out(&process_self()->vm, call->a[1], &stat, sizeof(stat));
}

int64_t sys_fstat(const struct call *call)
{
	struct file *file = call_file(call, 0);
	struct abi_stat stat = { 0 };

	if (!file)
		return -EBADF;
	if (file->inode)
		vfs_stat(file->inode, &stat);
	else
		stat.mode = file->operations->type | 0600;
	trace_struct(stat, &stat);
	return vm_copy_out(&process_self()->vm, call->a[1], &stat, sizeof(stat));
}

int64_t sys_chdir(const struct call *call)
{
	struct process *self = process_self();
	struct inode *inode;
	char path[PATH_MAX];
	int error = call_path(call, 0, path);

	if (!error)
		error = vfs_lookup(path, call_cwd(), &self->cred, &inode);
	if (error)
		return error;
	error = (inode->mode & S_IFMT) == S_IFDIR ? vfs_may(inode, &self->cred, MAY_EXECUTE, path) : -ENOTDIR;
	if (error) {
		inode_put(inode);
		return error;
	}
	process_set_cwd(self, inode);
	return 0;
}

/* getcwd(buffer, size): copies the path and returns its length including the NUL, like Linux. */
int64_t sys_getcwd(const struct call *call)
{
	struct process *self = process_self();
	char path[PATH_MAX];
	size_t size = call->a[1] < sizeof(path) ? call->a[1] : sizeof(path);
	int64_t length = vfs_path(call_cwd(), path, size);
	int error;

	if (length < 0)
		return length;
	error = vm_copy_out(&self->vm, call->a[0], path, (size_t)length + 1);
	return error ? error : length + 1;
}
