/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * swarm [N [FILE]]: creates N processes (1000), about eight at a time. Each process is forked, executes a
 * program, and ends. All are traced into FILE (/tmp/swarm.out). Then swarm checks that the file contains
 * these events of each process, and that no record was lost.
 */
#include <program.h>
#include <records.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ktrace.h>
#include <unistd.h>

#define AT_A_TIME  8
#define FACILITIES (KTRFAC_SYSCALL | KTRFAC_SYSRET | KTRFAC_USER | KTRFAC_PROCCTOR | KTRFAC_PROCDTOR)

static int ended_well;

static void start_one(void)
{
	char *words[] = { (char[]){ "swarm" }, (char[]){ "child" }, NULL };

	check(start_program("/bin/swarm", words) > 0, "a process starts");
}

static void end_one(void)
{
	int status;

	if (check(wait4(-1, &status, 0) > 0, "a process ends"))
		ended_well += status == 0;
}

static void run_all(int count)
{
	for (int i = 0; i < count; i++) {
		start_one();
		if (i >= AT_A_TIME)
			end_one();
	}
	for (int i = 0; i < count && i < AT_A_TIME; i++)
		end_one();
	check_equal(count, ended_well, "all end well");
}

/*
 * Counts the records of type PROCCTOR with this `how`: processes that were forked, or that executed a
 * program.
 */
static int64_t count_creations(const char *path, uint32_t how)
{
	struct records records;
	struct ktrx_proc_ctor creation;
	int64_t found = 0;

	if (!check_equal(0, records_open(&records, path), path))
		return 0;
	while (records_next(&records) > 0)
		if (records.record.type == KTRX_PROC_PROCCTOR &&
		    records_read(&records, &creation, sizeof(creation)) == sizeof(creation))
			found += creation.flags == how;
	records_close(&records);
	return found;
}

/*
 * Checks the number of records. Each child calls execve, utrace and exit. exit does not return, so there
 * is no record of a return.
 */
static void check_trace(const char *path, int count)
{
	int64_t all = records_count(path, 0, 0);

	check_equal(count, count_creations(path, KTRX_PROC_CTOR_FORK), "forks");
	check_equal(count, count_creations(path, KTRX_PROC_CTOR_EXEC), "programs");
	check_equal(count, records_count(path, KTRX_PROC_USER, 0), "words");
	check_equal(count, records_count(path, KTRX_PROC_PROCDTOR, 0), "ends");
	check_equal(records_count(path, KTRX_PROC_SYSCALL, 0) - count,
		    records_count(path, KTRX_PROC_SYSRET, 0), "calls return");
	check_equal(3 * count,
		    records_count(path, KTRX_PROC_SYSCALL, 0) -
			    records_count(path, KTRX_PROC_SYSCALL, getpid()),
		    "calls");
	check_equal(0, records_lost(path), "nothing is lost");
	printf("swarm: %d processes, %ld records\n", count, all);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? (int)parse_number(argv[1], 0) : 1000;
	const char *path = argc > 2 ? argv[2] : "/tmp/swarm.out";

	if (argc == 2 && strcmp(argv[1], "child") == 0) {
		utrace("here", 4);
		return 0;
	}
	unlink(path);
	check_equal(0, close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)), path);
	check_equal(0, ktrace(path, KTROP_SET, FACILITIES | KTRFAC_INHERIT, getpid()), "traced");
	run_all(count);
	check_equal(0, ktrace(path, KTROP_CLEARFILE, 0, 0), "no longer traced");
	check_trace(path, count);
	finish();
}
