/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * tracing: checks each option of the command ktrace with processes that record a token on request. Also
 * checks what happens if the disk becomes full while a process is traced.
 */
#include <program.h>
#include <records.h>
#include <stdio.h>
#include <string.h>
#include <sys/ktrace.h>
#include <unistd.h>

#define HOME	 "/tmp/tracing"
#define SOMEBODY 1000
#define TOKEN	 "word"

/* ---- Processes that record tokens -------------------------------------------------------------- */

/*
 * A process (the parent) and its child. For each byte that is sent to the parent, both record a token and
 * reply.
 */
struct family {
	int request[2], answer[2], request_child[2];
	int parent;
	char number[12]; /* pid of the parent, as text */
};

static struct family *starting; /* the family whose processes are being started */

static void record_on_request(int requests)
{
	char byte;

	while (read(requests, &byte, 1) == 1) {
		utrace(TOKEN, sizeof(TOKEN) - 1);
		if (requests == starting->request[0])
			write(starting->request_child[1], &byte, 1);
		write(starting->answer[1], &byte, 1);
	}
}

static void be_child(void)
{
	close(starting->request[1]), close(starting->request_child[1]);
	record_on_request(starting->request_child[0]);
}

static void be_parent(void)
{
	int child;

	close(starting->request[1]);
	setpgid(0, 0);
	child = start_child(be_child);
	write(starting->answer[1], ".", 1);
	record_on_request(starting->request[0]);
	close(starting->request_child[1]);
	wait_for(child);
}

static void await_replies(const struct family *family, int times)
{
	char byte;

	for (int i = 0; i < times; i++)
		check_equal(1, read(family->answer[0], &byte, 1), "an answer");
}

static void start_family(struct family *family)
{
	starting = family;
	check_equal(0, pipe(family->request) | pipe(family->answer) | pipe(family->request_child), "pipes");
	family->parent = start_child(be_parent);
	close(family->request_child[0]), close(family->request_child[1]);
	format(family->number, sizeof(family->number), "%d", family->parent);
	await_replies(family, 1);
}

static void end_family(struct family *family)
{
	close(family->request[1]);
	check_equal(0, wait_for(family->parent), "the family ends");
	close(family->request[0]), close(family->answer[0]), close(family->answer[1]);
}

static void request(const struct family *family)
{
	check_equal(1, write(family->request[1], ".", 1), "a request");
	await_replies(family, 2);
}

/* ---- The command ktrace ------------------------------------------------------------------------ */

static int ktrace_command(char *a, char *b, char *c, char *d, char *e, char *f, char *g)
{
	char *words[] = { (char[]){ "ktrace" }, a, b, c, d, e, f, g, NULL };
	int pid = start_program("/bin/ktrace", words);

	return wait_for(pid);
}

#define RUN_OF(a, b, c, d, e, f, g, ...) ktrace_command(a, b, c, d, e, f, g)
#define RUN(...)			 RUN_OF(__VA_ARGS__, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
#define FAILED				 (1 << 8)
#define MISUSED				 (2 << 8)

static int recorded(const char *path, int pid)
{
	return (int)records_count(path, KTRX_PROC_USER, pid);
}

static void processes(void)
{
	struct family one;
	struct abi_stat about;

	start_family(&one);
	check_equal(0, RUN("-f", HOME "/p", "-t", "u", "-p", one.number),
		    "ktrace -p starts the trace of a process");
	request(&one);
	check_equal(0, RUN("-f", HOME "/p", "-t", "u", "-c", "-p", one.number),
		    "ktrace -c ends the trace of a process");
	request(&one);
	check_equal(1, recorded(HOME "/p", one.parent), "the process's record is in the file");
	check_equal(1, recorded(HOME "/p", 0), "the file contains no other records");
	check_equal(0, stat(HOME "/p", &about), "the file");
	check_equal(S_IFREG | 0600, about.mode, "only the owner may read the file");
	check_equal(0, RUN("-d", "-f", HOME "/d", "-t", "u", "-p", one.number), "ktrace -d adds the child");
	request(&one);
	check_equal(0, RUN("-dc", "-f", HOME "/d", "-t", "u", "-p", one.number),
		    "ktrace -dc ends both traces");
	request(&one);
	check_equal(2, recorded(HOME "/d", 0), "the file contains records of both processes");
	check_equal(0, RUN("-f", HOME "/g", "-t", "u", "-g", one.number),
		    "ktrace -g starts the trace of a group");
	request(&one);
	check_equal(0, RUN("-f", HOME "/g", "-c"), "ktrace -c ends all traces into a file");
	request(&one);
	check_equal(2, recorded(HOME "/g", 0), "the file contains records of both processes");
	check_equal(0, RUN("-f", HOME "/x", "-t", "u", "-g", one.number), "ktrace -g starts the trace again");
	request(&one);
	check_equal(0, RUN("-C"), "ktrace -C ends all traces");
	request(&one);
	check_equal(2, recorded(HOME "/x", 0), "the file contains records of both processes");
	check_equal(0, RUN("-a", "-f", HOME "/x", "-t", "u", "-p", one.number),
		    "ktrace -a appends to the file");
	request(&one);
	check_equal(0, RUN("-C"), "ktrace -C ends the trace");
	check_equal(3, recorded(HOME "/x", 0), "the file contains the records of both traces");
	end_family(&one);
}

static void commands(void)
{
	check_equal(0, RUN("-f", HOME "/c", "-t", "cu", "/bin/cat", "/etc/motd"), "ktrace runs a command");
	check(records_count(HOME "/c", KTRX_PROC_SYSCALL, 0) > 4, "the command's system calls are recorded");
	check_equal(0, records_count(HOME "/c", KTRX_PROC_GENIO, 0), "no data is recorded");
	check_equal(1, records_count(HOME "/c", KTRX_PROC_PROCDTOR, 0), "the command's end is recorded");
	check_equal(0, RUN("-i", "-f", HOME "/i", "sh", "/etc/tools"),
		    "ktrace -i traces a script and its commands");
	check(records_count(HOME "/i", KTRX_PROC_PROCDTOR, 0) > 5, "ends of processes are recorded");
	check(records_count(HOME "/i", KTRX_PROC_GENIO, 0) > 5, "data is recorded");
	check(records_count(HOME "/i", KTRX_PROC_NAMEI, 0) > 5, "names are recorded");
	check(records_count(HOME "/i", KTRX_PROC_STRUCT, 0) > 0, "structs are recorded");
	check_equal(0, records_count(HOME "/i", KTRX_PROC_CSW, 0), "no context switches are recorded");
	check_equal(0, records_count(HOME "/i", KTRX_PROC_FAULT, 0), "no faults are recorded");
	check_equal(0, records_lost(HOME "/i"), "no records are lost");
	check_equal(0, RUN("-f", HOME "/w", "-t", "wf", "sleeper"),
		    "ktrace -t wf traces context switches and faults");
	check(records_count(HOME "/w", KTRX_PROC_CSW, 0) > 1, "context switches are recorded");
	check(records_count(HOME "/w", KTRX_PROC_FAULT, 0) > 1, "faults are recorded");
	check_equal(records_count(HOME "/w", KTRX_PROC_FAULT, 0),
		    records_count(HOME "/w", KTRX_PROC_FAULTEND, 0), "the end of each fault is recorded");
}

static void misuse(void)
{
	check_equal(MISUSED, RUN("-f", HOME "/m"), "no command and no process");
	check_equal(MISUSED, RUN("-p", "1", "ls"), "both a command and a process");
	check_equal(MISUSED, RUN("-t", "q", "ls"), "an unknown letter of -t");
	check_equal(MISUSED, RUN("-p", "nobody"), "a process that is not a number");
	check_equal(MISUSED, RUN("-q"), "an unknown option");
	check_equal(MISUSED, RUN("-f"), "-f without a file");
	check_equal(FAILED, RUN("-f", HOME "/m", "-p", "30000"), "a process that does not exist");
	check_equal(FAILED, RUN("-f", HOME, "ls"), "a directory");
	check_equal(FAILED, RUN("-f", HOME "/m", "no-such-command"), "a command that does not exist");
	check_equal(FAILED, RUN("-f", HOME "/none", "-c"), "a file that does not exist");
}

static void as_somebody(void)
{
	check_equal(0, setuid(SOMEBODY), "the user is set");
	check_equal(FAILED, RUN("-f", HOME "/root", "ls"), "a file of root is not replaced");
	check_equal(FAILED, RUN("-a", "-f", HOME "/open", "ls"), "a file of another user is not appended to");
	check_equal(FAILED, RUN("-p", "1", "-f", HOME "/theirs"), "a user cannot trace init");
	check_equal(0, RUN("-f", HOME "/theirs/t", "ls", HOME), "a user can trace a command of its own");
}

static void as_other_user(void)
{
	close(open(HOME "/root", O_WRONLY | O_CREAT, 0600));
	close(open(HOME "/open", O_WRONLY | O_CREAT, 0666));
	check_equal(0, chmod(HOME "/open", 0666), "every user may write the file");
	check_equal(0, mkdir(HOME "/theirs", 0700), "a directory is made");
	check_equal(0, chown(HOME "/theirs", SOMEBODY, SOMEBODY), "the directory gets its owner");
	check_equal(0, wait_for(start_child(as_somebody)), "status of the unprivileged child");
}

/* ---- A full disk ------------------------------------------------------------------------------- */

static int fill_disk(void)
{
	static char block[64 << 10];
	int fd = open(HOME "/filler", O_WRONLY | O_CREAT, 0600);

	while (write(fd, block, sizeof(block)) == sizeof(block))
		continue;
	return fd;
}

static void full_disk(void)
{
	struct family quiet;
	int64_t before;
	int filler, calls;

	start_family(&quiet);
	check_equal(0, RUN("-f", HOME "/quiet", "-t", "u", "-p", quiet.number),
		    "a trace of a process with few records starts");
	close(open(HOME "/full", O_WRONLY | O_CREAT, 0600));
	check_equal(0, ktrace(HOME "/full", KTROP_SET, KTRFAC_SYSCALL | KTRFAC_SYSRET, getpid()),
		    "a trace of this process starts");
	filler = fill_disk();
	for (calls = 0; calls < 1500; calls++)
		getpid();
	check_equal(0, ftruncate(filler, 0), "the disk has room again");
	before = records_count(HOME "/full", 0, 0);
	check(before > 100, "the records that fitted are complete");
	for (calls = 0; calls < 1500; calls++)
		getpid();
	check_equal(before, records_count(HOME "/full", 0, 0),
		    "a trace that ended by a full disk does not continue");
	check_equal(0, ktrace(HOME "/full", KTROP_SET, KTRFAC_SYSCALL, getpid()),
		    "the file can be used again");
	check_equal(0, ktrace(HOME "/full", KTROP_CLEARFILE, 0, 0), "the second trace into the file ends");
	check(records_count(HOME "/full", 0, 0) > before, "the second trace is appended");
	request(&quiet);
	check_equal(0, RUN("-C"), "ktrace -C ends all traces");
	check_equal(1, recorded(HOME "/quiet", quiet.parent), "the trace into the other file continued");
	end_family(&quiet);
	close(filler);
}

static void clean_up(void)
{
	static const char *const files[] = { "p", "d",	  "g",	  "x",	      "c",	"i",	"w",
					     "m", "root", "open", "theirs/t", "filler", "full", "quiet" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		format(path, sizeof(path), HOME "/%s", files[i]);
		check_equal(0, unlink(path), path);
	}
	check_equal(0, rmdir(HOME "/theirs"), "the directory is removed");
	check_equal(0, rmdir(HOME), "the directory of the test is removed");
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	check_equal(0, mkdir(HOME, 0777), "the directory of the test is made");
	check_equal(0, chmod(HOME, 0755), "other users may read it");
	processes();
	commands();
	misuse();
	as_other_user();
	full_disk();
	clean_up();
	finish();
}
