/* SPDX-License-Identifier: MIT */
/* See pass_runs.h. */
#include "quantities/pass_runs.h"

#include "support/json.h"

json_t *
run_began_json(int64_t seconds, int32_t microseconds)
{
	return seconds > 0 ? json_integer(seconds * INT64_C(1000000) + microseconds) : json_null();
}

json_t *
pass_runs_new(const char *hash)
{
	return json_pack("{s:o, s:[], s:[]}", "hash", json_text(hash), "began", "starts");
}

void
pass_runs_add(json_t *pass, int64_t seconds, int32_t microseconds, size_t start)
{
	json_array_append_new(json_object_get(pass, "began"), run_began_json(seconds, microseconds));
	json_array_append_new(json_object_get(pass, "starts"), json_integer((json_int_t)start));
}
