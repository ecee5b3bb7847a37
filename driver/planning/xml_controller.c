/* SPDX-License-Identifier: MIT */
/* XML controllers: opened with all their points planned and checked. */
#include "planning/xml_controller.h"

#include <libxml/xmlreader.h>
#include <limits.h>
#include <string.h>

#include "base/files.h"
#include "base/paths.h"
#include "memory.h"
#include "planning/controller_file.h"
#include "planning/xml_plan.h"
#include "rot.h"

static int
read_and_plan(struct xml_controller *controller, const char *path, struct rot_error *err)
{
	return controller_file_open(&controller->file, &controller->pool, path, controller->rot->paths->data, err) < 0
		       ? -1
		       : xml_plan_make(controller, err);
}

struct xml_controller *
xml_controller_open(struct rot *rot, const char *path, struct rot_error *err)
{
	struct xml_controller *controller = rot_calloc(1, sizeof(*controller));

	controller->rot = rot;
	if (read_and_plan(controller, path, err) == 0)
		return controller;
	xml_controller_close(controller);
	return NULL;
}

void
xml_controller_close(void *closed)
{
	autofree struct xml_controller *controller = closed;

	if (controller)
		pool_clear(&controller->pool);
}

const struct measurement *
xml_controller_point(const struct xml_controller *controller, size_t i, const char **series, const char **label)
{
	const struct planned_point *point = &controller->planned[i];

	*series = point->series;
	*label = point->label;
	return point->measurement;
}

size_t
xml_controller_nr_points(const struct xml_controller *controller)
{
	return controller->nr_planned;
}

/* The file is read anew: planning has changed the one in memory. What is missing was told. It is done once, so the
 * first plan stays in the pool. */
int
xml_controller_plan_again(struct xml_controller *controller, struct rot_error *err)
{
	const char *path = controller->file.paths[0];

	*controller = (struct xml_controller){
		.rot = controller->rot, .pool = controller->pool, .may_measure = true, .missing = controller->missing};
	return read_and_plan(controller, path, err);
}

struct xml_controller *
xml_controller_open_default_peaks(struct rot *rot, struct rot_error *err)
{
	autofree char *path = controller_find_file(rot->paths, "default-peaks");
	struct xml_controller *peaks = path ? xml_controller_open(rot, path, err) : NULL;

	if (!path) {
		rot_error_set(err, 0, "the controller default-peaks is missing");
		rot_error_hint(err, "rot's data folder is damaged: install rot again");
	}
	return peaks;
}

/* ---- listing ---- */

static void
ignore(void *context, const char *message, xmlParserSeverities severity, xmlTextReaderLocatorPtr where)
{
	(void)context, (void)message, (void)severity, (void)where;
}

char *
xml_controller_comment(const char *path)
{
	size_t length = 0;
	autofree char *content = file_read(path, &length, NULL);
	char *comment = NULL;
	xmlTextReader *reader = content && length < INT_MAX
					? xmlReaderForMemory(content, (int)length, path, NULL,
							     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
					: NULL;

	if (!reader)
		return NULL;
	xmlTextReaderSetErrorHandler(reader, ignore, NULL);
	while (xmlTextReaderRead(reader) == 1) {
		if (xmlTextReaderNodeType(reader) != XML_READER_TYPE_ELEMENT)
			continue;
		if (strcmp((const char *)xmlTextReaderConstName(reader), "controller") == 0) {
			xmlChar *text = xmlTextReaderGetAttribute(reader, (const xmlChar *)"comment");

			comment = rot_strdup((const char *)text);
			xmlFree(text);
		}
		break;
	}
	xmlFreeTextReader(reader);
	return comment;
}
