/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The server: connections, the daemon of libmicrohttpd with the callbacks that it calls for each request, and
 * the loop.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/open.h"
#include "serve/server.h"

/* ---- Connections, and their time limits ---- */

/*
 * A client that sends its request slowly, or opens many connections, must not prevent other clients from
 * connecting: the time for a whole request is limited, and if there are many connections, the connection that
 * has waited longest is closed.
 */

uint64_t serve_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void append(struct serve_server *server, struct serve_peer *peer)
{
	peer->since = serve_now();
	peer->previous = server->last;
	peer->next = NULL;
	*(server->last ? &server->last->next : &server->first) = peer;
	server->last = peer;
}

static void take_out(struct serve_server *server, struct serve_peer *peer)
{
	*(peer->previous ? &peer->previous->next : &server->first) = peer->next;
	*(peer->next ? &peer->next->previous : &server->last) = peer->previous;
}

/* Makes the daemon of libmicrohttpd close the connection. */
static void hang_up(struct serve_server *server, struct serve_peer *peer)
{
	shutdown(peer->socket, SHUT_RDWR);
	take_out(server, peer);
	append(server, peer);
}

/* Closes the connection that has been waiting longest for a request. */
static void make_room(struct serve_server *server)
{
	for (struct serve_peer *peer = server->first; peer; peer = peer->next)
		if (!peer->sending) {
			hang_up(server, peer);
			return;
		}
}

static void notify_peer(void *context, struct MHD_Connection *connection, void **mark,
			enum MHD_ConnectionNotificationCode code)
{
	struct serve_server *server = context;
	const union MHD_ConnectionInfo *info;
	struct serve_peer *peer = *mark;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		peer = info ? calloc(1, sizeof(*peer)) : NULL;
		*mark = peer;
		if (!peer)
			return;
		if (++server->peers > SERVE_CROWDED)
			make_room(server);
		peer->socket = info->connect_fd;
		append(server, peer);
	} else if (peer) {
		take_out(server, peer);
		server->peers--;
		free(peer);
		*mark = NULL;
	}
}

/* Records that the answer to a request of the connection begins (if `sending` is set) or is complete. */
static void mark_peer(struct serve_server *server, struct serve_peer *peer, bool sending)
{
	take_out(server, peer);
	append(server, peer);
	peer->sending = sending;
}

/*
 * Closes connections that take too long. Returns the number of milliseconds after which this function must be
 * called again; negative: never.
 */
static int expire_peers(struct serve_server *server)
{
	const uint64_t now = serve_now();
	struct serve_peer *peer = server->first, *next;

	for (unsigned n = server->peers; peer && n; peer = next, n--) {
		next = peer->next;
		if (now - peer->since >= (peer->sending ? SERVE_SEND_MS : SERVE_IDLE_MS))
			hang_up(server, peer);
	}
	return server->first ? 1000 : -1;
}

/* ---- The daemon ---- */

/* maximum number of bytes of a request's head on a connection */
#define MEMORY ((size_t)32 << 10)
/* time after which a connection without activity is closed */
#define TIMEOUT_S   30u
#define TOKEN_BYTES (SERVE_TOKEN / 2)

/* Begins a call, and stores it as the request's `mark`. */
static void *begin_call(void *context, const char *uri, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct serve_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->target = strdup(uri);
	call->connection = connection;
	call->job.descriptor = -1;
	call->peer = info ? info->socket_context : NULL;
	if (!call->target || !call->peer) {
		serve_call_free(context, call);
		return NULL;
	}
	mark_peer(context, call->peer, true);
	return call;
}

static void end_call(void *context, struct MHD_Connection *connection, void **mark,
		     enum MHD_RequestTerminationCode code)
{
	struct serve_call *call = *mark;

	(void)connection;
	(void)code;
	if (!call)
		return;
	mark_peer(context, call->peer, false);
	serve_call_free(context, call);
	*mark = NULL;
}

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct serve_headers *headers = context;

	(void)kind;
	if (strcasecmp(key, "Host") == 0) {
		headers->hosts++;
		headers->host = value;
	} else if (strcasecmp(key, "Origin") == 0) {
		headers->origin = value ? value : "";
	} else if (strcasecmp(key, "Sec-Fetch-Site") == 0) {
		headers->site = value ? value : "";
	} else if (strcasecmp(key, "Sec-Fetch-Mode") == 0) {
		headers->mode = value;
	} else if (strcasecmp(key, "Transfer-Encoding") == 0 ||
		   (strcasecmp(key, "Content-Length") == 0 && strcmp(value ? value : "", "0") != 0)) {
		headers->body = true;
	}
	return MHD_YES;
}

/* Sends the call's response. */
static enum MHD_Result send_response(const struct serve_server *server, struct serve_call *call)
{
	char page[SERVE_TOKEN + 3];

	if (!call->response)
		return MHD_NO;
	if (call->status == SERVE_MOVED) {
		snprintf(page, sizeof(page), "/%s/", server->token);
		MHD_add_response_header(call->response, "Location", page);
	}
	if (call->status == SERVE_METHOD)
		MHD_add_response_header(call->response, "Allow", "GET, HEAD");
	return MHD_queue_response(call->connection, call->status, call->response);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *body, size_t *length,
			      void **mark)
{
	struct serve_headers headers = { .hosts = 0 };
	struct serve_server *server = context;
	struct serve_call *call = *mark;
	char why[SERVE_WHY];

	(void)path;
	(void)version;
	(void)body;
	(void)length;
	if (!call) /* if memory runs out, close the connection */
		return MHD_NO;
	if (call->status) /* the connection was suspended, and its response is ready now */
		return send_response(server, call);
	MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &headers);
	call->status = (unsigned)serve_request_check(method, &headers, server->port, why);
	if (call->status == SERVE_OK)
		call->status = (unsigned)serve_request_parse(&call->request, call->target,
							     strlen(call->target), server->token, why);
	if (call->status != SERVE_OK) {
		call->response = serve_refusal(why);
		return send_response(server, call);
	}
	if (call->request.what <= SERVE_OVERVIEW && serve_store_answer(server, call))
		return send_response(server, call);
	call->status = 0;
	MHD_suspend_connection(connection);
	serve_call_add(server, call);
	return MHD_YES;
}

/* Keeps the path as it was sent: it may contain no escaped characters. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context;
	(void)connection;
	return strlen(text);
}

/*
 * Discards the daemon's messages. These messages report errors of clients, which are of no interest to the
 * user of the server.
 */
static void discard(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

static int make_token(char token[SERVE_TOKEN + 1])
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return errno;
	for (size_t n = 0; n < TOKEN_BYTES; n++)
		snprintf(token + 2 * n, 3, "%02x", bytes[n]);
	return 0;
}

/* Starts the daemon. Returns 0 or an errno. */
static int start_daemon(struct serve_server *server)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(server->options->port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const union MHD_DaemonInfo *info;
	int error = make_token(server->token);

	if (error)
		return error;
	errno = 0;
	server->daemon = MHD_start_daemon(
		MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, server->options->port, NULL, NULL, handle,
		server, MHD_OPTION_EXTERNAL_LOGGER, discard, NULL, MHD_OPTION_SOCK_ADDR, &address,
		MHD_OPTION_CONNECTION_LIMIT, SERVE_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
		MHD_OPTION_URI_LOG_CALLBACK, begin_call, server, MHD_OPTION_NOTIFY_COMPLETED, end_call,
		server, MHD_OPTION_NOTIFY_CONNECTION, notify_peer, server, MHD_OPTION_END);
	if (!server->daemon)
		return errno ? errno : EADDRINUSE;
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	server->port = info ? info->port : server->options->port;
	return 0;
}

static void stop_daemon(struct serve_server *server)
{
	/* the daemon can be stopped only after all connections were resumed */
	while (server->calls) {
		struct serve_call *call = server->calls;

		server->calls = call->next;
		call->waits = false;
		serve_job_free(&call->job);
		MHD_resume_connection(call->connection);
	}
	MHD_stop_daemon(server->daemon);
	server->daemon = NULL;
	serve_store_free(server);
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

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

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
	int timeout = expire_peers(server), most = -1;
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
	error = start_daemon(&server);
	if (error) {
		fprintf(stderr, "%s: 127.0.0.1:%u: %s\n", options->name, options->port, strerror(error));
		return -1;
	}
	error = serve_store_start(&server);
	if (error) {
		fprintf(stderr, "%s: %s\n", options->name, strerror(error));
		stop_daemon(&server);
		return -1;
	}
	snprintf(address, sizeof(address), "http://127.0.0.1:%u/%s/", server.port, server.token);
	fprintf(stderr, "%s: %s (Ctrl-C ends it)\n", options->name, address);
	if (options->browser)
		open_browser(address, file);
	while (!stopped && status == 0)
		status = step(&server);
	stop_daemon(&server);
	if (file[0])
		unlink(file);
	if (status < 0)
		fprintf(stderr, "%s: the server failed\n", options->name);
	return status;
}
