/* SPDX-License-Identifier: MIT */
/* Expressions: XPath 1.0 numbers, strings and booleans over variables, plus min, max, log2, pow, sqrt and
 * if(condition, value, otherwise). Evaluated by libxml2. */
#pragma once

#include <stdbool.h>

#include "error.h"

struct expression_scope;

/* Variables by name. parent (may be NULL, borrowed) is asked for names that are not set here. */
struct expression_scope *expression_scope_new(const struct expression_scope *parent);
void expression_scope_delete(void *scope);

/* Deletes that of a local variable when its block ends, as autofree (memory.h). */
#define autoscope __attribute__((cleanup(expression_scope_delete_local)))
void expression_scope_delete_local(void *variable);

void expression_scope_set_number(struct expression_scope *scope, const char *name, double value);
void expression_scope_set_string(struct expression_scope *scope, const char *name, const char *value);

/* Adds every primitive field of the entity as a variable (bool as boolean number 0 or 1). */
void expression_scope_set_entity(struct expression_scope *scope, const void *entity);

/* Errors: syntax, unknown variable (suggests the nearest) or function, result not a finite number (division by zero).
 */
int
expression_number(const struct expression_scope *scope, const char *expression, double *value, struct rot_error *err);
int expression_bool(const struct expression_scope *scope, const char *expression, bool *value, struct rot_error *err);

/*
 * Text with expressions in braces: "n={$size * 8}" -> "n=80000". Whole numbers are printed without a point, others in
 * the shortest form that reads back. "{{" and "}}" are braces. Fresh memory, NULL on error.
 */
char *expression_text(const struct expression_scope *scope, const char *text, struct rot_error *err);
