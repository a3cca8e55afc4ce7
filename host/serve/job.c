/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "serve/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/changed.h"
#include "base/grow.h"
#include "base/json.h"

#define READ_BYTES ((size_t)256 << 10)
#define READS	   64u /* maximum number of reads in one call */
#define CHILD_END  3   /* descriptor of the job's pipe in the job */

/* Runs as the job. Closes the server's descriptors, so that connections end when the server closes them. */
static _Noreturn void become(const char *name, serve_work *work, void *context, const void *request,
			     int writes, pid_t parent)
{
	int status;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent || (writes != CHILD_END && dup2(writes, CHILD_END) < 0) ||
	    close_range(CHILD_END + 1, ~0u, 0) != 0)
		_exit(EXIT_FAILURE);
	status = work(context, request, CHILD_END);
	if (base_changed_file())
		fprintf(stderr, "%s: %s: %s\n", name, base_changed_file(), base_changed_how());
	_exit(status);
}

int serve_job_start(struct serve_job *job, const char *name, serve_work *work, void *context,
		    const void *request)
{
	const pid_t self = getpid();
	int ends[2], error;

	*job = (struct serve_job){ .descriptor = -1 };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	job->pid = fork();
	if (job->pid == 0)
		become(name, work, context, request, ends[1], self);
	error = job->pid < 0 ? errno : 0;
	close(ends[1]);
	if (!error && ends[0] >= FD_SETSIZE)
		error = EMFILE;
	if (!error && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) {
		job->descriptor = ends[0];
		return 0;
	}
	error = error ? error : errno;
	close(ends[0]);
	serve_job_end(job, false);
	return error;
}

bool serve_job_read(struct serve_job *job)
{
	for (unsigned n = 0; n < READS;) {
		unsigned char *larger;
		ssize_t got;

		if (job->length > SERVE_ANSWER_MOST)
			return true;
		larger = base_grow(job->bytes, &job->room, job->length + READ_BYTES, 1);
		if (!larger)
			return true;
		job->bytes = larger;
		got = read(job->descriptor, job->bytes + job->length, job->room - job->length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return false;
		if (got <= 0)
			return true;
		job->length += (size_t)got;
		n++;
	}
	return false;
}

void serve_job_drop(struct serve_job *job, size_t length)
{
	job->length -= length;
	memmove(job->bytes, job->bytes + length, job->length);
}

bool serve_job_end(struct serve_job *job, bool done)
{
	int status = 0;

	if (job->pid > 0) {
		if (!done || job->length > SERVE_ANSWER_MOST)
			kill(job->pid, SIGKILL);
		while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	if (job->descriptor >= 0)
		close(job->descriptor);
	job->pid = 0;
	job->descriptor = -1;
	return done && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

void serve_job_free(struct serve_job *job)
{
	serve_job_end(job, false);
	free(job->bytes);
	*job = (struct serve_job){ .descriptor = -1 };
}

int serve_write(int descriptor, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	while (length) {
		const ssize_t put = write(descriptor, at, length);

		if (put < 0 && errno != EINTR)
			return errno;
		at += put > 0 ? put : 0;
		length -= put > 0 ? (size_t)put : 0;
	}
	return 0;
}

int serve_begin(int descriptor, uint32_t status, enum serve_kind kind)
{
	const struct serve_begin begin = { status, kind };

	return serve_write(descriptor, &begin, sizeof(begin));
}

int serve_error(int descriptor, uint32_t status, const char *text, uint32_t column)
{
	struct base_output out;
	const int error = serve_begin(descriptor, status, SERVE_JSON);

	if (error || base_output_open(&out, descriptor) < 0)
		return error ? error : ENOMEM;
	base_json_begin(&out, NULL, '{');
	base_json_put_text(&out, "error", text);
	if (column)
		base_json_put_number(&out, "column", column);
	base_output_text(&out, "}\n");
	return base_output_close(&out);
}
