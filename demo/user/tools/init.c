/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * init [WORD…]: the first process. Its arguments are the kernel's boot arguments. It runs the programs that
 * run=NAME[:ARGUMENT…][,NAME…] names, one after another. Then it switches the machine off, with status 0 if
 * all of them returned 0, otherwise 1. Without run=, it starts the shell if the user at the console presses
 * Enter, otherwise a short demo.
 */
#include <program.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ARGUMENTS_MAX 16
#define WORD_MAX      2048

#define DEMO	  "pipeline,faultwalk,lock,echo,resolver,signals,make"
#define ANSWER_MS 1500 /* time in which the user can press Enter to get the shell */

static unsigned programs_run, programs_failed;

/* Opens the console as standard input, output and error, unless the kernel has already opened it. */
static void open_console(void)
{
	struct abi_stat stat;

	while (fstat(STDERR, &stat) < 0)
		if (open("/dev/console", O_RDWR, 0) < 0)
			break;
}

/* Waits for a program and returns its status. During the wait, also reaps orphans. */
static int await(int program)
{
	int status, pid;

	do
		pid = wait4(-1, &status, 0);
	while (pid != program && (pid >= 0 || pid == -EINTR));
	return pid == program ? status : pid;
}

static void run(char **words)
{
	char path[PATH_MAX];
	int pid, status;

	format(path, sizeof(path), "/bin/%s", words[0]);
	pid = start_program(path, words);
	status = pid < 0 ? pid : await(pid);
	programs_run++;
	if (status != 0)
		programs_failed++;
	if (status < 0)
		printf("init: %s: error %d\n", words[0], -status);
	else if (WIFEXITED(status))
		printf("init: %s: status %d\n", words[0], WEXITSTATUS(status));
	else
		printf("init: %s: signal %d\n", words[0], WTERMSIG(status));
}

/*
 * Ends the text at the first separator. Returns the text after the separator, or NULL if there is no
 * separator.
 */
static char *cut(char *text, char separator)
{
	char *end = strchr(text, separator);

	if (!end)
		return NULL;
	*end = '\0';
	return end + 1;
}

static void run_list(const char *list)
{
	char text[WORD_MAX], *words[ARGUMENTS_MAX + 1], *next;

	string_copy(text, list, sizeof(text));
	for (char *program = text; program; program = next) {
		int n = 0;

		next = cut(program, ',');
		for (char *word = program; word && n < ARGUMENTS_MAX; n++) {
			words[n] = word;
			word = cut(word, ':');
		}
		words[n] = NULL;
		run(words);
	}
}

/*
 * Asks whether a user is present, because a serial line does not show this. Returns true if the user
 * presses Enter.
 */
static bool somebody_is_there(void)
{
	struct abi_pollfd console = { .fd = open("/dev/console", O_RDONLY | O_NONBLOCK, 0),
				      .events = POLLIN };
	char line[WORD_MAX];
	bool there;

	printf("init: Enter starts the shell, otherwise a short demo follows\n");
	/* Does not wait; from this first read on, the console accepts input. */
	read(console.fd, line, sizeof(line));
	there = poll(&console, 1, ANSWER_MS) > 0 && read(console.fd, line, sizeof(line)) > 0;
	close(console.fd);
	return there;
}

int main(int argc, char **argv)
{
	int status;

	open_console();
	for (int i = 1; i < argc; i++)
		if (string_starts(argv[i], "run="))
			run_list(argv[i] + 4);
	if (!programs_run)
		run_list(somebody_is_there() ? "sh" : DEMO);
	status = programs_failed ? 1 : 0;
	printf("init: %u of %u programs ended well\n", programs_run - programs_failed, programs_run);
	return reboot(REBOOT_POWER_OFF | status << 8);
}
