/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Names of functions as people write them: of C++ and Rust, by libiberty. Where a name is looked up or
 * compared with what a user gave, the file's own name counts; where it is shown, demangled() makes it
 * readable.
 *
 * Names come from files of others: their length, the depth of their nesting and the length of what they
 * expand to are bounded, and what is beyond stays as it is. The result may hold any bytes that the file has,
 * and is escaped where it is printed.
 */
#ifndef ANALYZE_DEMANGLE_H
#define ANALYZE_DEMANGLE_H

#define DEMANGLE_LENGTH 1024u  /* bytes of a name that is looked at */
#define DEMANGLE_RESULT 4096u  /* bytes that it may expand to */
#define DEMANGLE_SHOWN	64u    /* bytes; of a longer one, arguments of templates are left out: "pay<...>" */
#define DEMANGLE_NAMES	32768u /* names kept; of more, those to come stay as they are */

/*
 * Returns the demangled name without parameters, or `name` itself if it is not mangled, cannot be demangled
 * or there is no memory. What is returned otherwise stays until the program ends. Requires: only one thread
 * calls this.
 */
const char *demangled(const char *name);

#endif
