/* SPDX-License-Identifier: MIT */
/*
 * The functions of a program, and code that is in none: a ProgramPlace each, found by where code stands in a file, with
 * what is added up for it.
 */
#ifndef CORE_PARENT_PROFILE_FUNCTIONS_H
#define CORE_PARENT_PROFILE_FUNCTIONS_H

#include <stdint.h>
#include <sys/types.h>

#include "ProgramPlace.h"
#include "ProgramProfile.h"
#include "parent/profile/spaces.h"
#include "parent/symbols/symbols.h"

struct functions;

/* files is borrowed. */
struct functions *functions_new(struct symbol_files *files);

/* With places that were not taken. */
void functions_delete(struct functions *functions);

/*
 * The function that the code at that offset of an object is in (code_position). One without a name has the address and
 * size that its frame tells; of code without either, and of a file that cannot be read or is another one by now
 * (inode), there is one place for all of it, as of what is no file. The place is owned by functions.
 * is_begin: it is the function's first instruction; false where that is not known. NULL is allowed.
 */
struct program_place *
functions_of(struct functions *functions, const struct code_object *object, uint64_t offset, bool *is_begin);

/* Hands all places over to the profile, those with most samples first; with source lines, unless they have few. */
void functions_take(struct functions *functions, struct program_profile *profile);

#endif
