/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * For the tests of `ktrace record`:
 *
 *	waits sleeps N		makes 200 calls that do not wait, waits N times, then makes 200 more calls
 *				that do not wait. Before and after these calls, it makes a mkdir(2) that fails.
 *	waits sockets PATH	reads and sets addresses of sockets: unnamed, abstract, in the file system,
 *				of other families.
 *	waits signal		catches SIGUSR1, prints "ready", waits for a line, sends itself SIGUSR1, and
 *				ends.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void no_waits(void)
{
	for (int n = 0; n < 200; n++)
		syscall(SYS_getppid);
}

static int sleeps(int count)
{
	const struct timespec pause = { 0, 1000000 };

	if (mkdir("/nowhere/begin", 0700) == 0)
		return EXIT_FAILURE;
	no_waits();
	for (int n = 0; n < count; n++)
		nanosleep(&pause, NULL);
	no_waits();
	return mkdir("/nowhere/end", 0700) == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int name_of(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &size);
}

static int sockets(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct sockaddr_nl netlink = { .nl_family = AF_NETLINK, .nl_groups = 5 };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int pair[2], named = socket(AF_UNIX, SOCK_STREAM, 0), abstract = socket(AF_UNIX, SOCK_STREAM, 0);
	int other = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), datagram = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || name_of(pair[0]) < 0)
		return EXIT_FAILURE;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (bind(named, (struct sockaddr *)&address, sizeof(address)) < 0 || name_of(named) < 0)
		return EXIT_FAILURE;
	snprintf(address.sun_path, sizeof(address.sun_path), "%cktrace %d", 0, (int)getpid());
	if (bind(abstract, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 10) < 0)
		return EXIT_FAILURE;
	if (other >= 0)
		connect(other, (struct sockaddr *)&netlink, sizeof(netlink));
	connect(datagram, &none, sizeof(none));
	connect(datagram, &none, sizeof(none.sa_family));
	return EXIT_SUCCESS;
}

static void caught(int number)
{
	(void)number;
}

static int await_signal(void)
{
	char line[8];

	signal(SIGUSR1, caught);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6 || read(STDIN_FILENO, line, sizeof(line)) <= 0)
		return EXIT_FAILURE;
	return raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "sleeps") == 0)
		return sleeps(atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "sockets") == 0)
		return sockets(argv[2]);
	if (argc == 2 && strcmp(argv[1], "signal") == 0)
		return await_signal();
	fprintf(stderr, "usage: waits sleeps N | sockets PATH | signal\n");
	return EXIT_FAILURE;
}
