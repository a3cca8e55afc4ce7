/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Calls: requests that are answered by a process (a job) or from the page and its data, stored in memory. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "page/page.h"
#include "serve/answers.h"
#include "serve/server.h"

/* ---- Responses ---- */

static const char *const types[SERVE_KINDS] = {
	[SERVE_JSON] = "application/json; charset=utf-8",
	[SERVE_BYTES] = "application/octet-stream",
	[SERVE_HTML] = "text/html; charset=utf-8",
};

/*
 * The page itself contains another content security policy, which allows the page's script. A browser applies
 * both policies.
 */
static const char *const policies[SERVE_KINDS] = {
	[SERVE_JSON] = "default-src 'none'; frame-ancestors 'none'; sandbox",
	[SERVE_BYTES] = "default-src 'none'; frame-ancestors 'none'; sandbox",
	[SERVE_HTML] = "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
		       "frame-ancestors 'none'",
};

static int add_headers(struct MHD_Response *response, enum serve_kind kind)
{
	const char *const headers[][2] = {
		{ "Content-Type", types[kind] },
		{ "Content-Security-Policy", policies[kind] },
		{ "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
	};

	for (size_t n = 0; n < sizeof(headers) / sizeof(headers[0]); n++)
		if (MHD_add_response_header(response, headers[n][0], headers[n][1]) != MHD_YES)
			return -1;
	return 0;
}

/* Makes a response like make_response(), but from bytes that stay in memory. */
static struct MHD_Response *make_constant(const char *bytes, size_t length, enum serve_kind kind)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(length, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);

	if (!response || add_headers(response, kind) == 0)
		return response;
	MHD_destroy_response(response);
	return NULL;
}

/* Makes a response with all headers, and frees `bytes` with it. Returns NULL if memory runs out. */
static struct MHD_Response *make_response(unsigned char *bytes, size_t offset, size_t length,
					  enum serve_kind kind)
{
	struct MHD_Response *response;

	memmove(bytes, bytes + offset, length);
	response = MHD_create_response_from_buffer(length, bytes, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(bytes);
		return NULL;
	}
	if (add_headers(response, kind) == 0)
		return response;
	MHD_destroy_response(response);
	return NULL;
}

struct MHD_Response *serve_refusal(const char *why)
{
	static const char before[] = "{\"error\":\"", after[] = "\"}\n";
	char *text = malloc(sizeof(before) + sizeof(after) + BASE_ESCAPE_JSON_GROWTH * strlen(why));
	char *at;

	if (!text)
		return NULL;
	at = stpcpy(text, before);
	at = base_escape_json(at, why, strlen(why));
	at = stpcpy(at, after);
	return make_response((unsigned char *)text, 0, (size_t)(at - text), SERVE_JSON);
}

/* ---- The page and its data, in memory ---- */

#define BYTES_MOST ((size_t)1 << 30)

int serve_store_start(struct serve_server *server)
{
	server->store.job.descriptor = -1;
	server->page = make_constant(page_template, page_template_size, SERVE_HTML);
	return server->page ? serve_job_start(&server->store.job, server->options->name, serve_build,
					      &server->source, NULL)
			    : ENOMEM;
}

/* Removes the page's data from the store. */
static void empty(struct serve_store *store)
{
	serve_job_free(&store->job);
	for (uint32_t n = 0; n < store->blocks; n++)
		MHD_destroy_response(store->block[n]);
	free(store->block);
	if (store->overview)
		MHD_destroy_response(store->overview);
	if (store->head)
		MHD_destroy_response(store->head);
	*store = (struct serve_store){ .job = { .descriptor = -1 }, .done = true, .reading = store->reading };
}

void serve_store_free(struct serve_server *server)
{
	empty(&server->store);
	if (server->page)
		MHD_destroy_response(server->page);
	server->page = NULL;
}

/* Makes the data again from everything that the guest has recorded so far. */
static void renew(struct serve_server *server)
{
	struct serve_store *store = &server->store;
	int error;

	empty(store);
	store->reading++;
	error = serve_job_start(&store->job, server->options->name, serve_build, &server->source, NULL);
	store->done = error != 0;
	if (error)
		snprintf(store->error, sizeof(store->error), "%s", strerror(error));
}

/* Ends the process. `why`: the reason why it has not made all data; NULL: it has made all data. */
static void end(struct serve_server *server, bool closed, const char *why)
{
	struct serve_store *store = &server->store;

	if (!serve_job_end(&store->job, closed) && !why && !store->error[0])
		why = "the data of the page could not be made";
	if (why)
		snprintf(store->error, sizeof(store->error), "%s", why);
	if (store->error[0])
		fprintf(stderr, "%s: %s: %s\n", server->options->name, server->options->path, store->error);
	store->done = true;
	serve_job_free(&store->job);
}

/* Adds the number of the reading to a response. Data with the same number belongs together. */
static struct MHD_Response *number(const struct serve_store *store, struct MHD_Response *response)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, store->reading);
	if (response)
		MHD_add_response_header(response, "Ktrace-Reading", text);
	return response;
}

static struct MHD_Response *copy(const struct serve_store *store, const unsigned char *bytes, size_t size,
				 enum serve_kind kind)
{
	unsigned char *own = malloc(size + 1);

	if (!own)
		return NULL;
	memcpy(own, bytes, size);
	return number(store, make_response(own, 0, size, kind));
}

/* Processes a frame. Returns NULL, or the reason why it is the last frame. */
static const char *take(struct serve_server *server, const struct serve_frame *frame,
			const unsigned char *bytes)
{
	struct serve_store *store = &server->store;
	struct MHD_Response **larger;

	store->bytes += frame->size;
	if (store->bytes > BYTES_MOST)
		return "the data of the page has more than 1 GB";
	switch (frame->kind) {
	case SERVE_FRAME_ZERO:
		memcpy(&server->source.zero, bytes, sizeof(server->source.zero));
		return NULL;
	case SERVE_FRAME_HEAD:
		store->head = copy(store, bytes, frame->size, SERVE_JSON);
		return store->head ? NULL : "out of memory";
	case SERVE_FRAME_OVERVIEW:
		store->overview = copy(store, bytes, frame->size, SERVE_BYTES);
		return store->overview ? NULL : "out of memory";
	case SERVE_FRAME_BLOCK:
		larger = base_grow(store->block, &store->room, (size_t)store->blocks + 1, sizeof(*larger));
		if (larger)
			store->block = larger;
		if (larger && (larger[store->blocks] = copy(store, bytes, frame->size, SERVE_BYTES))) {
			store->blocks++;
			return NULL;
		}
		return "out of memory";
	default:
		snprintf(store->error, sizeof(store->error), "%.*s", (int)frame->size, (const char *)bytes);
		return NULL;
	}
}

void serve_store_step(struct serve_server *server)
{
	struct serve_store *store = &server->store;
	struct serve_frame frame;
	const char *why = NULL;
	size_t at = 0;
	bool closed;

	if (store->job.pid <= 0)
		return;
	closed = serve_job_read(&store->job);
	while (!why && store->job.length - at >= sizeof(frame)) {
		memcpy(&frame, store->job.bytes + at, sizeof(frame));
		if (store->job.length - at - sizeof(frame) < frame.size)
			break;
		why = take(server, &frame, store->job.bytes + at + sizeof(frame));
		at += sizeof(frame) + frame.size;
	}
	serve_job_drop(&store->job, at);
	if (closed || why)
		end(server, closed && !why, why);
}

/* Answers a call with a response from the store. */
static bool give(struct serve_call *call, struct MHD_Response *response)
{
	call->is_shared = true;
	call->response = response;
	call->status = SERVE_OK;
	return true;
}

bool serve_store_answer(struct serve_server *server, struct serve_call *call)
{
	struct serve_store *store = &server->store;
	const struct serve_request *request = &call->request;

	if (request->what == SERVE_PAGE) {
		if (server->options->live && store->done)
			renew(server);
		return give(call, server->page);
	}
	if (request->what == SERVE_HEAD && store->head)
		return give(call, store->head);
	if (request->what == SERVE_OVERVIEW && store->overview)
		return give(call, store->overview);
	if (request->what == SERVE_BLOCKS && request->number < store->blocks)
		return give(call, store->block[request->number]);
	if (!store->done)
		return false;
	call->status = store->error[0] ? SERVE_BROKEN : SERVE_ABSENT;
	call->response =
		number(store, serve_refusal(store->error[0] ? store->error : "the page has no such data"));
	return true;
}

/* ---- The list of calls ---- */

void serve_call_add(struct serve_server *server, struct serve_call *call)
{
	struct serve_call **end = &server->calls;

	while (*end)
		end = &(*end)->next;
	call->next = NULL;
	call->waits = true;
	*end = call;
}

static void take_out(struct serve_server *server, struct serve_call *call)
{
	struct serve_call **at = &server->calls;

	while (*at && *at != call)
		at = &(*at)->next;
	if (*at)
		*at = call->next;
	call->waits = false;
}

/* Sets the response of a call, and lets its connection continue. */
static void finish(struct serve_server *server, struct serve_call *call, unsigned status,
		   struct MHD_Response *response)
{
	take_out(server, call);
	call->status = status;
	call->response = response;
	MHD_resume_connection(call->connection);
}

/* Makes the response from the job's output. */
static void take_answer(struct serve_server *server, struct serve_call *call, bool done)
{
	struct serve_job *job = &call->job;
	struct MHD_Response *response;
	struct serve_begin begin;

	if (!serve_job_end(job, done) || job->length < sizeof(begin)) {
		finish(server, call, SERVE_BROKEN,
		       serve_refusal(
			       done ? "the trace could not be read to its end, or the answer is too long"
				    : "the answer took too long"));
		serve_job_free(job);
		return;
	}
	memcpy(&begin, job->bytes, sizeof(begin));
	response = begin.kind < SERVE_KINDS
			   ? make_response(job->bytes, sizeof(begin), job->length - sizeof(begin), begin.kind)
			   : NULL;
	if (begin.kind < SERVE_KINDS)
		job->bytes = NULL;
	finish(server, call, begin.status, response);
	serve_job_free(job);
}

/* Returns whether the call asks for data of the store. */
static bool is_stored(const struct serve_call *call)
{
	return call->request.what <= SERVE_OVERVIEW;
}

static void start(struct serve_server *server, struct serve_call *call)
{
	const int error = serve_job_start(&call->job, server->options->name, serve_answer, &server->source,
					  &call->request);

	call->job.deadline = serve_now() + SERVE_JOB_MS;
	if (error)
		finish(server, call, SERVE_BROKEN, serve_refusal(strerror(error)));
}

void serve_calls_step(struct serve_server *server)
{
	struct serve_call *next;
	unsigned running = 0;

	for (struct serve_call *call = server->calls; call; call = next) {
		next = call->next;
		if (is_stored(call)) {
			if (serve_store_answer(server, call))
				finish(server, call, call->status, call->response);
		} else if (call->job.pid > 0) {
			if (serve_job_read(&call->job))
				take_answer(server, call, true);
			else if (serve_now() >= call->job.deadline)
				take_answer(server, call, false);
			else
				running++;
		}
	}
	for (struct serve_call *call = server->calls; call && running < SERVE_JOBS; call = next) {
		next = call->next;
		if (call->job.pid <= 0 && !is_stored(call)) {
			start(server, call);
			running++;
		}
	}
}

void serve_call_free(struct serve_server *server, struct serve_call *call)
{
	if (call->waits)
		take_out(server, call);
	serve_job_free(&call->job);
	if (call->response && !call->is_shared)
		MHD_destroy_response(call->response);
	free(call->target);
	free(call);
}
