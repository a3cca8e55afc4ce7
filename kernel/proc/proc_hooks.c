/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Converts the arguments of hooks to the payload of records, as in ktrx/proc.h. */
#include "proc.h"

#define KTRACE_NO_CALL	 0xffffffffu
#define KTRACE_NO_RECORD 0u /* a type that no record has, so it is never traced */

/* Returns a 64-bit word made from its two halves. */
static uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

/* If the data is too long for a record, cuts it and sets the record's flag KTRX_PROC_CUT. */
static uint32_t cut(struct ktrace_proc_pending *pending, size_t size)
{
	if (size <= KTRACE_PROC_DATA_MAX)
		return (uint32_t)size;
	pending->flags |= KTRX_PROC_CUT;
	return KTRACE_PROC_DATA_MAX;
}

void ktrace_proc_record_syscall(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				uint32_t number, uint32_t args, const uint64_t *arg)
{
	uint32_t kept = args < KTRX_PROC_ARGS_MAX ? args : KTRX_PROC_ARGS_MAX;
	uint64_t fixed = number | (uint64_t)kept << 32 | (uint64_t)process->abi << 48;
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	thread->call = number + 1;
	ktrace_proc_pending_init(&pending, KTRX_PROC_SYSCALL, kept < args ? KTRX_PROC_CUT : 0, &fixed,
				 sizeof(fixed));
	pending.data = arg;
	pending.data_size = kept * 8;
	ktrace_proc_record(process, thread, &pending);
}

void ktrace_proc_record_sysret(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			       uint32_t number, int32_t error, int64_t result)
{
	uint64_t fixed[2] = { pair(number, (uint32_t)error), (uint64_t)result };
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	thread->call = 0;
	ktrace_proc_pending_init(&pending, KTRX_PROC_SYSRET, 0, fixed, sizeof(fixed));
	ktrace_proc_record_return(process, thread, &pending);
}

void ktrace_proc_write_waiting(struct ktrace_proc *process, struct ktrace_proc_thread *thread)
{
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, KTRACE_NO_RECORD, 0, KTRACE_NULL, 0);
	ktrace_proc_record_return(process, thread, &pending);
}

void ktrace_proc_record_path(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uint32_t type,
			     const char *path, size_t length)
{
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, (uint16_t)type, 0, KTRACE_NULL, 0);
	pending.data = path;
	pending.data_size = cut(&pending, length);
	ktrace_proc_record(process, thread, &pending);
}

void ktrace_proc_record_psig(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uint32_t signal,
			     int32_t code, uint64_t handler, const uint64_t *mask)
{
	uint64_t fixed[4] = { pair(signal, (uint32_t)code), handler, mask[0], mask[1] };
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, KTRX_PROC_PSIG, 0, fixed, sizeof(fixed));
	ktrace_proc_record(process, thread, &pending);
}

void ktrace_proc_record_csw(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int out,
			    int voluntary, const char *what)
{
	uint64_t fixed[2] = { pair(out != 0, voluntary != 0), 0 };
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, KTRX_PROC_CSW, KTRX_PROC_QUEUED, fixed, sizeof(fixed));
	pending.text = what;
	pending.text_size = ktrace_length(what, KTRACE_PROC_NAME_MAX);
	ktrace_proc_record(process, thread, &pending);
}

/*
 * Sets the `text` of the record to a name, which is cut if necessary and NUL-terminated, and `data` to the
 * bytes that follow it.
 */
static void put_named(struct ktrace_proc_pending *pending, char *room, const char *name, const void *data)
{
	uint32_t length = ktrace_length(name, KTRACE_PROC_NAME_MAX - 1);

	*ktrace_copy(room, name, length) = 0;
	pending->text = room;
	pending->text_size = length + 1;
	pending->data = data;
}

void ktrace_proc_record_struct(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			       const char *name, const void *data, size_t size)
{
	char named[KTRACE_PROC_NAME_MAX];
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, KTRX_PROC_STRUCT, 0, KTRACE_NULL, 0);
	put_named(&pending, named, name, data);
	pending.data_size = cut(&pending, size);
	ktrace_proc_record(process, thread, &pending);
}

void ktrace_proc_record_array(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			      const char *name, const void *data, uint32_t element_size, uint32_t count)
{
	uint32_t room = element_size ? KTRACE_PROC_DATA_MAX / element_size : count;
	uint32_t kept = count < room ? count : room;
	uint64_t fixed = pair(element_size, kept);
	char named[KTRACE_PROC_NAME_MAX];
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, KTRX_PROC_STRUCT_ARRAY, kept < count ? KTRX_PROC_CUT : 0, &fixed,
				 sizeof(fixed));
	put_named(&pending, named, name, data);
	pending.data_size = element_size * kept;
	ktrace_proc_record(process, thread, &pending);
}

void ktrace_proc_record_denied(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			       uint32_t reason, uint64_t needed, uint64_t held, const char *what)
{
	uint64_t fixed[3] = { pair(reason, thread->call ? thread->call - 1 : KTRACE_NO_CALL), needed, held };
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, KTRX_PROC_CAPFAIL, KTRX_PROC_QUEUED, fixed, sizeof(fixed));
	pending.text = what;
	pending.text_size = ktrace_length(what, KTRACE_PROC_DATA_MAX);
	ktrace_proc_record(process, thread, &pending);
}

void ktrace_proc_record_fault(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			      uint64_t address, uint32_t access, int user)
{
	uint64_t fixed[2] = { address, pair(access, user != 0) };
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, KTRX_PROC_FAULT, KTRX_PROC_QUEUED, fixed, sizeof(fixed));
	ktrace_proc_record(process, thread, &pending);
}

void ktrace_proc_record_fault_end(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
				  int32_t result)
{
	uint64_t fixed = (uint32_t)result;
	struct ktrace_proc_pending pending;

	if (thread->busy)
		return;
	ktrace_proc_pending_init(&pending, KTRX_PROC_FAULTEND, KTRX_PROC_QUEUED, &fixed, sizeof(fixed));
	ktrace_proc_record(process, thread, &pending);
}
