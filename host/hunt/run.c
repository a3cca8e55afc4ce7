/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * One run of a hunt: a process that runs the guest, runs `ktrace why` on the trace, and writes the result to
 * a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/json_text.h"
#include "hunt.h"

#define OTHER_ERROR 125 /* exit status of the process if it could not write its result */

void hunt_name(const struct hunt_options *options, uint64_t seed, const char *suffix, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/seed-%" PRIu64 ".%s", options->folder, seed, suffix) >= PATH_MAX)
		path[0] = '\0';
}

/* ---- In the new process -------------------------------------------------------------------------- */

static bool redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags | O_CLOEXEC, 0666);
	bool done = fd >= 0 && dup2(fd, to) >= 0;

	if (fd >= 0)
		close(fd);
	return done;
}

static void print_sentence(void *context, const char *sentence)
{
	(void)context;
	fprintf(stderr, "ktrace: %s\n", sentence);
}

/* Runs this ktrace program with these arguments, and with its output in the file `to`. */
static void ask(const struct hunt *hunt, const char *const *words, const char *to)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (redirect(to, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO))
			execv(hunt->options->self, (char *const *)(uintptr_t)words);
		_exit(OTHER_ERROR);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
}

static void explain(const struct hunt *hunt, const char *trace, const char *to)
{
	ask(hunt, (const char *[]){ "ktrace", "why", "--json", trace, NULL }, to);
}

static void check_rules(const struct hunt *hunt, const char *trace, const char *to)
{
	const char *rules = hunt->options->rules;

	if (*rules)
		ask(hunt, (const char *[]){ "ktrace", "check", "--json", "--rules", rules, trace, NULL }, to);
	else
		ask(hunt, (const char *[]){ "ktrace", "check", "--json", trace, NULL }, to);
}

static int write_result(const char *path, const struct capture_result *result, int error)
{
	json_t *json = json_pack("{s:i, s:s, s:b, s:b, s:I, s:s}", "status",
				 error || result->gave_up ? HUNT_NOT_RUN : result->status, "text",
				 error ? capture_message() : result->text, "traced",
				 !error && result->written, "no_hooks", !error && result->no_hooks, "ended",
				 (json_int_t)result->ended, "files", result->files);
	int failed = !json || capture_json_save(json, path) != 0;

	json_decref(json);
	return failed;
}

static _Noreturn void make_run(const struct hunt *hunt, uint64_t seed)
{
	struct capture_run_options options = *hunt->options->run;
	char log[PATH_MAX], trace[PATH_MAX], why[PATH_MAX], rules[PATH_MAX], file[PATH_MAX];
	struct capture_result result;
	int error;

	hunt_name(hunt->options, seed, "log", log);
	hunt_name(hunt->options, seed, "ktrx", trace);
	hunt_name(hunt->options, seed, "why", why);
	hunt_name(hunt->options, seed, "check", rules);
	hunt_name(hunt->options, seed, "json", file);
	unlink(log);
	unlink(trace);
	unlink(why);
	unlink(rules);
	unlink(file);
	if (!redirect("/dev/null", O_RDONLY, STDIN_FILENO) ||
	    !redirect(log, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO) ||
	    dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		_exit(OTHER_ERROR);
	options.out = trace;
	if (hunt->options->later)
		options.schedule.later.seed = seed;
	else
		options.schedule.noise.seed = seed;
	options.schedule.deadline = hunt->deadline;
	options.hooks = (struct capture_hooks){ .say = print_sentence };
	error = capture_run(&options, &result);
	if (error)
		print_sentence(NULL, capture_message());
	else if (result.written && result.status != CAPTURE_CLEAN)
		explain(hunt, trace, why);
	if (!error && result.written && hunt->options->rules)
		check_rules(hunt, trace, rules);
	_exit(write_result(file, &result, error) ? OTHER_ERROR : 0);
}

int hunt_start(const struct hunt *hunt, uint64_t seed)
{
	pid_t pid = fork();
	sigset_t none;

	if (pid != 0)
		return pid;
	/* ignore Ctrl-C here: the hunt handles it and ends its runs */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	make_run(hunt, seed);
}

/* ---- After the run ------------------------------------------------------------------------------- */

static const char *text_of(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? text : "";
}

/*
 * Appends the message of a panic, which is the first line of the finding's evidence: panics with different
 * messages are different kinds of failure.
 */
static void add_message(struct hunt_run *run, const json_t *finding)
{
	static const char before[] = "its message: ";
	const size_t used = strlen(run->what);
	char line[HUNT_TEXT];

	hunt_copy_string(line, sizeof(line), json_array_get(json_object_get(finding, "evidence"), 0));
	if (strncmp(line, before, sizeof(before) - 1) == 0)
		snprintf(run->what + used, sizeof(run->what) - used, ": %s", line + sizeof(before) - 1);
}

/* Copies the first finding of `ktrace why` that is a problem. */
static void read_why(const char *path, struct hunt_run *run)
{
	json_t *json = json_load_file(path, JSON_ALLOW_NUL, NULL), *finding;
	size_t n;

	json_array_foreach(json_object_get(json, "findings"), n, finding)
	{
		if (strcmp(text_of(finding, "mark"), "wrong") != 0)
			continue;
		run->wrong = true;
		hunt_copy_text(run->verdict, sizeof(run->verdict), finding, "verdict");
		hunt_copy_text(run->what, sizeof(run->what), finding, "text");
		add_message(run, finding);
		break;
	}
	json_decref(json);
}

/* Copies the first violation that `ktrace check` has found. */
static void read_check(const char *path, struct hunt_run *run)
{
	json_t *json = json_load_file(path, JSON_ALLOW_NUL, NULL), *finding;
	size_t n;

	if (!json) {
		run->status = HUNT_NOT_RUN;
		snprintf(run->text, sizeof(run->text), "the rules could not be checked");
	}
	json_array_foreach(json_object_get(json, "findings"), n, finding)
	{
		if (strcmp(text_of(finding, "mark"), "wrong") != 0)
			continue;
		hunt_copy_text(run->rule, sizeof(run->rule), finding, "kind");
		hunt_copy_text(run->violation, sizeof(run->violation), finding, "what");
		break;
	}
	json_decref(json);
}

void hunt_collect(const struct hunt *hunt, uint64_t seed, int wait_status, struct hunt_run *run)
{
	char path[PATH_MAX];
	json_t *json;

	hunt_name(hunt->options, seed, "json", path);
	json = json_load_file(path, JSON_ALLOW_NUL, NULL);
	unlink(path);
	*run = (struct hunt_run){ .seed = seed, .status = HUNT_NOT_RUN };
	if (json) {
		run->status = (int)json_integer_value(json_object_get(json, "status"));
		run->traced = json_is_true(json_object_get(json, "traced"));
		run->no_hooks = json_is_true(json_object_get(json, "no_hooks"));
		run->ended = (uint64_t)json_integer_value(json_object_get(json, "ended"));
		hunt_copy_text(run->files, sizeof(run->files), json, "files");
		hunt_copy_text(run->text, sizeof(run->text), json, "text");
		hunt_name(hunt->options, seed, "why", path);
		read_why(path, run);
		unlink(path);
		hunt_name(hunt->options, seed, "check", path);
		if (hunt->options->rules && run->traced && run->status != HUNT_NOT_RUN)
			read_check(path, run);
		unlink(path);
	} else if (WIFSIGNALED(wait_status)) {
		snprintf(run->text, sizeof(run->text), "the run was ended by signal %d",
			 WTERMSIG(wait_status));
	} else {
		snprintf(run->text, sizeof(run->text),
			 "the run could not write its result; is the disk full?");
	}
	json_decref(json);
}

void hunt_discard(const struct hunt *hunt, uint64_t seed)
{
	static const char *const suffixes[] = { "log", "ktrx", "why", "check", "json" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		hunt_name(hunt->options, seed, suffixes[i], path);
		unlink(path);
	}
}
