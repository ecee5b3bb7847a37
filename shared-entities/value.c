/* SPDX-License-Identifier: MIT */
/* The values fields hold. */
#include "value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* ---- double ---- */

static const char not_a_number[] = "is not a number";

/* Bits of the NaN that is written as "nan"; others carry their bits: "nan(0x7ff8000000000001)". */
#define PLAIN_NAN UINT64_C(0x7ff8000000000000)

static uint64_t
double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static const char *
nan_parse(double *value, const char *text)
{
	uint64_t bits = PLAIN_NAN;
	char *end;

	if (strncmp(text, "nan(0x", 6) == 0 && text[6] != '-' && text[6] != '+' && text[6] != ' ') {
		errno = 0;
		bits = strtoull(text + 6, &end, 16);
		if (errno || end == text + 6 || strcmp(end, ")") != 0)
			return not_a_number;
	} else if (strcmp(text, "nan") != 0) {
		return not_a_number;
	}
	memcpy(value, &bits, sizeof(bits));
	return isnan(*value) ? NULL : not_a_number;
}

static const char *
double_parse(void *slot, const char *text)
{
	const char *unsigned_text = text + (text[0] == '-' || text[0] == '+');
	const char *wrong = NULL;
	double value = 0;

	if (text[0] == 'n') {
		wrong = nan_parse(&value, text);
	} else if (strcmp(unsigned_text, "inf") == 0) {
		value = text[0] == '-' ? -INFINITY : INFINITY;
	} else if (unsigned_text[0] == '.' || isdigit((unsigned char)unsigned_text[0])) {
		if (!rot_number_parse(text, &value))
			wrong = not_a_number;
		else if (isinf(value))
			wrong = "is out of range (about 1.8e308 at most)";
	} else {
		wrong = not_a_number;
	}
	if (!wrong)
		memcpy(slot, &value, sizeof(value));
	return wrong;
}

static const char *
double_text(const void *slot, char room[VALUE_ROOM])
{
	double value = *(const double *)slot;

	if (!isnan(value))
		rot_number_write(value, 1, room);
	else if (double_bits(value) == PLAIN_NAN)
		return "nan";
	else
		snprintf(room, VALUE_ROOM, "nan(0x%" PRIx64 ")", double_bits(value));
	return room;
}

static double
double_number(const void *slot)
{
	return *(const double *)slot;
}

/* ---- whole numbers ---- */

static const char not_whole[] = "is not a whole number";

/* By itself: an output can have a hundred thousand of them, and printf takes several times as long. */
static const char *
whole_text(uint64_t magnitude, bool is_negative, char room[VALUE_ROOM])
{
	char *at = room + VALUE_ROOM - 1;

	*at = '\0';
	do {
		*--at = (char)('0' + magnitude % 10);
		magnitude /= 10;
	} while (magnitude > 0);
	if (is_negative)
		*--at = '-';
	return at;
}

static const char *
signed_text(int64_t value, char room[VALUE_ROOM])
{
	return whole_text(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, room);
}

static bool
is_digits(const char *text)
{
	return text[0] && text[strspn(text, "0123456789")] == '\0';
}

static const char *
signed_parse(int64_t *value, const char *text, int64_t min, int64_t max, const char *out_of_range)
{
	long long number;

	if (!is_digits(text + (text[0] == '-'))) {
		/* Expressions make "1e+23" of large whole numbers. */
		char *end;
		double real = strtod(text, &end);

		if (end == text || *end || !isfinite(real) || fabs(real) < 0x1p53)
			return not_whole;
		return fabs(real) < 0x1p63 ? "is above 9007199254740992, beyond which calculated numbers are not exact"
					   : out_of_range;
	}
	errno = 0;
	number = strtoll(text, NULL, 10);
	if (errno || number < min || number > max)
		return out_of_range;
	*value = number;
	return NULL;
}

static const char *
int_parse(void *slot, const char *text)
{
	int64_t value;
	const char *wrong =
		signed_parse(&value, text, INT32_MIN, INT32_MAX, "is out of range (-2147483648 to 2147483647)");

	if (!wrong)
		*(int32_t *)slot = (int32_t)value;
	return wrong;
}

static const char *
int_text(const void *slot, char room[VALUE_ROOM])
{
	return signed_text(*(const int32_t *)slot, room);
}

static double
int_number(const void *slot)
{
	return *(const int32_t *)slot;
}

static const char *
long_parse(void *slot, const char *text)
{
	return signed_parse(slot, text, INT64_MIN, INT64_MAX,
			    "is out of range (-9223372036854775808 to 9223372036854775807)");
}

static const char *
long_text(const void *slot, char room[VALUE_ROOM])
{
	return signed_text(*(const int64_t *)slot, room);
}

static double
long_number(const void *slot)
{
	return (double)*(const int64_t *)slot;
}

static const char *
ulong_parse(void *slot, const char *text)
{
	unsigned long long number;

	if (!is_digits(text))
		return text[0] == '-' && is_digits(text + 1) ? "is negative" : not_whole;
	errno = 0;
	number = strtoull(text, NULL, 10);
	if (errno)
		return "is out of range (0 to 18446744073709551615)";
	*(uint64_t *)slot = number;
	return NULL;
}

static const char *
ulong_text(const void *slot, char room[VALUE_ROOM])
{
	return whole_text(*(const uint64_t *)slot, false, room);
}

static double
ulong_number(const void *slot)
{
	return (double)*(const uint64_t *)slot;
}

/* ---- the others ---- */

static const char *
bool_parse(void *slot, const char *text)
{
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return "is neither true nor false";
	*(bool *)slot = text[0] == 't';
	return NULL;
}

static const char *
bool_text(const void *slot, char room[VALUE_ROOM])
{
	(void)room;
	return *(const bool *)slot ? "true" : "false";
}

static double
bool_number(const void *slot)
{
	return *(const bool *)slot;
}

static const char *
string_parse(void *slot, const char *text)
{
	rot_string_set(slot, text);
	return NULL;
}

static const char *
string_text(const void *slot, char room[VALUE_ROOM])
{
	(void)room;
	return value_string(slot);
}

const struct value_type value_types[ROT_REFERENCE + 1] = {
	[ROT_DOUBLE] = {"double", "double ", sizeof(double), double_parse, double_text, double_number},
	[ROT_INT] = {"int", "int32_t ", sizeof(int32_t), int_parse, int_text, int_number},
	[ROT_LONG] = {"long", "int64_t ", sizeof(int64_t), long_parse, long_text, long_number},
	[ROT_ULONG] = {"ulong", "uint64_t ", sizeof(uint64_t), ulong_parse, ulong_text, ulong_number},
	[ROT_BOOL] = {"bool", "bool ", sizeof(bool), bool_parse, bool_text, bool_number},
	[ROT_STRING] = {"string", "char *", sizeof(char *), string_parse, string_text, NULL},
	[ROT_REFERENCE] = {"reference", "struct rot_entity *", sizeof(void *), NULL, NULL, NULL},
};

enum rot_type
value_type_find(const char *name)
{
	enum rot_type type = ROT_DOUBLE;

	while (type < ROT_REFERENCE && strcmp(value_types[type].name, name) != 0)
		type++;
	return type;
}

/* True if word is one of the blank separated words. */
static bool
is_among(const char *word, const char *words)
{
	size_t len = strlen(word), len_i;

	for (; *words; words += len_i) {
		words += strspn(words, " ");
		len_i = strcspn(words, " ");
		if (len_i > 0 && len_i == len && memcmp(words, word, len) == 0)
			return true;
	}
	return false;
}

const char *
value_parse(const struct rot_field *field, void *slot, const char *text)
{
	if (field->type == ROT_STRING && field->values && !is_among(text, field->values))
		return "is not one of the allowed values";
	return value_types[field->type].parse(slot, text);
}

void *
value_slots(const void *entity, const struct rot_field *field, size_t *nr)
{
	void *member = rot_field_of(entity, field);
	const struct rot_list *list = member;

	*nr = field->is_list ? list->nr : 1;
	return field->is_list ? list->items : member;
}

bool
value_equal(enum rot_type type, const void *a, const void *b)
{
	if (type == ROT_STRING)
		return strcmp(value_string(a), value_string(b)) == 0;
	return memcmp(a, b, value_types[type].size) == 0;
}
