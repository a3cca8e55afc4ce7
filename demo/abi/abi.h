/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What user programs and the kernel agree on. Both sides include it; it includes nothing but integers. */
#ifndef DEMO_ABI_H
#define DEMO_ABI_H

#include <stdint.h>

enum {
#define CALL(number, name, ...) SYS_##name = number,
#include "syscalls.def"
	SYS_COUNT = 74,
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
#define ERROR(number, name) name = number,
#include "errors.def"
};

/* Signals. */
#define SIGHUP	  1
#define SIGINT	  2
#define SIGQUIT	  3
#define SIGILL	  4
#define SIGTRAP	  5
#define SIGABRT	  6
#define SIGBUS	  7
#define SIGFPE	  8
#define SIGKILL	  9
#define SIGUSR1	  10
#define SIGSEGV	  11
#define SIGUSR2	  12
#define SIGPIPE	  13
#define SIGALRM	  14
#define SIGTERM	  15
#define SIGCHLD	  17
#define SIGCONT	  18
#define SIGSTOP	  19
#define SIG_COUNT 32

#define SIG_DFL	    UINT64_C(0)
#define SIG_IGN	    UINT64_C(1)
#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

struct abi_sigaction {
	uint64_t handler;  /* void (*)(int), SIG_DFL or SIG_IGN */
	uint64_t restorer; /* returns from a handler by SYS_sigreturn */
	uint32_t mask;	   /* blocked meanwhile, besides the signal itself: bit n - 1 for signal n */
	uint32_t flags;
};

/* open */
#define O_RDONLY   0
#define O_WRONLY   1
#define O_RDWR	   2
#define O_ACCMODE  3
#define O_CREAT	   0100
#define O_EXCL	   0200
#define O_TRUNC	   01000
#define O_APPEND   02000
#define O_NONBLOCK 04000
#define O_CLOEXEC  02000000

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

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

#define NAME_MAX 59
#define PATH_MAX 256

struct abi_dirent {
	uint32_t ino;
	char name[NAME_MAX + 1]; /* NUL-terminated */
};

#define PROT_READ     1
#define PROT_WRITE    2
#define PROT_EXEC     4
#define MAP_PRIVATE   2
#define MAP_ANONYMOUS 32

#define WNOHANG 1
/* Status of wait4: exit code << 8, or the signal that ended it. */
#define WIFEXITED(status)   (((status)&0x7f) == 0)
#define WEXITSTATUS(status) ((status) >> 8 & 0xff)
#define WTERMSIG(status)    ((status)&0x7f)

struct abi_timespec {
	int64_t sec, nsec;
};
#define CLOCK_REALTIME	0
#define CLOCK_MONOTONIC 1

#define POLLIN	 0x01
#define POLLOUT	 0x04
#define POLLERR	 0x08
#define POLLHUP	 0x10
#define POLLNVAL 0x20

struct abi_pollfd {
	int32_t fd;
	int16_t events, revents;
};

#define AF_INET		2
#define SOCK_STREAM	1
#define SOCK_DGRAM	2
#define SOCK_NONBLOCK	O_NONBLOCK /* with the type, for there is no fcntl */
#define SOCK_CLOEXEC	O_CLOEXEC
#define INADDR_LOOPBACK 0x7f000001u
#define INADDR_ANY	0u

/* shutdown */
#define SHUT_RD	  0
#define SHUT_WR	  1
#define SHUT_RDWR 2

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
