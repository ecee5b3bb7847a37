/* SPDX-License-Identifier: MIT */
#include "parent/symbols/listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CodeListing.h"
#include "common/output.h"
#include "entities.h"
#include "entity.h"
#include "memory.h"
#include "parent/symbols/flow.h"
#include "parent/symbols/instruction.h"
#include "parent/symbols/plain_name.h"
#include "parent/symbols/source_lines.h"
#include "parent/symbols/symbols.h"
#include "parent/symbols/zydis_decode.h"

/* FNV-1a. Source: http://www.isthe.com/chongo/tech/comp/fnv/ */
char *
listing_hash(const uint8_t *bytes, size_t nr_bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < nr_bytes; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return rot_format("%016llx", (unsigned long long)hash);
}

/* ---- text ---- */

/* "jnz +0x1a" within the function, "call solve" of another one. Fresh memory. */
static char *
text_of_jump(struct symbol_file *file, const struct program_place *place, uint64_t target, const char *mnemonic)
{
	struct symbol_range range = {0};
	autofree char *name = NULL;

	if (target - place->address < place->size)
		return rot_format("%s +0x%llx", mnemonic, (unsigned long long)(target - place->address));
	if (!symbols_function_at(file, target, &range) || !range.name || range.address != target)
		return rot_format("%s 0x%llx", mnemonic, (unsigned long long)target);
	name = plain_name_or_symbol(range.name);
	return rot_format("%s %s", mnemonic, name);
}

static char *
text_of(struct symbol_file *file, const struct program_place *place, uint64_t address, const uint8_t *bytes,
	const struct instruction *instruction)
{
	static const char filling[] = " ptr";
	const enum flow flow = instruction->flow;
	char text[256], *at;

	if (!zydis_format(bytes, instruction->length, address, text, sizeof(text)))
		return rot_strdup("(no instruction)");
	/* "byte ptr [rax]" says no more than "byte [rax]". */
	at = strstr(text, filling);
	if (at)
		memmove(at, at + strlen(filling), strlen(at + strlen(filling)) + 1);
	if (flow != FLOW_JUMP && flow != FLOW_BRANCH && flow != FLOW_CALL)
		return rot_strdup(text);
	text[strcspn(text, " ")] = '\0';
	return text_of_jump(file, place, address + instruction->length + (uint64_t)instruction->relative, text);
}

/* ---- the function ---- */

struct function {
	struct symbol_file *file;
	const struct program_place *place;
	const uint8_t *bytes;
	struct code_flow flow;
	struct source_lines lines;
};

/* Bytes that are no instruction are passed over one by one, as in flow.h. */
static void
list_instructions(const struct function *function, struct code_listing *listing)
{
	const struct program_place *place = function->place;
	struct instruction decoded;

	for (uint64_t at = 0; at < place->size; at += decoded.length) {
		const uint64_t address = place->address + at;
		const struct source_row *row = source_lines_at(&function->lines, address);
		struct code_instruction *instruction = code_instruction_new();
		char *text;

		if (!instruction_decode(function->bytes + at, place->size - at, &decoded))
			decoded = (struct instruction){.length = 1};
		text = text_of(function->file, place, address, function->bytes + at, &decoded);
		instruction->address = address;
		instruction->loop = code_flow_header_at(&function->flow, address);
		instruction->line = row ? row->line : 0;
		rot_string_set(&instruction->path, row ? row->path : "");
		rot_string_set(&instruction->text, text);
		free(text);
		code_listing_instructions_add(listing, instruction);
	}
}

static int
list(const struct program_place *place, struct code_listing *listing, struct rot_error *err)
{
	struct symbol_files *files = symbol_files_new();
	struct function function = {.place = place, .file = symbol_file_open(files, place->object, err)};
	const int rc = function.file ? 0 : -1;
	char *hash;

	function.bytes = rc == 0 && place->size > 0 ? symbols_bytes(function.file, place->address, place->size) : NULL;
	if (function.bytes) {
		hash = listing_hash(function.bytes, place->size);
		rot_string_set(&listing->hash, hash);
		free(hash);
		code_flow_find(function.bytes, place->size, place->address, NULL, 0, &function.flow);
		source_lines_read(function.file, place->address, place->size, &function.lines);
		list_instructions(&function, listing);
	}
	source_lines_clear(&function.lines);
	code_flow_clear(&function.flow);
	symbol_files_delete(files);
	return rc;
}

static struct program_place *
read_place(const char *path, struct rot_error *err)
{
	struct rot_registry *registry = rot_registry_new();
	FILE *file = fopen(path, "re");
	void *root = NULL;

	if (!file)
		rot_error_set(err, errno, "cannot read '%s'", path);
	else if (rot_registry_add_all(registry, entities, err) == 0)
		root = rot_text_read(registry, file, path, err);
	if (file)
		fclose(file);
	rot_registry_delete(registry);
	if (!root || rot_cast(root, &program_place_class))
		return root;
	rot_graph_delete(root);
	rot_error_set(err, 0, "'%s' holds no ProgramPlace", path);
	return NULL;
}

int
listing_write(const char *command, const char *output, struct rot_error *err)
{
	struct program_place *place = read_place(command, err);
	struct code_listing *listing = code_listing_new();
	int rc = place ? list(place, listing, err) : -1;

	if (rc == 0)
		rc = output_write(listing, output, err);
	rot_graph_delete(listing);
	rot_graph_delete(place);
	return rc;
}
