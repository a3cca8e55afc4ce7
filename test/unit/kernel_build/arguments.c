/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Arguments of events for arguments.sh, one event per line. Every compiler must accept the lines with RIGHT
 * and reject the lines with WRONG, for every CPU and set of flags, in C11 and C++17, and also if the event is
 * left out.
 */
/* clang-format off */
#include <stdbool.h>
#include <stddef.h>

#include <ktrace/ktrace.h>

#ifndef __cplusplus
#define KTR 1
#define KTR_LEFT KTRACE_BUILT(0, 0)
#include <ktrace/ktr.h>
#endif

#define RIGHT(name, ...) void right_##name(struct all *s); void right_##name(struct all *s) { (void)s; __VA_ARGS__; }
#ifdef RIGHT_ONLY
#define WRONG(name, ...)
#else
#define WRONG(name, ...) void wrong_##name(struct all *s); void wrong_##name(struct all *s) { (void)s; __VA_ARGS__; }
#endif

struct thing;
struct other;
enum colour { RED, GREEN };
struct pair { int a, b; };
union either { int number; char *text; };
typedef void hook(int);

KTRACE_EVENT(arg, number, "%u", (uint32_t, a));
KTRACE_EVENT(arg, small, "%hhu", (uint8_t, a));
KTRACE_EVENT(arg, wide, "%lld", (long long, a));
KTRACE_EVENT(arg, colour, "%d", (enum colour, a));
KTRACE_EVENT(arg, flag, "%d", (bool, a));
KTRACE_EVENT(arg, string, "%s", (const char *, a));
KTRACE_EVENT(arg, any, "%p", (const void *, a));
KTRACE_EVENT(arg, thing, "%p", (struct thing *, a));
KTRACE_EVENT(arg, hook, "%p", (hook *, a));
KTRACE_EVENT(arg, two, "%u %s", (uint32_t, a), (const char *, b));

struct all {
	int i; unsigned u; short h; unsigned char c; long l; unsigned long ul; long long ll; unsigned long long ull; bool b;
	unsigned low : 3; int high : 5; unsigned long long wide : 40;
	enum colour colour; volatile int seen; const char *text; char *name; unsigned char *bytes; int *ip; void *p;
	const void *cp; struct thing *thing; struct other *other; hook *function; struct pair pair; union either either; char array[8]; int ints[3];
};
int call(int x);
struct thing *find(void);
void target(int x);

RIGHT(literal, KTRACE(arg, number, 3))
RIGHT(int, KTRACE(arg, number, s->i))
RIGHT(unsigned, KTRACE(arg, number, s->u))
RIGHT(short, KTRACE(arg, number, s->h))
RIGHT(char, KTRACE(arg, number, 'c'))
RIGHT(long, KTRACE(arg, number, s->l))
RIGHT(unsigned_long, KTRACE(arg, number, s->ul))
RIGHT(long_long, KTRACE(arg, number, s->ll))
RIGHT(unsigned_long_long, KTRACE(arg, number, s->ull))
RIGHT(bool, KTRACE(arg, number, s->b))
RIGHT(enumeration, KTRACE(arg, number, s->colour))
RIGHT(enumerator, KTRACE(arg, number, GREEN))
RIGHT(bit_field, KTRACE(arg, number, s->low))
RIGHT(signed_bit_field, KTRACE(arg, number, s->high))
RIGHT(wide_bit_field, KTRACE(arg, number, s->wide))
RIGHT(volatile, KTRACE(arg, number, s->seen))
RIGHT(call, KTRACE(arg, number, call(s->i)))
RIGHT(side_effect, KTRACE(arg, number, s->i++))
RIGHT(conditional, KTRACE(arg, number, s->p ? 1 : s->u))
RIGHT(comparison, KTRACE(arg, number, s->p == s->cp))
RIGHT(literal_for_char, KTRACE(arg, small, 3))
RIGHT(int_for_char, KTRACE(arg, small, s->i))
RIGHT(wide_negative, KTRACE(arg, wide, -1))
RIGHT(colour, KTRACE(arg, colour, s->colour))
RIGHT(colour_constant, KTRACE(arg, colour, RED))
RIGHT(flag, KTRACE(arg, flag, s->b))
RIGHT(number_for_flag, KTRACE(arg, flag, s->i))
RIGHT(pointer_for_flag, KTRACE(arg, flag, s->p))
RIGHT(string_literal, KTRACE(arg, string, "text"))
RIGHT(string, KTRACE(arg, string, s->text))
RIGHT(string_not_const, KTRACE(arg, string, s->name))
RIGHT(string_array, KTRACE(arg, string, s->array))
RIGHT(string_of_two, KTRACE(arg, string, s->i ? "one" : s->name))
RIGHT(string_null, KTRACE(arg, string, NULL))
RIGHT(string_zero, KTRACE(arg, string, 0))
RIGHT(any_pointer, KTRACE(arg, any, s->ip))
RIGHT(any_array, KTRACE(arg, any, s->ints))
RIGHT(any_void, KTRACE(arg, any, s->cp))
RIGHT(any_of_incomplete, KTRACE(arg, any, s->thing))
RIGHT(any_null, KTRACE(arg, any, KTRACE_NULL))
RIGHT(thing, KTRACE(arg, thing, s->thing))
RIGHT(thing_call, KTRACE(arg, thing, find()))
RIGHT(thing_null, KTRACE(arg, thing, NULL))
RIGHT(hook, KTRACE(arg, hook, target))
RIGHT(hook_address, KTRACE(arg, hook, &target))
RIGHT(hook_pointer, KTRACE(arg, hook, s->function))
RIGHT(two, KTRACE(arg, two, s->u, s->text))
RIGHT(conditional_site, KTRACE_IF(s->i, arg, two, s->u, "b"))
RIGHT(early, KTRACE_EARLY(arg, two, 1, "b"))
RIGHT(text, KTRACE_TEXT("%d %s %p %lld", s->i, s->text, s->p, s->ll))
RIGHT(text_pointers, KTRACE_TEXT("%p %s", s->thing, s->array))
RIGHT(text_call, KTRACE_TEXT("%p %d", find(), call(1)))
RIGHT(text_effect, KTRACE_TEXT("%d", s->i++))
RIGHT(text_alone, KTRACE_TEXT("nothing"))

WRONG(string_for_number, KTRACE(arg, number, "text"))
WRONG(pointer_for_number, KTRACE(arg, number, s->p))
WRONG(typed_pointer_for_number, KTRACE(arg, number, s->thing))
WRONG(array_for_number, KTRACE(arg, number, s->ints))
WRONG(function_for_number, KTRACE(arg, number, target))
WRONG(null_pointer_for_number, KTRACE(arg, number, (void *)0))
WRONG(structure_for_number, KTRACE(arg, number, s->pair))
WRONG(union_for_number, KTRACE(arg, number, s->either))
WRONG(pointer_for_char, KTRACE(arg, small, s->name))
WRONG(pointer_for_wide, KTRACE(arg, wide, s->p))
WRONG(pointer_for_colour, KTRACE(arg, colour, s->p))
WRONG(structure_for_flag, KTRACE(arg, flag, s->pair))
WRONG(one_for_string, KTRACE(arg, string, 1))
WRONG(int_for_string, KTRACE(arg, string, s->i))
WRONG(char_for_string, KTRACE(arg, string, 'c'))
WRONG(bit_field_for_string, KTRACE(arg, string, s->low))
WRONG(ints_for_string, KTRACE(arg, string, s->ip))
WRONG(bytes_for_string, KTRACE(arg, string, s->bytes))
WRONG(structure_for_string, KTRACE(arg, string, s->pair))
WRONG(union_for_string, KTRACE(arg, string, s->either))
WRONG(long_for_any, KTRACE(arg, any, s->ul))
WRONG(one_for_any, KTRACE(arg, any, 1))
WRONG(other_for_thing, KTRACE(arg, thing, s->other))
WRONG(string_for_thing, KTRACE(arg, thing, s->text))
WRONG(address_for_thing, KTRACE(arg, thing, &s->thing))
WRONG(int_for_thing, KTRACE(arg, thing, s->i))
WRONG(int_for_hook, KTRACE(arg, hook, s->i))
WRONG(other_function_for_hook, KTRACE(arg, hook, find))
WRONG(first_of_two, KTRACE(arg, two, "a", "b"))
WRONG(second_of_two, KTRACE(arg, two, 1, 2))
WRONG(too_few, KTRACE(arg, two, 1))
WRONG(none, KTRACE(arg, two))
WRONG(too_many, KTRACE(arg, two, 1, "b", 3))
WRONG(conditional_site, KTRACE_IF(s->i, arg, two, "a", "b"))
WRONG(early, KTRACE_EARLY(arg, two, "a", "b"))
WRONG(text_structure, KTRACE_TEXT("%d", s->pair))
WRONG(text_seventeen, KTRACE_TEXT("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17))

#ifdef __cplusplus
struct number { operator uint32_t(); };
struct pointer { operator struct thing *() const; };
union word { uint32_t bits; operator uint32_t() const { return bits; } };
struct base { int i; };
struct derived : base { };
KTRACE_EVENT(arg, base, "%p", (struct base *, a));
RIGHT(object_for_number, KTRACE(arg, number, number()))
RIGHT(named_object_for_number, struct number n; KTRACE(arg, number, n))
RIGHT(object_for_thing, KTRACE(arg, thing, pointer()))
RIGHT(constant_object_for_thing, const struct pointer p = {}; KTRACE(arg, thing, p))
RIGHT(object_for_any, KTRACE(arg, any, pointer()))
RIGHT(union_for_number, KTRACE(arg, number, word()))
RIGHT(named_union_for_number, const union word w = {}; KTRACE(arg, number, w))
RIGHT(empty_braces_for_number, KTRACE(arg, number, {}))
RIGHT(empty_braces_for_flag, KTRACE(arg, flag, {}))
RIGHT(empty_braces_for_colour, KTRACE(arg, colour, {}))
RIGHT(empty_braces_for_string, KTRACE(arg, string, {}))
RIGHT(empty_braces_for_thing, KTRACE(arg, thing, {}))
RIGHT(empty_braces_for_two, KTRACE(arg, two, {}, {}))
RIGHT(braces_for_two, KTRACE(arg, two, {1}, {"b"}))
RIGHT(derived, struct derived d; KTRACE(arg, base, &d))
#endif

#ifndef __cplusplus
RIGHT(string_void, KTRACE(arg, string, s->p))
RIGHT(thing_void, KTRACE(arg, thing, s->p))

KTR_INFO_MASTER(old);
KTR_INFO(KTR_LEFT, old, small, 0, "%hhu", uint8_t a);
KTR_INFO(KTR_LEFT, old, wide, 1, "%jd", intmax_t a);
KTR_INFO(KTR_LEFT, old, string, 2, "%s", const char *a);
KTR_INFO(KTR_LEFT, old, thing, 3, "%p", struct thing *a);
KTR_INFO(KTR_LEFT, old, none, 4, "none");
RIGHT(ktr_literal, KTR_LOG(old_small, 3))
RIGHT(ktr_int, KTR_LOG(old_small, s->i))
RIGHT(ktr_wide, KTR_LOG(old_wide, 1))
RIGHT(ktr_string, KTR_LOG(old_string, s->array))
RIGHT(ktr_null, KTR_LOG(old_string, NULL))
RIGHT(ktr_thing, KTR_LOG(old_thing, s->thing))
RIGHT(ktr_void, KTR_LOG(old_thing, s->p))
RIGHT(ktr_none, KTR_LOG(old_none))
RIGHT(ktr_condition, KTR_COND_LOG(old_none, s->i); KTR_COND_LOG(old_small, s->i, 7))
WRONG(ktr_pointer_for_number, KTR_LOG(old_small, s->p))
WRONG(ktr_string_for_number, KTR_LOG(old_wide, "text"))
WRONG(ktr_int_for_string, KTR_LOG(old_string, s->i))
WRONG(ktr_ints_for_string, KTR_LOG(old_string, s->ip))
WRONG(ktr_structure, KTR_LOG(old_small, s->pair))
WRONG(ktr_int_for_pointer, KTR_LOG(old_thing, 1))
WRONG(ktr_too_many, KTR_LOG(old_small, 1, 2))
WRONG(ktr_too_few, KTR_LOG(old_small))
WRONG(ktr_condition, KTR_COND_LOG(old_small, 1, s->p))
#endif
