/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * identity: users, groups, process groups and jails, and the rights of set-id programs. It also runs itself
 * as a set-id program to check its ids then; the first argument selects the check.
 */
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ITSELF	 "/bin/identity"
#define SET_ID	 "/tmp/identity.set-id" /* a copy that runs as OWNER */
#define SECRET	 "/tmp/identity.secret" /* readable only by OWNER */
#define OWNER	 2000
#define SOMEBODY 1000
#define A_GROUP	 77
#define KEEP	 UINT32_MAX

static void check_users(int real, int effective, int saved, const char *text)
{
	uint32_t ids[3] = { 0 };

	check_equal(0, getresuid(&ids[0], &ids[1], &ids[2]), "three ids");
	check_equal(real, ids[0], text);
	check_equal(effective, ids[1], text);
	check_equal(saved, ids[2], text);
}

/* ---- Programs started with other ids ----------------------------------------------------------- */

static void run_itself(const char *path, char *word)
{
	char *words[] = { (char *)(uintptr_t)path, word, NULL }, *none[] = { NULL };

	execve(path, words, none);
	check(false, "the program is started");
	finish();
}

/* Runs as OWNER, started by SOMEBODY. */
static void as_set_id(void)
{
	check_users(SOMEBODY, OWNER, OWNER, "as its owner");
	check_equal(SOMEBODY, getuid(), "started by somebody");
	check_equal(OWNER, geteuid(), "as its owner");
	check_equal(OWNER, getegid(), "and in its group");
	check_equal(SOMEBODY, getgid(), "but still in somebody's");
	check_equal(1, issetugid(), "it knows what somebody may not know");
	check_equal(0, close(open(SECRET, O_RDONLY, 0)), "it reads what its owner may");
	check_equal(0, seteuid(SOMEBODY), "its privilege is laid down");
	check_users(SOMEBODY, SOMEBODY, OWNER, "for a while");
	check_equal(-EACCES, open(SECRET, O_RDONLY, 0), "and gone");
	check_equal(0, seteuid(OWNER), "and taken up again");
	check_equal(0, close(open(SECRET, O_RDONLY, 0)), "and there");
	check_equal(-EPERM, seteuid(0), "nobody becomes root");
	check_equal(0, setresgid(KEEP, SOMEBODY, SOMEBODY), "its group is given up for good");
	check_equal(0, setresuid(KEEP, SOMEBODY, SOMEBODY), "and its user");
	check_equal(-EPERM, seteuid(OWNER), "it does not come back");
	check_equal(1, issetugid(), "and the mark stays");
	run_itself(ITSELF, (char[]){ "plain" });
}

/* A normal program started by SOMEBODY. */
static void as_plain(void)
{
	check_users(SOMEBODY, SOMEBODY, SOMEBODY, "somebody is all that is left");
	check_equal(0, issetugid(), "a plain program has no mark");
}

static void as_somebody(void)
{
	check_equal(0, setgroups(0, NULL), "no other groups");
	check_equal(0, setresgid(SOMEBODY, SOMEBODY, SOMEBODY), "a group");
	check_equal(0, setuid(SOMEBODY), "a user");
	check_users(SOMEBODY, SOMEBODY, SOMEBODY, "for good");
	check_equal(-EPERM, setuid(0), "no way back");
	check_equal(-EPERM, setgroups(0, NULL), "groups are the superuser's to give");
	check_equal(-EACCES, open(SECRET, O_RDONLY, 0), "not for somebody");
	run_itself(SET_ID, (char[]){ "set-id" });
}

static void copy_file(const char *from, const char *to)
{
	static char block[4096];
	int source = open(from, O_RDONLY, 0), target = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	int64_t n;

	while ((n = read(source, block, sizeof(block))) > 0)
		check_equal(n, write_all(target, block, (size_t)n), to);
	check(source >= 0 && target >= 0 && n == 0, "a copy");
	close(source);
	close(target);
}

static void set_id_programs(void)
{
	copy_file(ITSELF, SET_ID);
	copy_file("/etc/motd", SECRET);
	check_equal(0, chmod(SECRET, 0600), "a secret");
	check_equal(0, chown(SECRET, OWNER, OWNER), "its owner's");
	check_equal(0, chown(SET_ID, OWNER, OWNER), "a program's owner");
	check_equal(0, chmod(SET_ID, 06755), "as which it runs");
	check_equal(0, wait_for(start_child(as_somebody)), "somebody");
	check_equal(0, unlink(SET_ID), "removed");
	check_equal(0, unlink(SECRET), "removed");
}

/* ---- Groups ------------------------------------------------------------------------------------ */

static void member(void)
{
	uint32_t groups[] = { 5, A_GROUP }, result[2] = { 0 };

	check_equal(-EINVAL, setgroups(GROUPS_MAX + 1, groups), "too many groups");
	check_equal(-EFAULT, setgroups(2, (void *)8), "groups from nowhere");
	check_equal(0, setgroups(2, groups), "two groups");
	check_equal(0, setuid(SOMEBODY), "a user");
	check_equal(2, getgroups(0, NULL), "how many");
	check_equal(-EINVAL, getgroups(1, result), "no room");
	check_equal(2, getgroups(2, result), "which");
	check(result[0] == 5 && result[1] == A_GROUP, "the same");
	check_equal(0, close(open(SECRET, O_RDONLY, 0)), "a member of its group reads it");
	check_equal(-EACCES, open(SECRET, O_WRONLY, 0), "and does not write it");
}

static uint32_t mode_of(const char *path)
{
	struct abi_stat about = { 0 };

	check_equal(0, stat(path, &about), path);
	return about.mode & ~S_IFMT;
}

/* The owner of a file, first in the file's group, then not. */
static void owner(void)
{
	uint32_t group = A_GROUP;

	check_equal(0, setgroups(1, &group), "a group");
	check_equal(0, seteuid(OWNER), "its owner");
	check_equal(0, chmod(SECRET, 02755), "makes it run in its group");
	check_equal(02755, mode_of(SECRET), "which is his");
	check_equal(0, seteuid(0), "root again");
	check_equal(0, setgroups(0, NULL), "not his any more");
	check_equal(0, seteuid(OWNER), "its owner");
	check_equal(0, chmod(SECRET, 02750), "may still change it");
	check_equal(0750, mode_of(SECRET), "but not make it run there");
}

static void groups(void)
{
	copy_file("/etc/motd", SECRET);
	check_equal(0, chmod(SECRET, 0640), "for a group");
	check_equal(0, chown(SECRET, OWNER, A_GROUP), "for that group");
	check_equal(0, wait_for(start_child(member)), "a member");
	check_equal(0, wait_for(start_child(owner)), "its owner");
	check_equal(0, unlink(SECRET), "removed");
}

/* A change of a program's contents clears its set-id bits. */
static void changed_programs(void)
{
	int fd = open(SECRET, O_WRONLY | O_CREAT | O_EXCL, 0755);

	check_equal(0, chmod(SECRET, 06755), "a set-id program");
	check_equal(1, write(fd, "x", 1), "is written to");
	check_equal(0755, mode_of(SECRET), "and none any more");
	check_equal(0, chmod(SECRET, 06755), "a set-id program again");
	check_equal(0, ftruncate(fd, 0), "is truncated");
	check_equal(0755, mode_of(SECRET), "and none any more");
	check_equal(0, chmod(SECRET, 06755), "a set-id program again");
	check_equal(0, close(open(SECRET, O_WRONLY | O_TRUNC, 0)), "is written anew");
	check_equal(0755, mode_of(SECRET), "and none any more");
	close(fd);
	check_equal(0, unlink(SECRET), "removed");
}

/* ---- Process groups and jails ------------------------------------------------------------------ */

static void wait_to_be_killed(void)
{
	for (;;)
		pause();
}

static void process_groups(void)
{
	int first = start_child(wait_to_be_killed), second = start_child(wait_to_be_killed),
	    apart = start_child(wait_to_be_killed);

	check_equal(getpgid(0), getpgid(first), "a child is in its parent's group");
	check_equal(0, setpgid(first, 0), "a group of its own");
	check_equal(first, getpgid(first), "named after it");
	check_equal(0, setpgid(second, first), "with another in it");
	check_equal(-EPERM, setpgid(apart, second), "there is no such group");
	check_equal(-ESRCH, setpgid(getppid(), 0), "not ours to move");
	check_equal(-EINVAL, setpgid(first, -1), "no group has such a number");
	check_equal(-ESRCH, getpgid(30000), "no such process");
	check_equal(0, kill(-first, 0), "somebody is in the group");
	check_equal(0, kill(-first, SIGKILL), "both are killed");
	check_equal(SIGKILL, wait_for(first), "one");
	check_equal(SIGKILL, wait_for(second), "and the other");
	check_equal(-ESRCH, kill(-first, SIGKILL), "nobody is left");
	check_equal(0, kill(apart, SIGKILL), "that one was not meant");
	check_equal(SIGKILL, wait_for(apart), "until now");
}

static void harmless(int signal)
{
	(void)signal;
}

static void leave_group_and_signal_it(void)
{
	check_equal(0, setpgid(0, 0), "a group of its own");
	check_equal(0, handle_signal(SIGUSR1, harmless), "a handler");
	check_equal(0, kill(0, SIGUSR1), "which it alone is in");
	check_equal(0, setuid(SOMEBODY), "a user");
	check_equal(-EPERM, kill(getppid(), SIGUSR1), "not somebody's to signal");
}

static int outside; /* a process in a group of its own */

static void shut_in(void)
{
	int inside = jail(), child;

	check(inside > 0, "a jail");
	check_equal(-EINVAL, jail(), "one is enough");
	check_equal(-ESRCH, kill(getppid(), 0), "nobody outside is seen");
	check_equal(-ESRCH, getpgid(getppid()), "nor asked for");
	check_equal(-EPERM, setpgid(0, outside), "nor joined");
	child = start_child(wait_to_be_killed);
	check_equal(0, kill(child, SIGKILL), "who was started inside is");
	check_equal(SIGKILL, wait_for(child), "and dies");
}

static void not_root(void)
{
	check_equal(0, setuid(SOMEBODY), "a user");
	check_equal(-EPERM, jail(), "jails are the superuser's");
}

static bool is_started_as(int argc, char **argv, const char *word)
{
	return argc == 2 && strcmp(argv[1], word) == 0;
}

int main(int argc, char **argv)
{
	if (is_started_as(argc, argv, "set-id"))
		as_set_id();
	if (is_started_as(argc, argv, "plain")) {
		as_plain();
		finish();
	}
	set_id_programs();
	groups();
	changed_programs();
	process_groups();
	check_equal(0, wait_for(start_child(leave_group_and_signal_it)), "a group of one");
	outside = start_child(wait_to_be_killed);
	check_equal(0, setpgid(outside, 0), "a group of its own");
	check_equal(0, wait_for(start_child(shut_in)), "a jail");
	check_equal(0, kill(outside, SIGKILL), "killed");
	check_equal(SIGKILL, wait_for(outside), "and dead");
	check_equal(0, wait_for(start_child(not_root)), "somebody");
	finish();
}
