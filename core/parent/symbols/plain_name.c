/* SPDX-License-Identifier: MIT */
/* Mangled names. Source: Itanium C++ ABI, 5.1. */
#include "parent/symbols/plain_name.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define UNNAMED_NAMESPACE "_GLOBAL__N_1"
#define RUST_HASH_LENGTH 17

/* Finds the word of one such as 5solve and moves *at behind it. False: there is none. */
static bool
word_read(const char **at, const char **word, size_t *length)
{
	char *behind_number;

	if (!isdigit((unsigned char)**at))
		return false;
	*length = strtoul(*at, &behind_number, 10);
	if (*length > strlen(behind_number))
		return false;
	*word = behind_number;
	*at = behind_number + *length;
	return true;
}

/* Appends the word at *at, which may have internal linkage, to plain. */
static bool
part_read(const char **at, char *plain)
{
	const char *word;
	size_t length;

	*at += **at == 'L';
	if (!word_read(at, &word, &length))
		return false;
	if ((length == strlen(UNNAMED_NAMESPACE) && strncmp(word, UNNAMED_NAMESPACE, length) == 0) ||
	    (**at == 'E' && length == RUST_HASH_LENGTH && word[0] == 'h' &&
	     strspn(word + 1, "0123456789abcdef") >= length - 1))
		return true;
	if (plain[0])
		strcat(plain, "::");
	strncat(plain, word, length);
	return true;
}

/* Moves *at behind one letter, word, substitution or literal of a type. False: it is too hard. */
static bool
skip_piece(const char **at)
{
	const char *word;
	size_t length;

	if (**at == '\0' || strchr("XDF", **at))
		return false;
	if (isdigit((unsigned char)**at))
		return word_read(at, &word, &length);
	if (**at == 'S' && !islower((unsigned char)(*at)[1])) /* S_, S0_; otherwise two letters */
		*at += strcspn(*at, "_");
	else if (**at == 'S')
		++*at;
	else if (**at == 'L') /* Li5E */
		*at += strcspn(*at, "E");
	if (**at == '\0')
		return false;
	++*at;
	return true;
}

/* Moves *at behind the arguments of a template, which begin with I and may hold others. */
static bool
skip_arguments(const char **at)
{
	int depth = 0;

	do {
		depth += **at != '\0' && strchr("INJ", **at);
		depth -= **at == 'E';
		if (!skip_piece(at))
			return false;
	} while (depth > 0);
	return true;
}

char *
plain_name(const char *symbol)
{
	const char *at = symbol + 2;
	bool is_nested, is_good;
	char *plain;

	if (strncmp(symbol, "_Z", 2) != 0)
		return NULL;
	/* Each word gets shorter by a digit and longer by two colons. */
	plain = rot_calloc(2 * strlen(symbol) + 1, 1);
	is_nested = *at == 'N';
	if (is_nested)
		at += 1 + strspn(at + 1, "rVKRO");
	is_good = part_read(&at, plain);
	while (is_good && is_nested && *at != 'E') {
		const char *tag;
		size_t tag_length;

		if (*at == 'I')
			is_good = skip_arguments(&at);
		else if (*at == 'B') /* a tag of the ABI */
			is_good = at++, word_read(&at, &tag, &tag_length);
		else
			is_good = part_read(&at, plain);
	}
	if (!is_good || plain[0] == '\0') {
		free(plain);
		return NULL;
	}
	return plain;
}

char *
plain_name_or_symbol(const char *symbol)
{
	char *plain = plain_name(symbol);

	return plain ? plain : rot_strdup(symbol);
}

bool
plain_name_ends_with(const char *plain, const char *name)
{
	size_t length = strlen(plain), name_length = strlen(name);

	if (name_length == 0 || name_length > length || strcmp(plain + length - name_length, name) != 0)
		return false;
	return length == name_length ||
	       (length >= name_length + 2 && strncmp(plain + length - name_length - 2, "::", 2) == 0);
}
