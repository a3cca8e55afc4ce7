/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how the server handles calls of tools whose command does not end, or writes without end. A script
 * replaces the program ktrace: it writes its process id into the file `pid`, and then runs the commands in
 * the file `act`.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "mcp/mcp.h"

#define CALL                                                                                        \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"summary\"," \
	"\"arguments\":{\"trace\":\"trace\",\"budget\":1000}}}\n"
#define CANCEL "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n"
#define PING   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n"

static char folder[64];
static pid_t server;
static FILE *to, *from;

static void put(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
	(void)state;
	alarm(300); /* ends this program if a test waits for an answer that the server does not send */
	signal(SIGPIPE, SIG_IGN);
	strcpy(folder, "/tmp/ktrace-mcp.XXXXXX");
	assert_true(mkdtemp(folder) && chdir(folder) == 0);
	put("trace", "trace");
	put("script", "#!/bin/sh\necho $$ >pid.new && mv pid.new pid\n. ./act\n");
	return chmod("script", 0700);
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

/* Starts a server. Each command that it starts runs the shell script `act`. */
static void start(const char *act, double seconds)
{
	char script[128];
	const struct mcp_options options = {
		.name = "test", .version = "1", .self = script, .folder = folder, .seconds = seconds
	};
	int in[2], out[2];

	put("act", act);
	snprintf(script, sizeof(script), "%s/script", folder);
	assert_true(pipe(in) == 0 && pipe(out) == 0);
	server = fork();
	if (server == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		for (int n = 0; n < 2; n++) {
			close(in[n]);
			close(out[n]);
		}
		_exit(mcp_serve(&options) ? 1 : 0);
	}
	assert_true(server > 0);
	close(in[0]);
	close(out[1]);
	to = fdopen(in[1], "w");
	from = fdopen(out[0], "r");
	assert_true(to && from);
}

static void say(const char *text)
{
	assert_true(fputs(text, to) >= 0 && fflush(to) == 0);
}

/* Reads an answer, and checks that it contains a text. */
static void expect(const char *text)
{
	static char line[65536];

	assert_non_null(fgets(line, sizeof(line), from));
	if (!strstr(line, text))
		fail_msg("'%s' is not in: %s", text, line);
}

/* Waits until the command has written its process id. Returns this id. */
static pid_t command_of(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	FILE *file;
	long pid = 0;

	while (!(file = fopen("pid", "r")))
		nanosleep(&pause, NULL);
	assert_int_equal(fscanf(file, "%ld", &pid), 1);
	fclose(file);
	return (pid_t)pid;
}

static void wait_for_end_of(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (kill(pid, 0) == 0)
		nanosleep(&pause, NULL);
	assert_int_equal(errno, ESRCH);
}

/* Ends the input, and checks that the server ends without another answer. */
static void end(void)
{
	int status = -1;

	fclose(to);
	assert_int_equal(getc(from), EOF);
	fclose(from);
	assert_int_equal(waitpid(server, &status, 0), server);
	assert_int_equal(status, 0);
}

static void query_is_one_word_and_ends_before_the_call(void **state)
{
	(void)state;
	start("printf '<%s>' \"$@\"", 1000);
	say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"sql\","
	    "\"arguments\":{\"trace\":\"trace\",\"query\":\"-- a b\"}}}\n");
	expect("<sql><--timeout=800><--budget=16000><--><trace><-- a b>");
	end();
}

static void cancelled_call_ends_its_command_and_has_no_answer(void **state)
{
	pid_t pid;

	(void)state;
	start("exec sleep 1000", 1000);
	say(CALL);
	pid = command_of();
	say(PING);
	expect("\"id\":2,\"result\":{}"); /* the server answers while a command runs */
	say(CANCEL);
	wait_for_end_of(pid);
	say(PING);
	expect("\"id\":2,\"result\":{}");
	end();
}

static void waiting_call_can_be_cancelled(void **state)
{
	(void)state;
	start("exec sleep 1000", 1000);
	for (int id = 10; id < 14; id++) {
		char call[256];

		snprintf(call, sizeof(call),
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
			 "\"summary\",\"arguments\":{\"trace\":\"trace\"}}}\n",
			 id);
		say(call);
	}
	for (int id = 13; id >= 10; id--) {
		char cancel[128];

		snprintf(cancel, sizeof(cancel),
			 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
			 "\"requestId\":%d}}\n",
			 id);
		say(cancel);
	}
	end();
}

static void slow_command_is_ended(void **state)
{
	(void)state;
	start("exec sleep 1000", 0.1);
	say(CALL);
	expect("the command did not end within");
	end();
}

static void endless_output_is_cut_and_its_command_ended(void **state)
{
	(void)state;
	start("exec yes", 1000);
	say(CALL);
	expect("The output was cut after 1000 bytes");
	wait_for_end_of(command_of());
	end();
}

static void cut_output_ends_with_a_whole_line(void **state)
{
	(void)state;
	start("exec yes 1234567", 1000);
	say(CALL);
	expect("1234567\\n1234567\\n\"},{\"type\":\"text\",\"text\":\"The output was cut after 1000 bytes");
	end();
	start("exec yes 123456789", 1000);
	say(CALL);
	expect("123456789\\n\"},{\"type\":\"text\",\"text\":\"The output was cut after 1000 bytes");
	end();
	start("exec yes 12345678901", 1000);
	say(CALL);
	expect("12345678901\\n\"},{\"type\":\"text\",\"text\":\"The output was cut after 996 bytes");
	end();
}

static void endless_messages_are_cut(void **state)
{
	(void)state;
	start("exec yes >&2", 0.2);
	say(CALL);
	expect("the command did not end within");
	end();
}

static void command_that_dies_is_an_error(void **state)
{
	(void)state;
	start("kill -SEGV $$", 1000);
	say(CALL);
	expect("The command was ended by signal 11.\"}],\"isError\":true");
	end();
}

static void status_of_a_finding_is_no_error(void **state)
{
	(void)state;
	start("echo found; exit 10", 1000);
	say(CALL);
	expect("found\\n\"}],\"isError\":false");
	end();
}

static void output_that_is_not_utf8_is_escaped(void **state)
{
	(void)state;
	start("printf 'a\\377b'", 1000);
	say(CALL);
	expect("a\\\\xffb");
	end();
}

static void nul_in_a_string_is_refused_with_the_id(void **state)
{
	(void)state;
	start("printf called", 1000);
	say("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"a\\u0000b\"}}\n");
	expect("\"id\":7,\"error\":{\"code\":-32600,\"message\":\"a string contains U+0000");
	end();
}

static void command_ends_with_the_server(void **state)
{
	int alive[2]; /* a pipe whose writing end the server and its commands inherit */
	char byte;

	(void)state;
	assert_int_equal(pipe(alive), 0);
	start("exec sleep 1000", 1000);
	close(alive[1]);
	say(CALL);
	command_of();
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	assert_int_equal(read(alive[0], &byte, 1), 0); /* returns only when the command has also ended */
	close(alive[0]);
	fclose(to);
	fclose(from);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(query_is_one_word_and_ends_before_the_call),
		TEST(cancelled_call_ends_its_command_and_has_no_answer),
		TEST(waiting_call_can_be_cancelled),
		TEST(slow_command_is_ended),
		TEST(endless_output_is_cut_and_its_command_ended),
		TEST(cut_output_ends_with_a_whole_line),
		TEST(endless_messages_are_cut),
		TEST(command_that_dies_is_an_error),
		TEST(status_of_a_finding_is_no_error),
		TEST(output_that_is_not_utf8_is_escaped),
		TEST(nul_in_a_string_is_refused_with_the_id),
		TEST(command_ends_with_the_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
