/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A job is a process that makes one answer. The server forks a process for each job, so that an answer cannot
 * delay other answers or change the server, even if the trace is hostile. The job writes its answer to a
 * pipe: first the status and the type, then the body.
 */
#ifndef SERVE_JOB_H
#define SERVE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVE_ANSWER_MOST ((size_t)256 << 20) /* maximum size of an answer in bytes */

enum serve_kind {
	SERVE_JSON,
	SERVE_BYTES,
	SERVE_HTML,
	SERVE_KINDS,
};

/* The first bytes that a job writes to the pipe. */
struct serve_begin {
	uint32_t status; /* HTTP status code */
	uint32_t kind;	 /* type of the body, an enum serve_kind */
};

struct serve_job {
	pid_t pid; /* process id of the job; 0: there is no process */
	int descriptor;
	unsigned char *bytes; /* bytes that the job has written so far */
	uint32_t room;
	size_t length;
	uint64_t deadline; /* time in ms, by the caller's clock, at which the job is killed */
};

/* Runs in the new process. Returns its exit status: 0 if the answer is complete. */
typedef int serve_work(void *context, const void *request, int descriptor);

/*
 * Starts a process. Returns 0 or an errno. If a file becomes shorter while the process reads it, the process
 * prints a message on standard error, which begins with `name`.
 */
int serve_job_start(struct serve_job *job, const char *name, serve_work *work, void *context,
		    const void *request);
/*
 * Reads the bytes that are available, up to a few megabytes. Returns true if the job has closed its pipe, or
 * has written more bytes than an answer may have.
 */
bool serve_job_read(struct serve_job *job);
/*
 * Waits for the end of the process. Unless `done` is true, kills the process first. Returns whether the
 * process has succeeded.
 */
bool serve_job_end(struct serve_job *job, bool done);
/* Removes the first `length` bytes from the buffer of bytes that were read. */
void serve_job_drop(struct serve_job *job, size_t length);
/* Ends the process and frees the answer. */
void serve_job_free(struct serve_job *job);

/* Called in the job's process: writes all bytes. Returns 0 or an errno. */
int serve_write(int descriptor, const void *bytes, size_t length);
/*
 * These functions are called in the job. They return 0 or an errno. serve_begin() writes the beginning of an
 * answer, serve_error() a complete answer that is an error.
 */
int serve_begin(int descriptor, uint32_t status, enum serve_kind kind);
/* `column`: column of the error in an expression; 0: none. */
int serve_error(int descriptor, uint32_t status, const char *text, uint32_t column);

#endif
