/* SPDX-License-Identifier: MIT */
/* What hard_cases does when cases start it again: hard_cases =ACT ARGUMENT... */
#ifndef TESTS_HARD_CASES_ACTS_H
#define TESTS_HARD_CASES_ACTS_H

/* The status to end with. arguments[0] is the act. */
int act(int nr_arguments, char **arguments);

/* So many threads live at the same time, or as many as are permitted. Returns how many that are. */
int crowd_of(int most);

#endif
