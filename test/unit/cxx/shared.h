/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events in code that several files compile: inline functions, templates, classes, lambdas, constexpr functions. */
#ifndef TEST_CXX_SHARED_H
#define TEST_CXX_SHARED_H

#include <ktrace/ktrace.h>

KTRACE_EVENT(cxx, header, "%u", (uint32_t, value));

inline void in_inline(int value)
{
	KTRACE_TEXT("inline %d", value);
	KTRACE(cxx, header, 7u);
}

template <typename T> void in_template(T value)
{
	KTRACE_TEXT("template %lld", static_cast<long long>(value));
}

/* These templates have instances whose events have fields of different types. */
template <typename T> void with_type(const char *text, T value)
{
	KTRACE_TEXT("typed %s %p", text, static_cast<const void *>(&value));
	KTRACE_TEXT("bytes %u", static_cast<unsigned>(sizeof(value)));
}

template <typename T> struct holder {
	T value;

	void method(const char *text)
	{
		KTRACE_TEXT("method %s %lld", text, static_cast<long long>(value));
		auto add = [this](auto more) {
			KTRACE_TEXT("lambda %lld", static_cast<long long>(this->value + more));
		};
		add(40);
		add(40L);
	}
};

template <typename T> struct base {
	virtual void overridden(T value)
	{
		KTRACE_TEXT("virtual %d", static_cast<int>(value));
	}
};

constexpr int in_constexpr(int value)
{
	KTRACE_TEXT("constexpr %d", value);
	KTRACE(cxx, header, 8u);
	return value * 2;
}

struct bits {
	unsigned low : 3;
	int high : 5;

	void show() const
	{
		KTRACE_TEXT("bits %u %d", low, high);
	}
};

/*
 * The text is so long that the compiler writes the descriptor with several assembler statements. It contains
 * each kind of special character.
 */
inline void in_long(const char *text)
{
	KTRACE_TEXT("a text \"with quotes\", a tab\t, a percent sign %% and more than the first words of its "
		    "row: %s %d %u",
		    text, -3, 4u);
}

void second_file(int value);

#endif
