/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Each file into which processes are traced has one sink. The sink is a number of pages: the first page
 * contains struct trace_file, the others buffer records until they are written to the file.
 */
#include <ktrace/settings.h>

#include "process_trace.h"

#include "arch.h"
#include "clock.h"
#include "page.h"
#include "print.h"
#include "ramfs.h"
#include "untraced_lock.h"
#include "string.h"
#include "syscall.h"
#include "timer.h"
#include "vfs.h"

#define BUFFER_PAGES 16
#define DRAIN_AT     (BUFFER_PAGES * PAGE_SIZE / 4)
#define FLUSH_NS     (100 * NS_PER_MS)

struct trace_file {
	/* Must be the first field, because pointers to `sink` are converted to pointers to the structure. */
	struct ktrace_proc_sink sink;
	struct mutex lock;
	struct inode *inode; /* the file; the structure owns a reference to it */
};

_Static_assert(sizeof(struct trace_file) <= PAGE_SIZE, "one page is enough");

/* Settings. A change affects only files into which no process is traced yet. */
static uint32_t file_format; /* format of the file, enum ktrace_proc_format */
static uint32_t data_most;   /* maximum number of data bytes in a record; 0: the library's limit */
static uint64_t bytes_most;  /* maximum size of a trace file in bytes; 0: no limit */
KTRACE_SETTING_RANGE("proc.format", file_format, 0, KTRACE_PROC_FORMAT_DRAGONFLY);
KTRACE_SETTING_RANGE("proc.data", data_most, 0, KTRACE_PROC_DATA_MAX);
KTRACE_SETTING_U64("proc.limit", bytes_most, 0);

/*
 * Held while a sink is created, found or flushed. So no other thread can access a new sink before a process
 * is traced into it.
 */
static struct mutex files_lock = MUTEX("trace files");
static struct wait_queue flusher = WAIT_QUEUE("trace flusher");
static unsigned open_files; /* number of files with a sink; guarded by the lock of `flusher` */

int process_trace_errno(int error)
{
	switch (error) {
	case KTRACE_OK:
		return 0;
	case KTRACE_ERROR_ARGUMENT:
		return -EINVAL;
	case KTRACE_ERROR_NO_PROCESS:
		return -ESRCH;
	case KTRACE_ERROR_PERMISSION:
		return -EPERM;
	case KTRACE_ERROR_FAULT:
		return -EFAULT;
	case KTRACE_ERROR_MEMORY:
		return -ENOMEM;
	case KTRACE_ERROR_LOST:
		return -ENOSPC;
	case KTRACE_ERROR_STATE:
		return -EBUSY;
	case KTRACE_ERROR_BUSY:
		return -EAGAIN;
	case KTRACE_ERROR_EXIST:
		return -EEXIST;
	case KTRACE_ERROR_DEVICE:
		return -ENODEV;
	case KTRACE_ERROR_LEFT_OUT:
		return -ENOSYS;
	default:
		return -EIO;
	}
}

/* ---- Callbacks for the library ----------------------------------------------------------------- */

static uint32_t lock;

static unsigned long lock_untraced(void)
{
	return untraced_lock_take(&lock);
}

static void unlock_untraced(unsigned long irq_on)
{
	untraced_lock_release(&lock, irq_on);
}

static unsigned long lock_table(void)
{
	return process_lock();
}

static void unlock_table(unsigned long irq_on)
{
	process_unlock(irq_on);
}

static struct process *process_of(const struct ktrace_proc *trace)
{
	return (struct process *)((uintptr_t)trace - offsetof(struct process, trace));
}

static struct ktrace_proc *next_process(struct ktrace_proc *last)
{
	struct process *next = process_next(last ? process_of(last) : NULL);

	return next ? &next->trace : NULL;
}

static struct ktrace_proc *parent_of(struct ktrace_proc *trace)
{
	struct process *process = process_of(trace);

	return process->parent == process ? NULL : &process->parent->trace;
}

void process_trace_identify(const struct process *process, struct ktrace_proc_identity *identity)
{
	const struct credentials *who = &process->cred;

	*identity = (struct ktrace_proc_identity){
		.pid = process->pid,
		.group = process->group,
		.ruid = who->uid,
		.euid = who->effective_uid,
		.svuid = who->saved_uid,
		.rgid = who->gid,
		.egid = who->effective_gid,
		.svgid = who->saved_gid,
		.jail = who->jail,
		.set_id = who->set_id,
	};
}

static void identify(const struct ktrace_proc *trace, struct ktrace_proc_identity *identity)
{
	process_trace_identify(process_of(trace), identity);
}

static void name_of(const struct ktrace_proc *trace, char *name, size_t room)
{
	string_copy(name, process_of(trace)->name, room);
}

static int copy_in(void *to, uintptr_t from, size_t size)
{
	return vm_copy_in(&process_self()->vm, to, from, size);
}

/* ---- The sinks of trace files ------------------------------------------------------------------ */

static struct trace_file *file_of(struct ktrace_proc_sink *sink)
{
	return (struct trace_file *)sink;
}

static int64_t append(struct ktrace_proc_sink *sink, const void *data, size_t size)
{
	struct inode *inode = file_of(sink)->inode;
	int64_t n;

	tree_lock();
	ramfs_end_set_id(inode);
	n = ramfs_write(inode, data, inode->size, size);
	tree_unlock();
	return n;
}

static int cut(struct ktrace_proc_sink *sink, uint64_t bytes)
{
	struct inode *inode = file_of(sink)->inode;
	int error;

	tree_lock();
	error = ramfs_resize(inode, inode->size > bytes ? inode->size - bytes : 0);
	tree_unlock();
	return error;
}

static void lock_file(struct ktrace_proc_sink *sink)
{
	mutex_lock(&file_of(sink)->lock);
}

static void unlock_file(struct ktrace_proc_sink *sink)
{
	mutex_unlock(&file_of(sink)->lock);
}

static void count_files(int change)
{
	bool irq_on = spin_lock(&flusher.lock);

	open_files += (unsigned)change;
	if (change > 0)
		wait_wake_all(&flusher);
	spin_unlock(&flusher.lock, irq_on);
}

static void close_file(struct ktrace_proc_sink *sink)
{
	inode_put(file_of(sink)->inode);
	page_free(sink, 1 + BUFFER_PAGES);
	count_files(-1);
}

static const struct ktrace_proc_sink_operations file_operations = {
	.write = append,
	.truncate = cut,
	.lock = lock_file,
	.unlock = unlock_file,
	.close = close_file,
};

/*
 * The flusher thread. Writes buffered records to the files periodically, so that a reader of a file sees
 * recent records even if the traced processes sleep.
 */
static void flush_now_and_then(void *unused)
{
	bool irq_on;

	(void)unused;
	for (;;) {
		irq_on = spin_lock(&flusher.lock);
		while (open_files == 0)
			wait_sleep(&flusher);
		spin_unlock(&flusher.lock, irq_on);
		timer_sleep(FLUSH_NS);
		mutex_lock(&files_lock);
		ktrace_proc_flush(&thread_self()->trace);
		mutex_unlock(&files_lock);
	}
}

/* Starts the flusher thread if it does not exist yet. Returns false if that fails. */
static bool has_flusher(void)
{
	static bool is_there;

	if (!is_there)
		is_there = thread_try_create("trace flusher", flush_now_and_then, NULL);
	return is_there;
}

/* Creates a sink for the file. The sink owns a reference to the file. */
static int open_file(struct inode *inode, struct ktrace_proc_sink **sink)
{
	struct trace_file *file = has_flusher() ? page_alloc(1 + BUFFER_PAGES) : NULL;
	struct ktrace_proc_sink_config config = {
		.size = sizeof(config),
		.format = file_format,
		.data_max = data_most,
		.limit = bytes_most,
		.drain_at = DRAIN_AT,
		.buffer = (char *)file + PAGE_SIZE,
		.buffer_size = BUFFER_PAGES * PAGE_SIZE,
		.operations = &file_operations,
		.file = inode,
	};
	int error;

	if (!file)
		return -ENOMEM;
	file->lock = (struct mutex)MUTEX("trace file");
	file->inode = inode_get(inode);
	error = ktrace_proc_sink_open(&file->sink, &config, &thread_self()->trace);
	if (error < 0) {
		error = error == KTRACE_ERROR_DEVICE && file->sink.error > 0 ? -file->sink.error
									     : process_trace_errno(error);
		inode_put(inode);
		page_free(file, 1 + BUFFER_PAGES);
		return error;
	}
	count_files(1);
	*sink = &file->sink;
	return 0;
}

/*
 * Finds or creates the file's sink and takes a reference to it. *size becomes the length of the file before
 * the sink was created, or UINT64_MAX if the file already had a sink. If the file still has a sink that has
 * ended, ends the traces into that sink, perhaps also a trace of the caller. Then waits until the sink is
 * closed.
 */
static int get_sink(struct inode *inode, struct ktrace_proc_sink **sink, uint64_t *size)
{
	int error;

	for (;;) {
		*size = UINT64_MAX;
		*sink = ktrace_proc_sink_find(inode);
		if (*sink)
			return 0;
		*size = inode->size;
		error = open_file(inode, sink);
		if (error != -EAGAIN)
			return error;
		ktrace_proc_flush(&thread_self()->trace);
		timer_sleep(NS_PER_MS);
	}
}

/* ---- Functions that implement system calls ----------------------------------------------------- */

/*
 * Finds the file at path and checks that the running process may write traces into it: it must be a regular
 * file that the process may read and write. The caller owns the reference. The file system has no symbolic
 * links and named pipes, which would need more checks.
 */
static int find_file(const char *path, struct inode **inode)
{
	struct process *self = process_self();
	int error = vfs_lookup(path, call_cwd(), &self->cred, inode);

	if (error)
		return error;
	error = ((*inode)->mode & S_IFMT) == S_IFREG
			? vfs_may(*inode, &self->cred, MAY_READ | MAY_WRITE, path)
			: -EACCES;
	if (error)
		inode_put(*inode);
	return error;
}

/* Called after a failed attempt to start a trace. Truncates the file to its previous length. */
static void set_back(struct inode *inode, uint64_t size)
{
	tree_lock();
	if (inode->size > size)
		ramfs_resize(inode, size);
	tree_unlock();
}

static int begin(struct inode *inode, uint32_t operation, uint32_t facilities, int64_t pid)
{
	struct process *self = process_self();
	struct ktrace_proc_sink *sink;
	uint64_t size;
	int error = get_sink(inode, &sink, &size);

	if (error)
		return error;
	error = process_trace_errno(
		ktrace_proc_control(&self->trace, &thread_self()->trace, operation, facilities, pid, sink));
	ktrace_proc_sink_release(sink, &thread_self()->trace);
	if (error)
		set_back(inode, size);
	return error;
}

/* Ends traces into a file. Passes NULL as the sink if the file has none. */
static int end(struct inode *inode, uint32_t operation, uint32_t facilities, int64_t pid)
{
	struct process *self = process_self();
	struct ktrace_proc_sink *sink = inode ? ktrace_proc_sink_find(inode) : NULL;
	int error =
		ktrace_proc_control(&self->trace, &thread_self()->trace, operation, facilities, pid, sink);

	if (sink)
		ktrace_proc_sink_release(sink, &thread_self()->trace);
	return process_trace_errno(error);
}

int process_trace_control(const char *path, uint32_t operation, uint32_t facilities, int64_t pid)
{
	uint32_t what = operation & ~KTRACE_PROC_DESCEND;
	struct inode *inode = NULL;
	int error = what == KTRACE_PROC_CLEAR ? 0 : find_file(path, &inode);

	if (error)
		return error;
	mutex_lock(&files_lock);
	if (what == KTRACE_PROC_SET)
		error = begin(inode, operation, facilities, pid);
	else
		error = end(inode, operation, facilities, pid);
	mutex_unlock(&files_lock);
	inode_put(inode);
	if (error == -EPERM)
		trace_denied(KTRX_PROC_DENIED_OWNER, 0, 0, NULL);
	return error;
}

int process_trace_user(uintptr_t address, size_t size)
{
	struct process *self = process_self();

	return process_trace_errno(ktrace_proc_user(&self->trace, &thread_self()->trace, address, size));
}

void process_trace_init(void)
{
	static const struct ktrace_proc_kernel kernel = {
		.size = sizeof(kernel),
		.lock = lock_untraced,
		.unlock = unlock_untraced,
		.table_lock = lock_table,
		.table_unlock = unlock_table,
		.next = next_process,
		.parent = parent_of,
		.identity = identify,
		.name = name_of,
		.copy_in = copy_in,
		.table = syscall_table_text,
	};

	if (ktrace_proc_init(&kernel) != KTRACE_OK)
		kprintf("process tracing is not available\n");
}
