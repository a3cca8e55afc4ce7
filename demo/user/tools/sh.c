/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * sh [FILE]: reads lines of commands from a file or standard input and runs them.
 *
 *   line     = pipeline { (";" | "&") pipeline }        & does not wait
 *   pipeline = command { "|" command }
 *   command  = { word | "<" file | ">" file | ">>" file }
 *
 * Words are separated by blanks; '…' and "…" quote. Builtin commands: cd, exit and echo.
 */
#include <program.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX   512
#define WORDS_MAX  32
#define STAGES_MAX 8
#define OPERATORS  "|&;<>"

struct command {
	char *words[WORDS_MAX + 1];
	int count;
	const char *input, *output; /* paths of files for redirection, or NULL */
	bool append;
};

struct pipeline {
	struct command stage[STAGES_MAX];
	int count;
	bool background;
};

static int last_status;
static int script = STDIN; /* descriptor from which the shell reads its commands */

/* ---- Reading and parsing lines ------------------------------------------------------------------ */

/* Reads a line without its newline, truncated to the buffer's size. Returns false at the end of input. */
static bool read_line(char *line)
{
	size_t length = 0;
	int64_t n;
	char c;

	while ((n = read(script, &c, 1)) == 1 && c != '\n')
		if (length + 1 < LINE_MAX)
			line[length++] = c;
	line[length] = '\0';
	return n == 1 || n == -EINTR || length > 0;
}

/* State of parsing a line. Words are copied to `store`, which is large enough for all words of a line. */
struct reader {
	const char *at;
	char store[2 * LINE_MAX];
	char *free;
};

/* Returns the next operator and skips it. Returns 0 if something else, or the end of the line, comes next. */
static char next_operator(struct reader *reader)
{
	while (*reader->at == ' ' || *reader->at == '\t')
		reader->at++;
	return *reader->at && strchr(OPERATORS, *reader->at) ? *reader->at++ : '\0';
}

/* Returns the next word and skips it. Returns NULL if an operator, or the end of the line, comes next. */
static char *next_word(struct reader *reader)
{
	char *word = reader->free, quote = '\0';

	while (*reader->at == ' ' || *reader->at == '\t')
		reader->at++;
	if (!*reader->at || strchr(OPERATORS, *reader->at))
		return NULL;
	for (; *reader->at && (quote || !strchr(" \t" OPERATORS, *reader->at)); reader->at++) {
		if (quote && *reader->at == quote)
			quote = '\0';
		else if (!quote && (*reader->at == '\'' || *reader->at == '"'))
			quote = *reader->at;
		else
			*reader->free++ = *reader->at;
	}
	*reader->free++ = '\0';
	return word;
}

/*
 * Reads a command, up to the operator that ends it. Returns this operator: '|', '&', ';' or, at the end of
 * the line, 0. Returns -1 after a syntax error.
 */
static int read_command(struct reader *reader, struct command *command)
{
	*command = (struct command){ 0 };
	for (;;) {
		char *word = next_word(reader), symbol;

		if (word) {
			if (command->count == WORDS_MAX)
				return -1;
			command->words[command->count++] = word;
			continue;
		}
		symbol = next_operator(reader);
		if (symbol != '<' && symbol != '>')
			return symbol;
		command->append = symbol == '>' && *reader->at == '>';
		if (command->append)
			reader->at++;
		word = next_word(reader);
		if (!word)
			return -1;
		*(symbol == '<' ? &command->input : &command->output) = word;
	}
}

/* Reads a pipeline: commands that are connected by '|'. Returns false after a syntax error. */
static bool read_pipeline(struct reader *reader, struct pipeline *pipeline)
{
	int symbol;

	pipeline->count = 0;
	do {
		struct command *command = &pipeline->stage[pipeline->count++];

		symbol = read_command(reader, command);
		if (symbol < 0 || (command->count == 0 && (symbol == '|' || pipeline->count > 1)))
			return false;
	} while (symbol == '|' && pipeline->count < STAGES_MAX);
	pipeline->background = symbol == '&';
	return symbol != '|';
}

/* ---- Running commands --------------------------------------------------------------------------- */

static void echo(char **words)
{
	char line[LINE_MAX];
	size_t length = 0;

	for (int i = 1; words[i]; i++) {
		format(line + length, sizeof(line) - length, "%s%s", i > 1 ? " " : "", words[i]);
		length += strlen(line + length);
	}
	printf("%s\n", line);
}

static void redirect(const char *path, unsigned flags, int to)
{
	int fd = open(path, flags, 0666);

	if (fd < 0) {
		dprintf(STDERR, "sh: %s: error %d\n", path, -fd);
		exit(1);
	}
	dup2(fd, to);
	close(fd);
}

/* Executes a command. Runs in the child process. */
static _Noreturn void execute(const struct command *command)
{
	char *no_environment[] = { NULL };
	char path[PATH_MAX];

	handle_signal(SIGINT, (signal_handler *)SIG_DFL);
	if (command->input)
		redirect(command->input, O_RDONLY, STDIN);
	if (command->output)
		redirect(command->output, O_WRONLY | O_CREAT | (command->append ? O_APPEND : O_TRUNC),
			 STDOUT);
	if (command->count == 0)
		exit(0);
	if (strcmp(command->words[0], "echo") == 0) {
		echo((char **)(uintptr_t)command->words);
		exit(0);
	}
	format(path, sizeof(path), strchr(command->words[0], '/') ? "%s" : "/bin/%s", command->words[0]);
	execve(path, (void *)(uintptr_t)command->words, no_environment);
	dprintf(STDERR, "sh: %s: not found\n", command->words[0]);
	exit(127);
}

/*
 * Starts a command that reads from `input`. Unless the command is the last one of the pipeline, it writes to
 * a new pipe, and *output becomes the read end of this pipe.
 */
static int start_stage(const struct command *command, int input, bool last, int *output)
{
	int ends[2] = { -1, -1 }, pid;

	if (!last && pipe(ends) < 0)
		return -ENFILE;
	pid = fork();
	if (pid == 0) {
		if (input != STDIN)
			dup2(input, STDIN);
		if (!last) {
			dup2(ends[1], STDOUT);
			close(ends[0]);
			close(ends[1]);
		}
		execute(command);
	}
	if (input != STDIN)
		close(input);
	if (!last)
		close(ends[1]);
	*output = ends[0];
	return pid;
}

static void run_pipeline(const struct pipeline *pipeline)
{
	int pid[STAGES_MAX], input = STDIN;

	for (int i = 0; i < pipeline->count; i++) {
		pid[i] = start_stage(&pipeline->stage[i], input, i + 1 == pipeline->count, &input);
		if (pid[i] < 0)
			dprintf(STDERR, "sh: cannot start a process: error %d\n", -pid[i]);
	}
	for (int i = 0; i < pipeline->count && !pipeline->background; i++)
		if (pid[i] > 0)
			last_status = wait_for(pid[i]);
	if (WTERMSIG(last_status) && !pipeline->background)
		dprintf(STDERR, "sh: ended by signal %d\n", WTERMSIG(last_status));
}

/* Runs `cd` and `exit` in the shell itself, because they change it. Returns false for other commands. */
static bool run_own(const struct command *command)
{
	const char *directory = command->count > 1 ? command->words[1] : "/";

	if (strcmp(command->words[0], "exit") == 0)
		exit(command->count > 1 ? (int)parse_number(command->words[1], 2) : WEXITSTATUS(last_status));
	if (strcmp(command->words[0], "cd") != 0)
		return false;
	if (chdir(directory) < 0)
		dprintf(STDERR, "sh: %s: no such directory\n", directory);
	return true;
}

static void run_line(const char *line)
{
	struct reader reader = { .at = line, .free = reader.store };
	struct pipeline pipeline;

	while (*reader.at) {
		if (!read_pipeline(&reader, &pipeline)) {
			dprintf(STDERR, "sh: syntax error\n");
			return;
		}
		if (pipeline.count == 1 && pipeline.stage[0].count == 0 && !pipeline.stage[0].output)
			continue;
		if (pipeline.count > 1 || pipeline.stage[0].count == 0 || !run_own(&pipeline.stage[0]))
			run_pipeline(&pipeline);
	}
}

static void reap_background(void)
{
	int status;

	while (wait4(-1, &status, WNOHANG) > 0)
		;
}

int main(int argc, char **argv)
{
	char line[LINE_MAX];

	if (argc > 1)
		script = open(argv[1], O_RDONLY | O_CLOEXEC, 0);
	handle_signal(SIGINT, (signal_handler *)SIG_IGN);
	for (;;) {
		reap_background();
		if (script == STDIN)
			printf("$ ");
		if (!read_line(line))
			return script < 0 ? 1 : WEXITSTATUS(last_status);
		run_line(line);
	}
}
