/* SPDX-License-Identifier: MIT */
/* The other file of places_target. */
int twin_of_other_file(int x);

extern volatile int sink;

__attribute__((noinline)) static int
twin(int x)
{
	return sink = x - 2;
}

int
twin_of_other_file(int x)
{
	return twin(x) + 1;
}
