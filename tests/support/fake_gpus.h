/* fake_gpus.h - makes the meter find GPUs of the test's own. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_TESTS_FAKE_GPUS_H
#define FULCRUM_TESTS_FAKE_GPUS_H

#include "tests/support/fake_nvml.h"

/* FULCRUM_NVML_LIBRARY names the library of that path from now on; its GPUs are as at
 * first. Borrowed: the library stays loaded. */
struct fake_nvml *fake_gpus(const char *library);

#endif
