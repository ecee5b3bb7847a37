/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once, and local variables that free theirs. */
#include "base/pool.h"
#include "testing.h"

static char released[8];

static void
release(void *thing)
{
	strncat(released, thing, sizeof(released) - strlen(released) - 1);
}

TEST(texts_and_copies)
{
	autopool pool = {0};
	const int numbers[] = {1, 2, 3};
	const int *copy = pool_copy(&pool, numbers, 3, sizeof(*numbers));
	const char *zeros = pool_calloc(&pool, 2, 1);

	ck_assert_str_eq(pool_format(&pool, "%s-%d", "a", 7), "a-7");
	ck_assert_str_eq(pool_strdup(&pool, NULL), "");
	ck_assert_str_eq(pool_strdup(&pool, "text"), "text");
	ck_assert_str_eq(pool_strndup(&pool, "text", 2), "te");
	ck_assert_mem_eq(copy, numbers, sizeof(numbers));
	ck_assert(zeros[0] == 0 && zeros[1] == 0);
	ck_assert_uint_eq((uintptr_t)pool_calloc(&pool, 1, 1) % _Alignof(max_align_t), 0);
}

TEST(arrays_grow)
{
	autopool pool = {0};
	size_t *array = NULL;

	for (size_t i = 0; i < 100; i++) {
		array = pool_grow(&pool, array, i, sizeof(*array));
		ck_assert_uint_eq(array[i], 0);
		array[i] = i + 1;
	}
	for (size_t i = 0; i < 100; i++)
		ck_assert_uint_eq(array[i], i + 1);
}

TEST(the_newest_is_released_first)
{
	struct pool pool = {0};

	ck_assert_str_eq(pool_own(&pool, (char *)"a", release), "a");
	pool_own(&pool, (char *)"b", release);
	pool_clear(&pool);
	ck_assert_str_eq(released, "ba");
	pool_own(&pool, (char *)"c", release); /* it can be used again */
	pool_clear(&pool);
	pool_clear(&pool);
	ck_assert_str_eq(released, "bac");
}

/* A size that overflows must not become a small one. */
TEST(too_much_ends_the_process)
{
	autopool pool = {0};
	int status;
	pid_t child = fork();

	if (child == 0) {
		close(STDERR_FILENO);
		pool_calloc(&pool, SIZE_MAX / 2, 4);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static char *
kept(bool is_kept)
{
	autofree char *text = NULL, *other = rot_strdup("x");

	rot_append(&text, "%d%s", 1, other);
	rot_append(&text, "%s", text);
	return is_kept ? rot_keep(&text) : NULL;
}

TEST(local_variables_keep_what_is_given_back)
{
	autofree char *text = kept(true);

	ck_assert_pstr_eq(text, "1x1x");
	ck_assert_ptr_null(kept(false));
}
