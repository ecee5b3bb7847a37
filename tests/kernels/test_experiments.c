/* SPDX-License-Identifier: MIT */
/* The kernels of the thesis' experiments: their results, and that wrong ones are noticed when they are initialized. */
#include "blas.h"
#include "child/kernels.h"
#include "engine/kernel_work.h"
#include "fixture.h"
#include "loaded.h"
#include "matrices.h"
#include "testing.h"

/* Are the libraries there that the kernel needs? If not, says which. */
static bool
can_run(const char *class_name, const char *fields)
{
	struct kernel_base *kernel = kernel_of(class_name, fields);
	char *missing;

	ck_assert_int_eq(kernel_missing(&kernels_rot, kernel, &missing, &why), 0);
	if (missing)
		fprintf(stderr, "skipped: %s\n", missing);
	free(missing);
	return !missing;
}

/* Each checks its result when it is initialized. */
static const struct {
	const char *kernel, *fields;
	size_t nr_buffers;
	double bytes; /* of the first buffer */
} kernels[] = {
	{"Daxpy", "vectorSize=1", 2, 8},
	{"Daxpy", "vectorSize=10007", 2, 80056},
	{"Daxpy", "vectorSize=100003 numThreads=2", 2, 800024},
	{"Daxpy", "vectorSize=1000 implementation=REFERENCE", 2, 8000},
	{"Daxpy", "vectorSize=1000 implementation=BLIS", 2, 8000},
	{"Daxpy", "vectorSize=1000 implementation=MKL", 2, 8000},
	{"Dgemv", "matrixSize=1", 3, 8},
	{"Dgemv", "matrixSize=333", 3, 887112},
	{"Dgemv", "matrixSize=500 numThreads=2", 3, 2e6},
	{"Dgemv", "matrixSize=100 implementation=REFERENCE", 3, 80000},
	{"Dgemm", "matrixSize=1", 3, 8},
	{"Dgemm", "matrixSize=129", 3, 133128},
	{"Dgemm", "matrixSize=300 numThreads=2", 3, 720000},
	{"Dgemm", "matrixSize=65 implementation=REFERENCE", 3, 33800},
	{"Dgemm", "matrixSize=65 implementation=BLIS numThreads=2", 3, 33800},
	{"Dgemm", "matrixSize=65 implementation=MKL", 3, 33800},
	{"Mmm", "matrixSize=1", 3, 8},
	{"Mmm", "matrixSize=77", 3, 47432},
	{"Mmm", "matrixSize=100 algorithm=BLOCKED", 3, 80000},
	{"Mmm", "matrixSize=96 algorithm=BLOCKED nb=24 mu=2 nu=4 ku=3", 3, 73728},
	{"Mmm", "matrixSize=100 algorithm=BLOCKED_RESTRICT", 3, 80000},
	{"Mmm", "matrixSize=64 algorithm=BLOCKED_RESTRICT nb=64 mu=1 nu=64 ku=1", 3, 32768},
	{"Tuned", "matrixSize=1", 5, 8},
	{"Tuned", "matrixSize=77 kc=20 nc=12 mc=16", 5, 47432},
	{"Tuned", "matrixSize=101 instructionSet=AVX2 mr=6 nr=8 ku=1 kc=40 nc=48 mc=36", 5, 81608},
	{"Tuned", "matrixSize=131 instructionSet=AVX512 mr=8 nr=24 kc=50 nc=48 mc=40", 5, 137288},
	{"Fft", "bufferSize=1", 1, 16},
	{"Fft", "bufferSize=2", 1, 32},
	{"Fft", "bufferSize=8192", 1, 131072},
	{"Fft", "bufferSize=1 implementation=FFTW", 1, 16},
	{"Fft", "bufferSize=4096 implementation=FFTW", 1, 65536},
	{"Fft", "bufferSize=1000 implementation=FFTW planning=ESTIMATE", 1, 16000},
	{"Fft", "bufferSize=16384 implementation=FFTW planning=ESTIMATE numThreads=2", 1, 262144},
	{"Fft", "bufferSize=512 implementation=MKL", 1, 8192},
	{"Wht", "bufferSizeExp=0", 1, 8},
	{"Wht", "bufferSizeExp=13", 1, 65536},
	{"Wht", "bufferSizeExp=13 algorithm=ITERATIVE", 1, 65536},
};

/* Two runs: nothing of the first is in the way of the second. */
TEST_OF(kernels_compute_what_they_check, NR_ELEMENTS(kernels))
{
	const char *name = kernels[_i].kernel, *fields = kernels[_i].fields;
	cleared_by(unload) struct loaded kernel = {0};

	if (!can_run(name, fields))
		return;
	kernel = load(name, fields);
	ck_assert_uint_eq(kernel.nr_buffers, kernels[_i].nr_buffers);
	ck_assert_double_eq((double)kernel.buffers[0].bytes, kernels[_i].bytes);
	run(&kernel);
	run(&kernel);
}

/* The loops against each other: elements, not only their sums. */
TEST_OF(loops_multiply_alike, 5)
{
	static const struct {
		const char *kernel, *fields;
	} loops[] = {
		{"Mmm", "matrixSize=50"},
		{"Mmm", "matrixSize=50 algorithm=BLOCKED nb=10"},
		{"Mmm", "matrixSize=50 algorithm=BLOCKED_RESTRICT"},
		{"Tuned", "matrixSize=50 kc=50"},
		{"Tuned", "matrixSize=50 mr=7 nr=6 ku=3 kc=13 nc=18 mc=21"},
	};
	cleared_by(unload) struct loaded mmm = load(loops[_i].kernel, loops[_i].fields);
	const double *a = mmm.buffers[0].start, *b = mmm.buffers[1].start, *c = mmm.buffers[2].start;
	double before[2500];

	memcpy(before, c, sizeof(before));
	run(&mmm);
	for (size_t i = 0; i < 50; i++)
		for (size_t j = 0; j < 50; j++) {
			double sum = before[i * 50 + j];

			for (size_t k = 0; k < 50; k++)
				sum += a[i * 50 + k] * b[k * 50 + j];
			ck_assert_double_eq_tol(c[i * 50 + j], sum, 1e-11);
		}
}

/* The transform of the transform is the input, n times as large. */
TEST_OF(wht_is_its_own_inverse, 2)
{
	static const char *const fields[] = {"bufferSizeExp=11", "bufferSizeExp=11 algorithm=ITERATIVE"};
	cleared_by(unload) struct loaded wht = load("Wht", fields[_i]);
	const double *x = wht.buffers[0].start;
	double before[2048];

	memcpy(before, x, sizeof(before));
	run(&wht);
	ck_assert_double_gt(fabs(x[0]), 2048);
	run(&wht);
	for (size_t i = 0; i < 2048; i++)
		ck_assert_double_eq_tol(x[i], 2048 * before[i], 1e-8);
}

/* The transform of a wave has one element. */
TEST_OF(fft_finds_a_frequency, 2)
{
	static const char *const fields[] = {"bufferSize=256 noCheck=true", "bufferSize=256 implementation=FFTW"};
	cleared_by(unload) struct loaded fft = {0};
	double *z;

	if (!can_run("Fft", fields[_i]))
		return;
	fft = load("Fft", fields[_i]);
	z = fft.buffers[0].start;
	for (size_t j = 0; j < 256; j++) {
		z[2 * j] = cos(2 * M_PI * (double)(7 * j) / 256);
		z[2 * j + 1] = sin(2 * M_PI * (double)(7 * j) / 256);
	}
	run(&fft);
	for (size_t k = 0; k < 256; k++) {
		ck_assert_double_eq_tol(z[2 * k], k == 7 ? 256 : 0, 1e-10);
		ck_assert_double_eq_tol(z[2 * k + 1], 0, 1e-10);
	}
}

/* Does one of the facts hold the text? */
static bool
is_told(const char *text)
{
	autograph struct measurement_run_output *output = measurement_run_output_new();
	bool is_told = false;

	kernel_facts(output);
	for (size_t i = 0; i < measurement_run_output_nr_facts(output); i++)
		is_told = is_told || strstr(measurement_run_output_facts_at(output, i), text);
	return is_told;
}

/* The wisdom of FFTW is in the file, and the next process knows it; a file that is no wisdom, or cannot be written, is
 * told. A name alone is one in the folder that is kept. */
TEST_OF(wisdom_is_kept, 5)
{
	static const struct {
		const char *before; /* NULL: no file */
		bool is_in_a_folder, is_name_alone;
	} files[] = {
		{NULL, true, false},
		{"(fftw-3.3.10 fftw_wisdom #x458a31c8 #x92381c4c #x4f974889 #xcd46f97e\n)\n", true, false},
		{"no wisdom", true, false},
		{NULL, false, false},
		{NULL, true, true},
	};
	autofree char *file = rot_format("%s%s/wisdom", kernels_folder, files[_i].is_in_a_folder ? "" : "/none");
	autofree char *fields =
		rot_format("bufferSize=512 implementation=FFTW wisdom=%s", files[_i].is_name_alone ? "wisdom" : file);
	struct loaded fft;

	if (can_run("Fft", fields)) {
		if (files[_i].before)
			file_fill(file, files[_i].before);
		kernel_kept_folder_set(files[_i].is_name_alone ? kernels_folder : "");
		fft = load("Fft", fields);
		run(&fft);
		ck_assert_int_eq(access(file, F_OK) == 0, files[_i].is_in_a_folder);
		ck_assert_int_eq(is_told("not of this library"), files[_i].before && files[_i].before[0] == 'n');
		ck_assert_int_eq(is_told("cannot be written"), !files[_i].is_in_a_folder);
		unload(&fft);
	}
}

/* Nor is a name without such a folder anywhere. */
TEST(wisdom_needs_a_folder)
{
	const char *fields = "bufferSize=512 implementation=FFTW wisdom=wisdom";
	cleared_by(unload) struct loaded fft = {0};

	if (!can_run("Fft", fields))
		return;
	kernel_kept_folder_set("");
	fft = load("Fft", fields);
	run(&fft);
	ck_assert_int_ne(access("wisdom", F_OK), 0);
}

/* ---- the checks ---- */

static struct matrices product;

/* A library might do so: one element is wrong, by little. */
static void
multiply_wrongly(void *error)
{
	for (size_t i = 0; i < product.n; i++)
		for (size_t j = 0; j < product.n; j++)
			for (size_t k = 0; k < product.n; k++)
				product.c[i * product.n + j] +=
					product.a[i * product.n + k] * product.b[k * product.n + j];
	product.c[product.n + 1] += *(double *)error;
}

TEST(a_wrong_product_is_noticed)
{
	double none = 0, error = 1e-6;

	ck_assert_int_eq(matrices_open(&product, 40), 0);
	ck_assert_int_eq(matrices_check(&product, 1, 1, multiply_wrongly, &none, "C"), 0);
	ck_assert_int_eq(matrices_check(&product, 1, 1, multiply_wrongly, &error, "C"), -1);
	ck_assert_has(kernel_reason(), "C is wrong: element 1 ");
	matrices_close(&product);
}

TEST(wrong_vectors_are_noticed)
{
	double expected[] = {1, 2, 3}, right[] = {1, 2 + 1e-15, 3}, wrong[] = {1, 2, 3.0001}, none[] = {1, NAN, 3};

	ck_assert_int_eq(verify_equal(right, expected, 3, 1, "y"), 0);
	ck_assert_int_eq(verify_equal(wrong, expected, 3, 1, "y"), -1);
	ck_assert_int_eq(verify_equal(none, expected, 3, 1, "y"), -1);
}

/* ---- libraries ---- */

TEST(libraries_are_found_without_loading_them)
{
	autofree char *libc = kernel_library_find("libc.so.6"), *beside = kernel_library_find("./libc.so.6");

	ck_assert_ptr_nonnull(libc);
	ck_assert_ptr_nonnull(beside);
	ck_assert_ptr_null(kernel_library_find("libthereisnosuch.so.1"));
	ck_assert_ptr_null(kernel_library_find("nowhere/libc.so.6"));
	ck_assert_ptr_null(kernel_library_find("/nowhere/libc.so.6"));
}

/* Variables are changed before a library is loaded; a second user must want the same. */
TEST(a_library_is_loaded_with_its_variables)
{
	void *libm;

	setenv("ROT_TEST_GONE_A", "1", 1);
	setenv("ROT_TEST_GONE_B", "1", 1);
	setenv("ROT_TEST_ONE", "1", 1);
	setenv("ROT_TEST_ONES", "1", 1);
	libm = kernel_library("libm.so.6", "ROT_TEST_GONE_* ROT_TEST_ONE ROT_TEST_SET=two");
	ck_assert_ptr_nonnull(libm);
	ck_assert_ptr_null(getenv("ROT_TEST_GONE_A"));
	ck_assert_ptr_null(getenv("ROT_TEST_GONE_B"));
	ck_assert_ptr_null(getenv("ROT_TEST_ONE"));
	ck_assert_str_eq(getenv("ROT_TEST_ONES"), "1");
	ck_assert_str_eq(getenv("ROT_TEST_SET"), "two");
	ck_assert_ptr_eq(kernel_library("libm.so.6", "ROT_TEST_GONE_* ROT_TEST_ONE ROT_TEST_SET=two"), libm);
	ck_assert_ptr_null(kernel_library("libm.so.6", ""));
	ck_assert_has(kernel_reason(), "libm.so.6 is loaded already");
	ck_assert_ptr_nonnull(kernel_symbol(libm, "cos"));
	ck_assert_ptr_null(kernel_symbol(libm, "there_is_no_such_function"));
	ck_assert_ptr_null(kernel_library("libthereisnosuch.so.1", ""));
	ck_assert_has(kernel_reason(), "libthereisnosuch.so.1");
}

TEST(facts_are_told_once)
{
	autograph struct measurement_run_output *output = measurement_run_output_new();

	kernel_tell("version %d", 3);
	kernel_tell("version %d", 4);
	kernel_tell("version %d", 3);
	kernel_facts(output);
	ck_assert_uint_eq(measurement_run_output_nr_facts(output), 2);
	ck_assert_str_eq(measurement_run_output_facts_at(output, 0), "version 3");
	ck_assert_str_eq(measurement_run_output_facts_at(output, 1), "version 4");
}

/* A core that the library does not have is an error, not another core. */
TEST(an_unknown_core_is_refused)
{
	struct blas blas;

	if (!can_run("Daxpy", ""))
		return;
	ck_assert_int_eq(blas_open(&blas, "OPENBLAS", "Nonsense", 1), -1);
	ck_assert_has(kernel_reason(), "instead of Nonsense");
}

/* ---- load on the system ---- */

/* The n-th CPU that this process may use, from 0. */
static int
nth_cpu(const cpu_set_t *cpus, int n)
{
	int cpu = 0;

	while (!CPU_ISSET((size_t)cpu, cpus) || n-- > 0)
		cpu++;
	return cpu;
}

/* To the first CPU: from any other, from the last one, and from itself; with a buffer that is its own. */
TEST(cpu_migrating_migrates)
{
	cpu_set_t cpus;
	struct loaded migrating;
	char fields[80];
	int target, last;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	if (CPU_COUNT(&cpus) < 2) {
		fprintf(stderr, "skipped: there is one CPU\n");
		return;
	}
	target = nth_cpu(&cpus, 0);
	last = nth_cpu(&cpus, CPU_COUNT(&cpus) - 1);
	for (int i = 0; i < 3; i++) {
		snprintf(fields, sizeof(fields), "targetCpu=%d sourceCpu=%d bufferSize=%d", target,
			 i == 0   ? -1
			 : i == 1 ? last
				  : target,
			 8192 * i);
		migrating = load("CpuMigrating", fields);
		ck_assert_int_eq(sched_getcpu() == target, i == 2);
		migrating.type->warm_code(migrating.kernel);
		ck_assert_int_eq(sched_getcpu() == target, i == 2);
		ck_assert_uint_eq(migrating.nr_buffers, i > 0);
		if (i > 0)
			ck_assert_uint_eq(migrating.buffers[0].bytes, 8192 * (size_t)i);
		run(&migrating);
		ck_assert_int_eq(sched_getcpu(), target);
		unload(&migrating);
		ck_assert_int_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	}
}

/* Nothing is left in the folder. */
TEST_OF(disk_io_leaves_nothing, 2)
{
	static const char *const fields[] = {"fileSize=1048576", "fileSize=524288 operation=READ iterations=3"};
	autofree char *command = rot_format("ls '%s' | grep diskIo || true", kernels_folder), *file = NULL,
		      *left = NULL;
	cleared_by(unload) struct loaded disk = {0};

	file = rot_format("%s/command", kernels_folder);
	kernel_folder_set(file);
	disk = load("DiskIo", fields[_i]);
	run(&disk);
	left = output_of(command);
	ck_assert_str_eq(left, "");
}

UNIT_TESTS(.needs = {fixture_open}, .close = fixture_close);
