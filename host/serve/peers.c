/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Connections, and their time limits. A client that sends its request slowly, or opens many connections, must
 * not prevent other clients from connecting: the time for a whole request is limited, and if there are many
 * connections, the connection that has waited longest is closed.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "serve/server.h"

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

void serve_peer_notify(void *context, struct MHD_Connection *connection, void **mark,
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

void serve_peer_mark(struct serve_server *server, struct serve_peer *peer, bool sending)
{
	take_out(server, peer);
	append(server, peer);
	peer->sending = sending;
}

int serve_peers_expire(struct serve_server *server)
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
