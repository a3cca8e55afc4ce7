/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * lock: four processes increment a number in a file, protected by a mutex that they implement themselves.
 * There are two kinds. First kind: a pipe that contains one byte; the process that has read the byte holds
 * the mutex. Second kind: a file that only one process can create; the process that has created it holds the
 * mutex.
 */
#include <program.h>
#include <unistd.h>

#define PROCESSES 4
#define ROUNDS	  25
#define NUMBER	  "/tmp/lock.number"
#define MUTEX	  "/tmp/lock.mutex"

static int token[2];
static bool by_file;

static void take_token(void)
{
	char byte;

	check_equal(1, read(token[0], &byte, 1), "the token is taken");
}

static void give_token(void)
{
	char byte = '.';

	check_equal(1, write(token[1], &byte, 1), "the token is given back");
}

static void create_mutex(void)
{
	int fd;

	while ((fd = open(MUTEX, O_WRONLY | O_CREAT | O_EXCL, 0600)) == -EEXIST)
		sleep_ms(1);
	if (check(fd >= 0, "the mutex is created"))
		close(fd);
}

static void remove_mutex(void)
{
	check_equal(0, unlink(MUTEX), "the mutex is removed");
}

static unsigned read_number(int fd)
{
	unsigned number = 0;

	lseek(fd, 0, SEEK_SET);
	check_equal(sizeof(number), read(fd, &number, sizeof(number)), "the number is read");
	return number;
}

static void write_number(int fd, unsigned number)
{
	lseek(fd, 0, SEEK_SET);
	check_equal(sizeof(number), write(fd, &number, sizeof(number)), "the number is written");
}

/*
 * Increments the number in the file. Yields between reading and writing, so that increments would be lost if
 * the mutex did not work.
 */
static void add(int fd, void (*lock)(void), void (*unlock)(void))
{
	unsigned number;

	lock();
	number = read_number(fd);
	sched_yield();
	write_number(fd, number + 1);
	unlock();
}

static void fight(void)
{
	int fd = open(NUMBER, O_RDWR, 0);

	for (unsigned i = 0; i < ROUNDS; i++)
		if (by_file)
			add(fd, create_mutex, remove_mutex);
		else
			add(fd, take_token, give_token);
	close(fd);
}

/* Runs all processes until they have ended. They use the kind of mutex that by_file selects. */
static void run_fight(void)
{
	int children[PROCESSES];

	for (unsigned i = 0; i < PROCESSES; i++)
		children[i] = start_child(fight);
	for (unsigned i = 0; i < PROCESSES; i++)
		check_equal(0, wait_for(children[i]), "status of a process");
}

int main(int argc, char **argv)
{
	int fd;

	(void)argc, (void)argv;
	fd = open(NUMBER, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (!check(fd >= 0 && pipe(token) == 0, "a file and a pipe"))
		finish();
	write_number(fd, 0);
	give_token();
	run_fight();
	by_file = true;
	run_fight();
	check_equal(PROCESSES * ROUNDS * 2, read_number(fd), "every addition counted");
	unlink(NUMBER);
	finish();
}
