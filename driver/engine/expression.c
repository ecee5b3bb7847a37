/* SPDX-License-Identifier: MIT */
/* Expressions over variables, evaluated by libxml2's XPath. */
#include <libxml/hash.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "engine/expression.h"
#include "entity.h"
#include "memory.h"
#include "nearest.h"
#include "number.h"

struct variable {
	char *name;
	char *text; /* NULL: number is the value */
	double number;
};

struct expression_scope {
	const struct expression_scope *parent;
	struct variable *variables;
	size_t nr;
};

struct expression_scope *
expression_scope_new(const struct expression_scope *parent)
{
	struct expression_scope *scope = rot_calloc(1, sizeof *scope);

	scope->parent = parent;
	return scope;
}

void
expression_scope_delete(void *deleted)
{
	struct expression_scope *scope = deleted;

	if (!scope)
		return;
	for (size_t i = 0; i < scope->nr; i++) {
		free(scope->variables[i].name);
		free(scope->variables[i].text);
	}
	free(scope->variables);
	free(scope);
}

void
expression_scope_delete_local(void *variable)
{
	expression_scope_delete(rot_keep(variable));
}

static struct variable *
own_variable(const struct expression_scope *scope, const char *name)
{
	for (size_t i = 0; i < scope->nr; i++)
		if (strcmp(scope->variables[i].name, name) == 0)
			return &scope->variables[i];
	return NULL;
}

static struct variable *
make_variable(struct expression_scope *scope, const char *name)
{
	struct variable *variable = own_variable(scope, name);

	if (!variable) {
		variable = &rot_add(scope->variables, scope->nr);
		*variable = (struct variable){.name = rot_strdup(name)};
	}
	return variable;
}

void
expression_scope_set_number(struct expression_scope *scope, const char *name, double value)
{
	struct variable *variable = make_variable(scope, name);

	free(variable->text);
	variable->text = NULL;
	variable->number = value;
}

void
expression_scope_set_string(struct expression_scope *scope, const char *name, const char *value)
{
	struct variable *variable = make_variable(scope, name);
	char *copy = rot_strdup(value);

	free(variable->text);
	variable->text = copy;
}

static void
set_field(struct expression_scope *scope, const void *entity, const struct rot_field *field)
{
	double number;

	if (field->is_list || field->type == ROT_REFERENCE)
		return;
	if (rot_entity_number(entity, field->name, &number)) {
		expression_scope_set_number(scope, field->name, number);
	} else {
		autofree char *text = rot_entity_get(entity, field->name);

		expression_scope_set_string(scope, field->name, text);
	}
}

void
expression_scope_set_entity(struct expression_scope *scope, const void *entity)
{
	const struct rot_class *class = ((const struct rot_entity *)entity)->class;
	size_t nr = rot_class_nr_fields(class);

	for (size_t i = 0; i < nr; i++)
		set_field(scope, entity, rot_class_field_at(class, i));
}

/* ---- functions ---- */

static void
pick(xmlXPathParserContextPtr context, int nr_arguments, bool largest)
{
	double best = largest ? -INFINITY : INFINITY;

	if (nr_arguments < 1) {
		xmlXPathErr(context, XPATH_INVALID_ARITY);
		return;
	}
	for (int i = 0; i < nr_arguments; i++) {
		double value = xmlXPathPopNumber(context);

		if (isnan(value) || (largest ? value > best : value < best))
			best = value;
	}
	xmlXPathReturnNumber(context, best);
}

/* False after the error, when it is not called with the right number of arguments. */
static bool
has_arguments(xmlXPathParserContextPtr context, int nr_arguments, int nr_wanted)
{
	if (nr_arguments != nr_wanted)
		xmlXPathErr(context, XPATH_INVALID_ARITY);
	return nr_arguments == nr_wanted;
}

static void
function_min(xmlXPathParserContextPtr context, int nr_arguments)
{
	pick(context, nr_arguments, false);
}

static void
function_max(xmlXPathParserContextPtr context, int nr_arguments)
{
	pick(context, nr_arguments, true);
}

static void
function_log2(xmlXPathParserContextPtr context, int nr_arguments)
{
	if (has_arguments(context, nr_arguments, 1))
		xmlXPathReturnNumber(context, log2(xmlXPathPopNumber(context)));
}

static void
function_sqrt(xmlXPathParserContextPtr context, int nr_arguments)
{
	if (has_arguments(context, nr_arguments, 1))
		xmlXPathReturnNumber(context, sqrt(xmlXPathPopNumber(context)));
}

static void
function_pow(xmlXPathParserContextPtr context, int nr_arguments)
{
	if (!has_arguments(context, nr_arguments, 2))
		return;
	double exponent = xmlXPathPopNumber(context);

	xmlXPathReturnNumber(context, pow(xmlXPathPopNumber(context), exponent));
}

/* if(condition, value, otherwise): both values are evaluated, as all arguments are. */
static void
function_if(xmlXPathParserContextPtr context, int nr_arguments)
{
	xmlXPathObjectPtr value, otherwise;

	if (!has_arguments(context, nr_arguments, 3))
		return;
	otherwise = valuePop(context);
	value = valuePop(context);
	if (xmlXPathPopBoolean(context)) {
		xmlXPathFreeObject(otherwise);
		valuePush(context, value);
	} else {
		xmlXPathFreeObject(value);
		valuePush(context, otherwise);
	}
}

static const struct {
	const char *name;
	xmlXPathFunction function;
} functions[] = {
	{"if", function_if},   {"log2", function_log2}, {"max", function_max},
	{"min", function_min}, {"pow", function_pow},   {"sqrt", function_sqrt},
};

/* ---- evaluation ---- */

/* One evaluation: what it may use, and what it met that is unknown. */
struct evaluation {
	struct pool pool; /* of the texts */
	const struct expression_scope *scope;
	char *unknown_variable; /* first one, or NULL                                   */
	char *last_function;    /* the last that was looked up and is not one of ours  */
	char *called;           /* the function in which it failed, or NULL             */
	char *message;          /* libxml2's own, without a newline                     */
	xmlXPathContextPtr context;
};

static xmlXPathObjectPtr
look_up_variable(void *data, const xmlChar *name, const xmlChar *namespace)
{
	struct evaluation *evaluation = data;
	const struct expression_scope *scope = namespace ? NULL : evaluation->scope;
	const struct variable *variable = NULL;

	for (; scope && !variable; scope = scope->parent)
		variable = own_variable(scope, (const char *)name);
	if (variable)
		return variable->text ? xmlXPathNewString((const xmlChar *)variable->text)
				      : xmlXPathNewFloat(variable->number);
	if (!evaluation->unknown_variable)
		evaluation->unknown_variable = pool_strdup(&evaluation->pool, (const char *)name);
	return NULL;
}

static xmlXPathFunction
look_up_function(void *data, const xmlChar *name, const xmlChar *namespace)
{
	struct evaluation *evaluation = data;

	for (size_t i = 0; !namespace && i < sizeof functions / sizeof *functions; i++)
		if (strcmp((const char *)name, functions[i].name) == 0)
			return functions[i].function;
	evaluation->last_function = pool_strdup(&evaluation->pool, (const char *)name);
	return NULL;
}

#if LIBXML_VERSION >= 21200
static void
keep_message(void *data, const xmlError *error)
#else
static void
keep_message(void *data, xmlError *error)
#endif
{
	struct evaluation *evaluation = data;

	if (error->message && !evaluation->message)
		evaluation->message = pool_strndup(&evaluation->pool, error->message, strcspn(error->message, "\n"));
	if (evaluation->context->function && !evaluation->called)
		evaluation->called = pool_strdup(&evaluation->pool, (const char *)evaluation->context->function);
}

static void __attribute__((format(printf, 2, 3))) discard_message(void *data, const char *format, ...)
{
	(void)data;
	(void)format;
}

static void
report_unknown_variable(const struct expression_scope *scope, const char *name, const char *expression,
			struct rot_error *err)
{
	autofree const char **names = NULL;
	const char *nearest;
	size_t nr = 0;

	for (const struct expression_scope *s = scope; s; s = s->parent)
		for (size_t i = 0; i < s->nr; i++)
			rot_add(names, nr) = s->variables[i].name;
	rot_error_set(err, 0, "expression '%s': there is no variable '$%s'", expression, name);
	nearest = rot_nearest(name, names, nr);
	if (nearest)
		rot_error_hint(err, "did you mean '$%s'?", nearest);
	else if (nr == 0)
		rot_error_hint(err, "no variables are known here");
}

/* Says which part cannot be read, and where reading stopped; false: it does not know the code. */
static bool
report_syntax(int code, int at, const char *expression, struct rot_error *err)
{
	static const struct {
		int code;
		const char *reason;
	} reasons[] = {
		{XPATH_NUMBER_ERROR, "no number"},
		{XPATH_UNFINISHED_LITERAL_ERROR, "a quote is not closed"},
		{XPATH_START_LITERAL_ERROR, "no text in quotes"},
		{XPATH_VARIABLE_REF_ERROR, "no name of a variable"},
		{XPATH_INVALID_PREDICATE_ERROR, "a bracket is not closed"},
		{XPATH_EXPR_ERROR, "not understood"},
		{XPATH_UNCLOSED_ERROR, "a parenthesis is not closed"},
		{XPATH_INVALID_CHAR_ERROR, "a character that is not allowed"},
	};
	const size_t length = strlen(expression);

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (reasons[i].code != code)
			continue;
		if (!length)
			rot_error_set(err, 0, "an expression is empty");
		else if (at >= 0 && (size_t)at < length)
			rot_error_set(err, 0, "expression '%s': %s, at '%s'", expression, reasons[i].reason,
				      expression + at);
		else
			rot_error_set(err, 0, "expression '%s': %s, at its end", expression, reasons[i].reason);
		return true;
	}
	return false;
}

static void
report(const struct evaluation *evaluation, const xmlXPathContext *context, const char *expression,
       struct rot_error *err)
{
	/* libxml2 counts its XPath errors from XML_XPATH_EXPRESSION_OK. */
	const int code = context->lastError.code - XML_XPATH_EXPRESSION_OK;

	if (evaluation->unknown_variable) {
		report_unknown_variable(evaluation->scope, evaluation->unknown_variable, expression, err);
	} else if (code == XPATH_UNKNOWN_FUNC_ERROR && evaluation->last_function) {
		rot_error_set(err, 0, "expression '%s': there is no function '%s'", expression,
			      evaluation->last_function);
		rot_error_hint(err, "besides XPath's own there are if, log2, max, min, pow and sqrt");
	} else if (code == XPATH_INVALID_ARITY && evaluation->called) {
		rot_error_set(err, 0, "expression '%s': too many or too few arguments of '%s'", expression,
			      evaluation->called);
	} else if (!report_syntax(code, context->lastError.int1, expression, err)) {
		rot_error_set(err, 0, "expression '%s': %s", expression,
			      evaluation->message ? evaluation->message : "cannot be evaluated");
	}
}

/* One serves all evaluations, since making one registers all of XPath's functions. */
static xmlXPathContextPtr
context_for(struct evaluation *evaluation)
{
	static xmlXPathContextPtr context;

	if (!context)
		context = xmlXPathNewContext(NULL);
	xmlResetError(&context->lastError);
	context->error = keep_message;
	context->userData = evaluation;
	context->function = NULL;
	evaluation->context = context;
	xmlXPathRegisterVariableLookup(context, look_up_variable, evaluation);
	xmlXPathRegisterFuncLookup(context, look_up_function, evaluation);
	return context;
}

/* The compiled form, made once: formulas and rows of kernels are evaluated for each run or point. NULL: not understood.
 */
static xmlXPathCompExprPtr
compiled(const char *expression, xmlXPathContextPtr context)
{
	static xmlHashTablePtr known;
	xmlXPathCompExprPtr found;

	if (!known)
		known = xmlHashCreate(0);
	found = xmlHashLookup(known, (const xmlChar *)expression);
	if (!found) {
		found = xmlXPathCtxtCompile(context, (const xmlChar *)expression);
		if (found)
			xmlHashAddEntry(known, (const xmlChar *)expression, found);
	}
	return found;
}

/* The value of the expression, or NULL. */
static xmlXPathObjectPtr
evaluate(const struct expression_scope *scope, const char *expression, struct rot_error *err)
{
	struct evaluation evaluation = {.scope = scope};
	xmlGenericErrorFunc old_function = xmlGenericError;
	void *old_context = xmlGenericErrorContext;
	xmlXPathContextPtr context = context_for(&evaluation);
	xmlXPathCompExprPtr form;
	xmlXPathObjectPtr value;

	xmlSetGenericErrorFunc(NULL, discard_message);
	form = compiled(expression, context);
	value = form ? xmlXPathCompiledEval(form, context) : NULL;
	xmlSetGenericErrorFunc(old_context, old_function);
	if (!value)
		report(&evaluation, context, expression, err);
	pool_clear(&evaluation.pool);
	return value;
}

int
expression_number(const struct expression_scope *scope, const char *expression, double *value, struct rot_error *err)
{
	xmlXPathObjectPtr object = evaluate(scope, expression, err);

	if (!object)
		return -1;
	*value = xmlXPathCastToNumber(object);
	xmlXPathFreeObject(object);
	if (isinf(*value))
		return rot_error_set(err, 0, "expression '%s' is infinite: a division by zero or too large a number",
				     expression);
	if (isnan(*value))
		return rot_error_set(err, 0, "expression '%s' is not a number", expression);
	return 0;
}

int
expression_bool(const struct expression_scope *scope, const char *expression, bool *value, struct rot_error *err)
{
	xmlXPathObjectPtr object = evaluate(scope, expression, err);

	if (!object)
		return -1;
	*value = xmlXPathCastToBoolean(object);
	xmlXPathFreeObject(object);
	return 0;
}

static char *
object_text(xmlXPathObjectPtr object, const char *expression, struct rot_error *err)
{
	if (object->type == XPATH_NUMBER && !isfinite(object->floatval)) {
		rot_error_set(err, 0, "expression '%s' is not a finite number: a division by zero?", expression);
		return NULL;
	}
	if (object->type == XPATH_NUMBER)
		return rot_number_in_full(object->floatval);
	xmlChar *text = xmlXPathCastToString(object);
	char *copy = rot_strdup((const char *)text);

	xmlFree(text);
	return copy;
}

/* Length of the expression that starts after a brace: up to the closing brace outside quotes. SIZE_MAX: there is none.
 */
static size_t
expression_length(const char *start)
{
	char quote = '\0';

	for (const char *s = start; *s; s++)
		if (quote)
			quote = *s == quote ? '\0' : quote;
		else if (*s == '\'' || *s == '"')
			quote = *s;
		else if (*s == '}')
			return (size_t)(s - start);
	return SIZE_MAX;
}

char *
expression_text(const struct expression_scope *scope, const char *text, struct rot_error *err)
{
	autofree char *result = rot_strdup("");

	for (const char *s = text; *s;) {
		const size_t plain = strcspn(s, "{}");
		const bool is_doubled = s[plain] && s[plain + 1] == s[plain];
		autofree char *part = NULL;
		size_t length;
		autofree char *expression = NULL;
		xmlXPathObjectPtr object;

		rot_append(&result, "%.*s", (int)(plain + is_doubled), s);
		s += plain;
		if (is_doubled) {
			s += 2;
			continue;
		}
		if (!*s)
			break;
		length = *s == '{' ? expression_length(s + 1) : SIZE_MAX;
		if (length == SIZE_MAX) {
			rot_error_set(err, 0, "'%s': %s", text,
				      *s == '{' ? "a brace is not closed" : "a brace is not opened");
			rot_error_hint(err, "write '{{' and '}}' for braces in text");
			return NULL;
		}
		expression = rot_strndup(s + 1, length);
		object = evaluate(scope, expression, err);
		if (object)
			part = object_text(object, expression, err);
		xmlXPathFreeObject(object);
		if (!part)
			return NULL;
		rot_append(&result, "%s", part);
		s += length + 2;
	}
	return rot_keep(&result);
}
