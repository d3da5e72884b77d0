# SPDX-License-Identifier: GPL-3.0-or-later
# The headers that are installed: what a program needs that predicts, sweeps, reads and
# writes presets, measures or draws, and nothing more. Everything else is private.
set(FULCRUM_PUBLIC_HEADERS
  calibrate/actor/actor.h
  calibrate/device/learner.h
  calibrate/fit/fit.h
  calibrate/fulcrum_env.h
  calibrate/host.h
  calibrate/meter/meter.h
  calibrate/statistics.h
  calibrate/stopwatch.h
  model/cpu_curve.h
  model/design/calibration.h
  model/design/design.h
  model/design/machine.h
  model/design/reference.h
  model/design/workload.h
  model/interval.h
  model/nearest.h
  model/network/network.h
  model/predict/predict.h
  model/predict/scenario.h
  model/predict/solver.h
  model/stage_kind.h
  model/status.h
  model/study/sweep.h
  plots/chart/axis.h
  plots/chart/canvas.h
  plots/chart/chart.h
  plots/chart/page.h
  plots/chart/rows.h
  plots/spec/charts.h
  presets/load/preset.h
  presets/load/preset_folders.h
  presets/load/preset_kind.h)
