/* SPDX-License-Identifier: MIT */
/* From a measurement to the description of the core it needs. */
#include "engine/core_description.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/process.h"
#include "engine/kernel_work.h"
#include "memory.h"
#include "rot.h"

/* ---- files of kernels ---- */

/* Several kernels may share a folder: X.c belongs to the X.xml beside it. */
static bool
belongs_to_other_kernel(const char *path, const char *own)
{
	autofree char *xml = NULL;

	if (strcmp(path, own) == 0)
		return false;
	xml = rot_format("%.*s.xml", (int)(strlen(path) - 2), path);
	return access(xml, F_OK) == 0;
}

static int
add_file(struct pool *pool, struct kernel_sources *sources, const char *path, const char *own, struct sha256 *hash,
	 struct rot_error *err)
{
	size_t length;
	autofree char *content = file_read(path, &length, err);

	if (!content)
		return -1;
	sha256_add_text(hash, path + strlen(sources->definition->folder));
	sha256_add_block(hash, content, length);
	if (path_ends_in(path, ".c") && strcmp(path, own) != 0)
		pool_add(pool, sources->paths, sources->nr) = pool_strdup(pool, path);
	return 0;
}

static int
add_folder(struct pool *pool, struct kernel_sources *sources, const char *folder, const char *own, struct sha256 *hash,
	   struct rot_error *err)
{
	const bool is_below = strcmp(folder, sources->definition->folder) != 0;
	autofree char **names = folder_list(folder);
	int rc = 0;

	/* A folder below with a definition is that of another kernel. */
	for (size_t i = 0; is_below && names[i]; i++)
		if (path_ends_in(names[i], ".xml"))
			return 0;
	for (size_t i = 0; rc == 0 && names[i]; i++) {
		autofree char *path = rot_format("%s/%s", folder, names[i]);
		struct stat status;

		if (names[i][0] == '.' || stat(path, &status) < 0 || path_ends_in(path, ".xml"))
			;
		else if (S_ISDIR(status.st_mode))
			rc = add_folder(pool, sources, path, own, hash, err);
		else if (S_ISREG(status.st_mode) && !(path_ends_in(path, ".c") && belongs_to_other_kernel(path, own)))
			rc = add_file(pool, sources, path, own, hash, err);
	}
	return rc;
}

static int
read_sources(struct pool *pool, struct kernel_sources *sources, struct rot_error *err)
{
	const struct definition *definition = sources->definition;
	autofree char *own = rot_format("%s/%s.c", definition->folder, definition->class->name);
	struct sha256 *hash;
	int rc = -1;

	if (access(own, R_OK) < 0) {
		rot_error_set(err, errno, "kernel '%s' (%s) has no C file '%s'", definition->class->name,
			      definition->path, own);
		rot_error_hint(err, "a kernel is NAME.xml and NAME.c in one folder");
	} else {
		sources->paths = pool_grow(pool, NULL, 0, sizeof *sources->paths);
		sources->paths[sources->nr++] = pool_strdup(pool, own);
		hash = sha256_new();
		rc = add_folder(pool, sources, definition->folder, own, hash, err);
		sha256_finish(hash, sources->hash);
	}
	return rc;
}

/* The kernel's files, read at the first call. Owned by the facts. NULL: it has no C file, or one cannot be read. */
static const struct kernel_sources *
sources_of(struct core_facts *facts, const struct definition *definition, struct rot_error *err)
{
	struct kernel_sources *sources;

	for (size_t i = 0; i < facts->nr; i++)
		if (facts->sources[i]->definition == definition)
			return facts->sources[i];
	sources = pool_calloc(&facts->pool, 1, sizeof *sources);
	sources->definition = definition;
	if (read_sources(&facts->pool, sources, err) < 0)
		return NULL;
	pool_add(&facts->pool, facts->sources, facts->nr) = sources;
	return sources;
}

/* ---- tools ---- */

/* The compiler's key may carry arguments. */
static char *
find_compiler(const char *compiler, struct rot_error *err)
{
	autofree char *program = rot_strndup(compiler, strcspn(compiler, " "));
	char *path = process_find(program);

	if (!path) {
		rot_error_set(err, 0, "cannot find the compiler '%s' in PATH", program);
		rot_error_hint(err, "sudo apt-get install %s    or choose another with -compiler=NAME",
			       strstr(program, "clang") ? "clang" : "gcc");
		rot_error_scope(err, ROT_ERROR_OF_TOOLS);
	}
	return path;
}

static int
add_compiler(struct sha256 *hash, const char *compiler, struct rot_error *err)
{
	autofree char *path = find_compiler(compiler, err), *real = NULL, *identity = NULL;
	struct stat status = {0};

	if (!path)
		return -1;
	real = realpath(path, NULL);
	stat(path, &status);
	identity = rot_format("%s %s %lld %lld.%09ld", compiler, real ? real : path, (long long)status.st_size,
			      (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
	sha256_add_text(hash, identity);
	return 0;
}

static int
add_fixed_part(struct sha256 *hash, const struct paths *paths, struct rot_error *err)
{
	const struct {
		const char *folder, *name;
	} files[] = {
		{paths->data, "core/core.mk"},
		{paths->built, "core/core-flags.mk"},
		{paths->built, "core/librot-child.a"},
		{paths->built, "shared-entities/libentities.a"},
		{paths->built, "shared-entities/libshared-entities.a"},
	};

	sha256_add_text(hash, paths->data);
	sha256_add_text(hash, paths->built);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		autofree char *path = rot_format("%s/%s", files[i].folder, files[i].name);
		char hex[SHA256_HEX_SIZE];
		int rc = sha256_of_file(path, hex, err);

		if (rc < 0) {
			rot_error_prefix(err, "rot is not complete");
			return rot_error_hint(err, "build or install rot again");
		}
		sha256_add_text(hash, hex);
	}
	return 0;
}

/* Fills tools for the configured compiler, if it is not known yet. Errors: no compiler (with what installs it), rot
 * incomplete. */
static int
read_tools(struct core_facts *facts, const struct rot *rot, struct rot_error *err)
{
	const char *compiler = configuration_string(rot->configuration, "compiler");
	struct sha256 *hash;
	int rc;

	if (facts->compiler && strcmp(facts->compiler, compiler) == 0)
		return 0;
	hash = sha256_new();
	rc = add_compiler(hash, compiler, err) < 0 || add_fixed_part(hash, rot->paths, err) < 0 ? -1 : 0;
	sha256_finish(hash, facts->tools);
	facts->compiler = rc == 0 ? pool_strdup(&facts->pool, compiler) : NULL;
	return rc;
}

/* ---- descriptions ---- */

void
core_description_clear(struct core_description *description)
{
	pool_clear(&description->pool);
	*description = (struct core_description){0};
}

/* ---- flags and libraries ---- */

/* Flags, separated by blanks. */
struct words {
	struct pool *pool;
	const char *text;
};

static void
append_word(struct words *words, const char *word)
{
	words->text = pool_format(words->pool, "%s%s%s", words->text, *words->text && *word ? " " : "", word);
}

static int
append_row(const struct definition_row *row, const struct expression_scope *scope, void *context, struct rot_error *err)
{
	(void)scope;
	(void)err;
	append_word(context, row->text);
	return 0;
}

/*
 * The flags become words of a command line that a shell splits: quotes hold them together, but what the shell would do
 * beyond that is a slip. What is wrong with them, or NULL.
 */
static const char *
flaw_of_flags(const char *text)
{
	char quote = '\0';

	for (const char *s = text; *s; s++) {
		if (iscntrl((unsigned char)*s))
			return "hold a control character";
		if (quote ? *s == quote : *s == '\'' || *s == '"')
			quote = quote ? '\0' : *s;
		else if (*s == '\\' && quote != '\'' && s[1])
			s++;
		else if (quote != '\'' && strchr("$`", *s))
			return "hold a '$' or '`', which the shell would replace: write it in single quotes";
		else if (!quote && strchr("#;&|<>()", *s))
			return "hold one of # ; & | < > ( ), which mean something to the shell: write it in quotes";
	}
	return quote ? "open a quote that is not closed" : NULL;
}

static int
check_line(const char *text, const char *what, const char *kernel, struct rot_error *err)
{
	const char *flaw = flaw_of_flags(text);

	return flaw ? rot_error_set(err, 0, "kernel '%s': the %s '%s' %s", kernel, what, text, flaw) : 0;
}

static int
read_kernel(struct pool *pool, const struct rot *rot, const struct kernel_base *entity, struct core_facts *facts,
	    struct core_kernel *kernel, struct rot_error *err)
{
	struct words flags = {pool, ""}, libraries = {pool, ""};
	const char *name = entity->entity.class->name;

	kernel->definition = kernel_definition(rot, entity, err);
	if (!kernel->definition)
		return -1;
	kernel->sources = sources_of(facts, kernel->definition, err);
	if (!kernel->sources || kernel_each_row(rot, entity, DEFINITION_FLAGS, append_row, &flags, err) < 0 ||
	    kernel_each_row(rot, entity, DEFINITION_LIBRARY, append_row, &libraries, err) < 0)
		return -1;
	kernel->files_loaded = pool_own(pool, kernel_library_files(rot, entity, err), free);
	if (!kernel->files_loaded)
		return -1;
	append_word(&flags, entity->optimization);
	kernel->flags = flags.text;
	kernel->libraries = libraries.text;
	return check_line(kernel->flags, "compiler flags", name, err) < 0 ||
			       check_line(kernel->libraries, "linker flags", name, err) < 0
		       ? -1
		       : 0;
}

static int
add_kernel(const struct rot *rot, const struct kernel_base *entity, struct core_facts *facts,
	   struct core_description *description, struct rot_error *err)
{
	struct pool *pool = &description->pool;
	struct core_kernel kernel = {.flags = ""};

	if (read_kernel(pool, rot, entity, facts, &kernel, err) < 0)
		return -1;
	for (size_t i = 0; i < description->nr_kernels; i++) {
		const struct core_kernel *other = &description->kernels[i];

		if (other->definition != kernel.definition)
			continue;
		if (strcmp(other->flags, kernel.flags) == 0)
			return 0;
		return rot_error_set(err, 0,
				     "two kernels of the class '%s' want different compiler flags: '%s' and '%s'",
				     kernel.definition->class->name, other->flags, kernel.flags);
	}
	pool_add(pool, description->kernels, description->nr_kernels) = kernel;
	return 0;
}

/* ---- macros ---- */

static int
add_macro(struct core_description *description, const struct kernel_base *entity, const struct rot_field *field,
	  struct rot_error *err)
{
	const char *kernel = entity->entity.class->name;
	struct core_macro macro = {.field = field, .kernel = kernel};
	int rc;

	if (!field->macro || !(macro.value = pool_own(&description->pool, rot_entity_get(entity, field->name), free)))
		return 0;
	rc = check_line(macro.value, "value of a macro", kernel, err);
	for (size_t i = 0; i < description->nr_macros; i++) {
		const struct core_macro *other = &description->macros[i];

		if (strcmp(other->name, field->macro) != 0)
			continue;
		if (strcmp(other->value, macro.value) != 0) {
			rc = rot_error_set(
				err, 0,
				"contradicting values of the macro %s: '%s' by kernel '%s', '%s' by kernel '%s'",
				field->macro, other->value, other->kernel, macro.value, kernel);
			rot_error_hint(
				err,
				"kernels of one measurement share their compile-time fields: give both the same '%s'",
				field->name);
		}
		return rc;
	}
	macro.name = pool_strdup(&description->pool, field->macro);
	pool_add(&description->pool, description->macros, description->nr_macros) = macro;
	return rc;
}

static bool
is_identifier(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

char *
core_macro_text(const struct core_macro *macro)
{
	if (macro->field->type == ROT_BOOL)
		return rot_format("#define %s %d\n", macro->name, strcmp(macro->value, "true") == 0);
	if (macro->field->type == ROT_STRING && is_identifier(macro->value))
		return rot_format("#define %s %s\n#define %s__%s 1\n", macro->name, macro->value, macro->name,
				  macro->value);
	return rot_format("#define %s %s\n", macro->name, macro->value);
}

/* A text in the child, so that another version of a library makes another core, whose results are others. */
static char *
libraries_text(const struct core_description *description)
{
	autofree char *files = rot_strdup("");

	for (size_t i = 0; i < description->nr_kernels; i++)
		rot_append(&files, "%s%s", *files && *description->kernels[i].files_loaded ? " " : "",
			   description->kernels[i].files_loaded);
	for (char *s = files; *s; s++)
		if (*s == '"' || *s == '\\' || iscntrl((unsigned char)*s))
			*s = '_';
	return *files ? rot_format("__attribute__((used)) static const char libraries[] = \"%s\";\n", files)
		      : rot_strdup("");
}

char *
core_table_text(const struct core_description *description)
{
	autofree char *declarations = rot_strdup(""), *rows = rot_strdup(""), *libraries = libraries_text(description);

	for (size_t i = 0; i < description->nr_kernels; i++) {
		autofree char *snake = codegen_snake_case(description->kernels[i].definition->class->name);

		rot_append(&declarations, "extern const struct kernel_type kernel_%s;\n", snake);
		rot_append(&rows, "&kernel_%s, ", snake);
	}
	/* One file for the compiler: each start of it costs more than what it compiles here. */
	return rot_format("#include \"kernel_entities.c\"\n#include \"kernel.h\"\n\n%s\n"
			  "const struct kernel_type *const rot_kernels[] = {%sNULL};\n%s",
			  declarations, rows, libraries);
}

/* ---- keys ---- */

static void
hash_optional(struct sha256 *hash, const char *text)
{
	sha256_add_text(hash, text ? text : "\1");
}

/* All of a class that reaches its generated C. */
static void
hash_class(struct sha256 *hash, const struct rot_class *class)
{
	sha256_add_text(hash, class->name);
	hash_optional(hash, class->base ? class->base->name : NULL);
	hash_optional(hash, class->comment);
	for (size_t i = 0; i < class->nr_fields; i++) {
		const struct rot_field *field = &class->fields[i];
		autofree char *numbers = rot_format("%d %d %zu", field->type, field->is_list, field->offset);

		sha256_add_text(hash, field->name);
		sha256_add_text(hash, numbers);
		hash_optional(hash, field->target ? field->target->name : NULL);
		hash_optional(hash, field->default_text);
		hash_optional(hash, field->values);
		hash_optional(hash, field->unit);
		hash_optional(hash, field->macro);
		hash_optional(hash, field->comment);
	}
}

static void
set_keys(struct core_description *description, const struct core_facts *facts)
{
	struct sha256 *set = sha256_new(), *all = sha256_new();

	sha256_add_text(set, "rot core 1");
	sha256_add_text(set, facts->tools);
	for (size_t i = 0; i < description->nr_kernels; i++) {
		for (const struct rot_class *class = description->kernels[i].definition->class; class;
		     class = class->base)
			hash_class(set, class);
		sha256_add_text(set, description->kernels[i].sources->hash);
	}
	sha256_finish(set, description->set_key);
	sha256_add_text(all, description->set_key);
	for (size_t i = 0; i < description->nr_kernels; i++) {
		sha256_add_text(all, description->kernels[i].flags);
		sha256_add_text(all, description->kernels[i].libraries);
		sha256_add_text(all, description->kernels[i].files_loaded);
	}
	for (size_t i = 0; i < description->nr_macros; i++) {
		sha256_add_text(all, description->macros[i].name);
		sha256_add_text(all, description->macros[i].value);
	}
	sha256_finish(all, description->key);
}

static int
compare_kernels(const void *a, const void *b)
{
	const struct core_kernel *first = a, *second = b;

	return strcmp(first->definition->class->name, second->definition->class->name);
}

static int
compare_macros(const void *a, const void *b)
{
	return strcmp(((const struct core_macro *)a)->name, ((const struct core_macro *)b)->name);
}

int
core_describe(const struct rot *rot, const struct measurement *measurement, struct core_facts *facts,
	      struct core_description *description, struct rot_error *err)
{
	size_t nr;
	autofree struct rot_entity **parts = rot_graph_collect(measurement, &nr);
	int rc = read_tools(facts, rot, err);

	*description = (struct core_description){0};
	for (size_t i = 0; rc == 0 && i < nr; i++) {
		const struct kernel_base *kernel = rot_cast(parts[i], &kernel_base_class);

		if (!kernel)
			continue;
		rc = add_kernel(rot, kernel, facts, description, err);
		for (size_t k = 0; rc == 0 && k < rot_class_nr_fields(kernel->entity.class); k++)
			rc = add_macro(description, kernel, rot_class_field_at(kernel->entity.class, k), err);
	}
	if (rc == 0) {
		if (description->nr_kernels)
			qsort(description->kernels, description->nr_kernels, sizeof *description->kernels,
			      compare_kernels);
		if (description->nr_macros)
			qsort(description->macros, description->nr_macros, sizeof *description->macros, compare_macros);
		set_keys(description, facts);
	} else {
		core_description_clear(description);
	}
	return rc;
}
