/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * KTRACE_TEXT in C++. Each call site has an event descriptor; if the call site is in a template, each
 * instance of the template has one. The descriptor must be in the section of events exactly once in the
 * program, whatever the linkage of the enclosing function.
 *
 * In clang a variable is sufficient: its section belongs to the variable's COMDAT group. g++ uses one group,
 * or none, for all variables of a section, so those of inline functions conflict with all others; and it
 * ignores the section attribute of a template's variable. So in g++ a function emits the descriptor with
 * inline assembler, into the COMDAT group of the function itself, and returns its address. The function is
 * not inlined: it is emitted once if it is used, and is discarded together with its descriptor.
 */
#ifndef KTRACE_EVENT_TEXT_CXX_H
#define KTRACE_EVENT_TEXT_CXX_H

#include "ktrace/record.h"
#include "ktrace/types.h"

KTRX_CASTS_BEGIN
extern "C++" {

/*
 * `all` is true if fields can hold values of all these types. The first type of the list is ignored: callers
 * pass `void` there, because the list of the other types, `Values`, may be empty.
 */
template <class, class... Values> struct ktrace_text_holds {
	static constexpr bool all = (true && ... && (ktrace_type<Values>::code != 0));
};

template <unsigned long Size> struct ktrace_text_descriptor {
	struct ktrx_event event;
	char strings[Size];
};

/*
 * The event descriptor of a call site as constants. Site::strings() returns its strings; `Values` are the
 * types of the arguments.
 */
template <class Site, uint32_t Line, class... Values> struct ktrace_text_facts {
	static_assert(ktrace_text_holds<void, Values...>::all, "ktrace: no field can hold this type");

	static constexpr unsigned long size = sizeof(Site::strings());

	static constexpr ktrace_text_descriptor<size> descriptor()
	{
		ktrace_text_descriptor<size> made = {};
		const unsigned codes[] = { ktrace_type<Values>::code..., 0 };

		made.event.magic = KTRX_EVENT_MAGIC;
		made.event.size = (uint16_t)sizeof(made);
		made.event.state = KTRACE_STATE_LINKED(KTRX_STATE_RECORD);
		made.event.wanted = KTRX_STATE_RECORD;
		made.event.header = KTRACE_HEADER_SLOW;
		made.event.v1_id = KTRX_V1_NONE;
		made.event.fields = (uint8_t)sizeof...(Values);
		made.event.line = Line;
		for (unsigned i = 0; i < sizeof...(Values); i++)
			made.event.type[i] = (uint8_t)codes[i];
		for (unsigned long i = 0; i < size; i++)
			made.strings[i] = Site::strings()[i];
		return made;
	}
};

#ifdef __clang__

template <class Site, uint32_t Line, class... Values> struct ktrace_text_place {
	using facts = ktrace_text_facts<Site, Line, Values...>;
	static ktrace_text_descriptor<facts::size> descriptor;

	static struct ktrx_event *event()
	{
		return &descriptor.event;
	}
};
template <class Site, uint32_t Line, class... Values>
__attribute__((__section__("ktrace_events"), __aligned__(8), __require_constant_initialization__,
	       KTRACE_KEEP)) ktrace_text_descriptor<ktrace_text_facts<Site, Line, Values...>::size>
	ktrace_text_place<Site, Line, Values...>::descriptor =
		ktrace_text_facts<Site, Line, Values...>::descriptor();

#elif !defined(KTRACE_ARCH_ADDRESS)

template <class Site, uint32_t Line, class... Values> struct ktrace_text_place {
	static_assert(sizeof(Site) == 0, "ktrace: for KTRACE_TEXT in g++ ktrace_port.h must define "
					 "KTRACE_ARCH_ADDRESS, as kernel/arch/x86_64/ktrace_arch.h does");
	static struct ktrx_event *event();
};

#else

/*
 * The 32-bit number at index `At` of the descriptor, for little-endian CPUs. The assembler of every CPU
 * accepts numbers of 32 bits as operands.
 */
template <class Facts, unsigned long At> struct ktrace_text_word {
	static constexpr unsigned char byte(unsigned long n)
	{
		const auto descriptor = Facts::descriptor();
		const auto &event = descriptor.event;
		const uint64_t head[] = { event.magic | (uint64_t)event.size << 16 |
						  (uint64_t)event.state << 32 | (uint64_t)event.wanted << 40 |
						  (uint64_t)event.id << 48,
					  event.header | (uint64_t)event.v1_id << 32 |
						  (uint64_t)event.fields << 48 | (uint64_t)event.flags << 56,
					  event.line, event.count };

		if (n < sizeof(head))
			return (unsigned char)(head[n / 8] >> n % 8 * 8);
		if (n < sizeof(event))
			return event.type[n - sizeof(head)];
		return n - sizeof(event) < Facts::size ? (unsigned char)descriptor.strings[n - sizeof(event)]
						       : 0;
	}
	enum : int32_t {
		value = (int32_t)(byte(At * 4) | (uint32_t)byte(At * 4 + 1) << 8 |
				  (uint32_t)byte(At * 4 + 2) << 16 | (uint32_t)byte(At * 4 + 3) << 24)
	};
};

/*
 * This function must not be inlined or cloned, because each copy would emit the descriptor again, and must
 * not be merged with the function of another instance.
 */
#if __has_attribute(no_icf)
#define KTRACE_TEXT_APART __attribute__((__noinline__, __noclone__, __no_instrument_function__, __no_icf__))
#else
#define KTRACE_TEXT_APART __attribute__((__noinline__, __noclone__, __no_instrument_function__))
#endif

#define KTRACE_TEXT_SECTION ".pushsection ktrace_events, \"aw?\", %%progbits\n"
/*
 * Operand prefix for a plain number, without the character (such as $ or #) that precedes numbers in some
 * assembly languages.
 */
#ifdef KTRACE_ARCH_NUMBER
#define KTRACE_TEXT_N KTRACE_ARCH_NUMBER
#else
#define KTRACE_TEXT_N "%c"
#endif
#define KTRACE_TEXT_WORD(n) "i"(int32_t(ktrace_text_word<facts, At + n>::value))
#define KTRACE_TEXT_WORDS                                                                           \
	KTRACE_TEXT_WORD(0), KTRACE_TEXT_WORD(1), KTRACE_TEXT_WORD(2), KTRACE_TEXT_WORD(3),         \
		KTRACE_TEXT_WORD(4), KTRACE_TEXT_WORD(5), KTRACE_TEXT_WORD(6), KTRACE_TEXT_WORD(7), \
		KTRACE_TEXT_WORD(8), KTRACE_TEXT_WORD(9), KTRACE_TEXT_WORD(10), KTRACE_TEXT_WORD(11)

template <class Site, uint32_t Line, class... Values> struct ktrace_text_place {
	using facts = ktrace_text_facts<Site, Line, Values...>;
	static constexpr unsigned long words = (sizeof(struct ktrx_event) + facts::size + 7) / 8 * 2;

	/*
	 * Emits the remaining members of the descriptor. The compiler keeps the order of volatile statements.
	 */
	template <unsigned long At> __attribute__((__always_inline__)) static inline void emit()
	{
		if constexpr (At + 12 <= words) {
			__asm__ volatile(KTRACE_TEXT_SECTION ".4byte " KTRACE_TEXT_N "0"
							     ", " KTRACE_TEXT_N "1"
							     ", " KTRACE_TEXT_N "2"
							     ", " KTRACE_TEXT_N "3"
							     ", " KTRACE_TEXT_N "4"
							     ", " KTRACE_TEXT_N "5"
							     ", " KTRACE_TEXT_N "6"
							     ", " KTRACE_TEXT_N "7"
							     ", " KTRACE_TEXT_N "8"
							     ", " KTRACE_TEXT_N "9"
							     ", " KTRACE_TEXT_N "10"
							     ", " KTRACE_TEXT_N "11"
							     "\n"
							     ".popsection"
					 :
					 : KTRACE_TEXT_WORDS);
			emit<At + 12>();
		} else if constexpr (At < words) {
			__asm__ volatile(KTRACE_TEXT_SECTION ".4byte " KTRACE_TEXT_N "0\n.popsection"
					 :
					 : KTRACE_TEXT_WORD(0));
			emit<At + 1>();
		}
	}

	KTRACE_TEXT_APART static struct ktrx_event *event()
	{
		constexpr unsigned long At = 0;
		struct ktrx_event *descriptor;

		__asm__ volatile(KTRACE_TEXT_SECTION
				 ".balign 8\n"
				 ".Lktrace_descriptor%=:\n"
				 ".4byte " KTRACE_TEXT_N "1"
				 ", " KTRACE_TEXT_N "2"
				 ", " KTRACE_TEXT_N "3"
				 ", " KTRACE_TEXT_N "4"
				 ", " KTRACE_TEXT_N "5"
				 ", " KTRACE_TEXT_N "6"
				 ", " KTRACE_TEXT_N "7"
				 ", " KTRACE_TEXT_N "8"
				 ", " KTRACE_TEXT_N "9"
				 ", " KTRACE_TEXT_N "10"
				 ", " KTRACE_TEXT_N "11"
				 ", " KTRACE_TEXT_N "12"
				 "\n"
				 ".popsection\n" KTRACE_ARCH_ADDRESS("%0", ".Lktrace_descriptor%=")
				 : "=r"(descriptor)
				 : KTRACE_TEXT_WORDS);
		emit<12>();
		return descriptor;
	}
};

#endif

template <class Site, uint32_t Line, class... Values>
struct ktrace_text : ktrace_text_place<Site, Line, Values...> {
	using facts = ktrace_text_facts<Site, Line, Values...>;

	/*
	 * This function is inlined into the function that contains the call site. The functions that it calls
	 * therefore return there, and record their return address as the call site.
	 */
	template <class... Given>
	__attribute__((__always_inline__)) static inline void record(int, Given... values)
	{
		struct ktrace_packer packer;
		uint64_t word[sizeof...(Given) + 4];

		ktrace_packer_set(&packer, word, ktrace_text::event(), 1 + KTRACE_STRING_SIZE, 0, nullptr);
		(ktrace_pack(&packer, 8, (uint64_t)values), ...);
		ktrace_emit_here(&packer);
		KTRACE_COME_BACK();
	}
};
}
KTRX_CASTS_END

#endif
