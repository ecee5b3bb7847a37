/* SPDX-License-Identifier: MIT */
/* Writing C: a header per class, and descriptors and accessors of a set of classes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "definitions.h"
#include "memory.h"
#include "value.h"

static const char generated[] = "/* Written by rot-codegen from the definitions: do not edit. */\n";

/* A file that is made in memory, and written only if it differs from what is there: what depends on it is not built
 * again. */
struct output {
	FILE *stream;
	char *text;
	size_t len;
};

static void
output_open(struct output *output)
{
	*output = (struct output){0};
	output->stream = open_memstream(&output->text, &output->len);
	if (!output->stream) {
		fputs("rot: out of memory (generated C)\n", stderr);
		exit(1);
	}
	fputs(generated, output->stream);
}

static int
replace(const char *path, const char *text, size_t len, struct rot_error *err)
{
	autofree char *temporary = rot_format("%s.%ld", path, (long)getpid());
	FILE *file = fopen(temporary, "we");
	bool is_written = file && fwrite(text, 1, len, file) == len;
	int rc = 0;

	if ((file && fclose(file) != 0) || !is_written || rename(temporary, path) < 0) {
		rc = rot_error_set(err, errno, "cannot write '%s'", path);
		unlink(temporary);
	}
	return rc;
}

static int
output_close(struct output *output, const char *folder, const char *name, const char *extension, struct rot_error *err)
{
	autofree char *path = rot_format("%s/%s%s", folder, name, extension), *present = NULL;
	FILE *file = fopen(path, "re");
	bool is_same;
	int rc = 0;

	fclose(output->stream);
	present = rot_calloc(output->len + 1, 1);
	is_same = file && fread(present, 1, output->len + 1, file) == output->len &&
		  memcmp(present, output->text, output->len) == 0;
	if (file)
		fclose(file);
	if (!is_same)
		rc = replace(path, output->text, output->len, err);
	free(output->text);
	return rc;
}

/* ---- pieces ---- */

/* A class with its names in C. */
struct c_class {
	const struct loaded *item;
	const struct rot_class *class;
	char *file;  /* "TriadData" */
	char *snake; /* "triad_data" */
};

/* "struct workload *", "char *", "int64_t ": put a name behind it. Entities with a suffix are known by their
 * hand-written struct. */
static char *
c_type(const struct rot_field *field)
{
	char *target, *type;

	if (field->type != ROT_REFERENCE)
		return rot_strdup(value_types[field->type].c_type);
	target = codegen_snake_case(field->target->name);
	type = rot_format("struct %s *", target);
	free(target);
	return type;
}

static void
write_string(const char *text, FILE *out)
{
	if (!text) {
		fputs("NULL", out);
		return;
	}
	putc('"', out);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\%03o", (unsigned char)*text);
		else
			putc(*text, out);
	putc('"', out);
}

/* A comment must not end early. */
static void
write_comment_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		putc(*text, out);
		if (text[0] == '*' && text[1] == '/')
			putc(' ', out);
	}
}

/* Behind a declaration or alone on the line: comment and unit, or nothing. */
static void
write_comment(const char *before, const char *text, const char *unit, FILE *out)
{
	fputs(before, out);
	if (text[0] || unit[0]) {
		fprintf(out, "%s/* ", before[0] ? " " : "");
		write_comment_text(text, out);
		fputs(unit[0] ? text[0] ? " [" : "[" : "", out);
		write_comment_text(unit, out);
		fputs(unit[0] ? "] */" : " */", out);
	}
	putc('\n', out);
}

static const char *const type_constants[] = {
	[ROT_DOUBLE] = "ROT_DOUBLE",       [ROT_INT] = "ROT_INT",   [ROT_LONG] = "ROT_LONG",
	[ROT_ULONG] = "ROT_ULONG",         [ROT_BOOL] = "ROT_BOOL", [ROT_STRING] = "ROT_STRING",
	[ROT_REFERENCE] = "ROT_REFERENCE",
};

/* ---- headers ---- */

/* Each target once, and not the class itself. */
static void
write_forward_declarations(const struct c_class *c, FILE *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->class->nr_fields; i++) {
		const struct rot_class *target = c->class->fields[i].target;
		bool is_new = target && target != c->class;
		autofree char *snake = NULL;

		for (size_t j = 0; j < i; j++)
			is_new = is_new && c->class->fields[j].target != target;
		if (!is_new)
			continue;
		snake = codegen_snake_case(target->name);
		fprintf(out, "struct %s;\n", snake);
		nr++;
	}
	if (nr)
		putc('\n', out);
}

static void
write_struct(const struct c_class *c, FILE *out)
{
	autofree char *base = c->class->base ? codegen_snake_case(c->class->base->name) : NULL;

	if (c->class->comment[0])
		write_comment("", c->class->comment, "", out);
	fprintf(out, "struct %s {\n\tstruct %s %s;\n", c->snake, base ? base : "rot_entity", base ? "base" : "entity");
	for (size_t i = 0; i < c->class->nr_fields; i++) {
		const struct rot_field *field = &c->class->fields[i];
		autofree char *type = c_type(field), *name = codegen_snake_case(field->name);
		autofree char *before = rot_format("\t%s%s;", field->is_list ? "struct rot_list " : type, name);

		write_comment(before, field->comment, field->unit, out);
	}
	fputs("};\n", out);
}

/* The declaration of a function, or the function with its body. Frees the texts. */
static void
write_function(char *type, char *signature, char *body, bool is_body, FILE *out)
{
	int len = (int)strlen(type);

	if (is_body)
		fprintf(out, "\n%.*s\n%s\n{\n\t%s\n}\n", type[len - 1] == ' ' ? len - 1 : len, type, signature, body);
	else
		fprintf(out, "%s%s;\n", type, signature);
	free(type);
	free(signature);
	free(body);
}

static void
write_list_functions(const struct c_class *c, const struct rot_field *field, bool is_body, FILE *out)
{
	autofree char *type = c_type(field), *name = codegen_snake_case(field->name);
	const char *s = c->snake, *constant = field->type == ROT_STRING ? "const " : "";

	write_function(rot_strdup("size_t "), rot_format("%s_nr_%s(const struct %s *entity)", s, name, s),
		       rot_format("return entity->%s.nr;", name), is_body, out);
	write_function(rot_format("%s%s", constant, type),
		       rot_format("%s_%s_at(const struct %s *entity, size_t i)", s, name, s),
		       rot_format("return ((%s*)entity->%s.items)[i];", type, name), is_body, out);
	write_function(
		rot_strdup("void "), rot_format("%s_%s_add(struct %s *entity, %s%sitem)", s, name, s, constant, type),
		rot_format("rot_list_add(&entity->%s, %s, &item);", name, type_constants[field->type]), is_body, out);
}

/* Declarations (is_body false) or definitions of what can be done with a class and its lists. */
static void
write_functions(const struct c_class *c, bool is_body, FILE *out)
{
	const char *s = c->snake, *gap = is_body ? "" : "\n";

	if (!c->class->is_abstract) {
		fputs(gap, out);
		write_function(rot_format("struct %s *", s), rot_format("%s_new(void)", s),
			       rot_format("return rot_entity_new(&%s_class);", s), is_body, out);
		write_function(rot_strdup("void "), rot_format("%s_delete(struct %s *entity)", s, s),
			       rot_strdup("rot_entity_delete(entity);"), is_body, out);
	}
	for (size_t i = 0; i < c->class->nr_fields; i++) {
		if (!c->class->fields[i].is_list)
			continue;
		fputs(gap, out);
		write_list_functions(c, &c->class->fields[i], is_body, out);
	}
}

static int
write_header(const struct c_class *c, const char *folder, struct rot_error *err)
{
	struct output output;
	FILE *out;

	output_open(&output);
	out = output.stream;
	fprintf(out, "#ifndef ROT_GENERATED_%s_H\n#define ROT_GENERATED_%s_H\n\n", c->file, c->file);
	fputs("#include \"entity.h\"\n", out);
	if (c->class->base)
		fprintf(out, "#include \"%s.h\"\n", c->class->base->name);
	putc('\n', out);
	write_forward_declarations(c, out);
	write_struct(c, out);
	fprintf(out, "\nextern const struct rot_class %s_class;\n", c->snake);
	write_functions(c, false, out);
	fputs("\n#endif\n", out);
	return output_close(&output, folder, c->file, ".h", err);
}

/* ---- the set ---- */

/* "triad_data_class": the descriptor of a class of these definitions or of one that was known. */
static char *
descriptor_name(const struct definitions *definitions, const struct rot_class *class)
{
	const struct loaded *item = definitions_item(definitions, class->name);
	autofree char *file = rot_format("%s%s", class->name, item ? item->definition.c_suffix : "");
	char *snake = codegen_snake_case(file), *name = rot_format("%s_class", snake);

	free(snake);
	return name;
}

static void
write_field(const struct definitions *definitions, const struct c_class *c, const struct rot_field *field, FILE *out)
{
	autofree char *name = codegen_snake_case(field->name);
	autofree char *target = field->target ? descriptor_name(definitions, field->target) : NULL;
	const struct {
		const char *member, *text;
	} texts[] = {{"name", field->name},     {"default_text", field->default_text},
		     {"values", field->values}, {"unit", field->unit},
		     {"macro", field->macro},   {"comment", field->comment}};

	fprintf(out, "\t{.type = %s, .offset = offsetof(struct %s, %s)", type_constants[field->type], c->snake, name);
	if (field->is_list)
		fputs(", .is_list = true", out);
	if (target)
		fprintf(out, ", .target = &%s", target);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!texts[i].text)
			continue;
		fprintf(out, ",\n\t .%s = ", texts[i].member);
		write_string(texts[i].text, out);
	}
	fputs("},\n", out);
}

static void
write_descriptor(const struct definitions *definitions, const struct c_class *c, FILE *out)
{
	autofree char *base = c->class->base ? descriptor_name(definitions, c->class->base) : NULL;
	autofree char *size_name = codegen_snake_case(c->class->name);
	const char *s = c->snake;

	if (c->class->nr_fields) {
		fprintf(out, "\nstatic const struct rot_field %s_fields[] = {\n", s);
		for (size_t i = 0; i < c->class->nr_fields; i++)
			write_field(definitions, c, &c->class->fields[i], out);
		fputs("};\n", out);
	}
	if (c->item->definition.c_suffix[0])
		fprintf(out, "\nextern const size_t %s_size;\n", size_name);
	fprintf(out, "\nconst struct rot_class %s_class = {\n\t.name = \"%s\",\n", s, c->class->name);
	if (base)
		fprintf(out, "\t.base = &%s,\n", base);
	if (c->class->nr_fields)
		fprintf(out, "\t.fields = %s_fields,\n\t.nr_fields = %zu,\n", s, c->class->nr_fields);
	fprintf(out, "\t.size = sizeof(struct %s),\n", s);
	if (c->item->definition.c_suffix[0])
		fprintf(out, "\t.instance_size = &%s_size,\n", size_name);
	fprintf(out, "\t.is_abstract = %s,\n\t.comment = ", c->class->is_abstract ? "true" : "false");
	write_string(c->class->comment, out);
	fputs(",\n};\n", out);
}

/* Descriptors this set refers to and does not define. Declaring one twice is allowed in C. */
static void
write_known_classes(const struct definitions *definitions, const struct rot_class *class, FILE *out)
{
	for (size_t i = 0; i <= class->nr_fields; i++) {
		const struct rot_class *other = i < class->nr_fields ? class->fields[i].target : class->base;
		autofree char *name = NULL;

		if (!other || definitions_item(definitions, other->name))
			continue;
		name = descriptor_name(definitions, other);
		fprintf(out, "extern const struct rot_class %s;\n", name);
	}
}

static int
write_set(const struct definitions *definitions, const struct c_class *classes, const char *folder, const char *set,
	  struct rot_error *err)
{
	struct output header, source;
	int rc;

	output_open(&header);
	fprintf(header.stream, "#ifndef ROT_GENERATED_SET_%s_H\n#define ROT_GENERATED_SET_%s_H\n\n", set, set);
	fputs("#include \"entity.h\"\n", header.stream);
	output_open(&source);
	fprintf(source.stream, "#include \"%s.h\"\n\n", set);
	for (size_t i = 0; i < definitions->nr; i++) {
		fprintf(header.stream, "#include \"%s.h\"\n", classes[i].file);
		write_known_classes(definitions, classes[i].class, source.stream);
	}
	for (size_t i = 0; i < definitions->nr; i++) {
		write_descriptor(definitions, &classes[i], source.stream);
		write_functions(&classes[i], true, source.stream);
	}
	fprintf(source.stream, "\nconst struct rot_class *const %s[] = {\n", set);
	for (size_t i = 0; i < definitions->nr; i++)
		fprintf(source.stream, "\t&%s_class,\n", classes[i].snake);
	fputs("\tNULL,\n};\n", source.stream);
	fprintf(header.stream, "\n/* All classes of this set, for rot_registry_add_all. */\n");
	fprintf(header.stream, "extern const struct rot_class *const %s[];\n\n#endif\n", set);
	rc = output_close(&header, folder, set, ".h", err);
	return output_close(&source, folder, set, ".c", err) < 0 ? -1 : rc;
}

int
definitions_write_c(const struct definitions *definitions, const char *folder, const char *set, struct rot_error *err)
{
	autofree struct c_class *classes = rot_calloc(definitions->nr, sizeof(*classes));
	int rc = 0;

	for (size_t i = 0; i < definitions->nr; i++) {
		const struct loaded *item = definitions->items[i];

		classes[i].item = item;
		classes[i].class = &item->class;
		classes[i].file = rot_format("%s%s", item->class.name, item->definition.c_suffix);
		classes[i].snake = codegen_snake_case(classes[i].file);
	}
	for (size_t i = 0; i < definitions->nr && rc == 0; i++)
		rc = write_header(&classes[i], folder, err);
	if (rc == 0)
		rc = write_set(definitions, classes, folder, set, err);
	for (size_t i = 0; i < definitions->nr; i++) {
		free(classes[i].file);
		free(classes[i].snake);
	}
	return rc;
}
