/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes the system calls of a runtime that uses no C library, such as Go's. It creates a thread by clone(),
 * uses all futex operations, handles signals on their own stack, and wakes an epoll wait through a pipe. It
 * also passes structs that contain descriptors.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK 65536

static uint32_t word, other, ended;
static pid_t parent_tid, child_tid;
static _Alignas(16) char stack[STACK], signal_stack[STACK];

static long futex(uint32_t *at, int operation, uint32_t value, const void *timeout, uint32_t *second,
		  uint32_t third)
{
	return syscall(SYS_futex, at, operation, value, timeout, second, third);
}

/*
 * The thread has no thread-local memory, so it must not call the C library. It makes system calls by number.
 */
static int thread(void *argument)
{
	static const struct timespec short_time = { 0, 1000 };

	syscall(SYS_gettid);
	syscall(SYS_nanosleep, &short_time, NULL);
	ended = 1;
	futex(argument, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	syscall(SYS_exit, 0);
	return 0;
}

static void threads(void)
{
	clone(thread, stack + STACK,
	      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_SYSVSEM | CLONE_THREAD |
		      CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	      &ended, &parent_tid, NULL, &child_tid);
	while (*(volatile uint32_t *)&ended == 0)
		futex(&ended, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void futexes(void)
{
	static const struct timespec past = { 0, 1000 };

	futex(&word, FUTEX_WAIT_PRIVATE, 0, &past, NULL, 0);
	futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &past, NULL, FUTEX_BITSET_MATCH_ANY);
	futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &past, NULL, 6);
	futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 6);
	futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	futex(&word, FUTEX_REQUEUE_PRIVATE, 1, (const void *)(uintptr_t)INT_MAX, &other, 0);
	futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (const void *)(uintptr_t)INT_MAX, &other, 0);
	futex(&word, FUTEX_WAKE_OP_PRIVATE, 1, (const void *)(uintptr_t)1, &other,
	      FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 0));
	futex(&word, FUTEX_TRYLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void signals(void)
{
	const stack_t on = { .ss_sp = signal_stack, .ss_size = STACK };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART };

	sigaltstack(&on, NULL);
	sigaction(SIGURG, &action, NULL);
	sigaddset(&action.sa_mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &action.sa_mask, NULL);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGURG);
}

/* Sends signals in different ways. */
static void senders(void)
{
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_SIGINFO };
	const union sigval value = { .sival_int = 5 };

	sigaction(SIGUSR2, &action, NULL);
	kill(getpid(), SIGUSR2);
	sigqueue(getpid(), SIGUSR2, value);
	if (fork() == 0)
		raise(SIGSEGV);
	wait(NULL);
	if (fork() == 0)
		*(volatile char *)16 = 1;
	wait(NULL);
	if (fork() == 0)
		_exit(3);
	wait(NULL);
}

static void memory(void)
{
	unsigned long cpus[16];
	void *at = mmap(NULL, 1 << 20, PROT_NONE, MAP_ANON | MAP_PRIVATE, -1, 0);

	mmap(at, 1 << 16, PROT_READ | PROT_WRITE, MAP_ANON | MAP_FIXED | MAP_PRIVATE, -1, 0);
	madvise(at, 1 << 16, MADV_NOHUGEPAGE);
	madvise(at, 1 << 16, MADV_DONTNEED);
	syscall(SYS_sched_getaffinity, 0, sizeof(cpus), cpus);
	munmap(at, 1 << 20);
}

static void polls(void)
{
	static const struct timespec none;
	struct {
		const sigset_t *set;
		size_t size;
	} with_size;
	struct epoll_event event = { .events = EPOLLIN | EPOLLET }, events[8];
	struct pollfd polled;
	sigset_t mask;
	fd_set set;
	int ends[2], epoll = epoll_create1(EPOLL_CLOEXEC),
		     counter = (int)syscall(SYS_eventfd2, 0, O_NONBLOCK), size;

	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
		return;
	event.data.fd = ends[0];
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
	epoll_pwait(epoll, events, 8, 0, NULL);
	if (write(ends[1], "x", 1) != 1)
		return;
	epoll_pwait(epoll, events, 8, 0, NULL);
	ioctl(ends[0], FIONREAD, &size);
	polled = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	ppoll(&polled, 1, &none, NULL);
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	with_size.set = &mask;
	with_size.size = 8;
	syscall(SYS_pselect6, ends[0] + 1, &set, NULL, NULL, &none, &with_size);
	FD_ZERO(&set);
	FD_SET(counter, &set);
	syscall(SYS_pselect6, counter + 1, NULL, &set, NULL, &none, NULL);
	epoll_ctl(epoll, EPOLL_CTL_DEL, ends[0], NULL);
	close(counter);
}

static void passing(void)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	char text[8];
	struct iovec piece = { text, sizeof(text) };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control };
	int pair[2], passed[2];

	passed[0] = open("/etc/passwd", O_RDONLY);
	passed[1] = open("/dev/null", O_RDWR);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return;
	memset(&control, 0, sizeof(control));
	memset(text, 'x', sizeof(text));
	message.msg_controllen = CMSG_SPACE(sizeof(passed));
	control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(passed)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), passed, sizeof(passed));
	if (sendmsg(pair[0], &message, 0) < 0 || recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC) < 0)
		return;
	memcpy(passed, CMSG_DATA(&control.head), sizeof(passed));
	close(passed[0]);
}

/* Sends two messages with one call, and receives both with one call. */
static void many_messages(void)
{
	static const struct timespec second = { .tv_sec = 1 };
	char text[3][8] = { "first", "and", "second" }, come[3][8];
	struct iovec piece[3] = { { text[0], 5 }, { text[1], 3 }, { text[2], 6 } },
		     room[3] = { { come[0], 8 }, { come[1], 8 }, { come[2], 8 } };
	struct mmsghdr given[2] = { { .msg_hdr = { .msg_iov = piece, .msg_iovlen = 2 } },
				    { .msg_hdr = { .msg_iov = piece + 2, .msg_iovlen = 1 } } };
	struct mmsghdr taken[3] = { { .msg_hdr = { .msg_iov = room, .msg_iovlen = 1 } },
				    { .msg_hdr = { .msg_iov = room + 1, .msg_iovlen = 1 } },
				    { .msg_hdr = { .msg_iov = room + 2, .msg_iovlen = 1 } } };
	struct mmsghdr many[70];
	struct timespec left = second;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return;
	for (unsigned n = 0; n < sizeof(many) / sizeof(many[0]); n++)
		many[n] = given[1];
	sendmmsg(pair[0], many, 70, 0);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
		return;
	sendmmsg(pair[0], given, 2, 0);
	recvmmsg(pair[1], taken, 3, MSG_DONTWAIT, &left);
	recvmmsg(pair[1], taken, 1, MSG_DONTWAIT, NULL);
	sendmmsg(-1, given, 2, 0);
}

/* Passes an array at an unaligned address, and a string. Both cross a page boundary. */
static void odd_strings(void)
{
	char *pages = mmap(NULL, 4 << 12, PROT_READ | PROT_WRITE, MAP_ANON | MAP_PRIVATE, -1, 0);
	char *list = pages + (1 << 12) - 12, *crossing = pages + (2 << 12) - 3;
	char *words[] = { crossing, "last", NULL };

	strcpy(crossing, "crossing");
	memcpy(list, words, sizeof(words));
	execve("/nowhere/crossing", (char **)(void *)list, (char **)(void *)(list + 2 * sizeof(words[0])));
}

static void controls(void)
{
	int fd = open("/etc/passwd", O_RDONLY), terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY), number,
	    unlock = 0;
	struct ifreq interface = { .ifr_name = "lo" };
	struct winsize size;

	ioctl(fd, FIOCLEX);
	ioctl(fd, FIONCLEX);
	ioctl(fd, FIONBIO, &unlock);
	ioctl(fd, TIOCGWINSZ, &size);
	ioctl(fd, FS_IOC_GETFLAGS, &number);
	ioctl(fd, FIGETBSZ, &number);
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	ioctl(fd, SIOCGIFINDEX, &interface);
	ioctl(fd, SIOCGIFNAME, &interface);
	ioctl(fd, SIOCGIFFLAGS, &interface);
	ioctl(fd, SIOCGIFMTU, &interface);
	ioctl(fd, SIOCGIFADDR, &interface);
	ioctl(fd, SIOCGIFNETMASK, &interface);
	ioctl(fd, SIOCGIFHWADDR, &interface);
	if (terminal < 0)
		return;
	ioctl(terminal, TIOCSPTLCK, &unlock);
	ioctl(terminal, TIOCGPTN, &number);
	ioctl(terminal, TIOCGWINSZ, &size);
}

int main(void)
{
	memory();
	futexes();
	threads();
	signals();
	senders();
	polls();
	passing();
	many_messages();
	odd_strings();
	controls();
	return 0;
}
