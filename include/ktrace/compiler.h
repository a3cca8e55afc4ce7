/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Compiler-specific macros. ktrace needs gcc or clang, C11 or C++17. Nothing here is part of the API. */
#ifndef KTRACE_COMPILER_H
#define KTRACE_COMPILER_H

#include "ktrx/base.h"

#if !defined(__GNUC__)
#error "ktrace needs gcc or clang"
#endif
#if !defined(__has_include)
#error "ktrace needs a compiler with __has_include"
#endif

/*
 * KTRACE_PORT_NAME(name) sets the name by which the linker knows an object. The name depends on whether the
 * file that is compiled finds ktrace_port.h. So the linker rejects objects that were compiled before a kernel
 * got its ktrace_port.h, together with objects that were compiled later: these would disagree about CPU
 * numbers and threads.
 */
#if __has_include("ktrace_port.h")
#define KTRACE_PORT_NAME(name) __asm__(#name "_with_ktrace_port_h")
#else
#define KTRACE_PORT_NAME(name) __asm__(#name "_without_ktrace_port_h")
#endif

/*
 * Checks a call that records an event, if the event is excluded from the build. clang gives some warnings,
 * for example about a constant that does not fit its field, only for code that can be reached, and so not for
 * the calls of an excluded event. The operand of __builtin_constant_p counts as reached, but generates no
 * code.
 */
#if defined(__clang__)
#define KTRACE_CHECK_EXCLUDED(id, call) \
	if (id##_built == 0)            \
		(void)__builtin_constant_p(((call), 0));
#else
#define KTRACE_CHECK_EXCLUDED(id, call)
#endif

#define KTRACE_INLINE	     static inline __attribute__((__always_inline__, __unused__))
#define KTRACE_UNUSED_INLINE static inline __attribute__((__unused__))
#define KTRACE_HIDDEN	     __attribute__((__visibility__("hidden")))
#define KTRACE_OUT_OF_LINE   static __attribute__((__noinline__, __unused__))
#define KTRACE_COLD	     __attribute__((__cold__))
#define KTRACE_LIKELY(x)     __builtin_expect(!!(x), 1)
#define KTRACE_UNLIKELY(x)   __builtin_expect(!!(x), 0)

/*
 * Specifier of functions that a call site calls once for each field of its event. Without optimisation, each
 * inlined copy would have its own stack slots for its variables, so a call site with many fields would have a
 * stack frame of kilobytes.
 */
#ifdef __OPTIMIZE__
#define KTRACE_FIELD_INLINE KTRACE_INLINE
#else
#define KTRACE_FIELD_INLINE KTRACE_UNUSED_INLINE
#endif

/* Makes the compiler keep a computed value, rather than compute it again at the next use. */
#define KTRACE_COMPUTE_ONCE(value) __asm__("" : "+r"(value))

/*
 * Returns an address as a number. It is a function because -Wbad-function-cast warns about casting the result
 * of a call.
 */
KTRX_CASTS_BEGIN
KTRACE_INLINE uintptr_t ktrace_address(const void *pointer)
{
	return (uintptr_t)pointer;
}
KTRX_CASTS_END

/*
 * The return address of the enclosing function. If that function is inlined: the return address of the
 * function into which it is inlined.
 */
#define KTRACE_RETURN_ADDRESS ktrace_address(__builtin_return_address(0))

/*
 * Placed after the last call in a function, it prevents a tail call, which would change the callee's return
 * address.
 */
#define KTRACE_COME_BACK() __asm__("")

/*
 * Attributes of an event descriptor. The linker's --gc-sections must not remove the descriptor, although only
 * the code of its own call site refers to it.
 */
#if defined(__has_attribute)
#if __has_attribute(__retain__)
#define KTRACE_KEEP __used__, __retain__
#endif
#endif
#ifndef KTRACE_KEEP
#define KTRACE_KEEP __used__
#endif

/*
 * Attributes of a descriptor that is discarded together with the code that refers to it. gcc requires
 * `retain` on all objects of a section if one object has `retain`; in clang, `retain` would keep the object.
 */
#if defined(__has_attribute) && !defined(__clang__)
#if __has_attribute(__retain__)
#define KTRACE_KEEP_WITH_CODE __retain__, __unused__
#endif
#endif
#ifndef KTRACE_KEEP_WITH_CODE
#define KTRACE_KEEP_WITH_CODE __unused__
#endif

/*
 * Between these two macros, clang does not warn about a static variable in an inline function that is not
 * declared static. Each copy of the function has its own event descriptor, as intended.
 */
#if defined(__clang__)
#define KTRACE_LOCAL_BEGIN \
	_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"")
#define KTRACE_LOCAL_END _Pragma("clang diagnostic pop")
#else
#define KTRACE_LOCAL_BEGIN
#define KTRACE_LOCAL_END
#endif

/*
 * Between these two macros, a format string that does not match its arguments is an error, whatever the
 * kernel's compiler flags are.
 */
#define KTRACE_FORMAT_BEGIN                                                         \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wformat\"") \
		_Pragma("GCC diagnostic error \"-Wformat-extra-args\"")
#define KTRACE_FORMAT_END _Pragma("GCC diagnostic pop")

/*
 * Rejects, with a clear message, an event that is declared in a function. In C, the check finds that a struct
 * declared there is not the struct of the same name at file scope. In C++, the check finds that the name of
 * the enclosing function is not empty.
 */
#ifdef __cplusplus
#define KTRACE_SCOPE_CHECK KTRX_STATIC_ASSERT(*__builtin_FUNCTION() == 0, KTRACE_SCOPE_MESSAGE);
#else
struct ktrace_scope;
typedef struct ktrace_scope *ktrace_file_scope;
/* clang-format off */
#define KTRACE_SCOPE_CHECK \
	struct ktrace_scope; \
	KTRX_STATIC_ASSERT(_Generic((struct ktrace_scope*)0,ktrace_file_scope:1,default:0), \
			   KTRACE_SCOPE_MESSAGE);
/* clang-format on */
#endif
#define KTRACE_SCOPE_MESSAGE "ktrace: declare events at file scope, not in functions"

#ifdef __cplusplus
#define KTRACE_BEGIN_C extern "C" {
#define KTRACE_END_C   }
#define KTRACE_NULL    nullptr

/*
 * These two macros replace C casts in macros that expand in a kernel's own code. KTRACE_CAST converts a
 * value, at run time or in a constant. KTRACE_ADDRESS converts the address of an object; in a static
 * initialiser the linker fills in the address.
 */
KTRX_CASTS_BEGIN
extern "C++" {
template <typename To, typename From>
__attribute__((__always_inline__)) constexpr inline To ktrace_cast(From value)
{
	return (To)value;
}
}
KTRX_CASTS_END
#define KTRACE_CAST(type, value) (ktrace_cast<type>(value))

/* Returns false while the compiler evaluates a constexpr function, true at run time. */
extern "C++" {
__attribute__((__always_inline__)) constexpr inline bool ktrace_runs()
{
#if defined(__has_builtin)
#if __has_builtin(__builtin_is_constant_evaluated)
	return !__builtin_is_constant_evaluated();
#else
	return true;
#endif
#else
	return true;
#endif
}
}
#define KTRACE_IF_RUNS_AND	ktrace_runs() &&
#define KTRACE_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define KTRACE_BEGIN_C
#define KTRACE_END_C
#define KTRACE_IF_RUNS_AND
#define KTRACE_NULL		 ((void *)0)
#define KTRACE_CAST(type, value) ((type)(value))
#define KTRACE_ADDRESS(pointer)	 ((uintptr_t)(pointer))
#endif

#endif
