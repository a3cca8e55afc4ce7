/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of a server: its connections, its requests, and the processes that answer them. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "serve/answers.h"
#include "serve/job.h"
#include "serve/request.h"
#include "serve/serve.h"

#define SERVE_CONNECTIONS 128u /* maximum number of connections */
/* if there are more connections than this, the connection that has waited longest for a request is closed */
#define SERVE_CROWDED 96u
#define SERVE_JOBS    4u /* maximum number of jobs that run at the same time */
/* maximum time for receiving the head of a request, and maximum time between two requests */
#define SERVE_IDLE_MS 15000u
#define SERVE_SEND_MS 120000u
#define SERVE_JOB_MS  120000u

/* A connection. All connections are in a list; the connection that has waited longest comes first. */
struct serve_peer {
	struct serve_peer *previous, *next;
	int socket;
	bool sending;	/* true while a request is being answered */
	uint64_t since; /* time in ms at which waiting for a request, or the answer, began */
};

/* A request whose head has been received completely. */
struct serve_call {
	/* the next call in the list; the calls in the list wait for a job, or have a job that runs */
	struct serve_call *next;
	char *target;
	struct MHD_Connection *connection;
	struct serve_peer *peer;
	bool waits; /* true while the connection is suspended and the call is in the list */
	struct serve_job job;
	struct serve_request request;
	struct MHD_Response *response; /* response to the request; NULL: it has not been made yet */
	/* true if the response belongs to the server and must not be freed with the call */
	bool is_shared;
	unsigned status;
};

/*
 * The page's data, which one process makes when the server starts. Requests for data that has not been made
 * yet have to wait.
 */
struct serve_store {
	struct serve_job job;
	struct MHD_Response *head, *overview;
	struct MHD_Response **block;
	uint32_t blocks, room;
	size_t bytes;	  /* sum of the frames' sizes in bytes */
	uint32_t reading; /* number of times that the data was made again */
	bool done;	  /* true if no more data will come */
	char error[256];  /* why data is missing; "" if none is missing */
};

struct serve_server {
	const struct serve_options *options;
	struct serve_source source;
	struct MHD_Daemon *daemon;
	uint16_t port;
	char token[SERVE_TOKEN + 1];
	struct serve_peer *first, *last;
	unsigned peers;
	struct serve_call *calls;
	struct serve_store store;
	struct MHD_Response *page;
};

/* Returns milliseconds of a monotonic clock. */
uint64_t serve_now(void);

/* ---- Calls (calls.c) ---- */

/* Makes a response that reports an error. */
struct MHD_Response *serve_refusal(const char *why);
/* Puts a call into the list. Requires: its connection is suspended. */
void serve_call_add(struct serve_server *server, struct serve_call *call);
/* Starts jobs and reads their answers. Resumes the connection of each call whose answer is complete. */
void serve_calls_step(struct serve_server *server);
/* Ends the call's job, if it has one. */
void serve_call_free(struct serve_server *server, struct serve_call *call);

/* ---- The page and its data, in memory (calls.c) ---- */

/* Starts the process that makes the data. Returns 0 or an errno. */
int serve_store_start(struct serve_server *server);
void serve_store_free(struct serve_server *server);
/* Reads the data that the process has written so far. */
void serve_store_step(struct serve_server *server);
/*
 * Sets the response of a call for stored data, and the status. Returns false if the data has not been made
 * yet.
 */
bool serve_store_answer(struct serve_server *server, struct serve_call *call);

#endif
