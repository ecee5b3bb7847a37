/* SPDX-License-Identifier: MIT */
/* The kernel Vector: each operation has its instructions in its loop, says how many, and computes what it says. */
#include "engine/kernel_work.h"
#include "fixture.h"
#include "listing.h"
#include "loaded.h"
#include "testing.h"

#define LENGTH 128
#define BEHIND 8 /* elements behind x that may be read, see the kernel */

/* ---- what each operation does ---- */

struct amounts {
	size_t adds, subs, muls, fmas, roots;
};

static const double b = 0.25, c = 0.125;

/* The new value of an element, from those of x, y and z; x[1] and x[8] are further elements. */
#define COMPUTES(name, expression)                                                                                     \
	static double name(double a, const double *x, double y, double z)                                              \
	{                                                                                                              \
		(void)a, (void)x, (void)y, (void)z;                                                                    \
		return expression;                                                                                     \
	}
COMPUTES(copy, x[0])
COMPUTES(ax, a *x[0])
COMPUTES(xpx, x[0] + x[0])
COMPUTES(ay, a *y)
COMPUTES(ypy, y + y)
COMPUTES(xpy, x[0] + y)
COMPUTES(axpy, a *x[0] + y)
COMPUTES(axpby, a *x[0] + b * y)
COMPUTES(diff1, x[1] - x[0])
COMPUTES(diff8, x[8] - x[0])
COMPUTES(mean1, 0.5 * (x[1] + x[0]))
COMPUTES(mean8, 0.5 * (x[8] + x[0]))
COMPUTES(root, sqrt(x[0]))
COMPUTES(xpypz, x[0] + y + z)
COMPUTES(xypz, x[0] * y + z)
COMPUTES(axpypz, a *x[0] + y + z)
COMPUTES(axpbypz, a *x[0] + b * y + z)
COMPUTES(axpbypcz, a *x[0] + b * y + c * z)

static const struct operation {
	const char *name;
	double (*computes)(double a, const double *x, double y, double z);
	const char *vectors; /* in the order of the kernel's buffers; the last one is the result */
	size_t nr_loads;
	struct amounts separate, fused;
} operations[] = {
	{"COPY", copy, "xy", 1, {0}, {0}},
	{"AX", ax, "xy", 1, {.muls = 1}, {.muls = 1}},
	{"XPX", xpx, "xy", 1, {.adds = 1}, {.adds = 1}},
	{"AY", ay, "y", 1, {.muls = 1}, {.muls = 1}},
	{"YPY", ypy, "y", 1, {.adds = 1}, {.adds = 1}},
	{"XPY", xpy, "xy", 2, {.adds = 1}, {.adds = 1}},
	{"AXPY", axpy, "xy", 2, {.adds = 1, .muls = 1}, {.fmas = 1}},
	{"AXPBY", axpby, "xy", 2, {.adds = 1, .muls = 2}, {.muls = 1, .fmas = 1}},
	{"DIFF1", diff1, "xy", 2, {.subs = 1}, {.subs = 1}},
	{"DIFF8", diff8, "xy", 2, {.subs = 1}, {.subs = 1}},
	{"MEAN1", mean1, "xy", 2, {.adds = 1, .muls = 1}, {.adds = 1, .muls = 1}},
	{"MEAN8", mean8, "xy", 2, {.adds = 1, .muls = 1}, {.adds = 1, .muls = 1}},
	{"SQRT", root, "xy", 1, {.roots = 1}, {.roots = 1}},
	{"XPYPZ", xpypz, "xyz", 3, {.adds = 2}, {.adds = 2}},
	{"XYPZ", xypz, "xyz", 3, {.adds = 1, .muls = 1}, {.fmas = 1}},
	{"AXPYPZ", axpypz, "xyz", 3, {.adds = 2, .muls = 1}, {.adds = 1, .fmas = 1}},
	{"AXPBYPZ", axpbypz, "xyz", 3, {.adds = 2, .muls = 2}, {.fmas = 2}},
	{"AXPBYPCZ", axpbypcz, "xyz", 3, {.adds = 2, .muls = 3}, {.muls = 1, .fmas = 2}},
};

static const struct shape {
	const char *fields, *register_name;
	bool is_float, is_fused, is_vex, is_scalar;
	size_t lanes, unroll;
} shapes[] = {
	{"instructionSet=SCALAR precision=FLOAT unroll=1", "%xmm", true, false, false, true, 1, 1},
	{"instructionSet=SSE precision=DOUBLE unroll=3 length=96", "%xmm", false, false, false, false, 2, 3},
	{"instructionSet=AVX2 precision=FLOAT unroll=16", "%ymm", true, false, true, false, 8, 16},
	{"instructionSet=AVX512 precision=DOUBLE unroll=2", "%zmm", false, false, true, false, 8, 2},
	{"instructionSet=SCALAR precision=DOUBLE unroll=4 multiplyAdd=FUSED", "%xmm", false, true, true, true, 1, 4},
	{"instructionSet=SSE precision=FLOAT unroll=1 multiplyAdd=FUSED", "%xmm", true, true, true, false, 4, 1},
	{"instructionSet=AVX512 precision=FLOAT unroll=8 multiplyAdd=FUSED optimization=-O0", "%zmm", true, true, true,
	 false, 16, 8},
};

/* A test for each operation in each shape. */
#define NR_CASES (NR_ELEMENTS(operations) * NR_ELEMENTS(shapes))

struct vector_case {
	const struct operation *operation;
	const struct shape *shape;
	char *fields;
};

/* Different ones for the operations of a shape, and the shapes of an operation. */
static int
number_of_case(int i)
{
	return i + i / NR_ELEMENTS(operations);
}

/* The instructions of each case are looked at, or the results; both of all with ROT_SLOW_TESTS. */
static bool
is_chosen(int i, bool are_instructions)
{
	return all_are_tested() || (number_of_case(i) % 2 == 0) == are_instructions;
}

static struct vector_case
case_of(int i)
{
	struct vector_case this = {&operations[i % NR_ELEMENTS(operations)], &shapes[i / NR_ELEMENTS(operations)],
				   NULL};

	this.fields = rot_format("length=%d operation=%s %s", LENGTH, this.operation->name, this.shape->fields);
	return this;
}

/* ---- its instructions ---- */

/* How many instructions of a turn are that operation, on numbers of the shape. */
static size_t
count(const struct listing *loop, const struct shape *shape, const char *base)
{
	char name[24];

	snprintf(name, sizeof name, "%s%s%c%c", shape->is_vex ? "v" : "", base, shape->is_scalar ? 's' : 'p',
		 shape->is_float ? 's' : 'd');
	return listing_count(loop, name, shape->register_name);
}

/* Every step stores its result in a place of its own, one register behind the other. */
static void
look_at_stores(const struct shape *shape, const struct listing *loop)
{
	size_t bytes = shape->lanes * (shape->is_float ? 4 : 8), next = 0;

	for (size_t i = 0; i < loop->nr; i++) {
		const char *to = strchr(loop->instructions[i].operands, ',');

		if (!to || to[1] == '%' || !strchr(to, '(') || loop->instructions[i].operands[0] != '%')
			continue;
		ck_assert_uint_eq(strtoul(to + 1, NULL, 16), next);
		next += bytes;
	}
	ck_assert_uint_eq(next, bytes * shape->unroll);
}

static double
expected(const struct kernel_base *kernel, const char *operation)
{
	double value;

	ck_assert_msg(kernel_expected_operations(&kernels_rot, kernel, operation, &value, &why), "%s", why.text);
	return value;
}

static double
expected_bytes(const struct kernel_base *kernel, const char *direction)
{
	double value;

	ck_assert_msg(kernel_expected_bytes(&kernels_rot, kernel, "cpuL1", direction, &value, &why), "%s", why.text);
	return value;
}

/* The definition tells of a run: flops, bytes loaded and stored, and instructions, also those between passes. */
static void
check_expectation(const struct kernel_base *kernel, const struct vector_case *this, const struct amounts *amounts,
		  size_t nr_in_loop)
{
	size_t nr_flops = amounts->adds + amounts->subs + amounts->muls + 2 * amounts->fmas + amounts->roots;
	double elements = number_of(kernel, "length") * number_of(kernel, "iterations");
	double bytes = elements * (this->shape->is_float ? 4 : 8);
	double turns = elements / (double)(this->shape->lanes * this->shape->unroll);
	double between = number_of(kernel, "iterations") * (3 + (double)strlen(this->operation->vectors));

	ck_assert_double_eq(expected(kernel, this->shape->is_float ? "singlePrecisionFlop" : "doublePrecisionFlop"),
			    elements * (double)nr_flops);
	ck_assert_double_eq(expected(kernel, "flop"), elements * (double)nr_flops);
	ck_assert_double_eq(expected(kernel, "instructions"), turns * (double)nr_in_loop + between);
	ck_assert_double_eq(expected_bytes(kernel, "read"), bytes * (double)this->operation->nr_loads);
	ck_assert_double_eq(expected_bytes(kernel, "write"), bytes);
}

/* Memory is touched by the loads and stores of the vectors alone: nothing is spilled. */
static void
look_at_vector(const struct kernel_base *kernel, const struct listing *loop, const void *context)
{
	const struct vector_case *this = context;
	const struct shape *shape = this->shape;
	const struct amounts *amounts = shape->is_fused ? &this->operation->fused : &this->operation->separate;
	size_t nr_vectors = strlen(this->operation->vectors), unroll = shape->unroll, nr;

	ck_assert_uint_eq(count(loop, shape, "add"), amounts->adds * unroll);
	ck_assert_uint_eq(count(loop, shape, "sub"), amounts->subs * unroll);
	ck_assert_uint_eq(count(loop, shape, "mul"), amounts->muls * unroll);
	ck_assert_uint_eq(count(loop, shape, "fmadd231") + count(loop, shape, "fmadd213"), amounts->fmas * unroll);
	ck_assert_uint_eq(count(loop, shape, "sqrt"), amounts->roots * unroll);
	ck_assert_uint_eq(listing_count(loop, NULL, "("), (this->operation->nr_loads + 1) * unroll);
	ck_assert_uint_eq(listing_count(loop, "add", "$0x"), nr_vectors);
	ck_assert_uint_eq(listing_count(loop, "dec", ""), 1);
	nr = (amounts->adds + amounts->subs + amounts->muls + amounts->fmas + amounts->roots) * unroll + nr_vectors + 2;
	nr += count(loop, shape, shape->is_scalar ? "mov" : "movu");
	ck_assert_uint_eq(loop->nr, nr);
	look_at_stores(shape, loop);
	check_expectation(kernel, this, amounts, loop->nr);
}

TEST_OF(operations_have_their_instructions, has_objdump() * NR_CASES)
{
	struct vector_case this = case_of(_i);
	const char *compiler;

	for (size_t i = 0; is_chosen(_i, true) && (compiler = kernels_compiler_of(number_of_case(_i), i)); i++) {
		struct kernel_base *kernel = kernel_of("Vector", this.fields);

		examine(kernel, compiler, "run_loop", look_at_vector, &this);
	}
	free(this.fields);
}

/* ---- its results ---- */

static double
element(const struct shape *shape, const void *vector, size_t i)
{
	return shape->is_float ? (double)((const float *)vector)[i] : ((const double *)vector)[i];
}

/* One vector of the case as doubles, with what lies behind it; of one that the operation does not have, zeros. */
static void
take(const struct vector_case *this, const struct loaded *vector, char name, double *values, size_t nr)
{
	const char *at = strchr(this->operation->vectors, name);

	for (size_t i = 0; at && i < nr; i++)
		values[i] = element(this->shape, vector->buffers[at - this->operation->vectors].start, i);
}

static void
check_results(const struct vector_case *this, const char *fields, const char *compiler)
{
	double x[LENGTH + BEHIND] = {0}, y[LENGTH + BEHIND] = {0}, z[LENGTH + BEHIND] = {0};
	double *result = strchr(this->operation->vectors, 'z') ? z : y;
	double a = strcmp(this->operation->name, "AY") == 0 ? 1 - 1.2e-7 : 0.5;
	cleared_by(unload) struct loaded vector = load_with("Vector", fields, compiler);
	size_t nr = vector.buffers[0].bytes / (this->shape->is_float ? 4 : 8);
	size_t nr_vectors = strlen(this->operation->vectors);

	ck_assert_uint_eq(vector.nr_buffers, nr_vectors);
	take(this, &vector, 'x', x, nr + BEHIND);
	take(this, &vector, 'y', y, nr);
	take(this, &vector, 'z', z, nr);
	run(&vector);
	for (size_t i = 0; i < nr; i++) {
		for (int pass = 0; pass < 3; pass++)
			result[i] = this->operation->computes(a, &x[i], y[i], z[i]);
		ck_assert_double_eq_tol(element(this->shape, vector.buffers[nr_vectors - 1].start, i), result[i],
					this->shape->is_float ? 4e-6 : 1e-14);
	}
}

TEST_OF(operations_compute_what_they_say, NR_CASES)
{
	struct vector_case this = case_of(_i);
	autofree char *fields = rot_format("%s iterations=3", this.fields);

	if (is_chosen(_i, false) && cpu_has(fields))
		check_results(&this, fields, kernels_compilers[0]);
	free(this.fields);
}

/* The code that a compiler makes of the loop in C computes the same, of any length. */
TEST_OF(operations_in_c_compute_the_same, NR_ELEMENTS(operations))
{
	static const struct shape in_c[] = {{.is_float = false}, {.is_float = true}};
	static const char *const flags[] = {"-O3", "-O2", "-Os", "-O0"};
	const char *compiler;

	for (size_t i = 0; (compiler = kernels_compiler_of(_i, i)); i++) {
		const struct vector_case this = {&operations[_i], &in_c[((size_t)_i + i) % 2], NULL};
		autofree char *fields = rot_format(
			"code=C operation=%s precision=%s length=%d iterations=3 optimization=%s", this.operation->name,
			this.shape->is_float ? "FLOAT" : "DOUBLE", LENGTH - 3, flags[((size_t)_i / 2 + i) % 4]);

		check_results(&this, fields, compiler);
	}
}

/* The stores end with the vector; a gap keeps the vectors apart, each beginning with a line. */
TEST(vectors_lie_where_the_gap_says)
{
	cleared_by(unload) struct loaded vector = load("Vector", "operation=XPYPZ length=1024 gap=4096");
	const char *start[3];

	for (size_t i = 0; i < 3; i++) {
		start[i] = vector.buffers[i].start;
		ck_assert_uint_eq((size_t)start[i] % 64, 0);
		ck_assert_uint_eq(vector.buffers[i].bytes, 8192);
	}
	ck_assert_int_eq(start[1] - start[0], 8192 + 64 + 4096);
	ck_assert_int_eq(start[2] - start[1], 8192 + 64 + 4096);
	memset((char *)vector.buffers[2].start + 8192, 7, 64);
	run(&vector);
	for (size_t i = 0; i < 64; i++)
		ck_assert_int_eq(start[2][8192 + i], 7);
}

UNIT_TESTS(.needs = {fixture_open}, .close = fixture_close);
