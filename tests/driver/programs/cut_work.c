/* SPDX-License-Identifier: MIT */
/*
 * cut_work NAME: does ten times a thousand additions; in the second run it makes the file NAME.ready when it has done
 * so four times, and waits for its end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static double
work(int n)
{
	volatile double sum = 0;

	for (int i = 0; i < n; i++)
		sum += 1;
	return sum;
}

int
main(int argc, char **argv)
{
	double sum = 0;
	char ready[4096];
	int is_first;

	if (argc < 2)
		return 2;
	is_first = open(argv[1], O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0;
	snprintf(ready, sizeof(ready), "%s.ready", argv[1]);
	for (int i = 0; i < (is_first ? 10 : 4); i++)
		sum += work(1000);
	if (!is_first)
		open(ready, O_CREAT | O_WRONLY, 0600);
	while (!is_first)
		pause();
	printf("%g\n", sum);
	return 0;
}
