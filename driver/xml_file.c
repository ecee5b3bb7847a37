/* SPDX-License-Identifier: MIT */
/* XML files with a schema: read and validate, with file and line in every complaint. */
#include "xml_file.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

/* The first thing libxml2 complained about. */
struct complaint {
	int line;
	char *text; /* or NULL */
};

static void
complaint_take(struct complaint *complaint, const xmlError *error)
{
	if (complaint->text)
		return;
	complaint->line = error->line;
	complaint->text = rot_strdup(error->message ? error->message : "not valid");
	complaint->text[strcspn(complaint->text, "\n")] = '\0';
}

#if LIBXML_VERSION >= 21200
static void
keep_first(void *user, const xmlError *error)
#else
static void
keep_first(void *user, xmlError *error)
#endif
{
	complaint_take(user, error);
}

static int
complain(struct complaint *complaint, const char *path, struct rot_error *err)
{
	rot_error_set(err, 0, "%s:%d: %s", path, complaint->line, complaint->text ? complaint->text : "not valid");
	free(complaint->text);
	complaint->text = NULL;
	return -1;
}

xmlDoc *
xml_file_read(const char *path, struct rot_error *err)
{
	struct complaint complaint = {0};
	xmlParserCtxt *parser;
	xmlDoc *doc;

	if (access(path, R_OK) < 0) {
		rot_error_set(err, errno, "cannot read '%s'", path);
		return NULL;
	}
	parser = xmlNewParserCtxt();
	doc = xmlCtxtReadFile(parser, path, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (!doc) {
		const xmlError *error = xmlCtxtGetLastError(parser);

		if (error)
			complaint_take(&complaint, error);
		complain(&complaint, path, err);
	}
	xmlFreeParserCtxt(parser);
	return doc;
}

static xmlRelaxNG *
schema_read(const char *schema, struct rot_error *err)
{
	struct complaint complaint = {0};
	xmlRelaxNGParserCtxt *parser = xmlRelaxNGNewParserCtxt(schema);
	xmlRelaxNG *grammar;

	xmlRelaxNGSetParserStructuredErrors(parser, keep_first, &complaint);
	grammar = xmlRelaxNGParse(parser);
	xmlRelaxNGFreeParserCtxt(parser);
	if (!grammar)
		complain(&complaint, schema, err);
	free(complaint.text);
	return grammar;
}

int
xml_file_validate(xmlDoc *doc, const char *path, const char *schema, struct rot_error *err)
{
	struct complaint complaint = {0};
	xmlRelaxNG *grammar = schema_read(schema, err);
	xmlRelaxNGValidCtxt *validator;
	int rc;

	if (!grammar)
		return -1;
	validator = xmlRelaxNGNewValidCtxt(grammar);
	xmlRelaxNGSetValidStructuredErrors(validator, keep_first, &complaint);
	rc = xmlRelaxNGValidateDoc(validator, doc) == 0 ? 0 : complain(&complaint, path, err);
	xmlRelaxNGFreeValidCtxt(validator);
	xmlRelaxNGFree(grammar);
	free(complaint.text);
	return rc;
}

char *
xml_file_attribute(const xmlNode *node, const char *name, const char *otherwise)
{
	xmlChar *value = xmlGetNoNsProp((xmlNode *)node, (const xmlChar *)name);
	char *copy = rot_strdup(value ? (const char *)value : otherwise);

	xmlFree(value);
	return copy;
}
