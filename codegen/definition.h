/* SPDX-License-Identifier: MIT */
/*
 * Class definitions: one XML file per class, read into run-time classes or written as C.
 *
 * The driver loads kernels' definitions at run time, so a user's kernel needs no rebuild of rot; the build loads
 * the definitions of shared-entities and writes C from them. Schema: codegen/definition.rng.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "entity.h"

/*
 * A row of a definition that is not a field: what a kernel is known to do, in expressions over its fields.
 * Kinds and the attributes they carry (all strings, "" when absent; expressions are XPath with the fields as
 * variables):
 *
 *   <operations of="doublePrecisionFlop" count="2 * $bufferSize"/>           expected operations of one run
 *   <bytes border="l2l3 llcRam" direction="read|write" count="..."/>         expected bytes of one run, cold data,
 *                                                                             at each of these borders
 *     compulsory="..."                                                        if each datum crosses once, without lines
 *                                                                             that are loaded to be written; else count
 *   <dataSize bytes="3 * 8 * $bufferSize"/>                                  memory the kernel allocates
 *   <requires cpuFlag="avx512f" if="$instructionSet = 'AVX512'"/>            refused where the CPU lacks the flag
 *   <check that="$bufferSize > 0" message="bufferSize must be at least 1"/>  refused when false
 *   <flags if="$instructionSet = 'AVX2'" add="-mavx2 -mfma"/>                compiler flags put before the optimization
 *   <needs library="libx.so.1" package="libx1" if="$library = 'X'"/>        not measured where the library is missing
 *   <library add="-lopenblas"/>                                             linker flags
 *   <let name="bytes" is="8 * $bufferSize"/>                                 a variable for the rows below
 */
enum definition_row_kind {
	DEFINITION_OPERATIONS,
	DEFINITION_BYTES,
	DEFINITION_DATA_SIZE,
	DEFINITION_REQUIRES,
	DEFINITION_CHECK,
	DEFINITION_FLAGS,
	DEFINITION_LIBRARY,
	DEFINITION_LET,
	DEFINITION_NEEDS,
};

struct definition_row {
	enum definition_row_kind kind;
	const char *of;         /* operation, borders, CPU flag, name of a variable, file of a library    */
	const char *direction;  /* bytes: "read" or "write"                                               */
	const char *expression; /* operations, bytes, dataSize, let: the value; check: the condition      */
	const char *condition;  /* if="": the row counts only when true; "" is always                     */
	const char *text;       /* check: message; flags, library: what to add; needs: package; bytes: compulsory */
	int line;               /* in the definition's file                                               */
};

/* One loaded definition. Everything is owned by its struct definitions. */
struct definition {
	const char *path;              /* of the XML file                                    */
	const char *folder;            /* the file's folder: a kernel's C sources are there  */
	const char *c_suffix;          /* "" or "Data"                                       */
	const struct rot_class *class; /* valid after definitions_resolve                    */
	const struct definition_row *rows;
	size_t nr_rows;
};

struct definitions;

struct definitions *definitions_new(void);
void definitions_delete(struct definitions *definitions);

/*
 * Reads one file. Errors name file and line: not well formed, not valid, duplicate field or class, unknown type, bad
 * default.
 */
int definitions_load_file(struct definitions *definitions, const char *path, struct rot_error *err);

/* Reads every *.xml below folder (recursively, in sorted order). */
int definitions_load_folder(struct definitions *definitions, const char *folder, struct rot_error *err);

/*
 * Makes the classes of all definitions loaded since the last call. Bases and reference targets are looked up among the
 * definitions and in known (may be NULL). Layout is that of the C struct codegen writes. Errors: unknown base or
 * type, circular bases, a field that hides one of its base. The definition an error is about is dropped: calling
 * again resolves the others.
 */
int definitions_resolve(struct definitions *definitions, const struct rot_registry *known, struct rot_error *err);

size_t definitions_size(const struct definitions *definitions);
const struct definition *definitions_at(const struct definitions *definitions, size_t i);

/* The definition of the class of that name, or NULL. */
const struct definition *definitions_find(const struct definitions *definitions, const char *class_name);

/*
 * Writes C into folder (which must exist): NAME.h per class (NAME with its suffix), and SET.h, SET.c with all
 * descriptors and "const struct rot_class *const SET[]" (NULL-terminated). Files whose content would not change are
 * not touched. Classes with a suffix get instance_size = &NAME_size, which the hand-written code defines.
 */
int
definitions_write_c(const struct definitions *definitions, const char *folder, const char *set, struct rot_error *err);

/* "PerfEventMeasurer" -> "perf_event_measurer", "bufferSize" -> "buffer_size", "L1L2" -> "l1_l2". Fresh memory. */
char *codegen_snake_case(const char *name);

/* True if a member or struct cannot have this C name: a keyword, a name the compiler or rot uses. */
bool codegen_is_reserved(const char *c_name);
