/* SPDX-License-Identifier: MIT */
/* Loaded and unloaded by hard_cases, as two libraries that differ by FACTOR. */
#ifndef FACTOR
#define FACTOR 3
#endif

int answer(int x);
int *own_variable(void);

static __thread int variable = 42;
static int (*volatile through)(int);

static int
multiply(int x)
{
	return x * FACTOR;
}

int
answer(int x)
{
	through = multiply;
	return through(x);
}

int *
own_variable(void)
{
	return &variable;
}
