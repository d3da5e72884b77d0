/* quantity.h - the value of a quantity that is not known or does not apply. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_QUANTITY_H
#define FULCRUM_MODEL_QUANTITY_H

#include <math.h>

/* JSON null, an empty CSV cell. A double: NAN itself is a float. */
#define FULCRUM_UNKNOWN ((double)NAN)

#endif
