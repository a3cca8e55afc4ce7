/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * make [JOBS [FILES]]: a load like a parallel build. It writes FILES sources, compiles each of them to an
 * object, with up to JOBS compilers at a time, links the objects, and checks the result. Compiler and linker
 * are this program, executed as "make compile SOURCE OBJECT" and "make link FILES OUTPUT".
 */
#include <program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS	    4
#define FILES	    12
#define JOBS_MAX    32
#define FILES_MAX   1000
#define SOURCE_SIZE 6000u
#define DIRECTORY   "/tmp/make"
/* number of passes of the compiler over a source: many, so that compiling takes long */
#define OPTIMIZE 20

static void source_name(char *path, unsigned n)
{
	format(path, PATH_MAX, DIRECTORY "/source%u", n);
}

static void object_name(char *path, unsigned n)
{
	format(path, PATH_MAX, DIRECTORY "/object%u", n);
}

static void fill_source(char *source, unsigned n)
{
	for (unsigned i = 0; i < SOURCE_SIZE; i++)
		source[i] = i % 40 == 39 ? '\n' : (char)('a' + (i * n + i / 40) % 26);
}

static unsigned hash(unsigned value, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		value = (value ^ (unsigned char)bytes[i]) * 16777619u;
	return value;
}

/* Compiles a source. The object code is only a number, which is returned. */
static unsigned translate(const char *source, size_t size)
{
	unsigned value = 2166136261u;

	for (unsigned pass = 0; pass < OPTIMIZE; pass++)
		value = hash(value, source, size);
	return value;
}

static bool read_file(const char *path, void *to, size_t size)
{
	int fd = open(path, O_RDONLY, 0);
	bool good = check(fd >= 0, path) && check_equal((int64_t)size, read_all(fd, to, size), path);

	close(fd);
	return good;
}

static void write_file(const char *path, const void *from, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (check(fd >= 0, path))
		check_equal((int64_t)size, write_all(fd, from, size), path);
	close(fd);
}

static _Noreturn void compile(const char *source_path, const char *object_path)
{
	char *source = malloc(SOURCE_SIZE);
	unsigned object;

	if (check(source, "memory") && read_file(source_path, source, SOURCE_SIZE)) {
		object = translate(source, SOURCE_SIZE);
		write_file(object_path, &object, sizeof(object));
	}
	finish();
}

static _Noreturn void link_all(unsigned files, const char *output)
{
	char path[PATH_MAX];
	unsigned object, linked = 0;

	for (unsigned n = 0; n < files; n++) {
		object_name(path, n);
		if (read_file(path, &object, sizeof(object)))
			linked = hash(linked, (char *)&object, sizeof(object));
	}
	write_file(output, &linked, sizeof(linked));
	finish();
}

static int start_compiler(unsigned n)
{
	char source[PATH_MAX], object[PATH_MAX];

	source_name(source, n);
	object_name(object, n);
	return start_program("/bin/make", (char *[]){ "make", "compile", source, object, NULL });
}

/* Writes the sources. Returns the result that the linker must compute from their objects. */
static unsigned write_sources(unsigned files)
{
	char path[PATH_MAX], *source = malloc(SOURCE_SIZE);
	unsigned object, linked = 0;

	if (!check(source, "memory"))
		finish();
	for (unsigned n = 0; n < files; n++) {
		fill_source(source, n);
		source_name(path, n);
		write_file(path, source, SOURCE_SIZE);
		object = translate(source, SOURCE_SIZE);
		linked = hash(linked, (char *)&object, sizeof(object));
	}
	free(source);
	return linked;
}

static void compile_all(unsigned jobs, unsigned files)
{
	unsigned running = 0;
	int status;

	for (unsigned n = 0; n < files || running > 0;) {
		if (n < files && running < jobs) {
			if (!check(start_compiler(n++) > 0, "a compiler starts"))
				return;
			running++;
			continue;
		}
		check(wait4(-1, &status, 0) > 0, "a compiler ends");
		check_equal(0, status, "status of a compiler");
		running--;
	}
}

static void clean(unsigned files)
{
	char path[PATH_MAX];

	for (unsigned n = 0; n < files; n++) {
		source_name(path, n);
		check_equal(0, unlink(path), path);
		object_name(path, n);
		check_equal(0, unlink(path), path);
	}
	check_equal(0, unlink(DIRECTORY "/program"), "the program is removed");
	check_equal(0, rmdir(DIRECTORY), "the directory is removed");
}

static unsigned limit(unsigned value, unsigned most)
{
	return value < 1 ? 1 : value > most ? most : value;
}

int main(int argc, char **argv)
{
	unsigned jobs, files, expected, linked = 0;
	char number[16];

	if (argc == 4 && strcmp(argv[1], "compile") == 0)
		compile(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "link") == 0)
		link_all(parse_number(argv[2], 0), argv[3]);
	jobs = limit(argc > 1 ? parse_number(argv[1], JOBS) : JOBS, JOBS_MAX);
	files = limit(argc > 2 ? parse_number(argv[2], FILES) : FILES, FILES_MAX);

	check_equal(0, mkdir(DIRECTORY, 0777), "a directory");
	expected = write_sources(files);
	compile_all(jobs, files);
	format(number, sizeof(number), "%u", files);
	check_equal(0,
		    wait_for(start_program("/bin/make",
					   (char *[]){ "make", "link", number, DIRECTORY "/program", NULL })),
		    "status of the linker");
	read_file(DIRECTORY "/program", &linked, sizeof(linked));
	check_equal(expected, linked, "the program");
	clean(files);
	finish();
}
