/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * identity: checks users, groups, process groups and jails, and the rights of set-id programs. The program
 * also runs copies of itself as set-id programs, to check their ids; the first argument selects the check.
 */
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ITSELF "/bin/identity"
/* Path of a copy of this program, which is set-id and belongs to OWNER. */
#define SET_ID	 "/tmp/identity.set-id"
#define SECRET	 "/tmp/identity.secret" /* path of a file that only OWNER can read */
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

/* Run by the set-id copy of this program: SOMEBODY has started it, so it must run as OWNER. */
static void as_set_id(void)
{
	check_users(SOMEBODY, OWNER, OWNER, "a set-id program runs as its owner");
	check_equal(SOMEBODY, getuid(), "the real user is the caller");
	check_equal(OWNER, geteuid(), "the effective user is the owner");
	check_equal(OWNER, getegid(), "the effective group is the owner's");
	check_equal(SOMEBODY, getgid(), "the real group is the caller's");
	check_equal(1, issetugid(), "a set-id program is marked");
	check_equal(0, close(open(SECRET, O_RDONLY, 0)), "it reads a file of its owner");
	check_equal(0, seteuid(SOMEBODY), "it sets the effective user to the real one");
	check_users(SOMEBODY, SOMEBODY, OWNER, "the saved user stays the owner");
	check_equal(-EACCES, open(SECRET, O_RDONLY, 0), "it cannot read the owner's file now");
	check_equal(0, seteuid(OWNER), "it sets the effective user to the saved one");
	check_equal(0, close(open(SECRET, O_RDONLY, 0)), "it reads the owner's file again");
	check_equal(-EPERM, seteuid(0), "it cannot become root");
	check_equal(0, setresgid(KEEP, SOMEBODY, SOMEBODY), "it gives up the owner's group");
	check_equal(0, setresuid(KEEP, SOMEBODY, SOMEBODY), "it gives up the owner's user");
	check_equal(-EPERM, seteuid(OWNER), "it cannot become its owner again");
	check_equal(1, issetugid(), "the mark stays");
	run_itself(ITSELF, (char[]){ "plain" });
}

/* Run by this program without set-id bits: SOMEBODY has started it, so it must run as SOMEBODY. */
static void as_plain(void)
{
	check_users(SOMEBODY, SOMEBODY, SOMEBODY, "a plain program has only the caller's ids");
	check_equal(0, issetugid(), "a plain program has no mark");
}

static void as_somebody(void)
{
	check_equal(0, setgroups(0, NULL), "all other groups are removed");
	check_equal(0, setresgid(SOMEBODY, SOMEBODY, SOMEBODY), "all group ids are set");
	check_equal(0, setuid(SOMEBODY), "the user is set");
	check_users(SOMEBODY, SOMEBODY, SOMEBODY, "setuid sets all three ids");
	check_equal(-EPERM, setuid(0), "the former user cannot be set again");
	check_equal(-EPERM, setgroups(0, NULL), "only root sets groups");
	check_equal(-EACCES, open(SECRET, O_RDONLY, 0), "a file of another user is not readable");
	run_itself(SET_ID, (char[]){ "set-id" });
}

static void copy_file(const char *from, const char *to)
{
	static char block[4096];
	int source = open(from, O_RDONLY, 0), target = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	int64_t n;

	while ((n = read(source, block, sizeof(block))) > 0)
		check_equal(n, write_all(target, block, (size_t)n), to);
	check(source >= 0 && target >= 0 && n == 0, "the file is copied");
	close(source);
	close(target);
}

static void set_id_programs(void)
{
	copy_file(ITSELF, SET_ID);
	copy_file("/etc/motd", SECRET);
	check_equal(0, chmod(SECRET, 0600), "only the owner may read");
	check_equal(0, chown(SECRET, OWNER, OWNER), "the file gets an owner");
	check_equal(0, chown(SET_ID, OWNER, OWNER), "the program gets an owner");
	check_equal(0, chmod(SET_ID, 06755), "the program becomes set-id");
	check_equal(0, wait_for(start_child(as_somebody)), "status of the unprivileged child");
	check_equal(0, unlink(SET_ID), "the program is removed");
	check_equal(0, unlink(SECRET), "the file is removed");
}

/* ---- Groups ------------------------------------------------------------------------------------ */

static void member(void)
{
	uint32_t groups[] = { 5, A_GROUP }, result[2] = { 0 };

	check_equal(-EINVAL, setgroups(GROUPS_MAX + 1, groups), "too many groups");
	check_equal(-EFAULT, setgroups(2, (void *)8), "groups at a bad address");
	check_equal(0, setgroups(2, groups), "two groups");
	check_equal(0, setuid(SOMEBODY), "the user is set");
	check_equal(2, getgroups(0, NULL), "the number of groups");
	check_equal(-EINVAL, getgroups(1, result), "a buffer for one group of two is refused");
	check_equal(2, getgroups(2, result), "the groups are read");
	check(result[0] == 5 && result[1] == A_GROUP, "the groups are those that were set");
	check_equal(0, close(open(SECRET, O_RDONLY, 0)), "a member of its group reads the file");
	check_equal(-EACCES, open(SECRET, O_WRONLY, 0), "a member of its group cannot write the file");
}

static uint32_t mode_of(const char *path)
{
	struct abi_stat about = { 0 };

	check_equal(0, stat(path, &about), path);
	return about.mode & ~S_IFMT;
}

/* Checks what the owner of a file may do: first as a member of the file's group, then as a non-member. */
static void owner(void)
{
	uint32_t group = A_GROUP;

	check_equal(0, setgroups(1, &group), "a group is set");
	check_equal(0, seteuid(OWNER), "the effective user is the owner");
	check_equal(0, chmod(SECRET, 02755), "an owner in the group sets the set-group-id bit");
	check_equal(02755, mode_of(SECRET), "the bit is set");
	check_equal(0, seteuid(0), "the effective user is root again");
	check_equal(0, setgroups(0, NULL), "the group is removed");
	check_equal(0, seteuid(OWNER), "the effective user is the owner again");
	check_equal(0, chmod(SECRET, 02750), "an owner outside the group changes the mode");
	check_equal(0750, mode_of(SECRET), "the set-group-id bit is not set");
}

static void groups(void)
{
	copy_file("/etc/motd", SECRET);
	check_equal(0, chmod(SECRET, 0640), "the group may read");
	check_equal(0, chown(SECRET, OWNER, A_GROUP), "the file gets an owner and a group");
	check_equal(0, wait_for(start_child(member)), "status of the member");
	check_equal(0, wait_for(start_child(owner)), "status of the owner");
	check_equal(0, unlink(SECRET), "the file is removed");
}

/* Checks that a change of a program's contents clears the program's set-id bits. */
static void changed_programs(void)
{
	int fd = open(SECRET, O_WRONLY | O_CREAT | O_EXCL, 0755);

	check_equal(0, chmod(SECRET, 06755), "a program becomes set-id");
	check_equal(1, write(fd, "x", 1), "the program is written to");
	check_equal(0755, mode_of(SECRET), "a write removes the set-id bits");
	check_equal(0, chmod(SECRET, 06755), "the program becomes set-id again");
	check_equal(0, ftruncate(fd, 0), "the program is truncated");
	check_equal(0755, mode_of(SECRET), "ftruncate removes the set-id bits");
	check_equal(0, chmod(SECRET, 06755), "the program becomes set-id once more");
	check_equal(0, close(open(SECRET, O_WRONLY | O_TRUNC, 0)), "the program is opened with O_TRUNC");
	check_equal(0755, mode_of(SECRET), "O_TRUNC removes the set-id bits");
	close(fd);
	check_equal(0, unlink(SECRET), "the program is removed");
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
	check_equal(0, setpgid(first, 0), "a child gets its own group");
	check_equal(first, getpgid(first), "a group has the number of its first process");
	check_equal(0, setpgid(second, first), "a second child joins the group");
	check_equal(-EPERM, setpgid(apart, second), "a group that does not exist cannot be joined");
	check_equal(-ESRCH, setpgid(getppid(), 0), "a parent's group cannot be changed");
	check_equal(-EINVAL, setpgid(first, -1), "a negative group is refused");
	check_equal(-ESRCH, getpgid(30000), "no such process");
	check_equal(0, kill(-first, 0), "the group has processes");
	check_equal(0, kill(-first, SIGKILL), "the group is killed");
	check_equal(SIGKILL, wait_for(first), "the signal ended the first child");
	check_equal(SIGKILL, wait_for(second), "the signal ended the second child");
	check_equal(-ESRCH, kill(-first, SIGKILL), "the group has no processes any more");
	check_equal(0, kill(apart, SIGKILL), "a process outside the group still runs and is killed");
	check_equal(SIGKILL, wait_for(apart), "the signal ended that process");
}

static void harmless(int signal)
{
	(void)signal;
}

static void leave_group_and_signal_it(void)
{
	check_equal(0, setpgid(0, 0), "the process gets its own group");
	check_equal(0, handle_signal(SIGUSR1, harmless), "a handler is set");
	check_equal(0, kill(0, SIGUSR1), "the own group is signaled");
	check_equal(0, setuid(SOMEBODY), "the user is set");
	check_equal(-EPERM, kill(getppid(), SIGUSR1), "a process of another user cannot be signaled");
}

static int outside; /* pid of a process that is outside the jail and has a process group of its own */

static void shut_in(void)
{
	int inside = jail(), child;

	check(inside > 0, "a jail is made");
	check_equal(-EINVAL, jail(), "a jail in a jail is refused");
	check_equal(-ESRCH, kill(getppid(), 0), "a process outside the jail cannot be signaled");
	check_equal(-ESRCH, getpgid(getppid()), "the group of a process outside the jail is hidden");
	check_equal(-EPERM, setpgid(0, outside), "a group outside the jail cannot be joined");
	child = start_child(wait_to_be_killed);
	check_equal(0, kill(child, SIGKILL), "a process inside the jail is killed");
	check_equal(SIGKILL, wait_for(child), "the signal ended it");
}

static void not_root(void)
{
	check_equal(0, setuid(SOMEBODY), "the user is set");
	check_equal(-EPERM, jail(), "only root makes jails");
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
	check_equal(0, wait_for(start_child(leave_group_and_signal_it)),
		    "status of the process in its own group");
	outside = start_child(wait_to_be_killed);
	check_equal(0, setpgid(outside, 0), "a child gets its own group");
	check_equal(0, wait_for(start_child(shut_in)), "status of the process in the jail");
	check_equal(0, kill(outside, SIGKILL), "the process outside is killed");
	check_equal(SIGKILL, wait_for(outside), "the signal ended it");
	check_equal(0, wait_for(start_child(not_root)), "status of the unprivileged child");
	finish();
}
