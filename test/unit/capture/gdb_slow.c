/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the client of gdb's protocol with servers that send slowly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/gdb.h"
#include "capture/extract.h"
#include "capture/wait.h"

#define TIMEOUT_MS 1000 /* a reply takes 140 ms; on a busy host, it takes longer */
#define STEADY_MS  500	/* a reply of 512 bytes takes 120 ms */
#define PAUSE_MS   20
#define LONG_MOST  512u /* maximum length of a reply in this test, in bytes */

/*
 * A server that answers each packet with `reply`, but the packet D with OK. It sends `part` bytes at a time, with
 * a pause after each part.
 */
struct server {
	char path[64];
	int listener;
	const char *reply;
	size_t part;
	pthread_t thread;
};

static bool send_slowly(const struct server *server, int fd, const char *reply)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
	size_t left = strlen(reply), part;

	for (const char *at = reply; left; at += part, left -= part) {
		part = left < server->part ? left : server->part;
		if (send(fd, at, part, MSG_NOSIGNAL) < 0)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void *serve(void *context)
{
	const struct server *server = context;
	int fd = accept(server->listener, NULL, NULL);
	char received[256];
	ssize_t got;

	while ((got = recv(fd, received, sizeof(received), 0)) > 0)
		if (memchr(received, '#', (size_t)got) &&
		    !send_slowly(server, fd,
				 memmem(received, (size_t)got, "$D#", 3) ? "+$OK#9a" : server->reply))
			break;
	close(fd);
	return NULL;
}

static void begin(struct server *server, const char *reply, size_t part)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	server->reply = reply;
	server->part = part;
	snprintf(server->path, sizeof(server->path), "/tmp/ktrace-slow-%ld", (long)getpid());
	unlink(server->path);
	memcpy(address.sun_path, server->path, sizeof(server->path));
	server->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server->listener, 1), 0);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void end(struct server *server)
{
	pthread_join(server->thread, NULL);
	close(server->listener);
	unlink(server->path);
}

/*
 * Each reply arrives within the time limit, but so slowly that all of them together would take far longer.
 */
static void server_that_sends_too_slowly_is_left(void **state)
{
	struct server server;
	const char *reply;
	unsigned commands = 0;
	struct gdb gdb;
	double begun;
	int error;

	(void)state;
	begin(&server, "+$OK#9a", 1);
	assert_int_equal(gdb_open(&gdb, server.path, TIMEOUT_MS), 0);
	begun = capture_now();
	do
		error = gdb_command(&gdb, "qsThreadInfo", &reply);
	while (!error && ++commands < 100);
	assert_in_range(commands, 1, 99);
	assert_int_equal(error, CAPTURE_E_ABSENT);
	assert_non_null(strstr(capture_message(), ": the answers arrive too slowly"));
	assert_true(capture_now() - begun < 20 * TIMEOUT_MS / 1000.0);
	gdb_close(&gdb);
	end(&server);
}

/* The packet that resumes the machine is sent, and its reply is read, after all time has been used. */
static void slow_server_is_asked_to_resume_the_machine(void **state)
{
	const struct capture_ranges ranges = { 0 };
	struct capture_peer *peer = NULL;
	struct server server;
	char *text = NULL;

	(void)state;
	begin(&server, "+$m1#9e", 1); /* a list of threads without an end */
	assert_true(capture_peer_open_gdb(&peer, server.path, &ranges, TIMEOUT_MS) < 0);
	assert_non_null(peer);
	assert_true(peer->ops->registers(peer, 0, &text) < 0);
	assert_non_null(strstr(capture_message(), ": the answers arrive too slowly"));
	assert_int_equal(peer->ops->resume(peer), 0);
	capture_peer_close(peer);
	end(&server);
}

/* Many bytes may take longer in all than the time for one answer. */
static void server_that_sends_steadily_is_read(void **state)
{
	char long_reply[LONG_MOST], digits[LONG_MOST - 10];
	struct server server;
	const char *reply;
	struct gdb gdb;
	double begun;

	(void)state;
	memset(digits, '0', sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	snprintf(long_reply, sizeof(long_reply), "+$%s#%02x", digits,
		 (unsigned)((sizeof(digits) - 1) * '0' & 0xff));
	begin(&server, long_reply, 100);
	assert_int_equal(gdb_open(&gdb, server.path, STEADY_MS), 0);
	begun = capture_now();
	for (unsigned n = 0; n < 40; n++)
		assert_int_equal(gdb_command(&gdb, "g", &reply), 0);
	assert_true(capture_now() - begun > 8 * STEADY_MS / 1000.0);
	gdb_close(&gdb);
	end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(server_that_sends_too_slowly_is_left),
		cmocka_unit_test(slow_server_is_asked_to_resume_the_machine),
		cmocka_unit_test(server_that_sends_steadily_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
