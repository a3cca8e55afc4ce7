/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: the arguments of the HWT_IOC_* requests in types.def.
 *
 * /dev/hwt accepts one request, HWT_IOC_ALLOC, which creates a context. Reading /dev/hwt lists the available
 * trace units. A context ends when the file that created it is closed.
 *
 * A context has files /dev/hwt_<ident>_<d>: in CPU mode one for each traced CPU (d is the CPU's number), in
 * thread mode one for the process (d is its pid). These files accept all other requests. mmap (PROT_READ,
 * MAP_SHARED) maps the buffer that the trace unit of that CPU or thread writes.
 *
 * Each thread of a process has its own trace unit, whose number is in the record KTRX_HWT_THREAD_CREATE. An
 * open file of a process refers to unit 0, or to the unit set with HWT_IOC_UNIT. A mapping remains readable
 * after the context has ended. A process in a jail can open only the files of processes in the same jail, and
 * no files of CPUs (EPERM).
 */
#ifndef DEMO_ABI_HWT_H
#define DEMO_ABI_HWT_H

#include <stdint.h>

#define HWT_RANGES_MAX	4
#define HWT_BACKEND_MAX 8
#define HWT_PATH	"/dev/hwt"

/*
 * Argument of HWT_IOC_ALLOC. Errors: EINVAL; EMFILE: too many contexts; ENODEV: no such trace unit or CPU;
 * ESRCH; EPERM; EEXIST: the target is already traced, or the trace unit is in use; EBUSY: the library is not
 * initialized; ENOMEM; ENOSYS: the kernel was compiled without hooks.
 */
struct abi_hwt_alloc {
	uint32_t mode; /* one of KTRX_HWT_MODE_* */
	uint32_t pid;
	uint64_t cpus;		       /* CPU mode: bit n is set if CPU n is to be traced */
	char backend[HWT_BACKEND_MAX]; /* name of the trace unit; "": the first one that supports the mode */
	/* Size of each trace unit's buffer in bytes, a multiple of the page size. */
	uint64_t buffer_size;
	uint32_t queue_size; /* capacity of the record queue in bytes; 0 means 65536 */
	uint32_t ident;	     /* output: number of the new context */
};

/*
 * Argument of HWT_IOC_SET_CONFIG: its fields are those of struct ktrace_hwt_config and struct
 * ktrace_hwt_pausing. A field that has no comment here may be 0. EBUSY: the trace is running.
 */
struct abi_hwt_config {
	uint32_t level;	 /* bits KTRX_HWT_USER and KTRX_HWT_KERNEL_LEVEL */
	uint32_t flags;	 /* flags HWT_*, which are defined below */
	uint32_t pauses; /* bits HWT_PAUSE_* */
	uint32_t timeout_ms;
	/* output: number of address ranges that the unit cannot trace, because it has too few registers */
	uint32_t left_out;
	uint32_t ranges;
	struct {
		uint64_t start, end;
	} range[HWT_RANGES_MAX];
};
#define HWT_TIME 1u
/* The unit writes a packet with the target of each return, even if it could omit the packet. */
#define HWT_RETURNS 16u
/* stop tracing when the buffer is full; without this flag, tracing continues at the start of the buffer */
#define HWT_STOP       32u
#define HWT_PAUSE_EXEC 1u
#define HWT_PAUSE_MMAP 2u

/*
 * Argument of HWT_IOC_RECORD_GET, which removes whole records from the queue and copies them to the caller.
 * ktrx/hwt.h defines the records. EINTR: a signal arrived before a record.
 */
struct abi_hwt_records {
	/* Address and size in bytes of the memory to which the records are copied. */
	uint64_t buffer, size;
	uint32_t most;	     /* maximum number of records to copy, 1 to 1024 */
	uint32_t timeout_ms; /* maximum time to wait for the first record; 0: do not wait */
	uint32_t count;	     /* output: number of records copied */
	uint32_t bytes;	     /* output: total size of the copied records */
};

/* Argument of HWT_IOC_BUFPTR_GET. */
struct abi_hwt_place {
	uint64_t position; /* number of bytes written since the context was created */
	uint64_t wraps;	   /* number of times that the buffer has wrapped */
	uint64_t lost;
	uint32_t enabled, full;
};

/*
 * HWT_IOC_UNIT selects a thread's trace unit; its argument is a uint32_t, the number of the unit. EINVAL: no
 * such unit, or the file belongs to a CPU.
 */

/*
 * The argument of HWT_IOC_SVC_BUF is a uint64_t, a position in the trace: the reader has consumed all bytes
 * before it. HWT_IOC_START, HWT_IOC_STOP and HWT_IOC_WAKEUP have no argument.
 */

#endif
