/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The interface between user programs and the kernel. Both include this header; it includes only <stdint.h>.
 */
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

/* User addresses, the same on every architecture. */
#define USER_BASE UINT64_C(0x1000000000) /* start address of user memory, to which programs are linked */
#define USER_END  UINT64_C(0x2000000000)
/*
 * End (highest address) of a program's initial stack, which grows down on demand up to USER_STACK_MAX bytes.
 */
#define USER_STACK     (USER_END - (UINT64_C(1) << 20))
#define USER_STACK_MAX (UINT64_C(256) << 10)

/*
 * The initial state of a program: all registers are 0 except the stack pointer, which is a multiple of 16.
 * The stack contains, from the stack pointer upwards, 64-bit words: argc, the argv pointers, NULL, the envp
 * pointers, NULL.
 */
/* Maximum total size of the strings of argv and envp, including the NULs. */
#define ARGS_BYTES_MAX (UINT64_C(16) << 10)
#define ARGS_MAX       256 /* maximum number of strings of argv and envp together */

enum {
#define ERROR(number, name, text) name = number,
#include "errors.def"
};

#define SIG_COUNT 32

#define SIG_DFL UINT64_C(0)
#define SIG_IGN UINT64_C(1)

struct abi_sigaction {
	/* Address of a function void (int), or SIG_DFL or SIG_IGN. */
	uint64_t handler;
	uint64_t restorer; /* return address of the handler; the code there calls SYS_sigreturn */
	/*
	 * Signals that are blocked while the handler runs, in addition to the handled signal. Bit n - 1 is
	 * signal n.
	 */
	uint32_t mask;
	uint32_t flags;
};

/*
 * Threads.
 *
 * The threads of a process share memory, descriptors, working directory, ids and signal actions. Each thread
 * has its own registers, name, blocked signals, and pending signals that thread_kill sent to it. A signal to
 * the process is handled by one thread that does not block it. exit ends all threads; so does a signal whose
 * default action is to end the process. execve ends all threads except the caller. fork copies only the
 * caller. setname sets the name of the calling thread.
 *
 * thread_create(entry, argument, stack, tls, name)
 *	Starts a thread that calls entry(argument) with the stack pointer `stack`, a multiple of 16. entry
 *	must not return. tls is the initial value of the thread-local storage register (FS base, TPIDR_EL0,
 *	tp). name may be NULL. Returns the thread's id. EAGAIN: out of memory or ids, or the process is
 *	ending.
 * thread_tls(tls)
 *	Sets the thread-local storage register of the calling thread.
 * thread_exit()
 *	Ends the calling thread. When the last thread ends, the process ends with status 0. The pid remains
 *	the id of the first thread, even after that thread has ended.
 * thread_join(thread)
 *	Waits until the process has no thread with that id. EDEADLK: the id is the caller's own. EINTR.
 * wait_on(word, value, timeout, flags, name)
 *	If the 32-bit word equals `value`, sleeps until wake(word, …). timeout is in ms; a negative one means
 *	no limit. With WAIT_OWNER the word is a lock whose low 22 bits are the id of the thread that holds it.
 *	name is for traces and may be NULL. EAGAIN: the word has a different value. ETIMEDOUT, EINTR, EFAULT.
 *	EINVAL: the address is not a multiple of 4.
 * wake(word, most)
 *	Wakes at most `most` threads that sleep in wait_on(word, …). Returns how many it woke.
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

/* The status that wait4 stores: exit code << 8, or the number of the signal that ended the process. */
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
	uint16_t port;	  /* in host byte order, which is little-endian on all supported architectures */
	uint32_t address; /* host byte order */
};

struct abi_utsname {
	char sysname[32], release[32], machine[32];
};

#define REBOOT_POWER_OFF 0 /* the command is this number plus (exit status << 8) */
#define REBOOT_RESTART	 1

#endif
