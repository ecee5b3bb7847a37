/* SPDX-License-Identifier: MIT */
/* Why a definition is not valid, in words that help: libxml2 knows that it is not, but rarely says where and why. */
#ifndef CODEGEN_EXPLAIN_H
#define CODEGEN_EXPLAIN_H

#include <libxml/tree.h>

#include "error.h"

/*
 * Sets err to the first mistake below root ("PATH:LINE: ..."), and returns -1. 0: found none, though the schema did.
 * What is allowed is in definition.rng; this only finds the words.
 */
int explain(const char *path, xmlNodePtr root, struct rot_error *err);

#endif
