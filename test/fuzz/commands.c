/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * commands COUNT FOLDER[:WORDS]... <LINES: runs commands over damaged traces, which are the files 0 to
 * COUNT - 1 of each directory. Prints TAP, one result per directory. File n of directory k is passed to the
 * command in line n + k, modulo the number of lines: cmd_mutate damages file n of each directory in the
 * same way, so this damage is tried with a different command in each directory. A line looks like
 *
 *	0,1,3 text ktrace check --all @ %
 *
 * and has the exit statuses that the manual allows, the rule for the bytes of the output (see rules), and
 * the command. In the command, % is replaced by the file and @ by the WORDS of the directory; && works as
 * in a shell. Output and messages must consist of whole lines. A command must free all memory and close all
 * files.
 *
 * Commands run within this process, because starting a sanitized program takes far longer than such a
 * command. No entry function of a command calls exit(). A child process passes the files of a directory to
 * commands. If a file ends the child, the parent reports that file, and a new child continues after it.
 */
#include <fcntl.h>
#include <getopt.h>
#include <sanitizer/lsan_interface.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "golden/json_tree.h"

#define COMMAND(name) extern const struct command command_##name;
#include "commands.list"
#undef COMMAND

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "commands.list"
#undef COMMAND
};

#define COMMANDS   (sizeof(commands) / sizeof(commands[0]))
#define LINES_MOST 64
#define WORDS_MOST 64
#define WORD_BYTES 4096
#define JSON_BYTES (1 << 16)

/* time, in seconds, after which a command is considered to hang */
#define PATIENCE 300

/*
 * Exit status of a child after a leak. The child ends because the leak would be reported again after the next
 * file.
 */
#define ENDED_BY_LEAK 99

struct rule {
	const char *name;
	/*
	 * Printable ASCII and line feeds are always allowed. `tab` also allows tabs; `high` also allows bytes
	 * from 0x80 on.
	 */
	bool tab, high;
	bool json; /* true: the output must be a sequence of JSON values, which golden/json_tree.h reads */
};

static const struct rule rules[] = {
	{ .name = "text" },
	{ .name = "tabs", .tab = true },
	{ .name = "utf8", .high = true },
	{ .name = "json", .high = true, .json = true },
};

static const struct rule *const message_rule = &rules[2];

struct line {
	char *statuses, *command;
	const struct rule *rule;
};

/* Memory that a child and its parent share. */
struct progress {
	unsigned folder, file, findings;
};

static struct line lines[LINES_MOST];
static unsigned line_count;
static struct progress *progress;
/* descriptors of the files to which standard output and standard error are redirected */
static int outputs[2];
static FILE *tap;

/*
 * Options of the sanitizer: a large allocation returns NULL, as on a machine with little memory, and does not
 * end the program.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=256:allocator_may_return_null=1:detect_leaks=1";
}

static const struct line *line_of(unsigned file)
{
	return &lines[(file + progress->folder) % line_count];
}

static void give_up(const char *what)
{
	perror(what);
	_exit(EXIT_FAILURE);
}

/* ---- Commands that are run ---- */

static bool parse_line(char *text)
{
	struct line *line = &lines[line_count];
	char *rest = text, *rule;

	text[strcspn(text, "\n")] = '\0';
	line->statuses = strsep(&rest, " ");
	rule = strsep(&rest, " ");
	line->command = rest;
	for (size_t n = 0; rule && n < sizeof(rules) / sizeof(rules[0]); n++)
		if (strcmp(rules[n].name, rule) == 0)
			line->rule = &rules[n];
	return line->rule && line->command;
}

static bool read_lines(void)
{
	char *text = NULL;
	size_t size = 0;

	for (; getline(&text, &size, stdin) > 0; text = NULL, size = 0)
		if (line_count == LINES_MOST || !parse_line(text) || !++line_count)
			return false;
	free(text);
	return line_count > 0;
}

/*
 * Finds the command whose name is at the beginning of `words`, as main() of host/cmd/main.c does. Moves
 * `words` past this name. Stores in `name` the string with which the command's messages begin.
 */
static const struct command *find(char ***words, int *count, char name[64])
{
	const bool is_tool = *count < 2 || strcmp(**words, "ktrace") != 0;

	for (size_t n = 0; n < COMMANDS; n++) {
		const char *called = is_tool ? commands[n]->tool : commands[n]->name;

		if (!called || strcmp(called, (*words)[!is_tool]) != 0)
			continue;
		*words += !is_tool;
		*count -= !is_tool;
		snprintf(name, 64, is_tool ? "%s" : "ktrace %s", called);
		(*words)[0] = name;
		return commands[n];
	}
	fprintf(stderr, "no command: %s\n", **words);
	return NULL;
}

/*
 * Runs the command in `words`, which has no "&&". Returns its exit status, or -1 if there is no such command.
 * The file is then reported, because no line allows the status -1.
 */
static int run_words(char **words, int count)
{
	char name[64];
	const struct command *command = find(&words, &count, name);

	optind = 0; /* makes getopt(3) start again */
	words[count] = NULL;
	return command ? command->run(count, words) : -1;
}

static int run_line(const struct line *line, const char *file, const char *extra)
{
	char text[WORD_BYTES], *words[WORDS_MOST + 1], *rest = text, *word;
	int count = 0, status = 0;
	size_t length = 0;

	for (const char *at = line->command; *at && length < sizeof(text); at++)
		if (*at == '%' || *at == '@')
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s",
						   *at == '%' ? file : extra);
		else
			text[length++] = *at;
	if (length >= sizeof(text))
		return -1;
	text[length] = '\0';
	while (status == 0 && (word = strsep(&rest, " "))) {
		if (strcmp(word, "&&") == 0) {
			status = run_words(words, count);
			count = 0;
		} else if (*word && count < WORDS_MOST) {
			words[count++] = word;
		}
	}
	return status ? status : run_words(words, count);
}

/* ---- Faults that are found ---- */

__attribute__((format(printf, 2, 3))) static void find_fault(unsigned file, const char *format, ...)
{
	const struct line *line = line_of(file);
	va_list arguments;

	progress->findings++;
	fprintf(tap, "# copy %u, %s: ", file, line->command);
	va_start(arguments, format);
	vfprintf(tap, format, arguments);
	va_end(arguments);
	fputc('\n', tap);
	fflush(tap);
}

/* Maps the file of standard output (0) or standard error (1) into memory. Returns NULL if it is empty. */
static const char *map_output(int which, size_t *size)
{
	const off_t end = lseek(outputs[which], 0, SEEK_END);
	void *bytes;

	*size = end > 0 ? (size_t)end : 0;
	if (*size == 0)
		return NULL;
	bytes = mmap(NULL, *size, PROT_READ, MAP_SHARED, outputs[which], 0);
	if (bytes == MAP_FAILED)
		give_up("mmap");
	return bytes;
}

static bool is_allowed(const struct rule *rule, unsigned char byte)
{
	return byte == '\n' || (byte >= ' ' && byte <= '~') || (byte == '\t' && rule->tab) ||
	       (byte >= 0x80 && rule->high);
}

/* Checks the JSON values that begin in the first JSON_BYTES bytes of the output. */
static void check_json(unsigned file, const char *bytes, size_t size)
{
	char *text = strndup(bytes, size);
	const char *at = text, *error = text ? NULL : "out of memory";
	struct json json;

	while (text && (size_t)(at - text) < size && at - text < JSON_BYTES && !error) {
		error = json_read(&at, &json);
		json_free(&json);
	}
	if (error)
		find_fault(file, "no JSON at offset %zu: %s", (size_t)(at - text), error);
	free(text);
}

static void check_bytes(unsigned file, int which, const struct rule *rule)
{
	size_t size;
	const char *bytes = map_output(which, &size);

	for (size_t n = 0; n < size; n++)
		if (!is_allowed(rule, (unsigned char)bytes[n])) {
			find_fault(file, "%s: byte 0x%02x at offset %zu",
				   which ? "standard error" : "standard output", (unsigned char)bytes[n], n);
			break;
		}
	if (rule->json && size > 0)
		check_json(file, bytes, size);
	if (size > 0 && bytes[size - 1] != '\n')
		find_fault(file, "%s ends in the middle of a line",
			   which ? "standard error" : "standard output");
	if (size > 0)
		munmap((void *)bytes, size);
}

static bool is_documented(const char *statuses, int status)
{
	char number[16], list[64];

	snprintf(number, sizeof(number), ",%d,", status);
	snprintf(list, sizeof(list), ",%s,", statuses);
	return strstr(list, number) != NULL;
}

/*
 * From a sanitizer's report, prints the line of the error and the lines of the innermost functions of the
 * stack.
 */
static void print_report(void)
{
	size_t size;
	const char *bytes = map_output(1, &size), *at = bytes, *end;
	unsigned printed = 0;

	for (; size > 0 && at < bytes + size && printed < 8; at = end + 1) {
		end = memchr(at, '\n', (size_t)(bytes + size - at));
		end = end ? end : bytes + size;
		if (memmem(at, (size_t)(end - at), "ERROR", 5) ||
		    memmem(at, (size_t)(end - at), "runtime error", 13) ||
		    (end - at > 5 && memcmp(at, "    #", 5) == 0)) {
			fprintf(tap, "#   %.*s\n", (int)(end - at), at);
			printed++;
		}
	}
	fflush(tap);
	if (size > 0)
		munmap((void *)bytes, size);
}

/* Returns the lowest free file descriptor. */
static int next_descriptor(void)
{
	const int fd = dup(outputs[0]);

	close(fd);
	return fd;
}

/* ---- Child processes ---- */

static void empty_outputs(void)
{
	for (int n = 0; n < 2; n++)
		if (ftruncate(outputs[n], 0) < 0 || lseek(outputs[n], 0, SEEK_SET) < 0)
			give_up("ftruncate");
}

static void run_file(const char *folder, const char *extra)
{
	const unsigned file = progress->file;
	const struct line *line = line_of(file);
	const int before = next_descriptor();
	char path[WORD_BYTES];
	int status;

	snprintf(path, sizeof(path), "%s/%u", folder, file);
	empty_outputs();
	alarm(PATIENCE);
	status = run_line(line, path, extra);
	alarm(0);
	fflush(stdout);
	if (!is_documented(line->statuses, status))
		find_fault(file, "exit status %d", status);
	check_bytes(file, 0, line->rule);
	check_bytes(file, 1, message_rule);
	if (next_descriptor() != before)
		find_fault(file, "a file is left open");
	empty_outputs();
	if (__lsan_do_recoverable_leak_check()) {
		find_fault(file, "memory is still allocated");
		print_report();
		progress->file++;
		_exit(ENDED_BY_LEAK);
	}
}

/* Passes the remaining files of the directory to commands. Runs in a child process. */
_Noreturn static void run_files(const char *folder, const char *extra, unsigned count)
{
	if (dup2(outputs[0], STDOUT_FILENO) < 0 || dup2(outputs[1], STDERR_FILENO) < 0)
		give_up("dup2");
	for (; progress->file < count; progress->file++)
		run_file(folder, extra);
	_exit(EXIT_SUCCESS);
}

static void run_folder(const char *folder, const char *extra, unsigned count)
{
	progress->file = 0;
	while (progress->file < count) {
		const pid_t child = fork();
		int status;

		if (child == 0)
			run_files(folder, extra, count);
		if (child < 0 || waitpid(child, &status, 0) != child)
			give_up("fork");
		if (progress->file >= count || (WIFEXITED(status) && WEXITSTATUS(status) == ENDED_BY_LEAK))
			continue;
		find_fault(progress->file++,
			   WIFSIGNALED(status) ? "signal %d" : "the program ended with status %d",
			   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		print_report();
	}
}

int main(int argc, char **argv)
{
	const unsigned count = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	bool failed = false;

	if (count == 0 || !read_lines()) {
		fprintf(stderr, "usage: commands COUNT DIR[:WORDS]... <LINES\n");
		return EXIT_USAGE;
	}
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	outputs[0] = memfd_create("out", MFD_CLOEXEC);
	outputs[1] = memfd_create("err", MFD_CLOEXEC);
	tap = fdopen(dup(STDOUT_FILENO), "w");
	if (progress == MAP_FAILED || outputs[0] < 0 || outputs[1] < 0 || !tap)
		give_up("commands");
	signal(SIGPIPE, SIG_IGN);
	for (int n = 2; n < argc; n++) {
		char *extra = argv[n];
		const char *folder = strsep(&extra, ":");

		progress->findings = 0;
		progress->folder = (unsigned)n - 2;
		run_folder(folder, extra ? extra : "", count);
		fprintf(tap, "%s %d - %s, %u copies\n", progress->findings ? "not ok" : "ok", n - 1, folder,
			count);
		fflush(tap);
		failed = failed || progress->findings;
	}
	fprintf(tap, "1..%d\n", argc - 2);
	fclose(tap);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
