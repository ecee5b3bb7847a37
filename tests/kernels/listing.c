/* SPDX-License-Identifier: MIT */
/* The instructions of a compiled loop, from objdump. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "listing.h"
#include "memory.h"

/* "  40:\tvaddpd %zmm31,%zmm0,%zmm0"; false for lines that are something else. */
static bool
read_instruction(const char *line, struct instruction *instruction)
{
	instruction->operands[0] = '\0';
	return sscanf(line, " %lx:\t%23s %103[^\n#<]", &instruction->address, instruction->mnemonic,
		      instruction->operands) >= 2;
}

struct listing
listing_of_function(const char *object, const char *function)
{
	autofree char *command =
		rot_format("LC_ALL=C objdump -d --no-show-raw-insn --disassemble='%s' '%s'", function, object);
	char *output = output_of(command), *rest = NULL;
	struct listing listing = {0};

	for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct instruction instruction;

		if (!read_instruction(line, &instruction))
			continue;
		listing.instructions = rot_realloc(listing.instructions, listing.nr + 1, sizeof instruction);
		listing.instructions[listing.nr++] = instruction;
	}
	ck_assert_msg(listing.nr > 0, "%s has no function %s", object, function);
	free(output);
	return listing;
}

void
listing_clear(struct listing *listing)
{
	free(listing->instructions);
	*listing = (struct listing){0};
}

struct listing
listing_first_loop(const struct listing *listing)
{
	for (size_t i = 0; i < listing->nr; i++) {
		const struct instruction *jump = &listing->instructions[i];
		unsigned long target = strtoul(jump->operands, NULL, 16);

		if (jump->mnemonic[0] != 'j' || strcmp(jump->mnemonic, "jmp") == 0 || target > jump->address)
			continue;
		for (size_t first = 0; first <= i; first++)
			if (listing->instructions[first].address == target)
				return (struct listing){listing->instructions + first, i - first + 1};
	}
	ck_abort_msg("there is no loop");
	return (struct listing){0};
}

size_t
listing_count(const struct listing *listing, const char *mnemonic, const char *text)
{
	size_t nr = 0;

	for (size_t i = 0; i < listing->nr; i++)
		if ((!mnemonic || strcmp(listing->instructions[i].mnemonic, mnemonic) == 0) &&
		    strstr(listing->instructions[i].operands, text))
			nr++;
	return nr;
}

const char *
instruction_destination(const struct instruction *instruction)
{
	const char *comma = strrchr(instruction->operands, ',');
	const char *parenthesis = strrchr(instruction->operands, ')');

	if (parenthesis && parenthesis[1] == '\0' && strchr(instruction->operands, '%') == instruction->operands &&
	    instruction->operands[1] != 's')
		return strchr(instruction->operands, ',') + 1;
	return comma ? comma + 1 : instruction->operands;
}

size_t
listing_count_destinations(const struct listing *listing, const char *mnemonic)
{
	size_t nr = 0;

	for (size_t i = 0; i < listing->nr; i++) {
		const struct instruction *instruction = &listing->instructions[i];
		bool is_new = strcmp(instruction->mnemonic, mnemonic) == 0;

		for (size_t j = 0; is_new && j < i; j++)
			is_new = strcmp(listing->instructions[j].mnemonic, mnemonic) != 0 ||
				 strcmp(instruction_destination(&listing->instructions[j]),
					instruction_destination(instruction)) != 0;
		nr += is_new;
	}
	return nr;
}

void
examine(struct kernel_base *kernel, const char *compiler, const char *function,
	void (*look)(const struct kernel_base *kernel, const struct listing *loop, const void *context),
	const void *context)
{
	autofree char *name = rot_format("%s-%ld.o", kernel->entity.class->name, (long)getpid());
	autofree char *object = kernel_compile(kernel, compiler, "-c", name);
	struct listing listing = listing_of_function(object, function);
	struct listing loop = listing_first_loop(&listing);

	look(kernel, &loop, context);
	listing_clear(&listing);
}

double
number_of(const struct kernel_base *kernel, const char *field)
{
	double value = 0;

	ck_assert(rot_entity_number(kernel, field, &value));
	return value;
}

/* Instructions and operands are the same. */
static void
assert_same_loop(const struct listing *a, const struct listing *b)
{
	ck_assert_uint_eq(a->nr, b->nr);
	for (size_t i = 0; i + 1 < a->nr; i++) {
		ck_assert_str_eq(a->instructions[i].mnemonic, b->instructions[i].mnemonic);
		ck_assert_str_eq(a->instructions[i].operands, b->instructions[i].operands);
	}
}

void
examine_everywhere(const char *class_name, const char *fields, int number, const char *function,
		   void (*look)(const struct kernel_base *kernel, const struct listing *loop, const void *context),
		   const void *context)
{
	struct listing first = {0}, first_loop = {0};
	const char *compiler;

	for (size_t i = 0; (compiler = kernels_compiler_of(number, i)); i++) {
		autofree char *all = rot_format("%s optimization=-O%d", fields, (number + 2 * (int)i) % 4);
		autofree char *name = rot_format("%s-%ld.o", class_name, (long)getpid());
		struct kernel_base *kernel = kernel_of(class_name, all);
		char *object = kernel_compile(kernel, compiler, "-c", name);
		struct listing listing = listing_of_function(object, function);
		struct listing loop = listing_first_loop(&listing);

		look(kernel, &loop, context);
		if (i == 0) {
			first = listing;
			first_loop = loop;
		} else {
			assert_same_loop(&first_loop, &loop);
			listing_clear(&listing);
		}
		free(object);
	}
	listing_clear(&first);
}
