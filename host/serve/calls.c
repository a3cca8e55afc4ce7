/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Calls: requests that are answered by a process (a job) or from the stored data. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
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

struct MHD_Response *serve_constant(const char *bytes, size_t length, enum serve_kind kind)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(length, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);

	if (!response || add_headers(response, kind) == 0)
		return response;
	MHD_destroy_response(response);
	return NULL;
}

struct MHD_Response *serve_response(unsigned char *bytes, size_t offset, size_t length, enum serve_kind kind)
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
	return serve_response((unsigned char *)text, 0, (size_t)(at - text), SERVE_JSON);
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
	response = begin.kind < SERVE_KINDS ? serve_response(job->bytes, sizeof(begin),
							     job->length - sizeof(begin), begin.kind)
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
