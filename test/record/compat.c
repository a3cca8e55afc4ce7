/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes the system calls of a 32-bit x86 program, by int 0x80 and without a C library. It is built twice: as
 * a 32-bit program, and as a 64-bit program that makes 32-bit calls. All memory that is passed to calls is
 * static, below 4 GB.
 */
#include <stddef.h>
#include <stdint.h>

#define ROOM 4096

uint32_t words[7]; /* number and arguments of the next system call (32-bit registers) */

static uint32_t buffer[ROOM / 4], other[ROOM / 4], pair[2];
static const uint32_t second[4] = { 0, 1000 }; /* a time, with room for 32-bit and for 64-bit members */

/*
 * Makes the system call in words[]. Uses assembly because the sixth argument is in ebp, which C code cannot
 * set.
 */
static __attribute__((noinline)) int32_t make(void)
{
	int32_t result;

	__asm__ volatile("movl words+4, %%ebx\n\tmovl words+8, %%ecx\n\tmovl words+12, %%edx\n\t"
			 "movl words+16, %%esi\n\tmovl words+20, %%edi\n\tmovl words+24, %%ebp\n\t"
			 "movl words, %%eax\n\tint $0x80"
			 : "=a"(result)
			 :
			 : "ebx", "ecx", "edx", "esi", "edi", "ebp", "memory", "cc");
	return result;
}

#define W(value)	  ((uint32_t)(uintptr_t)(value))
#define CALL(number, ...) call((const uint32_t[7]){ number, ##__VA_ARGS__ })

static int32_t call(const uint32_t all[7])
{
	for (unsigned n = 0; n < 7; n++)
		words[n] = all[n];
	return make();
}

static uint32_t text(const char *string)
{
	return W(string);
}

static void files(void)
{
	static char path[] = "/tmp";
	static uint64_t place;
	static struct {
		uint32_t base, size;
	} piece[2];
	uint32_t fd, folder;

	fd = (uint32_t)CALL(5, text("/etc/passwd"), 0);	 /* open */
	CALL(295, (uint32_t)-100, text("/etc/none"), 0); /* openat */
	CALL(3, fd, W(buffer), 16);			 /* read */
	CALL(180, fd, W(buffer), 8, 2, 0);		 /* pread64 */
	CALL(19, fd, 3, 0);				 /* lseek */
	CALL(140, fd, 0, 5, W(&place), 0);		 /* _llseek */
	piece[0].base = W(buffer);
	piece[0].size = 4;
	piece[1].base = W(other);
	piece[1].size = 3;
	CALL(145, fd, W(piece), 2);				      /* readv */
	CALL(333, fd, W(piece), 2, 1, 0);			      /* preadv */
	CALL(195, text("/etc/passwd"), W(buffer));		      /* stat64 */
	CALL(196, text("/etc/passwd"), W(buffer));		      /* lstat64 */
	CALL(197, fd, W(buffer));				      /* fstat64 */
	CALL(106, text("/etc"), W(buffer));			      /* stat */
	CALL(300, (uint32_t)-100, text("/etc"), W(buffer), 0);	      /* fstatat64 */
	CALL(383, (uint32_t)-100, text("/etc"), 0, 0x7ff, W(buffer)); /* statx */
	CALL(268, W(path), 84, W(buffer));			      /* statfs64 */
	CALL(269, fd, 84, W(buffer));				      /* fstatfs64 */
	CALL(99, W(path), W(buffer));				      /* statfs */
	CALL(221, fd, 3);					      /* fcntl64 F_GETFL */
	other[0] = other[1] = other[2] = other[3] = other[4] = other[5] = 0;
	CALL(221, fd, 12, W(other)); /* F_GETLK64 */
	other[0] = 0;
	CALL(221, fd, 5, W(other));					    /* F_GETLK */
	CALL(6, fd);							    /* close */
	CALL(33, text("/etc/passwd"), 4);				    /* access */
	CALL(183, W(buffer), ROOM);					    /* getcwd */
	CALL(85, text("/proc/self/exe"), W(buffer), ROOM);		    /* readlink */
	CALL(305, (uint32_t)-100, text("/proc/self/exe"), W(buffer), ROOM); /* readlinkat */
	folder = (uint32_t)CALL(5, text("/etc/apt"), 0x10000);
	CALL(220, folder, W(buffer), ROOM); /* getdents64 */
	CALL(6, folder);
	fd = (uint32_t)CALL(356, text("memory"), 0); /* memfd_create */
	CALL(194, fd, 100, 0);			     /* ftruncate64 */
	CALL(93, fd, 90);			     /* ftruncate */
	CALL(324, fd, 0, 0, 0, 200, 0);		     /* fallocate */
	CALL(181, fd, text("abc"), 3, 1, 0);	     /* pwrite64 */
	CALL(239, 1, fd, W(&place), 0);		     /* sendfile64 */
	CALL(6, fd);
}

static void memory(void)
{
	uint32_t at;

	static uint32_t arguments[6] = { 0, 8192, 3, 0x22, (uint32_t)-1, 0 };

	CALL(45, 0);			       /* brk */
	at = (uint32_t)CALL(90, W(arguments)); /* old mmap */
	CALL(91, at, 8192);		       /* munmap */
	/* old mmap; the address of its arguments is invalid */
	CALL(90, 1);
	at = (uint32_t)CALL(192, 0, 8192, 3, 0x22, (uint32_t)-1, 0); /* mmap2 */
	CALL(125, at, 4096, 1);					     /* mprotect */
	CALL(219, at, 4096, 4);					     /* madvise */
	CALL(91, at, 8192);					     /* munmap */
}

static void waits(void)
{
	static struct {
		uint32_t fd;
		uint16_t events, revents;
	} polled;
	static struct {
		uint32_t events, data[2];
	} __attribute__((packed)) event = { 1, { 7, 0 } };
	static uint32_t set[32], none[2] = { 0, 0 }, mask[2] = { 0x200, 0 }, with_size[2], zero[4];
	static uint32_t arguments[5];
	uint32_t epoll;

	CALL(331, W(pair), 0); /* pipe2 */
	set[0] = 1u << pair[0];
	CALL(142, pair[0] + 1, W(set), 0, 0, W(none)); /* _newselect, with no data to read */
	CALL(4, pair[1], text("data"), 4);	       /* write */
	CALL(54, pair[0], 0x541b, W(buffer));	       /* ioctl FIONREAD */
	polled.fd = pair[0];
	polled.events = 1;
	CALL(168, W(&polled), 1, 0);		       /* poll */
	CALL(309, W(&polled), 1, W(zero), W(mask), 8); /* ppoll */
	set[0] = 1u << pair[0];
	CALL(142, pair[0] + 1, W(set), 0, 0, W(none)); /* _newselect */
	arguments[0] = pair[0] + 1;
	arguments[1] = W(set);
	arguments[4] = W(none);
	CALL(82, W(arguments)); /* old select */
	with_size[0] = W(mask);
	with_size[1] = 8;
	CALL(308, pair[0] + 1, W(set), 0, 0, W(none), W(with_size)); /* pselect6 */
	epoll = (uint32_t)CALL(329, 0x80000);			     /* epoll_create1 */
	CALL(255, epoll, 1, pair[0], W(&event));		     /* epoll_ctl */
	CALL(256, epoll, W(buffer), 4, 0);			     /* epoll_wait */
	CALL(319, epoll, W(buffer), 4, 0, W(mask), 8);		     /* epoll_pwait */
	CALL(6, epoll);
	CALL(6, pair[0]);
	CALL(6, pair[1]);
	CALL(42, W(pair));			/* pipe */
	CALL(63, pair[0], 50);			/* dup2 */
	CALL(330, pair[0], 51, 0x80000);	/* dup3 */
	CALL(328, 3, 0x800);			/* eventfd2 */
	CALL(327, (uint32_t)-1, W(mask), 8, 0); /* signalfd4 */
}

static void times(void)
{
	static uint32_t interval[4] = { 0, 0, 100, 0 }, long_interval[8] = { 0, 0, 0, 0, 100, 0, 0, 0 };
	uint32_t fd;

	CALL(78, W(buffer), W(other));		       /* gettimeofday */
	CALL(265, 1, W(buffer));		       /* clock_gettime */
	CALL(403, 1, W(buffer));		       /* clock_gettime64 */
	CALL(266, 1, W(buffer));		       /* clock_getres */
	CALL(162, W(second), 0);		       /* nanosleep */
	CALL(267, 1, 0, W(second), 0);		       /* clock_nanosleep */
	CALL(104, 0, W(interval), W(buffer));	       /* setitimer */
	CALL(105, 0, W(buffer));		       /* getitimer */
	fd = (uint32_t)CALL(322, 1, 0);		       /* timerfd_create */
	CALL(325, fd, 0, W(interval), W(buffer));      /* timerfd_settime */
	CALL(411, fd, 0, W(long_interval), W(buffer)); /* timerfd_settime64 */
	CALL(43, W(buffer));			       /* times */
	CALL(13, W(buffer));			       /* time */
	CALL(240, W(other), 129, 1);		       /* futex */
	CALL(422, W(other), 129, 1);		       /* futex_time64 */
	other[0] = 5;
	CALL(240, W(other), 128, 5, W(second));		       /* FUTEX_WAIT_PRIVATE */
	CALL(240, W(other), 137, 5, W(second), 0, 0xffffffff); /* FUTEX_WAIT_BITSET_PRIVATE */
}

static void facts(void)
{
	static uint32_t limit[2] = { 100, 200 };
	static const uint16_t groups[2] = { 10, 20 };

	CALL(122, W(buffer));				    /* uname */
	CALL(116, W(buffer));				    /* sysinfo */
	CALL(77, 0, W(buffer));				    /* getrusage */
	CALL(191, 7, W(buffer));			    /* ugetrlimit */
	CALL(75, 4, W(limit));				    /* setrlimit */
	CALL(340, 0, 7, 0, W(buffer));			    /* prlimit64 */
	CALL(199);					    /* getuid32 */
	CALL(209, W(buffer), W(buffer + 1), W(buffer + 2)); /* getresuid32 */
	CALL(205, 64, W(buffer));			    /* getgroups32 */
	CALL(165, W(buffer), W(buffer + 1), W(buffer + 2)); /* getresuid */
	CALL(171, W(buffer), W(buffer + 1), W(buffer + 2)); /* getresgid */
	CALL(81, 2, W(groups));				    /* setgroups; succeeds only for root */
	CALL(80, 64, W(buffer));			    /* getgroups */
	CALL(242, 0, 128, W(buffer));			    /* sched_getaffinity */
	CALL(258, W(buffer));				    /* set_tid_address */
	CALL(355, W(buffer), 8, 0);			    /* getrandom */
}

static void signals(void)
{
	static uint32_t action[5] = { 1, 0x10000000, 0, 0x200, 0 }, old_action[4] = { 1, 0x200, 0, 0 };
	static uint32_t mask[2] = { 0x200, 0 }, stack[3];

	CALL(174, 10, W(action), W(buffer), 8); /* rt_sigaction */
	CALL(67, 12, W(old_action), W(buffer)); /* sigaction */
	CALL(48, 12, 0);			/* signal */
	CALL(175, 0, W(mask), W(buffer), 8);	/* rt_sigprocmask */
	CALL(126, 1, W(mask), W(buffer));	/* sigprocmask */
	CALL(176, W(buffer), 8);		/* rt_sigpending */
	stack[0] = W(buffer);
	stack[2] = ROOM;
	CALL(186, W(stack), W(other)); /* sigaltstack */
}

static void sockets(void)
{
	static struct {
		uint16_t family, port;
		uint32_t address, zero[2];
	} address = { 2, 0, 0x0100007f, { 0, 0 } };
	static uint32_t length, one = 1, arguments[6], message[7], many[2][8];
	static uint32_t time[2] = { 1, 0 }, long_time[4] = { 1, 0, 0, 0 };
	static struct {
		uint32_t base, size;
	} piece[2];
	uint32_t fd = (uint32_t)CALL(359, 2, 2, 0); /* socket */

	CALL(361, fd, W(&address), 16); /* bind */
	length = 16;
	CALL(367, fd, W(&address), W(&length)); /* getsockname */
	CALL(366, fd, 1, 2, W(&one), 4);	/* setsockopt */
	length = 4;
	CALL(365, fd, 1, 3, W(buffer), W(&length));		 /* getsockopt */
	CALL(369, fd, text("to myself"), 9, 0, W(&address), 16); /* sendto */
	length = 16;
	CALL(371, fd, W(buffer), ROOM, 0, W(other), W(&length)); /* recvfrom */
	CALL(360, 1, 1, 0, W(pair));				 /* socketpair */
	piece[0].base = text("one");
	piece[0].size = 3;
	piece[1].base = text("two");
	piece[1].size = 3;
	message[2] = W(piece);
	message[3] = 2;
	CALL(370, pair[0], W(message), 0); /* sendmsg */
	piece[0].base = W(buffer);
	piece[0].size = ROOM;
	message[3] = 1;
	CALL(372, pair[1], W(message), 0); /* recvmsg */
	arguments[0] = 1;
	arguments[1] = 2;
	arguments[3] = W(pair);
	CALL(102, 8, W(arguments)); /* socketcall: socketpair */
	piece[0].base = text("many");
	piece[0].size = 4;
	many[0][2] = many[1][2] = W(piece);
	many[0][3] = 1;
	many[1][3] = 2;
	CALL(345, pair[0], W(many), 2, 0); /* sendmmsg */
	piece[0].base = W(buffer);
	arguments[0] = pair[1];
	arguments[1] = W(many);
	arguments[2] = 1;
	arguments[3] = 0x40;
	arguments[4] = W(time);
	CALL(102, 19, W(arguments));			    /* socketcall: recvmmsg */
	CALL(417, pair[1], W(many), 1, 0x40, W(long_time)); /* recvmmsg_time64 */
}

/* The first argument of ipc() selects the operation. */
static void semaphores(void)
{
	static uint32_t value, address;
	static struct {
		uint16_t number;
		int16_t operation, flags;
	} operation[2] = { { 0, -1, 0x800 }, { 0, 1, 0 } };
	uint32_t id = (uint32_t)CALL(117, 2, 0, 1, 0600); /* semget, IPC_PRIVATE */

	value = 1;
	CALL(117, 3, id, 0, 0x100 | 16, W(&value));	 /* semctl SETVAL */
	CALL(117, 1, id, 2, 0, W(operation));		 /* semop */
	CALL(117, 4, id, 2, 0, W(operation), W(second)); /* semtimedop */
	CALL(117, 3, id, 0, 0x100, W(&value));		 /* semctl IPC_RMID */
	id = (uint32_t)CALL(117, 23, 0, 4096, 0600);	 /* shmget */
	CALL(117, 21, id, 0, W(&address), 0);		 /* shmat */
	CALL(117, 22, 0, 0, 0, address);		 /* shmdt */
	CALL(117, 24, id, 0x100, 0, 0);			 /* shmctl IPC_RMID */
	id = (uint32_t)CALL(117, 13, 0, 0600);		 /* msgget */
	buffer[0] = 7;
	CALL(117, 11, id, 4, 0, W(buffer));	   /* msgsnd */
	CALL(117, 0x1000c, id, 4, 0, W(other), 7); /* msgrcv */
	CALL(117, 14, id, 0x100, 0, 0);		   /* msgctl IPC_RMID */
}

static void children(void)
{
	static uint32_t argument[3], variable[2];
	int32_t child = CALL(2); /* fork */

	if (child == 0)
		CALL(252, 3);			/* exit_group */
	CALL(7, (uint32_t)child, W(buffer), 0); /* waitpid */
	child = CALL(2);
	if (child == 0) {
		argument[0] = text("true");
		argument[1] = text("word");
		variable[0] = text("NAME=value");
		CALL(11, text("/bin/true"), W(argument), W(variable)); /* execve */
		CALL(252, 4);
	}
	CALL(284, 1, (uint32_t)child, W(buffer), 0x1000004, W(other)); /* waitid */
	CALL(114, (uint32_t)child, W(buffer), 0, W(other));	       /* wait4 */
}

void _start(void);
void _start(void)
{
	files();
	memory();
	waits();
	times();
	facts();
	signals();
	sockets();
	semaphores();
	children();
	CALL(252, 0);
	__builtin_unreachable();
}
