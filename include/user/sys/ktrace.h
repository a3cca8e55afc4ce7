/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace() and utrace() for programs that are traced or trace others, with the constants of the BSDs. For C
 * and C++.
 *
 *	#include <sys/ktrace.h>
 *	utrace("cache miss", 10);
 *
 * On the demo kernel they are system calls; a negative result is -E…. On Linux they return -1 and set errno.
 * The Linux kernel does not have these calls: they fail with ENOSYS unless the program runs under `ktrace
 * record`, which intercepts them.
 */
#ifndef USER_SYS_KTRACE_H
#define USER_SYS_KTRACE_H

#include <stddef.h>

/* Operations of ktrace(). */
#define KTROP_SET	0 /* trace these facilities as well as those already traced, into the file `path` */
#define KTROP_CLEAR	1 /* stop tracing these facilities */
#define KTROP_CLEARFILE 2 /* stop tracing all processes that are traced into the file `path` */
#define KTROP(o)	((o)&3)
/* Flag to be added to an operation: the operation also applies to all descendants of the process or group. */
#define KTRFLAG_DESCEND 4

/* Facilities: what is recorded. */
#define KTRFAC_SYSCALL	    0x00000002
#define KTRFAC_SYSRET	    0x00000004
#define KTRFAC_NAMEI	    0x00000008
#define KTRFAC_GENIO	    0x00000010
#define KTRFAC_PSIG	    0x00000020
#define KTRFAC_CSW	    0x00000040
#define KTRFAC_USER	    0x00000080
#define KTRFAC_STRUCT	    0x00000100
#define KTRFAC_SYSCTL	    0x00000200
#define KTRFAC_PROCCTOR	    0x00000400
#define KTRFAC_PROCDTOR	    0x00000800
#define KTRFAC_CAPFAIL	    0x00001000
#define KTRFAC_FAULT	    0x00002000
#define KTRFAC_FAULTEND	    0x00004000
#define KTRFAC_STRUCT_ARRAY 0x00008000
#define KTRFAC_MASK	    0x00ffffff
#define KTRFAC_INHERIT	    0x40000000 /* children that are created later are traced as well */

/*
 * Flags of a process, which only the kernel uses. KTRFAC_ROOT: root started the trace. KTRFAC_ACTIVE: the
 * process is writing a record.
 */
#define KTRFAC_ROOT   0x80000000
#define KTRFAC_ACTIVE 0x20000000

/* Maximum size for utrace(). A larger size fails with EINVAL. */
#define KTR_USER_MAXLEN 2048

/*
 * ktrace(path, operation, facilities, pid) starts, changes or ends the tracing of process `pid`, or of group
 * -pid if negative, into a regular file that the caller may write.
 * Errors: EINVAL (unknown operation, or no facility), ESRCH (no such process), EPERM (the caller may trace
 * none of them), EACCES (not a regular file).
 *
 * utrace(data, size) records these bytes in the caller's trace. It has no effect if the caller is not traced.
 */
#if defined(__linux__) && __STDC_HOSTED__

#include <unistd.h>

#define KTRACE_LINUX_CALL   0x1b74 /* a number that no system call has */
#define KTRACE_LINUX_UTRACE 1L
#define KTRACE_LINUX_KTRACE 2L

#ifndef __cplusplus
extern long syscall(long number, ...); /* in strict C, unistd.h does not declare syscall() */
#endif

static inline int ktrace(const char *path, int operation, int facilities, int pid)
{
	return (int)syscall(KTRACE_LINUX_CALL, KTRACE_LINUX_KTRACE, path, (long)operation, (long)facilities,
			    (long)pid);
}

static inline int utrace(const void *data, size_t size)
{
	return (int)syscall(KTRACE_LINUX_CALL, KTRACE_LINUX_UTRACE, data, size);
}

#else

#ifdef __cplusplus
extern "C" {
#endif

int ktrace(const char *path, int operation, int facilities, int pid);
int utrace(const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif

#endif
