/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace [-adi] [-f FILE] [-t LETTERS] COMMAND…    runs a command, traced into FILE (ktrace.out)
 * ktrace [-adi] [-f FILE] [-t LETTERS] -p PID      traces a process from now on; -g PGRP: a process group
 * ktrace -c [-di] [-f FILE] [-t LETTERS] -p PID    ends the tracing of a process; -g PGRP: of a process group
 * ktrace -c [-f FILE]                              ends all tracing into FILE
 * ktrace -C                                        ends all tracing
 *
 * -a appends to FILE; -d includes the existing descendants of the process; -i includes its future children.
 */
#include <error.h>
#include <option.h>
#include <program.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ktrace.h>
#include <unistd.h>

#define CALLS	(KTRFAC_SYSCALL | KTRFAC_SYSRET)
#define FAULTS	(KTRFAC_FAULT | KTRFAC_FAULTEND)
#define STRUCTS (KTRFAC_STRUCT | KTRFAC_STRUCT_ARRAY)
/*
 * Records of starts and ends of processes are always on, because all other records refer to the processes
 * that these records describe.
 */
#define LIVES (KTRFAC_PROCCTOR | KTRFAC_PROCDTOR)
#define USUAL                                                                                        \
	(CALLS | KTRFAC_NAMEI | KTRFAC_GENIO | KTRFAC_PSIG | KTRFAC_USER | STRUCTS | KTRFAC_SYSCTL | \
	 KTRFAC_CAPFAIL)
#define EVERYTHING (USUAL | LIVES | FAULTS | KTRFAC_CSW)
#define FIRST_PID  1
#define NO_NUMBER  0u

struct request {
	const char *file;
	bool append, clear, clear_all;
	int operation, facilities;
	int pid; /* pid, or minus the number of a process group; 0: none was given */
};

static const struct {
	char letter;
	int facilities;
} kinds[] = {
	{ 'c', CALLS },		 { 'f', FAULTS },	 { 'i', KTRFAC_GENIO }, { 'n', KTRFAC_NAMEI },
	{ 'p', KTRFAC_CAPFAIL }, { 's', KTRFAC_PSIG },	 { 't', STRUCTS },	{ 'u', KTRFAC_USER },
	{ 'w', KTRFAC_CSW },	 { 'y', KTRFAC_SYSCTL }, { '+', USUAL },
};

static _Noreturn void usage(void)
{
	dprintf(STDERR,
		"usage: ktrace [-aCcdi] [-f FILE] [-g PGRP | -p PID] [-t LETTERS]\n"
		"       ktrace [-adi] [-f FILE] [-t LETTERS] COMMAND [WORD...]\n"
		"letters: c calls, f faults, i input and output, n names, p denials, s signals, t structs,\n"
		"         u utrace, w context switches, y settings, + all but f and w\n");
	exit(2);
}

static _Noreturn void fail(const char *what, int64_t error)
{
	dprintf(STDERR, "ktrace: %s: %s\n", what, error_text(error));
	exit(1);
}

static int facilities_of(const char *letters)
{
	int facilities = LIVES;

	for (; *letters; letters++) {
		size_t n = 0;

		while (n < sizeof(kinds) / sizeof(kinds[0]) && kinds[n].letter != *letters)
			n++;
		if (n == sizeof(kinds) / sizeof(kinds[0])) {
			dprintf(STDERR, "ktrace: -t: unknown letter at '%s'\n", letters);
			usage();
		}
		facilities |= kinds[n].facilities;
	}
	return facilities;
}

static int number_of(const char *text)
{
	unsigned number = parse_number(text, NO_NUMBER);

	if (number == NO_NUMBER || number > INT32_MAX) {
		dprintf(STDERR, "ktrace: %s: not a process or group id\n", text);
		usage();
	}
	return (int)number;
}

static void take_option(struct request *request, int letter, const char *value, bool *inherit)
{
	switch (letter) {
	case 'a':
		request->append = true;
		return;
	case 'C':
		request->clear_all = true;
		return;
	case 'c':
		request->clear = true;
		return;
	case 'd':
		request->operation |= KTRFLAG_DESCEND;
		return;
	case 'f':
		request->file = value;
		return;
	case 'g':
		request->pid = -number_of(value);
		return;
	case 'i':
		*inherit = true;
		return;
	case 'p':
		request->pid = number_of(value);
		return;
	case 't':
		request->facilities = facilities_of(value);
		return;
	default:
		usage();
	}
}

/*
 * Creates the trace file, so that only its owner can read it. With -a, the file may exist; checks that it
 * belongs to the user.
 */
static void make_file(const struct request *request)
{
	struct abi_stat about;
	int fd, error;

	if (!request->append) {
		error = unlink(request->file);
		if (error && error != -ENOENT)
			fail(request->file, error);
	}
	fd = open(request->file, O_WRONLY | O_CREAT | (request->append ? 0 : O_EXCL), 0600);
	if (fd < 0)
		fail(request->file, fd);
	error = fstat(fd, &about);
	if (error)
		fail(request->file, error);
	if (about.uid != (uint32_t)getuid()) {
		dprintf(STDERR, "ktrace: %s: owned by another user: nothing is appended\n", request->file);
		exit(1);
	}
	close(fd);
}

static void begin(const struct request *request, int pid)
{
	int error = ktrace(request->file, request->operation | KTROP_SET, request->facilities, pid);

	if (!error)
		return;
	if (!request->append)
		unlink(request->file); /* removes the trace file, which is still empty */
	fail(error == -ESRCH ? "-p, -g" : request->file, error);
}

static void end(const struct request *request)
{
	int error;

	if (request->clear_all)
		error = ktrace(request->file, KTROP_CLEAR | KTRFLAG_DESCEND, EVERYTHING, FIRST_PID);
	else if (request->pid)
		error = ktrace(request->file, request->operation | KTROP_CLEAR, request->facilities,
			       request->pid);
	else
		error = ktrace(request->file, KTROP_CLEARFILE, request->facilities, 0);
	if (error)
		fail(request->clear_all ? "-C" : request->pid ? "-p, -g" : request->file, error);
}

static _Noreturn void run(const struct request *request, char **words)
{
	char *no_environment[] = { NULL };
	char path[PATH_MAX];
	int error;

	format(path, sizeof(path), strchr(words[0], '/') ? "%s" : "/bin/%s", words[0]);
	begin(request, getpid());
	error = execve(path, words, no_environment);
	fail(words[0], error);
}

int main(int argc, char **argv)
{
	struct request request = { .file = "ktrace.out", .facilities = USUAL | LIVES };
	struct options options = { .words = argv, .next = 1, .letters = "aCcdf:g:ip:t:" };
	bool inherit = false, has_command;
	int letter;

	while ((letter = next_option(&options)))
		take_option(&request, letter, options.value, &inherit);
	has_command = options.next < argc;
	if (has_command == (request.clear || request.clear_all || request.pid != 0))
		usage();
	if (inherit)
		request.facilities |= KTRFAC_INHERIT;
	if (request.clear || request.clear_all) {
		end(&request);
		return 0;
	}
	make_file(&request);
	if (has_command)
		run(&request, &argv[options.next]);
	begin(&request, request.pid);
	return 0;
}
