/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * For programs that are traced, or trace others: ktrace() and utrace(), with the constants of the BSDs.
 *
 *	#include <sys/ktrace.h>
 *	utrace("cache miss", 10);
 *
 * On the demo kernel they are system calls; results below zero are -E…. On Linux the kernel knows neither:
 * they fail with ENOSYS unless the program runs under `ktrace record`, which sees the calls and acts on them.
 * There they return -1 and set errno. For C and C++.
 */
#ifndef USER_SYS_KTRACE_H
#define USER_SYS_KTRACE_H

#include <stddef.h>

/* Operations of ktrace(), one of them … */
#define KTROP_SET	0 /* trace these facilities, too, into that file */
#define KTROP_CLEAR	1 /* do not trace these any more */
#define KTROP_CLEARFILE 2 /* nobody is traced into that file any more */
#define KTROP(o)	((o)&3)
/* … and whom else than that process or group it concerns: all that are descended from it. */
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
#define KTRFAC_INHERIT	    0x40000000 /* processes that are made later, too */

/* A process's own, seen in the kernel: its trace is root's; it is writing a record. */
#define KTRFAC_ROOT   0x80000000
#define KTRFAC_ACTIVE 0x20000000

/* The most that utrace() takes: more is EINVAL. */
#define KTR_USER_MAXLEN 2048

/*
 * ktrace(path, operation, facilities, pid): begins, changes or ends the tracing of a process, or of a group
 * (-pid), into a regular file that the caller may write. EINVAL: no such operation, no facility; ESRCH: no
 * such process; EPERM: none of them is the caller's to trace; EACCES: not a regular file.
 *
 * utrace(data, size): a record that says just that, if the caller is traced.
 */
#if defined(__linux__) && __STDC_HOSTED__

#include <unistd.h>

#define KTRACE_LINUX_CALL   0x1b74 /* a number that no system call has */
#define KTRACE_LINUX_UTRACE 1L
#define KTRACE_LINUX_KTRACE 2L

#ifndef __cplusplus
extern long syscall(long number, ...); /* unistd.h does not tell strict C */
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
