/* SPDX-License-Identifier: MIT */
/* Where a result is from: machine, software, hashes, dates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "page/page_internal.h"
#include "quantities/value_text.h"
#include "support/json.h"

static void
write_pair(xmlTextWriterPtr out, const char *name, const char *text)
{
	if (!*text)
		return;
	html_element(out, "dt", NULL, name);
	html_element(out, "dd", NULL, text);
}

/* A text, a number, or true and false; "" of others. Fresh memory. */
static char *
plain_text(const json_t *value)
{
	if (json_is_string(value))
		return rot_strdup(json_string_value(value));
	if (json_is_integer(value))
		return rot_format("%lld", (long long)json_integer_value(value));
	return json_is_number(value) ? rot_format("%.6g", json_number_value(value)) : rot_strdup("");
}

/* Each member under its name in words; 0 and "" are not known. */
static void
write_members(xmlTextWriterPtr out, const json_t *object)
{
	for (void *at = json_object_iter((json_t *)object); at; at = json_object_iter_next((json_t *)object, at)) {
		char *name = camel_case_words(json_object_iter_key(at)), *text = plain_text(json_object_iter_value(at));

		if (strcmp(text, "0") != 0)
			write_pair(out, name, text);
		free(name);
		free(text);
	}
}

/* Texts of an array, each an entry; code: as it is typed. */
static void
write_texts(xmlTextWriterPtr out, const char *name, const json_t *texts, bool is_code)
{
	if (json_array_size(texts) == 0)
		return;
	html_element(out, "dt", NULL, name);
	html_begin(out, "dd", NULL);
	for (size_t i = 0; i < json_array_size(texts); i++) {
		const char *text = json_string_value(json_array_get(texts, i));

		html_element(out, "div", is_code ? "code" : NULL, text ? text : "");
	}
	html_end(out);
}

static void
write_program(xmlTextWriterPtr out, const json_t *program)
{
	const json_t *hashes = json_object_get(program, "sha256");

	if (!program)
		return;
	html_element(out, "h4", NULL, "Program");
	html_begin(out, "dl", NULL);
	write_pair(out, "executable", json_text_at(program, "executable"));
	write_texts(out, "arguments", json_object_get(program, "arguments"), true);
	write_pair(out, "runs in", json_text_at(program, "runsIn"));
	if (json_is_string(hashes))
		write_pair(out, "SHA-256", json_string_value(hashes));
	if (json_is_object(hashes)) {
		html_element(out, "dt", NULL, "SHA-256");
		html_begin(out, "dd", NULL);
		/* Files with their hashes. */
		for (void *at = json_object_iter((json_t *)hashes); at;
		     at = json_object_iter_next((json_t *)hashes, at)) {
			const char *sha256 = json_string_value(json_object_iter_value(at));
			char *text = rot_format("%s  %s", sha256 ? sha256 : "", json_object_iter_key(at));

			html_element(out, "div", "code", text);
			free(text);
		}
		html_end(out);
	}
	html_end(out);
}

static const json_t *
program_of(const json_t *result)
{
	const json_t *own = json_object_get(result, "program");

	return own ? own : json_object_get(json_array_get(json_object_get(result, "points"), 0), "program");
}

/* Characters that no shell reads otherwise. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=./,:+@%"

/* A word as a shell takes it. */
static void
print_word(FILE *out, const char *word)
{
	if (*word && word[strspn(word, PLAIN)] == '\0') {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

static void
write_command_line(xmlTextWriterPtr out, const json_t *words)
{
	char *line = NULL;
	size_t length;
	FILE *text = json_array_size(words) > 0 ? open_memstream(&line, &length) : NULL;

	if (!text)
		return;
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		fputs(i ? " " : "", text);
		print_word(text, word ? word : "");
	}
	fclose(text);
	html_element(out, "dt", NULL, "command line");
	html_begin(out, "dd", NULL);
	html_element(out, "div", "code", line);
	html_end(out);
	free(line);
}

void
page_write_origin(xmlTextWriterPtr out, const json_t *result)
{
	const json_t *software = json_object_get(result, "software"), *measured = json_object_get(result, "measured");

	html_element(out, "h4", NULL, "Machine");
	html_begin(out, "dl", NULL);
	write_members(out, json_object_get(result, "machine"));
	html_end(out);
	html_element(out, "h4", NULL, "Software");
	html_begin(out, "dl", NULL);
	write_pair(out, "rot", json_text_at(software, "rot"));
	write_pair(out, "controller", json_text_at(result, "controller"));
	write_command_line(out, json_object_get(result, "commandLine"));
	write_pair(out, "kernel of the system", json_text_at(software, "kernel"));
	write_texts(out, "compiler", json_object_get(software, "compilers"), false);
	write_texts(out, "compile lines", json_object_get(software, "compileLines"), true);
	write_texts(out, "libraries and other facts", json_object_get(software, "facts"), false);
	write_pair(out, "first measured (UTC)", json_text_at(measured, "first"));
	write_pair(out, "last measured (UTC)", json_text_at(measured, "last"));
	html_end(out);
	html_element(out, "p", "small",
		     "Paths below the home folder of who made this page begin with ~ in it, also in its data.");
	write_program(out, program_of(result));
	if (json_array_size(json_object_get(result, "descriptionHashes")) == 0)
		return;
	html_element(out, "h4", NULL, "Measurements");
	html_begin(out, "dl", NULL);
	write_texts(out, "SHA-256 of each, as the result cache names it", json_object_get(result, "descriptionHashes"),
		    true);
	html_end(out);
}
