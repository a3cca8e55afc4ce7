/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: what goes with the requests HWT_IOC_* of types.def. /dev/hwt is opened to make contexts by
 * HWT_IOC_ALLOC, its only request; each ends when that file is closed. It says what trace units there are to who reads it.
 *
 * A context has files /dev/hwt_<ident>_<d>: in CPU mode one for each CPU that is traced, d its number; in thread mode one
 * for the process, d its pid. They know all other requests, and mmap (PROT_READ, MAP_SHARED) maps what the trace unit of
 * that CPU or thread writes. Each thread of a process has a trace unit, whose number comes with the record
 * KTRX_HWT_THREAD_CREATE. An open file of a process is about unit 0, or about the one that HWT_IOC_UNIT has set. A mapping
 * stays readable when the context has ended. From within a jail the files of CPUs and of processes outside of it cannot be
 * opened (EPERM).
 */
#ifndef DEMO_ABI_HWT_H
#define DEMO_ABI_HWT_H

#include <stdint.h>

#define HWT_RANGES_MAX	4
#define HWT_BACKEND_MAX 8
#define HWT_PATH	"/dev/hwt"

/*
 * HWT_IOC_ALLOC. Errors: ENODEV: no such trace unit, ESRCH, EPERM, EEXIST: the target is traced already, ENOMEM, ENOSYS: the
 * kernel was compiled without hooks.
 */
struct abi_hwt_alloc {
	uint32_t mode; /* KTRX_HWT_MODE_* */
	uint32_t pid;
	uint64_t cpus;		       /* CPU mode: bit n for CPU n */
	char backend[HWT_BACKEND_MAX]; /* "": whatever there is */
	uint64_t buffer_size;	       /* of each unit, a multiple of a page */
	uint32_t queue_size;	       /* bytes of records that may wait; 0: 65536 */
	uint32_t ident;		       /* comes back */
};

/* HWT_IOC_SET_CONFIG; 0 where nothing is said. The fields are those of struct ktrace_hwt_config and _pausing. EBUSY: it runs. */
struct abi_hwt_config {
	uint32_t level;	 /* KTRX_HWT_USER, KTRX_HWT_KERNEL_LEVEL */
	uint32_t flags;	 /* HWT_* below */
	uint32_t pauses; /* HWT_PAUSE_* */
	uint32_t timeout_ms;
	uint32_t left_out; /* comes back: ranges for which there is no hardware */
	uint32_t ranges;
	struct {
		uint64_t start, end;
	} range[HWT_RANGES_MAX];
};
#define HWT_TIME       1u
#define HWT_RETURNS    16u /* returns are not compressed */
#define HWT_STOP       32u /* when the buffer is full; else it begins anew at its start */
#define HWT_PAUSE_EXEC 1u
#define HWT_PAUSE_MMAP 2u

/* HWT_IOC_RECORD_GET: takes whole records, as ktrx/hwt.h has them. EINTR: a signal came first. */
struct abi_hwt_records {
	uint64_t buffer, size; /* where to, and how many bytes fit */
	uint32_t most;	       /* 1 to 1024 */
	uint32_t timeout_ms;   /* until the first; 0: none is waited for */
	uint32_t count;	       /* these come back */
	uint32_t bytes;
};

/* HWT_IOC_BUFPTR_GET */
struct abi_hwt_place {
	uint64_t position; /* bytes written since the context was made … */
	uint64_t wraps;	   /* … and how often the buffer has begun anew */
	uint64_t lost;
	uint32_t enabled, full;
};

/* HWT_IOC_UNIT takes a uint32_t, the number of a thread's trace unit. EINVAL: there is none, or the file is of a CPU. */

/* HWT_IOC_SVC_BUF takes a uint64_t: up to this position the bytes have been taken. START, STOP and WAKEUP take nothing. */

#endif
