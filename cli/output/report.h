/* report.h - what the sections of the HTML report include. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_OUTPUT_REPORT_H
#define FULCRUM_CLI_OUTPUT_REPORT_H

#include "cli/argv_text.h"
#include "cli/command.h"
#include "cli/message.h"
#include "presets/result/quantity_text.h"

#endif
