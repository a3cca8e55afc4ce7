/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The daemon of libmicrohttpd, and the callbacks that it calls for each request. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "serve/server.h"

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
	serve_peer_mark(context, call->peer, true);
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
	serve_peer_mark(context, call->peer, false);
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

int serve_listen(struct serve_server *server)
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
		server, MHD_OPTION_NOTIFY_CONNECTION, serve_peer_notify, server, MHD_OPTION_END);
	if (!server->daemon)
		return errno ? errno : EADDRINUSE;
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	server->port = info ? info->port : server->options->port;
	return 0;
}

void serve_stop(struct serve_server *server)
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
