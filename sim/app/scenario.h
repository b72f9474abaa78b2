/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario: which fabric, which traffic, which transports, which models, how long. Read from key
 * files and from --set, checked against the parameter tables, and written back resolved.
 * docs/SCENARIOS.md is the grammar.
 *
 * A scenario is a pile of layers: a base file lies below the file that names it, files lie below
 * what the command line says. The last value of a key wins. Nothing is checked against the tables
 * before scenario_resolve(), so that a later layer may change the kind that earlier keys belong to.
 * Layers are immutable once a later one is begun and are shared by copies: a point of a comparison
 * costs a few keys, not a copy of the scenario. Copies may be made and used in different threads.
 */
#ifndef WEFT_SIM_APP_SCENARIO_H
#define WEFT_SIM_APP_SCENARIO_H

#include "models/backend.h"
#include "topologies/topology.h"
#include "workloads/workload.h"

#define SCENARIO_ERROR scenario_error_quark()
GQuark scenario_error_quark(void);
enum scenario_error { SCENARIO_ERROR_FILE, SCENARIO_ERROR_FORMAT, SCENARIO_ERROR_VALUE };

/* [run] */
struct run_config {
    int64_t seed;
    int64_t end;          /* ps: the run stops here at the latest */
    int64_t backend;      /* choice: scenario_backends */
    int64_t flows, ports; /* whether flows.csv and ports.csv are written */
    int64_t series_step;  /* of series.csv; 0: none */
    int64_t series_file;  /* whether series.csv is written */
    char *series;         /* of which objects */
    int64_t json_lines;   /* every table as lines of JSON too */
    int64_t fct;          /* whether fct.txt is written */
    char *pcap;           /* links whose packets capture.pcap has; "": none */
    int64_t memory;       /* choice: enum run_memory */
};
enum run_memory { RUN_MEMORY_REFUSE, RUN_MEMORY_IGNORE };
extern const struct param scenario_run_params[];
extern const struct backend_ops *const scenario_backends[]; /* in the order of run.backend */

/* [hosts:NAME] */
struct scenario_hosts {
    char *name;
    /* the group's keys; scenario_hosts_params */
    struct scenario_hosts_config {
        char *ranks, *transport;
        int64_t nic_delay, link_rate, planes;
        struct host_config host; /* begins with the values of [host] */
    } config;
};
extern const struct param scenario_hosts_params[];

/* [fault:NAME] */
struct scenario_fault {
    char *name;
    /* the group's keys; scenario_fault_params */
    struct scenario_fault_config {
        char *object, *change;
        int64_t at, until; /* PARAM_AUTO: for good */
        int64_t flap_period, flap_time, flap_count;
    } config;
};
extern const struct param scenario_fault_params[];

/* [workload:NAME]: traffic beside that of [workload] */
struct scenario_workload {
    char *name;
    const struct workload_ops *ops;
    void *config;
};

/* One "key = value" as somebody wrote it; immutable, shared by copies of the scenario. */
struct scenario_entry {
    const char *group, *key, *value;
    const char *where;  /* "FILE:LINE: [group] key = value" or "--set group.key=value" */
    const char *folder; /* relative paths in the value start here */
};

struct scenario {
    /* filled by scenario_resolve(); owned */
    char *title; /* [scenario] title, or the name, or what is played on what */
    struct run_config run;
    const struct topology_ops *topology;
    void *topology_config;
    const struct workload_ops *workload;
    void *workload_config;
    GPtrArray *beside; /* struct scenario_workload *, in order of appearance */
    struct model_config model;
    GPtrArray *profiles; /* struct transport_profile *; [0] is [transport], its name is "" */
    GPtrArray *hosts;    /* struct scenario_hosts *, in order of appearance */
    GPtrArray *faults;   /* struct scenario_fault *, in order of appearance */
    /* as read */
    char *name;        /* of the first file loaded by scenario_load(), without folder and .ini */
    GPtrArray *layers; /* GPtrArray * of struct scenario_entry * */
    GPtrArray *notes;  /* char *: what was made of another simulator's settings */
    bool layer_open;   /* the last layer takes further entries */
};

struct scenario *scenario_new(void);
void scenario_free(struct scenario *scenario);

/* The same layers, not resolved. */
struct scenario *scenario_copy(const struct scenario *scenario);

/* --- layers ----------------------------------------------------------------------------------- */

/*
 * Adds a file, below which its bases go. `path` is a path, or the name of a ready scenario in
 * topologies/ or workloads/ (see ready.h). A configuration of the ns-3 family is a file
 * like any other.
 */
gboolean scenario_load(struct scenario *scenario, const char *path, GError **error);

/*
 * What --topology and --workload say: `group` is one of these two words, `what` a key file, a file
 * of another tool (formats.h; KIND:FILE says which), a ready scenario or a kind.
 */
gboolean scenario_choose(struct scenario *scenario, const char *group, const char *what,
                         GError **error);

/* What follows goes into a layer of its own, above all others. */
void scenario_begin_layer(struct scenario *scenario);

/* What --set says: "group.key=value", relative paths from the working folder. */
gboolean scenario_set(struct scenario *scenario, const char *text, GError **error);

/*
 * One key in code; `where` is what an error begins with and `folder` where relative paths start
 * (NULL: the working folder). Into the layer that is open, or a new one.
 */
gboolean scenario_set_key(struct scenario *scenario, const char *group, const char *key,
                          const char *value, const char *where, const char *folder, GError **error);

/*
 * The same for an entry whose key is "group.key", as the entries of [variant:NAME] are: errors
 * then name the variant's own line.
 */
gboolean scenario_apply(struct scenario *scenario, const struct scenario_entry *entry,
                        GError **error);

/* Lays the files that the entry's value names, as `base` of a file does, above all there is. */
gboolean scenario_apply_base(struct scenario *scenario, const struct scenario_entry *entry,
                             GError **error);

/* --- what was read ---------------------------------------------------------------------------- */

/* The last value of a key, or NULL. Valid as long as the scenario or a copy of it. */
const struct scenario_entry *scenario_entry(const struct scenario *scenario, const char *group,
                                            const char *key);

/* Groups whose names begin with `prefix` ("variant:"), in order of appearance; g_ptr_array_unref.
 */
GPtrArray *scenario_groups(const struct scenario *scenario, const char *prefix);

/* Keys of a group in order of appearance, each with its last value: const struct scenario_entry *;
 * g_ptr_array_unref. */
GPtrArray *scenario_group_entries(const struct scenario *scenario, const char *group);

/* Fills `config` with the defaults of `table` and what the group says; unknown keys are errors.
 * param_clear() it in any case. */
gboolean scenario_fill(const struct scenario *scenario, const char *group,
                       const struct param *table, void *config, GError **error);

/* Sets "FILE:LINE: [group] key = value: what would be right". */
void scenario_entry_error(const struct scenario_entry *entry, GError **error, const char *format,
                          ...) G_GNUC_PRINTF(3, 4);

/* --- the whole -------------------------------------------------------------------------------- */

/*
 * Checks every group and key and fills the typed fields; may be called again after more layers.
 * What belongs to `compare` and `sweep` is left as it is.
 */
gboolean scenario_resolve(struct scenario *scenario, GError **error);

/*
 * The profile that a schedule calls `name`: a [transport:name], [transport] itself for "" or its
 * transport's name, or another transport with its defaults. NULL with an error if there is none.
 * The scenario keeps it.
 */
const struct transport_profile *scenario_profile(struct scenario *scenario, const char *name,
                                                 GError **error);

/*
 * A resolved scenario as a key file: every value, no base. Paths are written relative to `folder`
 * where both lie below the working folder, absolute otherwise (NULL: always absolute). Reading it
 * back gives the same run. g_free.
 */
char *scenario_text(const struct scenario *scenario, const char *folder);

/*
 * What makes a resolved scenario the one it is: the same text without title and seed, with the
 * SHA-256 of their contents in the place of files. g_free.
 */
char *scenario_identity(const struct scenario *scenario);

/* The same as scenario_text() as a file, written whole or not at all. */
gboolean scenario_write(const struct scenario *scenario, const char *path, GError **error);

#endif
