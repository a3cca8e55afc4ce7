/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests lists of a kernel's symbols: which lists are read, which are refused, and which match the executed
 * code.
 */
#include "hwt/binary.h"

#include <elf.h>
#include <fcntl.h>

#include "unit/support/hwt_reading.h"

#define TEXT	  UINT64_C(0xffffffff81000000)
#define FUNCTIONS 40u
#define EACH	  0x40u

static char path[64], message[1024];

/* Writes a file with these bytes to `path`. */
static void write_bytes(const char *bytes, size_t size)
{
	int descriptor;

	strcpy(path, "/tmp/symbols.XXXXXX");
	descriptor = mkstemp(path);
	assert_true(descriptor >= 0);
	assert_int_equal(write(descriptor, bytes, size), size);
	close(descriptor);
}

static struct hwt_map *open_map(const char *text)
{
	struct hwt_map *map;

	write_bytes(text, strlen(text));
	if (hwt_map_open(&map, path, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	unlink(path);
	return map;
}

/* Checks that the file is refused with a message that contains `why`. */
static void refuse_bytes(const char *bytes, size_t size, const char *why)
{
	struct hwt_map *map;

	write_bytes(bytes, size);
	assert_true(hwt_map_open(&map, path, message, sizeof(message)) < 0);
	assert_null(map);
	if (!strstr(message, why))
		fail_msg("said \"%s\", not \"%s\"", message, why);
	assert_non_null(strstr(message, path));
	unlink(path);
}

static void refuse(const char *text, const char *why)
{
	refuse_bytes(text, strlen(text), why);
}

static void expect(const struct hwt_map *map, uint64_t address, const char *name, const char *module)
{
	const struct hwt_map_function *function = hwt_map_find(map, address);

	if (!name) {
		assert_null(function);
		return;
	}
	assert_non_null(function);
	assert_string_equal(function->name, name);
	assert_int_equal(function->module != NULL, module != NULL);
	if (module)
		assert_string_equal(function->module, module);
}

static void functions_extend_to_the_next_symbol(void **state)
{
	struct hwt_map *map = open_map("0000000000000000 A fixed_percpu_data\n"
				       "0000000000001010 A a_number\n"
				       "ffffffff81000100 t second\n"
				       "ffffffff81000000 T _first\n"
				       "ffffffff81000000 T alias\n"
				       "ffffffff81000180 W third\n"
				       "ffffffff81000200 D data\n"
				       "ffffffffc0000000 t init\t[ext4]\n"
				       "ffffffffc0000100 t exit\t[ext4]\r\n"
				       "ffffffffc0005000 i other [xfs]\n");

	(void)state;
	assert_int_equal(map->functions, 6);
	expect(map, TEXT - 1, NULL, NULL);
	expect(map, TEXT, "_first", NULL);
	expect(map, TEXT + 0xff, "_first", NULL);
	expect(map, TEXT + 0x100, "second", NULL);
	expect(map, TEXT + 0x1ff, "third", NULL);
	expect(map, TEXT + 0x200, NULL, NULL);
	expect(map, 0x1010, NULL, NULL);
	expect(map, UINT64_C(0xffffffffc00000ff), "init", "ext4");
	/*
	 * The size of a module's last function is not known. So addresses after the memory page in which it
	 * begins get no name.
	 */
	expect(map, UINT64_C(0xffffffffc0000fff), "exit", "ext4");
	expect(map, UINT64_C(0xffffffffc0001000), NULL, NULL);
	expect(map, UINT64_C(0xffffffffc0005fff), "other", "xfs");
	expect(map, UINT64_C(0xffffffffc0006000), NULL, NULL);
	hwt_map_close(map);
}

/* Lists of nm: undefined symbols, mapping symbols of AArch64, names with special characters. */
static void output_of_nm_is_read(void **state)
{
	struct hwt_map *map = open_map("                 U elsewhere\n"
				       "                 w perhaps\n"
				       "0000000000001000 T main\n"
				       "0000000000001004 t $x\n"
				       "0000000000001008 t $d.12\n"
				       "000000000000100C T _RNvC$u20\x1b.cold\n");

	(void)state;
	assert_int_equal(map->functions, 2);
	expect(map, 0x100b, "main", NULL);
	expect(map, 0x100c, "_RNvC$u20\x1b.cold", NULL);
	hwt_map_close(map);
}

static void malformed_line_is_quoted_in_the_message(void **state)
{
	static const char form[] = "not 'ADDRESS TYPE NAME [MODULE]'";
	static const char *const lines[] = { "1000 T",
					     "1000 main",
					     "T main",
					     "x000 T main",
					     "1000 Text main",
					     "1000 T main ext4",
					     "1000 T main []",
					     "1000 T main [a] b",
					     "",
					     "11112222333344445 T main",
					     "1000 T main [ext4",
					     " U" };
	char text[64], long_line[HWT_MAP_LINE_MOST + 64];

	(void)state;
	for (size_t n = 0; n < sizeof(lines) / sizeof(lines[0]); n++) {
		snprintf(text, sizeof(text), "1000 T first\n%s\n2000 T last\n", lines[n]);
		refuse(text, form);
		assert_non_null(strstr(message, ":2: "));
	}
	refuse("1000 T first\n1000 T ma\x1b[2Jin two words\n", "\"1000 T ma\\x1b[2Jin two words\"");
	refuse_bytes("1000 T ma\0in\n", 13, "\"1000 T ma\\x00in\"");
	refuse_bytes("\x7f"
		     "ELF\2\1\1\0\0\0",
		     10, ":1: not 'ADDRESS");
	memset(long_line, 'a', sizeof(long_line));
	refuse_bytes(long_line, sizeof(long_line), ":1: a line of more than 1024 bytes");
	/* Debian's System.map file contains this text instead of symbols. */
	refuse("ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n",
	       "is in the linux-image-<version>-dbg package\"");
}

static void list_without_functions_is_refused(void **state)
{
	struct hwt_map *map;

	(void)state;
	refuse("", "empty");
	refuse("1000 D data\n", "no functions in it");
	refuse("0000000000000000 T _text\n0000000000000000 T main\n", "kernel.kptr_restrict=0");
	assert_true(hwt_map_open(&map, "/nowhere/map", message, sizeof(message)) < 0);
	assert_non_null(strstr(message, "/nowhere/map: No such file"));
	assert_true(hwt_map_open(&map, "/", message, sizeof(message)) < 0);
	assert_true(hwt_map_open(&map, "/dev/zero", message, sizeof(message)) < 0);
}

/* An endless file, as from a program that does not stop writing. */
static void endless_list_is_refused(void **state)
{
	FILE *file;
	struct hwt_map *map;

	(void)state;
	write_bytes("", 0);
	file = fopen(path, "w");
	assert_non_null(file);
	for (uint32_t n = 0; n <= HWT_MAP_SYMBOLS_MOST; n++)
		fputs("1 A a\n", file);
	assert_int_equal(fclose(file), 0);
	assert_true(hwt_map_open(&map, path, message, sizeof(message)) < 0);
	assert_non_null(strstr(message, "more than 4194304 lines"));
	unlink(path);
}

/* ---- Lists and executed code ---- */

/*
 * Returns the address of a kernel function. The distances between functions differ. If `less` is not 0, this
 * is another build, in which each distance is `less` bytes shorter.
 */
static uint64_t function_at(unsigned n, unsigned less)
{
	return TEXT + n * (EACH + 0x10) + n * n / 4 * 16 - n * less;
}

static struct hwt_map *kernel_map(unsigned less)
{
	static char text[FUNCTIONS * 64];
	char *at = text;

	for (unsigned n = 0; n < FUNCTIONS; n++)
		at += sprintf(at, "%016lx T function%u\n", (unsigned long)function_at(n, less), n);
	return open_map(text);
}

/*
 * Makes a recording in which each kernel function calls the next one, and programs make other calls. `space`:
 * address space of the kernel. If it is 0, programs also run code at high addresses, as the kernel does.
 */
static struct reading run_kernel(uint64_t base, unsigned calls, uint64_t space)
{
	static struct hwt_packets_writer packets;
	struct hwt_file_writer writer;
	uint8_t code[] = { 0x90, 0x48, 0xe8, 0, 0, 0, 0 };

	file_begin(&writer);
	file_context(&writer, 1, 0);
	for (unsigned n = 0; n < calls; n++) {
		const int32_t far = (int32_t)(function_at(n + 1, 0) - function_at(n, 0) - sizeof(code));

		memcpy(code + 3, &far, sizeof(far));
		file_code(&writer, function_at(n, 0) + base, space, code, sizeof(code));
		file_code(&writer, 0x400000 + 5 * n, 0x1000, code + 2, 5);
		if (space == 0)
			file_code(&writer, TEXT + 8 + 5 * n, 0x2000, code + 2, 5);
	}
	packets_begin(&packets);
	file_data(&writer, 1, 0, 0, packets.bytes, packets_end(&packets));
	return read_file(&writer);
}

static void base_is_found_by_calls(void **state)
{
	static const uint64_t bases[] = { 0, 0x1c200000, UINT64_C(0) - 0x200000 };
	struct hwt_map *map = kernel_map(0), *other = kernel_map(1);

	(void)state;
	for (size_t n = 0; n < 2 * sizeof(bases) / sizeof(bases[0]); n++) {
		struct reading reading = run_kernel(bases[n / 2], FUNCTIONS - 1, n % 2 * 0x3000);
		struct hwt_map_fit fit;

		assert_int_equal(hwt_map_fit_find(&fit, map, reading.file), 0);
		assert_int_equal(fit.base, bases[n / 2]);
		assert_int_equal(fit.calls, FUNCTIONS - 1);
		assert_int_equal(fit.entries, FUNCTIONS - 1);
		assert_true(hwt_map_fit_is_known(&fit) && hwt_map_fit_is_good(&fit));
		/*
		 * The list does not match at another base. The list of another build does not match at any
		 * base.
		 */
		assert_int_equal(hwt_map_fit_at(&fit, map, reading.file, bases[n / 2] + 0x10), 0);
		assert_false(hwt_map_fit_is_good(&fit));
		assert_int_equal(hwt_map_fit_find(&fit, other, reading.file), 0);
		assert_true(hwt_map_fit_is_known(&fit) && !hwt_map_fit_is_good(&fit));
		assert_true(fit.entries < FUNCTIONS / 4);
		end(&reading);
	}
	hwt_map_close(map);
	hwt_map_close(other);
}

static void fit_is_good_if_nearly_all_calls_go_to_functions(void **state)
{
	static const struct hwt_map_fit good = { 0, 100, 100, 94 }, wrong = { 0, 100, 100, 93 },
					modules = { 0, 100, 50, 50 }, elsewhere = { 0, 100, 49, 49 },
					nothing = { 0, 100, 0, 0 }, few = { 0, 7, 7, 7 };

	(void)state;
	assert_true(hwt_map_fit_is_good(&good) && hwt_map_fit_is_known(&good));
	assert_false(hwt_map_fit_is_good(&wrong));
	assert_true(hwt_map_fit_is_good(&modules));
	assert_false(hwt_map_fit_is_good(&elsewhere));
	assert_false(hwt_map_fit_is_good(&nothing));
	assert_false(hwt_map_fit_is_known(&few));
}

static void symbols_name_code(void **state)
{
	const uint64_t base = 0x1c200000, third = function_at(3, 0), wrong = 0x10;
	struct reading reading = run_kernel(base, FUNCTIONS - 1, 0);
	struct hwt_place place;
	uint64_t address, size;
	char text[128];

	(void)state;
	assert_false(hwt_images_named(reading.images));
	snprintf(text, sizeof(text), "%016lx T before\n%016lx T third\n%016lx t far [ext4]\n",
		 (unsigned long)third - 0x20, (unsigned long)third, (unsigned long)third + 0x10000);
	write_bytes(text, strlen(text));
	assert_true(hwt_images_add_symbols(reading.images, path, &wrong) < 0);
	assert_non_null(strstr(hwt_images_message(reading.images),
			       "of 39 addresses that its code calls, 0 are beginnings of listed functions"));
	unlink(path);
	end(&reading);

	reading = run_kernel(base, 3, 0);
	write_bytes(text, strlen(text));
	assert_int_equal(hwt_images_add_symbols(reading.images, path, &base), 0);
	unlink(path);
	assert_non_null(strstr(hwt_images_warning(reading.images, 0), "calls only 3 functions"));
	assert_true(hwt_images_named(reading.images));
	assert_int_equal(hwt_images_place(reading.images, 0, 0, third + base + 5, 0, &place), 1);
	assert_string_equal(place.image, "kernel");
	assert_string_equal(place.symbol, "third");
	assert_null(place.path);
	assert_int_equal(place.into, 5);
	assert_int_equal(place.offset, third + 5);
	assert_int_equal(place.symbol_address, third + base);
	assert_int_equal(hwt_images_place(reading.images, 0, 0, third + base + 0x10000, 0, &place), 1);
	assert_string_equal(place.image, "ext4");
	assert_int_equal(hwt_images_find(reading.images, HWT_KERNEL, "third", 0, &address, &size), 0);
	assert_int_equal(address, third + base);
	assert_int_equal(hwt_images_find(reading.images, "ext4", "far", 0, &address, &size), 0);
	assert_int_equal(hwt_images_find(reading.images, NULL, "far", 0, &address, &size), 0);
	assert_true(hwt_images_find(reading.images, "ext4", "third", 0, &address, &size) < 0);
	end(&reading);
}

/* A file without names, as extract-vmlinux extracts it. */
static void symbols_name_code_of_a_file_without_names(void **state)
{
	const uint64_t base = 0, none = 0;
	struct reading reading = run_kernel(0, 1, 0);
	char stripped[64], text[64];
	struct hwt_place place;
	int descriptor;

	(void)state;
	program_write(stripped, program);
	descriptor = open(stripped, O_WRONLY);
	assert_int_equal(pwrite(descriptor, &none, sizeof(none), offsetof(Elf64_Ehdr, e_shoff)),
			 sizeof(none));
	close(descriptor);
	assert_int_equal(hwt_images_add_elf(reading.images, stripped, 0, NULL), 0);
	snprintf(text, sizeof(text), "%lx T before\n%lx T start\n", (unsigned long)PROGRAM_AT - 16,
		 (unsigned long)PROGRAM_AT);
	write_bytes(text, strlen(text));
	assert_int_equal(hwt_images_add_symbols(reading.images, path, &base), 0);
	unlink(path);
	assert_int_equal(hwt_images_place(reading.images, 0, 0, PROGRAM_LEAF, 0, &place), 1);
	assert_string_equal(place.path, stripped);
	assert_int_equal(place.offset, PROGRAM_LEAF);
	assert_string_equal(place.symbol, "start");
	assert_int_equal(place.symbol_address, PROGRAM_AT);
	assert_int_equal(place.into, PROGRAM_LEAF - PROGRAM_AT);
	end(&reading);
	unlink(stripped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_extend_to_the_next_symbol),
		cmocka_unit_test(output_of_nm_is_read),
		cmocka_unit_test(malformed_line_is_quoted_in_the_message),
		cmocka_unit_test(list_without_functions_is_refused),
		cmocka_unit_test(endless_list_is_refused),
		cmocka_unit_test(base_is_found_by_calls),
		cmocka_unit_test(fit_is_good_if_nearly_all_calls_go_to_functions),
		cmocka_unit_test(symbols_name_code),
		cmocka_unit_test(symbols_name_code_of_a_file_without_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
