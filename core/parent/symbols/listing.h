/* SPDX-License-Identifier: MIT */
/* The code of a function for people: its instructions as text, their loops and their source lines. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* A hash of its bytes tells code from other code; as text, in fresh memory. */
char *listing_hash(const uint8_t *bytes, size_t nr_bytes);

/* Reads a ProgramPlace from the file at command, and writes the CodeListing of its code to output. */
int listing_write(const char *command, const char *output, struct rot_error *err);
