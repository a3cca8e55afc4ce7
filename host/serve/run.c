/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The loop of the server. Prints the server's address on standard error, and opens it in a browser. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/open.h"
#include "serve/server.h"

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

/* ---- The browser ---- */

/*
 * Writes a file that leads the browser to the server, and starts the browser with it. Only the owner can read
 * the file. The address is not an argument of the browser, because then all users of this machine could see
 * the token. Stores the file's path, or "" if there is no file. The caller deletes the file at the end.
 */
static void open_browser(const char *address, char path[PATH_MAX])
{
	char text[512];
	int file, length;
	pid_t child;

	path[0] = '\0';
	if (snprintf(path, PATH_MAX, "%s/ktrace-open-XXXXXX.html", base_temporary_folder()) >= PATH_MAX)
		return;
	file = mkostemps(path, 5, O_CLOEXEC); /* the file is created with mode 0600 */
	if (file < 0) {
		path[0] = '\0';
		return;
	}
	length = snprintf(
		text, sizeof(text),
		"<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
		"<meta http-equiv=\"refresh\" content=\"0;url=%s\"><a href=\"%s\">ktrace open</a>\n",
		address, address);
	if (write(file, text, (size_t)length) != length)
		length = -1;
	close(file);
	child = length < 0 ? -1 : fork();
	if (child == 0) {
		const int nothing = open("/dev/null", O_RDWR);

		/* the browser becomes a child of init, so that the server need not wait for it */
		if (fork() != 0)
			_exit(0);
		setsid();
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
		dup2(nothing, STDERR_FILENO);
		close_range(3, ~0u, 0);
		execlp("xdg-open", "xdg-open", path, (char *)NULL);
		_exit(EXIT_FAILURE);
	}
	if (child > 0)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			continue;
}

/* ---- The loop ---- */

static int least(int timeout, long long other)
{
	if (other < 0 || (timeout >= 0 && timeout <= other))
		return timeout;
	return other > INT_MAX ? INT_MAX : (int)other;
}

static void add_descriptor(int descriptor, fd_set *set, int *most)
{
	if (descriptor < 0)
		return;
	FD_SET(descriptor, set);
	*most = descriptor > *most ? descriptor : *most;
}

/*
 * Waits for input, for a time limit or for a signal, and handles it. Uses select(2), because it also reports
 * that a client has closed its side after an incomplete request; the daemon's own epoll(7) does not report
 * this. Returns 0 or -1.
 */
static int step(struct serve_server *server)
{
	MHD_UNSIGNED_LONG_LONG wait;
	fd_set reads, writes, errors;
	struct timespec time;
	int timeout = serve_peers_expire(server), most = -1;
	sigset_t none;

	FD_ZERO(&reads);
	FD_ZERO(&writes);
	FD_ZERO(&errors);
	if (MHD_get_fdset(server->daemon, &reads, &writes, &errors, &most) != MHD_YES)
		return -1;
	add_descriptor(server->store.job.descriptor, &reads, &most);
	for (const struct serve_call *call = server->calls; call; call = call->next)
		add_descriptor(call->job.descriptor, &reads, &most);
	if (MHD_get_timeout(server->daemon, &wait) == MHD_YES)
		timeout = least(timeout, (long long)wait);
	time = (struct timespec){ timeout / 1000, timeout % 1000 * 1000000L };
	sigemptyset(&none);
	if (pselect(most + 1, &reads, &writes, &errors, timeout < 0 ? NULL : &time, &none) < 0)
		return errno == EINTR ? 0 : -1;
	serve_store_step(server);
	serve_calls_step(server);
	if (MHD_run_from_select(server->daemon, &reads, &writes, &errors) != MHD_YES)
		return -1;
	serve_calls_step(server);
	return 0;
}

/* signals are unblocked only while the loop waits */
static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = stop };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

int serve_run(const struct serve_options *options)
{
	struct serve_server server = { .options = options, .source.options = options };
	char address[96], file[PATH_MAX] = "";
	int error, status = 0;

	if (stat(options->path, &server.source.file) != 0) {
		fprintf(stderr, "%s: %s: %s\n", options->name, options->path, strerror(errno));
		return -1;
	}
	catch_signals();
	error = serve_listen(&server);
	if (error) {
		fprintf(stderr, "%s: 127.0.0.1:%u: %s\n", options->name, options->port, strerror(error));
		return -1;
	}
	error = serve_store_start(&server);
	if (error) {
		fprintf(stderr, "%s: %s\n", options->name, strerror(error));
		serve_stop(&server);
		return -1;
	}
	snprintf(address, sizeof(address), "http://127.0.0.1:%u/%s/", server.port, server.token);
	fprintf(stderr, "%s: %s (Ctrl-C ends it)\n", options->name, address);
	if (options->browser)
		open_browser(address, file);
	while (!stopped && status == 0)
		status = step(&server);
	serve_stop(&server);
	if (file[0])
		unlink(file);
	if (status < 0)
		fprintf(stderr, "%s: the server failed\n", options->name);
	return status;
}
