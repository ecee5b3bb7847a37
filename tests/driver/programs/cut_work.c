/* SPDX-License-Identifier: MIT */
/*
 * cut_work NAME N: does ten times a thousand additions; in the N-th run it makes the file NAME.ready when it has done
 * so four times, and waits for its end. The file NAME counts the runs.
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
	int file, waits;

	if (argc < 3)
		return 2;
	file = open(argv[1], O_CREAT | O_APPEND | O_WRONLY, 0600);
	if (file < 0 || write(file, ".", 1) != 1)
		return 2;
	waits = lseek(file, 0, SEEK_END) == atoi(argv[2]);
	snprintf(ready, sizeof(ready), "%s.ready", argv[1]);
	for (int i = 0; i < (waits ? 4 : 10); i++)
		sum += work(1000);
	if (waits)
		open(ready, O_CREAT | O_WRONLY, 0600);
	while (waits)
		pause();
	printf("%g\n", sum);
	return 0;
}
