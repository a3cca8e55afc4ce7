/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "error.h"

double capture_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fill(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void capture_hold_signals(sigset_t *before)
{
	sigset_t held;

	fill(&held);
	sigprocmask(SIG_BLOCK, &held, before);
}

int capture_check_interrupt(const char *what)
{
	sigset_t pending;

	if (sigpending(&pending) != 0 || !(sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
					   sigismember(&pending, SIGHUP)))
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s: interrupted", what);
}

int capture_take_signal(void)
{
	sigset_t held;
	int taken;

	fill(&held);
	taken = sigtimedwait(&held, NULL, &(struct timespec){ 0 });
	return taken > 0 ? taken : 0;
}

void capture_release_signals(const sigset_t *before, int taken)
{
	if (taken)
		raise(taken);
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* ---- Signals through a descriptor ---- */

int capture_signals_open(struct capture_signals *signals)
{
	sigset_t taken;

	signals->from = -1;
	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &taken, &signals->before) != 0)
		return capture_fail_errno("sigprocmask");
	signals->from = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->from >= 0)
		return 0;
	capture_fail_errno("signalfd");
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
	return CAPTURE_E_SYSTEM;
}

int capture_signals_take(const struct capture_signals *signals, unsigned *count)
{
	struct signalfd_siginfo info;
	int last = 0;

	while (read(signals->from, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		last = (int)info.ssi_signo;
		++*count;
	}
	return last;
}

void capture_signals_close(struct capture_signals *signals)
{
	if (signals->from < 0)
		return;
	close(signals->from);
	signals->from = -1;
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

/* ---- Connections ---- */

#define STEP_MS 50 /* time, in ms, between two checks for a signal */

int capture_await(int fd, bool to_write, int timeout_ms, const char *address)
{
	double end = capture_now() + timeout_ms / 1000.0;
	struct pollfd wait = { .fd = fd, .events = to_write ? POLLOUT : POLLIN };

	do {
		int left = (int)((end - capture_now()) * 1000) + 1;
		int ready = poll(&wait, 1, left < STEP_MS ? (left > 0 ? left : 0) : STEP_MS);

		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return capture_fail_errno("%s", address);
		if (capture_check_interrupt(address) != 0)
			return CAPTURE_E_SYSTEM;
	} while (capture_now() < end);
	return capture_fail(CAPTURE_E_ABSENT, "%s: no answer within %d ms", address, timeout_ms);
}

/*
 * Completes a connection that connect() has begun but not completed. Requires: connect() has just failed, and
 * errno is its error.
 */
static int finish(int fd, int timeout_ms, const char *address)
{
	socklen_t size = sizeof(int);
	int failure = 0, error;

	if (errno != EINPROGRESS)
		return capture_fail_errno("%s", address);
	error = capture_await(fd, true, timeout_ms, address);
	if (error)
		return error;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size);
	errno = failure;
	return failure ? capture_fail_errno("%s", address) : 0;
}

static int dial(int family, const struct sockaddr *to, socklen_t size, int timeout_ms, const char *address)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	const int on = 1;

	if (fd < 0)
		return capture_fail_errno("%s", address);
	/* send each small packet without delay, because we wait for the answer before we continue */
	if (family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, to, size) != 0)
		error = finish(fd, timeout_ms, address);
	if (!error)
		return fd;
	close(fd);
	return error;
}

static int dial_path(const char *path, int timeout_ms, const char *address)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	if (snprintf(to.sun_path, sizeof(to.sun_path), "%s", path) >= (int)sizeof(to.sun_path))
		return capture_fail(CAPTURE_E_USAGE, "%s: too long for a socket's path", address);
	return dial(AF_UNIX, (const struct sockaddr *)&to, sizeof(to), timeout_ms, address);
}

static int dial_host(const char *text, int timeout_ms, const char *address)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	struct addrinfo *found = NULL;
	char host[256];
	int fd, error;

	if (snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text) >= (int)sizeof(host))
		return capture_fail(CAPTURE_E_USAGE, "%.40s…: the host name is too long", address);
	error = getaddrinfo(host[0] ? host : "localhost", colon + 1, &hints, &found);
	if (error)
		return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", address, gai_strerror(error));
	fd = CAPTURE_E_SYSTEM;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = dial(at->ai_family, at->ai_addr, at->ai_addrlen, timeout_ms, address);
	freeaddrinfo(found);
	return fd;
}

int capture_dial(const char *address, int timeout_ms)
{
	if (strncmp(address, "unix:", 5) == 0)
		return dial_path(address + 5, timeout_ms, address);
	if (strncmp(address, "tcp:", 4) == 0 && strchr(address + 4, ':'))
		return dial_host(address + 4, timeout_ms, address);
	if (!strchr(address, '/') && strchr(address, ':'))
		return dial_host(address, timeout_ms, address);
	return dial_path(address, timeout_ms, address);
}
