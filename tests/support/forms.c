/* SPDX-License-Identifier: MIT */
#include "forms.h"

#include <ctype.h>
#include <libxml/entities.h>

#include "base/utf8.h"
#include "testing.h"

/* ---- numbers ---- */

const char *
member_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

double
member_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (strcmp(key, "value") == 0 && json_is_true(json_object_get(object, "infinite")))
		return INFINITY;
	return json_is_number(value) ? json_number_value(value) : NAN;
}

bool
is_rounded(const char *text, double number)
{
	const size_t length = strspn(text, "-0123456789."), whole = strcspn(text, ".");
	const bool has_point = whole < length;
	const long exponent = text[length] == 'e' ? strtol(text + length + 1, NULL, 10) : 0;
	size_t zeros = 0;

	while (!has_point && zeros < length && text[length - 1 - zeros] == '0')
		zeros++;
	return length > 0 && (number == 0) == (strtod(text, NULL) == 0) &&
	       fabs(strtod(text, NULL) - number) <=
		       0.5001 * pow(10, (double)exponent +
						(has_point ? (double)whole + 1 - (double)length : (double)zeros));
}

double
unit_of(const char *text)
{
	static const struct {
		const char *unit;
		double size;
	} units[] = {
		{"Gflop/s", 1e9}, {"Mflop/s", 1e6}, {"kflop/s", 1e3}, {"flop/s", 1}, {"flop/byte", 1}, {"us", 1},
		{"GB/s", 1e9},    {"MB/s", 1e6},    {"kB/s", 1e3},    {"B/s", 1},    {"flop", 1},      {"s", 1e6},
		{"byte", 1},      {"operation", 1}, {"cycle", 1},     {"%", 0.01},
	};

	for (int i = 0; i < NR_ELEMENTS(units); i++)
		if (strncmp(text, units[i].unit, strlen(units[i].unit)) == 0)
			return units[i].size;
	ck_abort_msg("no unit: %.40s", text);
}

bool
is_interval(const char *text, double value, double low, double high)
{
	const size_t length = strcspn(text, "<\n");
	autofree char *cell = rot_strndup(text, length);
	const char *bracket = strchr(cell, '['), *half = strstr(cell, "±"), *to = strstr(cell, " to ");

	if (isnan(value))
		return *cell == '-';
	if (isinf(value))
		return strncmp(cell, "inf", strlen("inf")) == 0 || strncmp(cell, "∞", strlen("∞")) == 0 ||
		       strncmp(cell, "no bytes", strlen("no bytes")) == 0;
	if (to)
		return is_rounded(cell, low) && is_rounded(to + strlen(" to "), high);
	if (!is_rounded(cell, value))
		return false;
	if (bracket)
		return is_rounded(bracket + 1, low) && is_rounded(strchr(bracket, ',') + 2, high);
	if (half)
		return is_rounded(half + strlen("±"), value - low) && is_rounded(half + strlen("±"), high - value);
	return !(low < high);
}

bool
is_value(const char *text, double unit, const json_t *quantity)
{
	const bool is_expected = strcmp(member_text(quantity, "kind"), "expected") == 0;
	const double value = member_number(quantity, "value");
	const size_t length = strcspn(text, "<\n");
	autofree char *cell = rot_strndup(text, length);

	return is_interval(text, value / unit, member_number(quantity, "low") / unit,
			   member_number(quantity, "high") / unit) &&
	       (isnan(value) || (strstr(cell, "(e)") != NULL) == is_expected);
}

bool
has_infinite(const json_t *points)
{
	const json_t *point, *quantity;
	bool is_found = false;
	size_t i, k;

	json_array_foreach(points, i, point)
		json_array_foreach(json_object_get(point, "quantities"), k, quantity)
			is_found = is_found || isinf(member_number(quantity, "value"));
	return is_found;
}

/* ---- texts ---- */

char *
text_cell(const char *row, size_t number)
{
	const char *end;

	row += strspn(row, " \n");
	for (; number > 0; number--) {
		row = strstr(row, "  ");
		ck_assert_ptr_nonnull(row);
		row += strspn(row, " ");
	}
	end = row + strcspn(row, "\n");
	return rot_strndup(row, strstr(row, "  ") && strstr(row, "  ") < end ? (size_t)(strstr(row, "  ") - row)
									     : (size_t)(end - row));
}

/* Is the word in the text as a word of its own? */
static bool
has_word(const char *text, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = text; (at = strcasestr(at, word)); at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
			return true;
	return false;
}

void
expect_clean(const char *form, const char *text, bool has_infinite)
{
	autofree char *utf8 = utf8_text(text);

	ck_assert_msg(strcmp(utf8, text) == 0, "%s is not UTF-8", form);
	for (const char *at = text; *at; at++)
		ck_assert_msg(((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t') &&
				      !(at[0] == '\xc2' && (unsigned char)at[1] < 0xa0),
			      "%s has the byte %d in: %.60s", form, (unsigned char)*at,
			      at > text + 30 ? at - 30 : text);
	ck_assert_msg(!has_word(text, "nan"), "%s has NaN", form);
	ck_assert_msg(has_infinite || !has_word(text, "inf"), "%s has an infinite number: %.200s", form,
		      strcasestr(text, "inf") - 100);
}

/* ---- CSV ---- */

/* The next field of CSV (RFC 4180), in fresh memory; *at is moved behind it. */
static char *
next_field(const char **at)
{
	char *text = rot_calloc(strlen(*at) + 1, 1), *to = text;
	const bool is_quoted = **at == '"';

	for (*at += is_quoted; is_quoted ? (*at)[0] != '"' || (*at)[1] == '"' : !strchr(",\n", **at); (*at)++) {
		ck_assert_msg(**at != '\0', "the CSV ends within a field");
		*to++ = **at;
		*at += is_quoted && **at == '"';
	}
	*at += is_quoted;
	ck_assert_msg(**at == ',' || **at == '\n', "'%c' behind a field of CSV", **at);
	return text;
}

char *
field(const char *csv, size_t row, const char *column)
{
	const char *at = csv;
	size_t number = 0, nr_columns = 0;
	char *text = NULL;

	for (bool is_found = false; nr_columns == 0 || at[-1] == ','; nr_columns++, at++) {
		autofree char *heading = next_field(&at);

		is_found = is_found || strcmp(heading, column) == 0;
		number += !is_found;
	}
	ck_assert_msg(number < nr_columns, "no column %s", column);
	for (size_t i = (row - 1) * nr_columns + number + 1; i > 0; i--) {
		free(text);
		text = next_field(&at);
		at++;
	}
	return text;
}

void
expect_field(const char *csv, size_t row, const char *column, double number)
{
	autofree char *text = field(csv, row, column);

	if (isnan(number))
		ck_assert_msg(text[0] == '\0', "%s of row %zu is %s", column, row, text);
	else
		ck_assert_msg(strtod(text, NULL) == number || fabs(strtod(text, NULL) / number - 1) < 1e-15,
			      "%s of row %zu is %s, not %.17g", column, row, text, number);
}

void
expect_quantity(const char *csv, size_t row, const char *column, const json_t *quantity)
{
	static const char *const parts[][2] = {{"value", ""}, {"low", "_low"}, {"high", "_high"}, {"n", "_n"}};

	for (int i = 0; i < NR_ELEMENTS(parts); i++) {
		autofree char *name = rot_format("%s%s", column, parts[i][1]);

		expect_field(csv, row, name, member_number(quantity, parts[i][0]));
	}
}

/* ---- plots ---- */

const char *
plot_data(const char *data, const char *series)
{
	autofree char *head = rot_format("# %s\n#", series);
	const char *at = strstr(data, head);

	return at ? strchr(strchr(at, '\n') + 1, '\n') + 1 : NULL;
}

void
expect_mark(const char *line, double intensity, double performance)
{
	double x, y;

	ck_assert_int_eq(sscanf(line, "%lf %lf", &x, &y), 2);
	ck_assert_double_eq_tol(x / intensity, 1, 1e-14);
	ck_assert_double_eq_tol(1e9 * y / performance, 1, 1e-14);
}

/* ---- pages ---- */

char *
escaped(const char *text)
{
	autofree char *clean = xml_text(text);

	return (char *)xmlEncodeSpecialChars(NULL, (const xmlChar *)clean);
}

const char *
nth(const char *text, const char *begin, size_t number)
{
	for (text = strstr(text, begin); text && number > 0; number--)
		text = strstr(text + 1, begin);
	return text;
}

size_t
page_column(const char *page, const char *heading, const char *of)
{
	autofree char *text =
		of && *of ? rot_format(">%s</span><span class=\"of\">%s<", heading, of) : rot_format(">%s<", heading);
	const char *head = strstr(page, "<thead>") + strlen("<thead>"), *at = strstr(head, text);
	size_t number = 0;

	ck_assert_msg(at != NULL && at < strstr(head, "</thead>"), "no column %s", heading);
	while (nth(head, "<th", number) && nth(head, "<th", number) < at)
		number++;
	return number - 1;
}

double
page_unit(const char *page, size_t column)
{
	static const char begin[] = "class=\"unit\">";
	const char *head = nth(strstr(page, "<thead>") + strlen("<thead>"), "<th", column), *unit = strstr(head, begin);

	ck_assert_msg(unit != NULL && unit < strstr(head, "</th>"), "no unit in %.90s", head);
	return unit_of(unit + strlen(begin));
}

const char *
page_row(const char *page, const char *series, const char *label)
{
	autofree char *begin = rot_format("<td class=\"stays\">%s</td><td>%s</td>", series, label);
	const char *row = strstr(page, begin);

	ck_assert_msg(row != NULL, "no row %s", begin);
	return row;
}

const char *
page_form_cell(const char *row, size_t column)
{
	row = nth(row, "<td", column);
	ck_assert_ptr_nonnull(row);
	return strchr(row, '>') + 1;
}
