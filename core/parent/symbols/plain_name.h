/* SPDX-License-Identifier: MIT */
/* Reads as much of mangled names as tells which function they are: C++ (Itanium) and Rust (legacy). */
#pragma once

#include <stdbool.h>

/*
 * "ns::Class::function" for _ZN2ns5Class8functionEi: without parameters, without arguments of templates, without
 * unnamed namespaces and without Rust's hash (free). NULL: the symbol is not mangled, or its name has parts that are no
 * words (operators, constructors, conversions, lambdas, parts of std).
 */
char *plain_name(const char *symbol);

/* The same, or the symbol where that is NULL (free). */
char *plain_name_or_symbol(const char *symbol);

/* True if name is plain or the end of it behind "::". */
bool plain_name_ends_with(const char *plain, const char *name);
