/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Uses inline functions and template instances that first.cc uses, further ones, and functions with the same
 * names as functions in first.cc.
 */
#include "shared.h"

namespace
{
struct same_name {
	static void fire()
	{
		KTRACE_TEXT("unnamed namespace of the second");
	}
};
} // namespace

static void same_static(int value)
{
	KTRACE_TEXT("static of the second %d", value);
}

void second_file(int value)
{
	in_inline(value);
	in_template(value);
	in_template('c');
	holder<int>{ value }.method("second");
	holder<long>{ value }.method("second");
	same_name::fire();
	same_static(value);
	in_long("second");
	in_constexpr(value);
}
