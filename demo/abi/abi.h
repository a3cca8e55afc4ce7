/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What user programs and the kernel agree on. Both sides include it; it includes nothing but integers. */
#ifndef DEMO_ABI_H
#define DEMO_ABI_H

#include <stdint.h>

enum {
#define CALL(number, name, ...) SYS_##name = number,
#include "syscalls.def"
	SYS_COUNT = 104,
};

enum {
#define FLAG(type, value, name)	 name = value,
#define VALUE(type, value, name) name = value,
#define FIELD(type, mask)
#define SIGNAL(number, name) name = number,
#define STRUCT(name, size, members)
#include "types.def"
};

/* Where user memory lies, on every architecture. */
#define USER_BASE      UINT64_C(0x1000000000) /* programs are linked here */
#define USER_END       UINT64_C(0x2000000000)
#define USER_STACK     (USER_END - (UINT64_C(1) << 20)) /* top; grows down on demand to USER_STACK_MAX bytes */
#define USER_STACK_MAX (UINT64_C(256) << 10)

/*
 * A program starts with all registers zero but the stack pointer, a multiple of 16. It finds there: argc, the argv
 * pointers, NULL, the envp pointers, NULL, 64 bits each.
 */
#define ARGS_BYTES_MAX (UINT64_C(16) << 10) /* all strings of argv and envp with their NULs */
#define ARGS_MAX       256		    /* of them together */

enum {
#define ERROR(number, name, text) name = number,
#include "errors.def"
};

#define SIG_COUNT 32

#define SIG_DFL UINT64_C(0)
#define SIG_IGN UINT64_C(1)

struct abi_sigaction {
	uint64_t handler;  /* void (*)(int), SIG_DFL or SIG_IGN */
	uint64_t restorer; /* returns from a handler by SYS_sigreturn */
	uint32_t mask;	   /* blocked meanwhile, besides the signal itself: bit n - 1 for signal n */
	uint32_t flags;
};

/*
 * Threads of a process have memory, descriptors, working directory, ids and signal actions in common; each has its own
 * registers, name, blocked signals and signals that were sent to it alone (thread_kill). A signal to the process is taken
 * by any one thread that does not block it. exit ends all threads, and so does a signal whose default action that is;
 * execve ends all but the calling one, fork copies that one alone. setname names the running thread.
 *
 * thread_create(entry, argument, stack, tls, name)
 *	Starts a thread: it calls entry(argument) with the stack pointer `stack`, a multiple of 16, and nothing to return to.
 *	tls goes into the register for that: FS base, TPIDR_EL0, tp. thread_tls(tls) sets it for the running thread. name
 *	may be NULL. Returns the thread's id. EAGAIN: out of memory or ids, or the process is ending.
 * thread_exit()
 *	With the last thread the process ends, with status 0. The pid stays that of the first thread, even when it has
 *	ended.
 * thread_join(thread)
 *	Waits until the process has no thread of that id. EDEADLK: it is the running one; EINTR.
 * wait_on(word, value, timeout, flags, name)
 *	Waits while the 32-bit word has that value, until wake(word, …); timeout in ms, below 0: without end. WAIT_OWNER:
 *	the word is a lock, and its low 22 bits are the id of the thread that holds it. The name, which may be NULL, is for
 *	traces. EAGAIN: the word has another value; ETIMEDOUT, EINTR, EFAULT, EINVAL (not a multiple of 4).
 * wake(word, most)
 *	Wakes at most so many threads that wait on it; returns how many.
 */
#define WAIT_OWNER_MASK 0x3fffffu

#define O_ACCMODE 3

#define S_IFMT	 0170000
#define S_IFSOCK 0140000
#define S_IFREG	 0100000
#define S_IFDIR	 0040000
#define S_IFCHR	 0020000
#define S_IFIFO	 0010000
#define S_ISUID	 04000
#define S_ISGID	 02000

struct abi_stat {
	uint64_t ino;
	uint64_t size;
	uint64_t mtime_ns;
	uint32_t mode, nlink, uid, gid;
};

#define GROUPS_MAX 8

#define NAME_MAX 59
#define PATH_MAX 256

struct abi_dirent {
	uint32_t ino;
	char name[NAME_MAX + 1]; /* NUL-terminated */
};

/* Status of wait4: exit code << 8, or the signal that ended it. */
#define WIFEXITED(status)   (((status)&0x7f) == 0)
#define WEXITSTATUS(status) ((status) >> 8 & 0xff)
#define WTERMSIG(status)    ((status)&0x7f)

struct abi_timespec {
	int64_t sec, nsec;
};

struct abi_pollfd {
	int32_t fd;
	int16_t events, revents;
};

#define INADDR_LOOPBACK 0x7f000001u
#define INADDR_ANY	0u

struct abi_sockaddr {
	uint16_t family;
	uint16_t port;	  /* host order: there is one byte order here */
	uint32_t address; /* the same */
};

struct abi_utsname {
	char sysname[32], release[32], machine[32];
};

#define REBOOT_POWER_OFF 0 /* + exit status << 8 */
#define REBOOT_RESTART	 1

#endif
