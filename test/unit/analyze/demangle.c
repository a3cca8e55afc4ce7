/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the demangling of C++ and Rust names, and of malicious names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/symbols.h"

static void expect_demangled(const char *mangled, const char *readable)
{
	assert_string_equal(demangled(mangled), readable);
	/* this call returns the name that the first call has stored */
	assert_string_equal(demangled(mangled), readable);
}

static void cplusplus_names_are_demangled(void **state)
{
	(void)state;
	expect_demangled("_ZN6kernel5panicEPKc", "kernel::panic");
	expect_demangled("_Z5panicPKcz", "panic");
	expect_demangled("_ZN5QueueIiE4pushEi", "Queue<int>::push");
	expect_demangled("_ZN5QueueIiEC1Ev", "Queue<int>::Queue");
	expect_demangled("_Z3payi.cold", "pay.cold");
	expect_demangled("_ZN5QueueIiE4pushEi.constprop.0", "Queue<int>::push.constprop.0");
	expect_demangled("_ZlsR6StreamPKc", "operator<<");
}

/* Template arguments are left out if they make a name long. */
static void long_names_are_shortened(void **state)
{
	(void)state;
	expect_demangled("_ZN12_GLOBAL__N_13payINS_10YieldMutexES1_EEvRT_RT0_",
			 "void (anonymous namespace)::pay<...>" + 5);
	expect_demangled("_ZN1AI20AVeryLongNameOfATypeS0_E6methodI20AVeryLongNameOfATypeEEvT_",
			 "A<...>::method<...>");
	expect_demangled("_ZN1AI20AVeryLongNameOfATypeS0_20AnotherLongNameHere0EptEv", "A<...>::operator->");
}

static void rust_names_are_demangled(void **state)
{
	(void)state;
	expect_demangled("_ZN6kernel5sched5yield17h0123456789abcdefE", "kernel::sched::yield");
	expect_demangled("_RNvNtCs1234_6kernel5sched4next", "kernel::sched::next");
}

static void other_names_stay_unchanged(void **state)
{
	static const char *const names[] = { "main",  "_start", "_",   "_Z",   "_R",	"",	    "_Zo",
					     "_Rust", "__Zfoo", "_ZN", "?f@@", "_Z3fo", "_Z3payiXX" };

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		assert_ptr_equal(demangled(names[n]), names[n]);
}

/*
 * Each level of this name contains the previous level twice. The demangled name of 60 levels would have 2^60
 * bytes.
 */
static void exploding_name_stays_unchanged(void **state)
{
	char name[1024] = "_Z1fI1AIiiE";

	(void)state;
	for (int n = 0; n < 60; n++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "1AIS%c_S%c_E", '0' + n % 10,
			 '0' + n % 10);
	strcat(name, "EvT_");
	assert_true(strlen(demangled(name)) <= DEMANGLE_RESULT);
}

static void nesting_and_length_are_bounded(void **state)
{
	static char deep[900], wide[DEMANGLE_LENGTH + 8];

	(void)state;
	strcpy(deep, "_Z1f");
	memset(deep + 4, 'P', sizeof(deep) - 6);
	deep[sizeof(deep) - 2] = 'i';
	assert_true(strlen(demangled(deep)) <= DEMANGLE_RESULT);
	memset(deep + 4, 'N', sizeof(deep) - 6);
	assert_ptr_equal(demangled(deep), deep);
	strcpy(wide, "_Z");
	snprintf(wide + 2, 5, "%u", DEMANGLE_LENGTH);
	memset(wide + 6, 'x', sizeof(wide) - 7);
	assert_ptr_equal(demangled(wide), wide);
}

/*
 * Checks that demangling returns some text for each prefix of a name, and for the name with one changed byte.
 */
static void damaged_names_do_no_harm(void **state)
{
	static const char *const names[] = {
		"_ZN12_GLOBAL__N_13payINS_10YieldMutexES1_EEvRT_RT0_",
		"_RNvXs_NtCs1234_6kernel5schedINtB4_5QueuelENtNtB4_5sched4Take4take",
		"_ZZN1A1fIXadL_Z1gvEEEEvvENKUlT_DpOT0_E_clIiJicEEEDaS1_S4_",
	};
	char name[128];

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		for (size_t at = 0; at < strlen(names[n]); at++) {
			for (int byte = 1; byte < 256; byte += at < 2 ? 255 : 7) {
				strcpy(name, names[n]);
				name[at] = (char)byte;
				assert_true(strlen(demangled(name)) <= DEMANGLE_RESULT);
			}
			name[at] = '\0';
			assert_true(strlen(demangled(name)) <= DEMANGLE_RESULT);
		}
	}
}

/* When the table is full, further names are not demangled. Names that the table contains are still found. */
static void names_beyond_the_limit_stay_unchanged(void **state)
{
	char name[32];

	(void)state;
	expect_demangled("_Z5firstv", "first");
	for (unsigned n = 0; n <= DEMANGLE_NAMES; n++) {
		snprintf(name, sizeof(name), "_Z6f%05uv", n);
		demangled(name);
	}
	expect_demangled("_Z5firstv", "first");
	assert_ptr_equal(demangled("_Z4lastv"), "_Z4lastv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cplusplus_names_are_demangled),
		cmocka_unit_test(long_names_are_shortened),
		cmocka_unit_test(rust_names_are_demangled),
		cmocka_unit_test(other_names_stay_unchanged),
		cmocka_unit_test(exploding_name_stays_unchanged),
		cmocka_unit_test(nesting_and_length_are_bounded),
		cmocka_unit_test(damaged_names_do_no_harm),
		cmocka_unit_test(names_beyond_the_limit_stay_unchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
