/* SPDX-License-Identifier: MIT */
/* Finds the begin and the end of a region in the objects of a process. */
#include "parent/symbols/places.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "memory.h"
#include "parent/symbols/function_exits.h"

/* ---- what people write for a place ---- */

/* The first colon of text that stands alone, or NULL. */
static const char *
lone_colon(const char *text)
{
	const char *at = text;

	while ((at = strchr(at, ':'))) {
		size_t nr_colons = strspn(at, ":");

		if (nr_colons == 1)
			return at;
		at += nr_colons;
	}
	return NULL;
}

#define SSC "ssc"

/* The number of "ssc:NUMBER" or "OBJECT:ssc:NUMBER", or NULL. */
static const char *
ssc_number(const char *text)
{
	const size_t length = strlen(SSC);
	const char *colon = strrchr(text, ':');
	const char *word = colon && colon - text >= (ptrdiff_t)length ? colon - length : NULL;

	if (!word || strncmp(word, SSC, length) != 0 || !isdigit((unsigned char)colon[1]) ||
	    (word != text && word[-1] != ':'))
		return NULL;
	return colon + 1;
}

static int
ssc_read(const char *text, const char *number, struct place_name *name, struct rot_error *err)
{
	const char *word = number - strlen(SSC) - 1;
	char *behind;

	errno = 0;
	*name = (struct place_name){.kinds = PLACE_SSC,
				    .object = word > text ? rot_strndup(text, (size_t)(word - text - 1)) : NULL,
				    .address = strtoull(number, &behind, strncasecmp(number, "0x", 2) == 0 ? 16 : 10)};
	if (errno != 0 || *behind != '\0' || name->address > UINT32_MAX)
		return rot_error_set(err, 0, "'%s' names no mark: they have numbers of 32 bits", text);
	return 0;
}

/* FILE:LINE is told from OBJECT:NAME by the number; OBJECT:FILE:LINE has two lone colons. */
int
place_name_read(const char *text, struct place_name *name, struct rot_error *err)
{
	const char *last = strrchr(text, ':'), *colon = lone_colon(text), *rest = text;
	bool is_line = last && last[1] != '\0' && strspn(last + 1, "0123456789") == strlen(last + 1) &&
		       (last == text || last[-1] != ':');
	unsigned long number;
	char *behind;

	*name = (struct place_name){0};
	if (ssc_number(text))
		return ssc_read(text, ssc_number(text), name, err);
	if (colon && (!is_line || colon != last)) {
		name->object = rot_strndup(text, (size_t)(colon - text));
		rest = colon + 1;
	}
	if (rest[0] == '\0' || (name->object && name->object[0] == '\0') || (is_line && rest == last)) {
		rot_error_set(err, 0, "'%s' names no place", text);
		return rot_error_hint(err,
				      "a place is FUNCTION, 0xADDRESS, FILE:LINE, the name of a marker or ssc:NUMBER, "
				      "with OBJECT: before it for one in a library");
	}
	if (is_line) {
		name->kinds = PLACE_LINE;
		name->name = rot_strndup(rest, (size_t)(last - rest));
		number = strtoul(last + 1, NULL, 10); /* too large: ULONG_MAX */
		if (number == 0 || number > INT_MAX)
			return rot_error_set(err, 0, "'%s' names no line", text);
		name->line = (int)number;
		return 0;
	}
	if (rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) {
		name->kinds = PLACE_ADDRESS;
		errno = 0;
		name->address = strtoull(rest, &behind, 16);
		if (errno != 0 || *behind != '\0') /* of "0x" alone it reads the 0 */
			return rot_error_set(err, 0, "'%s' names no address", text);
		return 0;
	}
	name->kinds = PLACE_FUNCTION | PLACE_MARKER | (strcmp(rest, SSC) == 0 ? PLACE_SSC : 0);
	name->name = rot_strdup(rest);
	return 0;
}

void
place_name_clear(struct place_name *name)
{
	free(name->object);
	free(name->name);
	*name = (struct place_name){0};
}

/* ---- where that is in the objects of a process ---- */

#define NR_NAMED 6 /* objects that a hint lists */

/* One search for a name in the objects. */
struct place_search {
	struct symbol_files *files;
	const struct objects *objects;
	struct place_name name;
	bool is_end;
	bool by_library_name; /* no file is called like the object that is named */
};

/* Ranges that were found in one object. */
struct finding {
	struct object *object;
	struct symbol_file *file;
	struct symbol_ranges ranges;
};

struct findings {
	struct finding *findings;
	size_t nr_findings;
	enum place_kind kind;
};

static void
findings_clear(struct findings *findings)
{
	for (size_t i = 0; i < findings->nr_findings; i++)
		symbol_ranges_clear(&findings->findings[i].ranges);
	free(findings->findings);
	*findings = (struct findings){0};
}

/* ---- looking into one object ---- */

/* An object has this of a name. */
enum found {
	FOUND_OR_NOT,       /* what is meant, if it has that                        */
	FOUND_USELESS_HERE, /* something of no use; another object may have more    */
	FOUND_USELESS,      /* likewise, whatever others have                       */
};

static enum found
find_marker(const struct place_search *search, struct finding *finding, struct rot_error *err)
{
	(void)err;
	symbols_find_marker(finding->file, search->name.name, search->is_end, &finding->ranges);
	return FOUND_OR_NOT;
}

static enum found
find_function(const struct place_search *search, struct finding *finding, struct rot_error *err)
{
	struct symbol_ranges *ranges = &finding->ranges;
	size_t nr_kept = 0;

	(void)err;
	symbols_find_function(finding->file, search->name.name, &finding->ranges);
	if (search->name.object || finding->object->is_program)
		return FOUND_OR_NOT;
	/* Without an object's name, functions that only a library itself can call do not count. */
	for (size_t i = 0; i < ranges->nr_ranges; i++)
		if (ranges->ranges[i].is_global)
			ranges->ranges[nr_kept++] = ranges->ranges[i];
	ranges->nr_ranges = nr_kept;
	return FOUND_OR_NOT;
}

/* Where the instruction begins that an address lies in: there, as far as is known. */
static uint64_t
instruction_at(struct symbol_file *file, uint64_t address)
{
	struct symbol_range function;
	const uint8_t *bytes = NULL;

	if (symbols_function_at(file, address, &function))
		bytes = symbols_bytes(file, function.address, function.size);
	return bytes ? code_instruction_at(bytes, function.size, function.address, address) : address;
}

/* A breakpoint within an instruction would make another one of it. */
static enum found
find_address(const struct place_search *search, struct finding *finding, struct rot_error *err)
{
	struct symbol_range range = {.address = search->name.address};
	uint64_t begin;

	if (!search->name.object && !finding->object->is_program)
		return FOUND_OR_NOT;
	if (!symbols_is_code(finding->file, range.address)) {
		rot_error_set(err, 0, "'%s' has no code at 0x%" PRIx64, finding->object->path, range.address);
		return FOUND_USELESS;
	}
	begin = instruction_at(finding->file, range.address);
	if (begin != range.address) {
		rot_error_set(err, 0, "no instruction of '%s' begins at 0x%" PRIx64, finding->object->path,
			      range.address);
		rot_error_hint(err, "the one that lies there begins at 0x%" PRIx64, begin);
		return FOUND_USELESS;
	}
	symbol_ranges_add(&finding->ranges, &range);
	return FOUND_OR_NOT;
}

/* One object may have no code of a line, and another one that was compiled from a source of the same name. */
static enum found
find_line(const struct place_search *search, struct finding *finding, struct rot_error *err)
{
	struct rot_error why = {0};
	size_t nr_sources;

	if (symbols_find_line(finding->file, search->name.name, search->name.line, &finding->ranges, &nr_sources,
			      &why) == 0)
		return FOUND_OR_NOT;
	if (err->text[0] == '\0' || nr_sources > 0)
		*err = why;
	return nr_sources > 1 ? FOUND_USELESS : nr_sources == 1 ? FOUND_USELESS_HERE : FOUND_OR_NOT;
}

/* The usual numbers: of emulators and simulators. */
#define SSC_BEGIN 0xFACE
#define SSC_END 0xDEAD
#define SSC_MOV_BYTES 5

/* The same bytes may stand within other instructions. The place is the nop, which costs a probe the least. */
static enum found
find_ssc(const struct place_search *search, struct finding *finding, struct rot_error *err)
{
	const bool is_usual = search->name.name != NULL;
	struct symbol_ranges *ranges = &finding->ranges;
	size_t nr_kept = 0;

	(void)err;
	symbols_find_ssc(finding->file,
			 is_usual ? (search->is_end ? SSC_END : SSC_BEGIN) : (uint32_t)search->name.address, ranges);
	for (size_t i = 0; i < ranges->nr_ranges; i++) {
		if (instruction_at(finding->file, ranges->ranges[i].address) != ranges->ranges[i].address)
			continue;
		ranges->ranges[nr_kept] = ranges->ranges[i];
		ranges->ranges[nr_kept++].address += SSC_MOV_BYTES;
	}
	ranges->nr_ranges = nr_kept;
	return FOUND_OR_NOT;
}

/* How a kind of name is looked for; the first that finds something is meant. */
static const struct {
	enum place_kind kind;
	enum found (*find)(const struct place_search *, struct finding *, struct rot_error *);
} kinds[] = {
	{PLACE_MARKER, find_marker}, {PLACE_FUNCTION, find_function}, {PLACE_ADDRESS, find_address},
	{PLACE_LINE, find_line},     {PLACE_SSC, find_ssc},
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* ---- looking into all of them ---- */

static bool
is_searched(const struct place_search *search, const struct object *object)
{
	struct symbol_file *file;
	const char *library;

	if (!object->file || !search->name.object)
		return object->file != NULL;
	if (!search->by_library_name)
		return object_is_called(object, search->name.object);
	/* libopenblas.so.0 is in a file libopenblasp-r0.3.21.so. */
	file = symbol_file_open(search->files, object->file, NULL);
	library = file ? symbols_library_name(file) : NULL;
	return library && library_is_called(library, search->name.object);
}

static bool
is_object_there(const struct place_search *search)
{
	for (size_t i = 0; i < search->objects->nr_objects; i++)
		if (is_searched(search, &search->objects->objects[i]))
			return true;
	return false;
}

/* Is there an object that is called as asked for, or else a library that calls itself so? */
static bool
has_object(struct place_search *search)
{
	search->by_library_name = !is_object_there(search);
	return is_object_there(search);
}

/* In the program (or else in the others), with one way to look. -1: something is there, but it is of no use. */
static int
find_in(const struct place_search *search, bool in_program, size_t kind, struct findings *findings,
	struct rot_error *err)
{
	enum found worst = FOUND_OR_NOT, found;

	for (size_t i = 0; i < search->objects->nr_objects && worst != FOUND_USELESS; i++) {
		struct finding finding = {.object = &search->objects->objects[i]};
		struct rot_error why = {0};

		if (!is_searched(search, finding.object) || finding.object->is_program != in_program)
			continue;
		finding.file = symbol_file_open(search->files, finding.object->file, &why);
		if (!finding.file) {
			if (err->text[0] == '\0')
				*err = why;
			continue;
		}
		found = kinds[kind].find(search, &finding, err);
		worst = found > worst ? found : worst;
		if (found != FOUND_OR_NOT || finding.ranges.nr_ranges == 0) {
			symbol_ranges_clear(&finding.ranges);
			continue;
		}
		rot_add(findings->findings, findings->nr_findings) = finding;
		findings->kind = kinds[kind].kind;
	}
	return worst == FOUND_USELESS || (worst == FOUND_USELESS_HERE && findings->nr_findings == 0) ? -1 : 0;
}

/* The nearest name of all that are searched. */
static int
no_such_name(const struct place_search *search, struct rot_error *err)
{
	const char *nearest = NULL, *hidden_in = NULL;
	bool has_names = false;

	for (size_t i = 0; i < search->objects->nr_objects; i++) {
		const struct object *object = &search->objects->objects[i];
		struct symbol_file *file =
			is_searched(search, object) ? symbol_file_open(search->files, object->file, NULL) : NULL;
		const char *own = file ? symbols_nearest(file, search->name.name) : NULL;

		if (own && (!nearest || object->is_program))
			nearest = own;
		if (own && strcmp(own, search->name.name) == 0)
			hidden_in = object_name(object);
		has_names |= file && object->is_program && symbols_has_functions(file);
	}
	rot_error_set(err, 0, "no function or marker is called '%s'%s%s", search->name.name,
		      search->name.object ? " in " : "", search->name.object ? search->name.object : "");
	if (hidden_in)
		return rot_error_hint(err, "a function of %s that only it can call is called so: %s:%s", hidden_in,
				      hidden_in, search->name.name);
	if (!has_names && !search->name.object)
		return rot_error_hint(err,
				      "the program has no names of functions (it is stripped): name an address, "
				      "0x..., as in its file%s%s%s",
				      nearest ? "; a library has '" : "", nearest ? nearest : "", nearest ? "'" : "");
	if (nearest)
		return rot_error_hint(err, "did you mean '%s'?", nearest);
	return rot_error_hint(err, "functions are named as in the table that nm -C or nm -D shows, lines FILE:LINE, "
				   "addresses 0x...");
}

static int
find_all(struct place_search *search, const char *text, struct findings *findings, struct rot_error *err)
{
	struct rot_error why = {0};

	if (search->name.object && !has_object(search)) {
		autofree char *names = rot_strdup("");
		size_t nr_objects = search->objects->nr_objects;

		/* Names the objects there are, the program first. */
		for (size_t i = 0; i < nr_objects && i < NR_NAMED; i++)
			rot_append(&names, "%s%s", i ? ", " : "", object_name(&search->objects->objects[i]));
		rot_error_set(err, 0, "no object of the process is called '%s'", search->name.object);
		return rot_error_hint(err, "there are %s%s; one that is loaded later (dlopen) is looked for again then",
				      names, nr_objects > NR_NAMED ? ", ..." : "");
	}
	for (size_t i = 0; i < 2 * NR_KINDS; i++) {
		size_t kind = i % NR_KINDS;

		if (!(search->name.kinds & kinds[kind].kind))
			continue;
		if (find_in(search, i < NR_KINDS, kind, findings, &why) < 0)
			goto failed;
		if (findings->nr_findings > 0)
			return 0;
	}
	if (search->name.kinds & PLACE_SSC) {
		rot_error_set(err, 0, "there is no mark '%s'", text);
		return rot_error_hint(err, "a mark is 'mov $NUMBER, %%ebx' with the bytes 64 67 90 behind it, which "
					   "objdump -d shows as 'fs addr32 nop'; ssc alone is from 0xFACE to 0xDEAD");
	}
	if (search->name.kinds & PLACE_FUNCTION)
		return no_such_name(search, err);
	if (why.text[0] == '\0')
		rot_error_set(&why, 0, "the process has nothing at '%s'", text);
failed:
	if (err)
		*err = why;
	return -1;
}

static bool
names_absent_object(struct symbol_files *files, const struct objects *objects, const char *text)
{
	struct place_search search = {.files = files, .objects = objects};
	struct rot_error err;
	const bool is_absent =
		place_name_read(text, &search.name, &err) == 0 && search.name.object && !has_object(&search);

	place_name_clear(&search.name);
	return is_absent;
}

bool
places_may_come(struct symbol_files *files, const struct objects *objects, const char *begin, const char *end)
{
	if (names_absent_object(files, objects, begin) || (end && *end && names_absent_object(files, objects, end)))
		return true;
	for (size_t i = 0; i < objects->nr_objects; i++) {
		const char *path = objects->objects[i].file;
		const struct symbol_file *file = path ? symbol_file_open(files, path, NULL) : NULL;

		if (path && (!file || symbols_can_load(file)))
			return true;
	}
	return objects->nr_objects == 0;
}

/* ---- places ---- */

static char *
text_of(struct symbol_file *file, const struct object *object, uint64_t link_address)
{
	struct symbol_range function;

	if (file && symbols_function_at(file, link_address, &function) && function.name)
		return rot_format("%s+0x%" PRIx64 " (%s:0x%" PRIx64 ")", function.name, link_address - function.address,
				  object_name(object), link_address);
	return rot_format("%s:0x%" PRIx64, object_name(object), link_address);
}

char *
place_text_at(struct symbol_files *files, const struct objects *objects, uint64_t address)
{
	const struct object *object = object_at(objects, address);

	if (!object)
		return NULL;
	return text_of(object->file ? symbol_file_open(files, object->file, NULL) : NULL, object,
		       address - object->bias);
}

char *
place_line_at(struct symbol_files *files, const struct objects *objects, uint64_t address)
{
	const struct object *object = object_at(objects, address);
	const struct symbol_file *file = object && object->file ? symbol_file_open(files, object->file, NULL) : NULL;
	int line;
	const char *source = file ? symbols_line_at(file, address - object->bias, &line) : NULL;

	return source ? rot_format("%s:%d", source, line) : NULL;
}

/* False: it is there, or in no file. */
static bool
add_place(struct place **places, size_t *nr_places, const struct finding *finding, uint64_t address, uint8_t condition,
	  bool is_team)
{
	struct place place = {.object = finding->object,
			      .address = address + finding->object->bias,
			      .condition = condition,
			      .is_team = is_team};

	for (size_t i = 0; i < *nr_places; i++)
		if ((*places)[i].address == place.address)
			return false;
	if (!symbols_file_offset(finding->file, address, &place.file_offset))
		return false;
	place.text = text_of(finding->file, finding->object, address);
	rot_add(*places, *nr_places) = place;
	return true;
}

static void
add_findings(struct place **places, size_t *nr_places, const struct findings *findings)
{
	for (size_t i = 0; i < findings->nr_findings; i++)
		for (size_t j = 0; j < findings->findings[i].ranges.nr_ranges; j++)
			add_place(places, nr_places, &findings->findings[i],
				  findings->findings[i].ranges.ranges[j].address, CODE_ALWAYS, false);
}

/* An ifunc is never entered when its name is called: the functions it chooses from are. */
static int
replace_resolvers(struct findings *findings, struct rot_error *err)
{
	for (size_t i = 0; i < findings->nr_findings; i++) {
		struct finding *finding = &findings->findings[i];
		struct symbol_ranges replaced = {0};

		for (size_t j = 0; j < finding->ranges.nr_ranges; j++) {
			const struct symbol_range *range = &finding->ranges.ranges[j];
			size_t nr_before = replaced.nr_ranges;

			if (!range->is_resolver)
				symbol_ranges_add(&replaced, range);
			else
				function_choices(finding->file, range, &replaced);
			if (replaced.nr_ranges > nr_before)
				continue;
			symbol_ranges_clear(&replaced);
			rot_error_set(err, 0, "which function '%s' of '%s' is gets chosen when the program starts",
				      range->name, finding->object->path);
			return rot_error_hint(err, "name the one that is chosen, such as %s_avx2", range->name);
		}
		symbol_ranges_clear(&finding->ranges);
		finding->ranges = replaced;
	}
	return 0;
}

/* Where a function begins and is left; then its parts that OpenMP teams execute, which may have such parts. */
static int
add_function(const struct finding *finding, const struct symbol_range *function, bool is_team,
	     struct region_places *places, struct rot_error *err)
{
	struct function_shape shape;
	int rc = 0;

	if (function_look_at(finding->file, function, &shape, err) < 0)
		return rot_error_prefix(err, "cannot tell where '%s' is left", object_name(finding->object));
	if (add_place(&places->begins, &places->nr_begins, finding, shape.begin, CODE_ALWAYS, is_team)) {
		places->is_reentered |= shape.is_reentered;
		for (size_t i = 0; i < shape.exits.nr_exits; i++)
			add_place(&places->ends, &places->nr_ends, finding, shape.exits.exits[i].address,
				  shape.exits.exits[i].condition, is_team);
		for (size_t i = 0; i < shape.team.nr_ranges && rc == 0; i++)
			rc = add_function(finding, &shape.team.ranges[i], true, places, err);
	}
	function_shape_clear(&shape);
	return rc;
}

static int
add_functions(const struct findings *findings, struct region_places *places, struct rot_error *err)
{
	places->is_function = true;
	for (size_t i = 0; i < findings->nr_findings; i++) {
		const struct finding *finding = &findings->findings[i];

		for (size_t j = 0; j < finding->ranges.nr_ranges; j++)
			if (add_function(finding, &finding->ranges.ranges[j], false, places, err) < 0)
				return -1;
		for (size_t j = 0; j < finding->ranges.nr_ranges && !places->team_below; j++)
			places->team_below = function_team_below(finding->file, &finding->ranges.ranges[j]);
	}
	if (places->nr_ends == 0) {
		rot_error_set(err, 0, "%s never returns", places->nr_begins ? places->begins[0].text : "the function");
		return rot_error_hint(err, "name the place where the region ends");
	}
	return 0;
}

/* An address begins a function if it is that of its first instruction. */
static bool
begins_function(const struct findings *findings)
{
	for (size_t i = 0; i < findings->nr_findings; i++)
		for (size_t j = 0; j < findings->findings[i].ranges.nr_ranges; j++) {
			struct symbol_range *range = &findings->findings[i].ranges.ranges[j], function;

			if (!symbols_function_at(findings->findings[i].file, range->address, &function) ||
			    function.address != range->address)
				return false;
			*range = function;
		}
	return true;
}

static int
add_ends(const struct place_search *begin_search, const char *begin, const char *end, struct findings *begins,
	 struct region_places *places, struct rot_error *err)
{
	struct place_search search = {.files = begin_search->files, .objects = begin_search->objects, .is_end = true};
	bool is_marker = begins->kind == PLACE_MARKER, is_named = end && end[0] != '\0';
	bool is_pair = is_marker || (begins->kind == PLACE_SSC && begin_search->name.name);
	const char *text = is_named ? end : begin;
	struct findings ends = {0};
	int rc;

	if (!is_named && !is_pair) {
		rot_error_set(err, 0, "a region that begins at '%s' needs an end", begin);
		return rot_error_hint(err, "only a function, named or by the address of its first instruction, a "
					   "marker and ssc have ends of their own");
	}
	rc = place_name_read(text, &search.name, err);
	if (!is_named)
		search.name.kinds = begins->kind;
	if (rc == 0)
		rc = find_all(&search, text, &ends, err);
	if (rc < 0 && !is_named && is_marker) {
		rot_error_set(err, 0, "the marker '%s' begins a region that ends nowhere", begin);
		rot_error_hint(err, "put ROT_REGION_END(%s) where it ends, or name its end", search.name.name);
	}
	if (rc == 0)
		rc = replace_resolvers(&ends, err);
	if (rc == 0)
		add_findings(&places->ends, &places->nr_ends, &ends);
	findings_clear(&ends);
	place_name_clear(&search.name);
	return rc;
}

int
places_resolve(struct symbol_files *files, const struct objects *objects, const char *begin, const char *end,
	       struct region_places *places, struct rot_error *err)
{
	struct place_search search = {.files = files, .objects = objects};
	struct findings begins = {0};
	bool has_end = end && end[0] != '\0';
	int rc = -1;

	*places = (struct region_places){0};
	if (place_name_read(begin, &search.name, err) < 0 || find_all(&search, begin, &begins, err) < 0 ||
	    replace_resolvers(&begins, err) < 0)
		goto out;
	if (!has_end && (begins.kind == PLACE_FUNCTION || (begins.kind == PLACE_ADDRESS && begins_function(&begins)))) {
		rc = add_functions(&begins, places, err);
	} else {
		add_findings(&places->begins, &places->nr_begins, &begins);
		rc = add_ends(&search, begin, end, &begins, places, err);
	}
out:
	if (rc < 0)
		region_places_clear(places);
	findings_clear(&begins);
	place_name_clear(&search.name);
	return rc;
}

static void
places_clear(struct place *places, size_t nr_places)
{
	for (size_t i = 0; i < nr_places; i++)
		free(places[i].text);
	free(places);
}

void
region_places_clear(struct region_places *places)
{
	places_clear(places->begins, places->nr_begins);
	places_clear(places->ends, places->nr_ends);
	*places = (struct region_places){0};
}
