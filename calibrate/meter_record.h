/* meter_record.h - the meters that the table lists. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_METER_RECORD_H
#define FULCRUM_CALIBRATE_METER_RECORD_H

#include "calibrate/meter.h"

extern const struct fulcrum_meter fulcrum_meter_powercap;
extern const struct fulcrum_meter fulcrum_meter_perf;
extern const struct fulcrum_meter fulcrum_meter_nvml;

#endif
