/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configurations of the ns-3 family (HPCC, ConWeave, PowerTCP, ASTRA-sim, SimAI) as keys of a
 * scenario: files, ECN maps, PFC and buffers, DCQCN, loss, the link that goes down, the end. One
 * table says of every key what becomes of it; `weft list settings` prints it. A key that is not in
 * the table is an error, where the published readers pass over it.
 */
#ifndef WEFT_SIM_APP_SETTINGS_NS3_H
#define WEFT_SIM_APP_SETTINGS_NS3_H

#include <glib.h>
#include <stdbool.h>

/* One key of a scenario, and where it comes from: "FILE:LINE: KEY VALUE". */
struct setting {
    char *group, *key, *value, *where;
};

struct settings {
    GPtrArray *list;  /* struct setting * */
    GPtrArray *notes; /* char * */
};

bool settings_ns3_knows(const char *key);

/* Reads a file; settings_clear() in any case. */
gboolean settings_ns3_read(struct settings *settings, const char *path, GError **error);
void settings_clear(struct settings *settings);

/* Key number `index` and what becomes of it, for people; false past the last. */
bool settings_ns3_at(int index, const char **name, const char **becomes);

#endif
