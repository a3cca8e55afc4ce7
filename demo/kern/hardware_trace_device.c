/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * /dev/hwt and the files of contexts, see abi/hwt.h. A context belongs to the open file of /dev/hwt that
 * created it. The context ends when the last descriptor of that file is closed, at the latest when the
 * process ends. An open file or a mapping of the context remains usable after that.
 */
#include "hardware_trace.h"

#include "arch.h"
#include "format.h"
#include "hwt.h"
#include "page.h"
#include "process.h"
#include "process_trace.h"
#include "string.h"
#include "vfs.h"

#define CONTEXTS_MAX 64 /* maximum number of contexts for each open file */
#define NODE_CPU     (UINT64_C(1) << 31)

_Static_assert(HWT_RANGES_MAX == KTRACE_HWT_RANGES_MAX && HWT_BACKEND_MAX == KTRACE_HWT_BACKEND_MAX &&
		       HWT_TIME == KTRACE_HWT_TIME && HWT_RETURNS == KTRACE_HWT_RETURNS &&
		       HWT_STOP == KTRACE_HWT_STOP && HWT_PAUSE_EXEC == KTRACE_HWT_PAUSE_EXEC &&
		       HWT_PAUSE_MMAP == KTRACE_HWT_PAUSE_MMAP,
	       "programs and the library mean the same");

/* The state of an open file of /dev/hwt. It has a page of its own. */
struct session {
	struct ktrace_hwt_owner owner;
	struct mutex lock;
	unsigned count;
	struct made {
		uint32_t ident;
		uint32_t pid;  /* thread mode: pid of the traced process */
		uint64_t cpus; /* CPU mode: bit n is set if CPU n is traced */
	} made[CONTEXTS_MAX];
};
_Static_assert(sizeof(struct session) <= PAGE_SIZE, "one page is enough");

static int copy_in(void *to, uintptr_t from, size_t size)
{
	return vm_copy_in(&process_self()->vm, to, from, size);
}

static int copy_out(uintptr_t to, const void *from, size_t size)
{
	return vm_copy_out(&process_self()->vm, to, from, size);
}

/* ---- Files of a context ------------------------------------------------------------------------ */

/*
 * Returns the number of the trace unit to which an open file refers. For the file of a process, the number is
 * stored in file->offset.
 */
static uint32_t unit_of(const struct file *file)
{
	uint64_t number = file->inode->device_number;

	return number & NODE_CPU ? (uint32_t)(number & (NODE_CPU - 1)) : (uint32_t)file->offset;
}

/*
 * Returns true if the running process may open the file of a context. A process in a jail can find the
 * path of each file. But even as superuser, it must not trace kernel code, or processes outside the jail.
 * If the process to which a file belongs has ended, no process in a jail can open the file.
 */
static bool is_visible(uint64_t device_number)
{
	const struct credentials *who = &process_self()->cred;
	const struct process *target;
	bool irq_on, seen;

	if (who->jail == 0 || device_number & NODE_CPU)
		return who->jail == 0;
	irq_on = process_lock();
	target = process_find((uint32_t)(device_number & (NODE_CPU - 1)));
	seen = target && credentials_may_see(who, &target->cred);
	process_unlock(irq_on);
	return seen;
}

static int context_open(struct file *file)
{
	if (!is_visible(file->inode->device_number))
		return -EPERM;
	file->object = ktrace_hwt_get((uint32_t)(file->inode->device_number >> 32));
	return file->object ? 0 : -ENODEV;
}

static void context_close(struct file *file)
{
	ktrace_hwt_put(file->object);
}

static uintptr_t context_page(struct file *file, uint64_t offset)
{
	const struct ktrace_hwt_buffer *buffer = ktrace_hwt_unit_buffer(file->object, unit_of(file));

	for (uint32_t i = 0; buffer && i < buffer->pieces; i++) {
		if (offset < buffer->piece[i].size)
			return buffer->piece[i].physical + offset;
		offset -= buffer->piece[i].size;
	}
	return PAGE_NONE;
}

/*
 * Copies records to the caller. First checks that *argument can be written, because records that have been
 * taken from the queue cannot be put back.
 */
static int get_records(struct ktrace_hwt_context *context, uintptr_t argument)
{
	struct abi_hwt_records wanted;
	int error = copy_in(&wanted, argument, sizeof(wanted));
	int64_t bytes;

	if (!error)
		error = copy_out(argument, &wanted, sizeof(wanted));
	if (error)
		return error;
	bytes = ktrace_hwt_records(context, (void *)(uintptr_t)wanted.buffer, wanted.size, wanted.most,
				   wanted.timeout_ms * UINT64_C(1000000), &wanted.count);
	if (bytes < 0)
		return process_trace_errno((int)bytes);
	if (bytes == 0 && signal_pending(thread_self()))
		return -EINTR;
	wanted.bytes = (uint32_t)bytes;
	return copy_out(argument, &wanted, sizeof(wanted));
}

static int get_place(struct ktrace_hwt_context *context, uint32_t unit, uintptr_t argument)
{
	struct ktrace_hwt_place place;
	struct abi_hwt_place output;
	int error = process_trace_errno(ktrace_hwt_position(context, unit, &place));

	if (error)
		return error;
	output = (struct abi_hwt_place){ place.position, place.wraps, place.lost, place.enabled, place.full };
	return copy_out(argument, &output, sizeof(output));
}

static int set_config(struct ktrace_hwt_context *context, uintptr_t argument)
{
	struct abi_hwt_config wanted;
	struct ktrace_hwt_config config = { 0 };
	struct ktrace_hwt_pausing pausing;
	int error = copy_in(&wanted, argument, sizeof(wanted));

	if (error)
		return error;
	if (wanted.ranges > HWT_RANGES_MAX)
		return -EINVAL;
	config.level = wanted.level;
	config.flags = wanted.flags;
	config.ranges = wanted.ranges;
	for (uint32_t i = 0; i < wanted.ranges; i++) {
		config.range[i].start = wanted.range[i].start;
		config.range[i].end = wanted.range[i].end;
	}
	pausing = (struct ktrace_hwt_pausing){ wanted.pauses, wanted.timeout_ms };
	wanted.left_out = 0;
	error = process_trace_errno(ktrace_hwt_configure(context, &config, &pausing, &wanted.left_out));
	return error ? error : copy_out(argument, &wanted, sizeof(wanted));
}

static int set_unit(struct file *file, uintptr_t argument)
{
	uint32_t unit;
	int error = copy_in(&unit, argument, sizeof(unit));

	if (error)
		return error;
	if (file->inode->device_number & NODE_CPU || !ktrace_hwt_unit_buffer(file->object, unit))
		return -EINVAL;
	file->offset = unit;
	return 0;
}

static int serve(struct ktrace_hwt_context *context, uint32_t unit, uintptr_t argument)
{
	uint64_t position;
	int error = copy_in(&position, argument, sizeof(position));

	return error ? error : process_trace_errno(ktrace_hwt_service(context, unit, position));
}

static int64_t context_ioctl(struct file *file, unsigned request, uintptr_t argument)
{
	struct ktrace_hwt_context *context = file->object;

	switch (request) {
	case HWT_IOC_START:
		return process_trace_errno(hardware_trace_start(context));
	case HWT_IOC_STOP:
		return process_trace_errno(ktrace_hwt_stop(context));
	case HWT_IOC_RECORD_GET:
		return get_records(context, argument);
	case HWT_IOC_BUFPTR_GET:
		return get_place(context, unit_of(file), argument);
	case HWT_IOC_SET_CONFIG:
		return set_config(context, argument);
	case HWT_IOC_WAKEUP:
		return process_trace_errno(ktrace_hwt_wakeup(context));
	case HWT_IOC_SVC_BUF:
		return serve(context, unit_of(file), argument);
	case HWT_IOC_UNIT:
		return set_unit(file, argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations context_operations = {
	.kind = "hwt context",
	.open = context_open,
	.ioctl = context_ioctl,
	.page = context_page,
	.close = context_close,
};

/* ---- Names in /dev ----------------------------------------------------------------------------- */

static int make_node(uint32_t ident, uint64_t d, uint64_t flag)
{
	char path[32];

	format(path, sizeof(path), HWT_PATH "_%u_%u", ident, (unsigned)d);
	return vfs_make_device(path, 0600, &process_self()->cred, &context_operations,
			       (uint64_t)ident << 32 | flag | d);
}

static void remove_node(uint32_t ident, uint64_t d)
{
	char path[32];

	format(path, sizeof(path), HWT_PATH "_%u_%u", ident, (unsigned)d);
	vfs_unlink(path, NULL, &vfs_superuser, 0);
}

static int make_nodes(const struct made *made)
{
	int error = 0;

	if (made->pid)
		return make_node(made->ident, made->pid, 0);
	for (unsigned cpu = 0; cpu < 64 && !error; cpu++)
		if (made->cpus >> cpu & 1)
			error = make_node(made->ident, cpu, NODE_CPU);
	return error;
}

static void remove_nodes(const struct made *made)
{
	if (made->pid)
		remove_node(made->ident, made->pid);
	for (unsigned cpu = 0; cpu < 64; cpu++)
		if (made->cpus >> cpu & 1)
			remove_node(made->ident, cpu);
}

/* ---- /dev/hwt ---------------------------------------------------------------------------------- */

static int session_open(struct file *file)
{
	struct session *session = page_alloc(1);

	if (!session)
		return -ENOMEM;
	session->lock = (struct mutex)MUTEX("hwt session");
	file->object = session;
	return 0;
}

static void session_close(struct file *file)
{
	struct session *session = file->object;

	for (unsigned i = 0; i < session->count; i++)
		remove_nodes(&session->made[i]);
	ktrace_hwt_owner_exit(&session->owner);
	page_free(session, 1);
}

static void end_context(uint32_t ident)
{
	struct ktrace_hwt_context *context = ktrace_hwt_get(ident);

	if (!context)
		return;
	ktrace_hwt_release(context);
	ktrace_hwt_put(context);
}

/* Creates a context and its device files. Requires: session locked. */
static int alloc_context(struct session *session, struct abi_hwt_alloc *wanted)
{
	struct ktrace_hwt_request request = {
		.size = sizeof(request),
		.mode = wanted->mode,
		.pid = wanted->pid,
		.cpus = { wanted->cpus },
		.buffer_size = wanted->buffer_size,
		.queue_size = wanted->queue_size,
	};
	struct made *made = &session->made[session->count];
	int error;

	if (session->count == CONTEXTS_MAX)
		return -EMFILE;
	string_copy(request.backend, wanted->backend, sizeof(request.backend));
	error = process_trace_errno(
		ktrace_hwt_alloc(&session->owner, &process_self()->hardware_trace, &request, &wanted->ident));
	if (error)
		return error;
	*made = (struct made){ .ident = wanted->ident };
	if (wanted->mode == KTRX_HWT_MODE_THREAD)
		made->pid = wanted->pid;
	else
		made->cpus = wanted->cpus;
	error = make_nodes(made);
	if (!error) {
		session->count++;
		return 0;
	}
	remove_nodes(made);
	end_context(wanted->ident);
	return error;
}

static int64_t session_ioctl(struct file *file, unsigned request, uintptr_t argument)
{
	struct session *session = file->object;
	struct abi_hwt_alloc wanted;
	int error;

	if (request != HWT_IOC_ALLOC)
		return -ENOTTY;
	error = copy_in(&wanted, argument, sizeof(wanted));
	if (error)
		return error;
	wanted.backend[HWT_BACKEND_MAX - 1] = '\0';
	mutex_lock(&session->lock);
	error = alloc_context(session, &wanted);
	mutex_unlock(&session->lock);
	if (error == -EPERM)
		trace_denied(KTRX_PROC_DENIED_OWNER, 0, 0, NULL);
	return error ? error : copy_out(argument, &wanted, sizeof(wanted));
}

/* Each read returns the next line of the list of trace units, truncated to `size` bytes. */
static int64_t session_read(struct file *file, uintptr_t to, size_t size)
{
	char line[160];
	int error;

	if (!hardware_trace_describe((unsigned)file->offset, line, sizeof(line)))
		return 0;
	if (size > strlen(line))
		size = strlen(line);
	error = copy_out(to, line, size);
	file->offset++;
	return error ? error : (int64_t)size;
}

const struct file_operations hardware_trace_operations = {
	.kind = "hwt",
	.open = session_open,
	.read = session_read,
	.ioctl = session_ioctl,
	.close = session_close,
};
