/* SPDX-License-Identifier: MIT */
/* A program with a region that exceptions go through: region_target_cxx NUMBER. Every third call throws. */
#include <cstdlib>
#include <stdexcept>

namespace work
{
volatile int nr_caught, nr_returned;

__attribute__((noinline)) void
region_throwing(int i)
{
	if (i % 3 == 0)
		throw std::runtime_error("third");
	nr_returned = nr_returned + 1;
}
} // namespace work

int
main(int argc, char *argv[])
{
	int nr = argc > 1 ? std::atoi(argv[1]) : 3;

	for (int i = 0; i < nr; i++) {
		try {
			work::region_throwing(i);
		} catch (const std::exception &) {
			work::nr_caught = work::nr_caught + 1;
		}
	}
	return work::nr_caught == (nr + 2) / 3 && work::nr_returned == nr - work::nr_caught ? 0 : 9;
}
