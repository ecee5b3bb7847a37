/* SPDX-License-Identifier: MIT */
/* Names in C. */
#include <ctype.h>
#include <string.h>

#include "definitions.h"
#include "memory.h"

char *
codegen_snake_case(const char *name)
{
	char *snake = rot_calloc(2 * strlen(name) + 1, 1);
	size_t len = 0;

	for (size_t i = 0; name[i]; i++) {
		bool starts_word = i > 0 && isupper((unsigned char)name[i]) &&
				   (!isupper((unsigned char)name[i - 1]) || islower((unsigned char)name[i + 1]));

		if (starts_word)
			snake[len++] = '_';
		snake[len++] = (char)tolower((unsigned char)name[i]);
	}
	return snake;
}

bool
codegen_is_reserved(const char *c_name)
{
	static const char *const names[] = {
		"asm",      "auto",    "base",   "bool",     "break",    "case",   "char",     "const",
		"continue", "default", "do",     "double",   "else",     "entity", "enum",     "errno",
		"extern",   "false",   "float",  "for",      "goto",     "i386",   "if",       "inline",
		"int",      "linux",   "long",   "register", "restrict", "return", "short",    "signed",
		"sizeof",   "static",  "stderr", "stdin",    "stdout",   "struct", "switch",   "true",
		"typedef",  "typeof",  "union",  "unix",     "unsigned", "void",   "volatile", "while",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], c_name) == 0)
			return true;
	return false;
}
