/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/settings_ns3.h"
#include "sim/core/param.h"
#include "sim/core/reader.h"
#include "sim/core/units.h"
#include <string.h>

#define MAP_MOST      64
#define EPOCH_PS      INT64_C(2000000000000) /* LINK_DOWN counts from here: 2 s */
#define LONGEST_END_S 9000000.0              /* what 64 bits of picoseconds hold */

enum map { KMIN, KMAX, PMAX, N_MAPS };

struct ecn {
    uint32_t n;
    int64_t rate_bps[MAP_MOST];
    char *value[MAP_MOST]; /* as weft spells it */
    uint32_t line;
};

struct reading {
    struct settings *settings;
    struct reader reader;
    const char *key;
    uint32_t line;
    struct ecn maps[N_MAPS];
    int64_t qcn, cc_mode, dynamic_pfc; /* -1: not said */
    GPtrArray *outside;                /* const char *: keys of controls that weft does not have */
    GPtrArray *outputs;                /* const char *: keys that name results */
};

struct ns3_key {
    const char *name;
    /* Takes the values behind the key; row is this one. */
    gboolean (*take)(struct reading *reading, const struct ns3_key *row, GError **error);
    const char *group, *target, *unit; /* for those that are one value of a key */
    const char *becomes;               /* for people */
};

static void add(struct reading *reading, const char *group, const char *key, const char *value)
{
    struct setting *setting = g_new(struct setting, 1);

    *setting = (struct setting){
        g_strdup(group), g_strdup(key), g_strdup(value),
        g_strdup_printf("%s:%u: %s", reading->reader.path, reading->line, reading->key)};
    g_ptr_array_add(reading->settings->list, setting);
}

static void note(struct reading *reading, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void note(struct reading *reading, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    g_ptr_array_add(reading->settings->notes, g_strdup_vprintf(format, list));
    va_end(list);
}

/* --- values ----------------------------------------------------------------------------------- */

static const char *value_word(struct reading *reading, GError **error)
{
    const char *word = reader_word_in_line(&reading->reader);

    if (!word)
        reader_refuse(&reading->reader, reading->line, error, "%s without a value", reading->key);
    return word;
}

/* A whole number from 0 to most. */
static gboolean value_number(struct reading *reading, uint64_t most, int64_t *value, GError **error)
{
    const char *word = value_word(reading, error);
    uint64_t number;

    if (!word)
        return FALSE;
    if (!reader_is_whole(word, 0, most, &number))
        return reader_refuse(&reading->reader, reading->line, error,
                             "%s %.40s: a whole number from 0 to %" G_GUINT64_FORMAT " is expected",
                             reading->key, word, most);
    *value = (int64_t)number;
    return TRUE;
}

/* A value that weft's key takes as it is, but for the unit behind a bare number. */
static gboolean take_value(struct reading *reading, const struct ns3_key *row, GError **error)
{
    const char *word = value_word(reading, error);

    if (!word)
        return FALSE;
    g_autofree char *value =
        g_strconcat(word, g_ascii_isdigit(word[strlen(word) - 1]) ? row->unit : "", NULL);

    add(reading, row->group, row->target, value);
    return TRUE;
}

static gboolean take_switch(struct reading *reading, const struct ns3_key *row, GError **error)
{
    int64_t value;

    if (!value_number(reading, 1, &value, error))
        return FALSE;
    add(reading, row->group, row->target, value ? "on" : "off");
    return TRUE;
}

static gboolean take_file(struct reading *reading, const struct ns3_key *row, GError **error)
{
    const char *word = value_word(reading, error);

    if (!word)
        return FALSE;
    add(reading, row->group, "kind", "ns3");
    add(reading, row->group, "file", word);
    return TRUE;
}

/* Results of the other simulator: passed over. */
static gboolean take_output(struct reading *reading, const struct ns3_key *row, GError **error)
{
    (void)error;
    g_ptr_array_add(reading->outputs, (char *)(uintptr_t)row->name);
    return TRUE;
}

/* A control that weft does not have: passed over, and said. */
static gboolean take_outside(struct reading *reading, const struct ns3_key *row, GError **error)
{
    (void)error;
    g_ptr_array_add(reading->outside, (char *)(uintptr_t)row->name);
    return TRUE;
}

static gboolean take_stop(struct reading *reading, const struct ns3_key *row, GError **error)
{
    const char *word = value_word(reading, error);
    char *end = NULL;
    double seconds = word ? g_ascii_strtod(word, &end) : 0;

    if (!word)
        return FALSE;
    if (*end || !(seconds > 0))
        return reader_refuse(&reading->reader, reading->line, error,
                             "%s %.40s: seconds are expected", row->name, word);
    if (seconds > LONGEST_END_S) {
        note(reading, "%s %s s is longer than weft counts: the run ends after %.0f s at the latest",
             row->name, word, LONGEST_END_S);
        add(reading, row->group, row->target, "9000000s");
        return TRUE;
    }
    g_autofree char *value = g_strconcat(word, "s", NULL);

    add(reading, row->group, row->target, value);
    return TRUE;
}

static gboolean take_map(struct reading *reading, const struct ns3_key *row, GError **error)
{
    enum map which = row->name[1] == 'M' && row->name[2] == 'I' ? KMIN
                     : row->name[0] == 'K'                      ? KMAX
                                                                : PMAX;
    struct ecn *map = &reading->maps[which];
    int64_t n;

    if (!value_number(reading, MAP_MOST, &n, error))
        return FALSE;
    map->line = reading->line;
    for (map->n = 0; map->n < n; map->n++) {
        if (!value_number(reading, INT64_MAX, &map->rate_bps[map->n], error))
            return FALSE;
        const char *word = value_word(reading, error);

        if (!word)
            return FALSE;
        g_free(map->value[map->n]);
        map->value[map->n] = g_strconcat(word, which == PMAX ? "" : "KB", NULL);
    }
    return TRUE;
}

static gboolean take_qcn(struct reading *reading, const struct ns3_key *row, GError **error)
{
    (void)row;
    return value_number(reading, 1, &reading->qcn, error);
}

static gboolean take_mode(struct reading *reading, const struct ns3_key *row, GError **error)
{
    (void)row;
    return value_number(reading, 1000, &reading->cc_mode, error);
}

static gboolean take_dynamic(struct reading *reading, const struct ns3_key *row, GError **error)
{
    if (!value_number(reading, 1, &reading->dynamic_pfc, error))
        return FALSE;
    add(reading, row->group, row->target, reading->dynamic_pfc ? "dynamic" : "static");
    return TRUE;
}

static gboolean take_buffer(struct reading *reading, const struct ns3_key *row, GError **error)
{
    int64_t size;
    char text[32];

    (void)row;
    if (!value_number(reading, 1 << 20, &size, error))
        return FALSE;
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT "MiB", size);
    add(reading, "buffer", "kind", "shared");
    add(reading, "buffer", "size", text);
    add(reading, "queue", "limit", text);
    return TRUE;
}

static gboolean take_window(struct reading *reading, const struct ns3_key *row, GError **error)
{
    int64_t value;

    (void)row;
    if (!value_number(reading, 1, &value, error))
        return FALSE;
    if (value)
        note(reading,
             "HAS_WIN 1: a window of one bandwidth-delay product, which weft check prints; "
             "transport.window is left as it is");
    else
        add(reading, "transport", "window", "0B");
    return TRUE;
}

static gboolean take_back_to_zero(struct reading *reading, const struct ns3_key *row,
                                  GError **error)
{
    int64_t value;

    (void)row;
    if (!value_number(reading, 1, &value, error))
        return FALSE;
    add(reading, "transport", "recovery", "go_back_n");
    if (value)
        note(reading, "warning: L2_BACK_TO_ZERO 1 (a loss repeats the whole message) is not "
                      "modelled: go-back-N instead");
    return TRUE;
}

static gboolean take_ack_priority(struct reading *reading, const struct ns3_key *row,
                                  GError **error)
{
    int64_t value;

    if (!value_number(reading, 1, &value, error))
        return FALSE;
    add(reading, row->group, row->target, value ? "0,1,1" : "0,0,0");
    return TRUE;
}

static gboolean take_link_down(struct reading *reading, const struct ns3_key *row, GError **error)
{
    int64_t at_us, a, b;

    if (!value_number(reading, 1000000000, &at_us, error) ||
        !value_number(reading, UINT32_MAX - 1, &a, error) ||
        !value_number(reading, UINT32_MAX - 1, &b, error))
        return FALSE;
    if (at_us == 0 && a == 0 && b == 0)
        return TRUE;
    g_autofree char *at = units_format(UNITS_TIME, EPOCH_PS + at_us * 1000000);
    g_autofree char *value = g_strdup_printf("%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, at, a, b);

    add(reading, row->group, row->target, value);
    note(reading,
         "LINK_DOWN: the links between nodes %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
         " go down at 2 s + %" G_GINT64_FORMAT " us and stay down",
         a, b, at_us);
    return TRUE;
}

/* --- the table -------------------------------------------------------------------------------- */

#define DCQCN(name_, target_, unit_)                                                               \
    {                                                                                              \
        name_, take_value, "transport", target_, unit_, "[transport] " target_                     \
    }
#define OUTSIDE(name_)                                                                             \
    {                                                                                              \
        name_, take_outside, NULL, NULL, NULL,                                                     \
            "passed over and said: of a control or choice that weft does not have"                 \
    }
#define OUTPUT(name_)                                                                              \
    {                                                                                              \
        name_, take_output, NULL, NULL, NULL,                                                      \
            "passed over: a result or log of the other simulator"                                  \
    }

static const struct ns3_key keys[] = {
    {"TOPOLOGY_FILE", take_file, "topology", NULL, NULL, "[topology] kind = ns3, file"},
    {"FLOW_FILE", take_file, "workload", NULL, NULL, "[workload] kind = ns3, file"},
    {"PACKET_PAYLOAD_SIZE", take_value, "transport", "payload", "B", "[transport] payload"},
    {"SIMULATOR_STOP_TIME", take_stop, "run", "end", NULL, "[run] end, in seconds"},
    {"ENABLE_QCN", take_qcn, NULL, NULL, NULL,
     "0: no marks, [queue] kind = droptail; 1: those of the maps"},
    {"KMIN_MAP", take_map, NULL, NULL, NULL, "[queue] kind = red, ecn_map; KB of 1000 B"},
    {"KMAX_MAP", take_map, NULL, NULL, NULL, "[queue] kind = red, ecn_map; KB of 1000 B"},
    {"PMAX_MAP", take_map, NULL, NULL, NULL, "[queue] kind = red, ecn_map"},
    {"BUFFER_SIZE", take_buffer, NULL, NULL, NULL,
     "MiB: [buffer] kind = shared, size; [queue] limit"},
    {"USE_DYNAMIC_PFC_THRESHOLD", take_dynamic, "pfc", "threshold", NULL, "[pfc] threshold"},
    {"ENABLE_PFC", take_switch, "pfc", "enable", NULL, "[pfc] enable; on where it is not said"},
    {"CC_MODE", take_mode, NULL, NULL, NULL,
     "1: [transport] cc = dcqcn, dcqcn_set = hpcc; others have no model here: a window alone, "
     "and a warning"},
    DCQCN("ALPHA_RESUME_INTERVAL", "dcqcn_alpha_timer", "us"),
    DCQCN("RATE_DECREASE_INTERVAL", "dcqcn_decrease_interval", "us"),
    DCQCN("RP_TIMER", "dcqcn_increase_timer", "us"),
    DCQCN("EWMA_GAIN", "dcqcn_g", ""),
    DCQCN("FAST_RECOVERY_TIMES", "dcqcn_threshold", ""),
    DCQCN("RATE_AI", "dcqcn_ai", "bps"),
    DCQCN("RATE_HAI", "dcqcn_hai", "bps"),
    DCQCN("MIN_RATE", "dcqcn_min_rate", "bps"),
    {"CLAMP_TARGET_RATE", take_switch, "transport", "dcqcn_clamp_target", NULL,
     "[transport] dcqcn_clamp_target"},
    {"ERROR_RATE_PER_LINK", take_value, "loss", "rate_per_link", "", "[loss] rate_per_link"},
    {"L2_ACK_INTERVAL", take_value, "transport", "ack_every", "", "[transport] ack_every"},
    {"L2_BACK_TO_ZERO", take_back_to_zero, NULL, NULL, NULL,
     "[transport] recovery = go_back_n; 1 (repeat the whole message) is not modelled: a warning"},
    {"HAS_WIN", take_window, NULL, NULL, NULL,
     "0: [transport] window = 0B; 1: the window stays, and a note"},
    {"ACK_HIGH_PRIO", take_ack_priority, "queue", "priorities", NULL, "[queue] priorities"},
    {"LINK_DOWN", take_link_down, "topology", "link_down", NULL,
     "T A B: [topology] link_down, the links between nodes A and B go down at 2 s + T us; 0 0 0: "
     "none"},
    OUTSIDE("L2_CHUNK_SIZE"),
    OUTSIDE("DCTCP_RATE_AI"),
    OUTSIDE("GLOBAL_T"),
    OUTSIDE("VAR_WIN"),
    OUTSIDE("FAST_REACT"),
    OUTSIDE("U_TARGET"),
    OUTSIDE("MI_THRESH"),
    OUTSIDE("INT_MULTI"),
    OUTSIDE("MULTI_RATE"),
    OUTSIDE("SAMPLE_FEEDBACK"),
    OUTSIDE("PINT_LOG_BASE"),
    OUTSIDE("PINT_PROB"),
    OUTSIDE("RATE_BOUND"),
    OUTSIDE("LB_MODE"),
    OUTSIDE("ENABLE_IRN"),
    OUTSIDE("NIC_TOTAL_PAUSE_TIME"),
    OUTSIDE("FLOWGEN_START_TIME"),
    OUTSIDE("FLOWGEN_STOP_TIME"),
    OUTSIDE("LOAD"),
    OUTPUT("TRACE_FILE"),
    OUTPUT("TRACE_OUTPUT_FILE"),
    OUTPUT("FCT_OUTPUT_FILE"),
    OUTPUT("PFC_OUTPUT_FILE"),
    OUTPUT("ENABLE_TRACE"),
    OUTPUT("QLEN_MON_FILE"),
    OUTPUT("QLEN_MON_START"),
    OUTPUT("QLEN_MON_END"),
    OUTPUT("QLEN_MON_INTERVAL"),
    OUTPUT("BW_MON_FILE"),
    OUTPUT("BW_MON_INTERVAL"),
    OUTPUT("RATE_MON_FILE"),
    OUTPUT("CNP_MON_FILE"),
    OUTPUT("QP_MON_INTERVAL"),
    OUTPUT("MON_START"),
    OUTPUT("MON_END"),
    OUTPUT("CNP_OUTPUT_FILE"),
    OUTPUT("SW_MONITORING_INTERVAL"),
};

static const struct ns3_key *find_key(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

bool settings_ns3_knows(const char *key)
{
    return find_key(key) != NULL;
}

bool settings_ns3_at(int index, const char **name, const char **becomes)
{
    if (index < 0 || (size_t)index >= G_N_ELEMENTS(keys))
        return false;
    *name = keys[index].name;
    *becomes = keys[index].becomes;
    return true;
}

/* --- the file --------------------------------------------------------------------------------- */

static gboolean refuse_key(const struct reading *reading, GError **error)
{
    const char *names[G_N_ELEMENTS(keys)], *near;

    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        names[i] = keys[i].name;
    near = param_nearest(reading->key, names, G_N_ELEMENTS(names));
    return reader_refuse(&reading->reader, reading->line, error, "unknown key '%.60s'%s%s%s",
                         reading->key, near ? "; did you mean '" : "; see docs/FORMATS.md",
                         near ? near : "", near ? "'?" : "");
}

static gboolean take_lines(struct reading *reading, GError **error)
{
    while ((reading->key = reader_word(&reading->reader))) {
        const struct ns3_key *row = find_key(reading->key);

        reading->line = reading->reader.line;
        if (*reading->key == '#') {
            reader_skip_line(&reading->reader);
            continue;
        }
        if (!row)
            return refuse_key(reading, error);
        if (!row->take(reading, row, error))
            return FALSE;
        reader_skip_line(&reading->reader);
    }
    return TRUE;
}

/* The three maps as one; they must speak of the same rates. */
static gboolean join_maps(struct reading *reading, GError **error)
{
    static const char *const names[] = {"KMIN_MAP", "KMAX_MAP", "PMAX_MAP"};
    const struct ecn *kmin = &reading->maps[KMIN];
    g_autoptr(GString) map = g_string_new(NULL);

    for (uint32_t i = 0; i < kmin->n; i++) {
        g_autofree char *rate = units_format(UNITS_RATE, kmin->rate_bps[i]);

        g_string_append_printf(map, "%s%s", i ? "; " : "", rate);
        for (int which = 0; which < N_MAPS; which++) {
            const struct ecn *other = &reading->maps[which];
            uint32_t k = 0;

            while (k < other->n && other->rate_bps[k] != kmin->rate_bps[i])
                k++;
            if (k == other->n)
                return reader_refuse(&reading->reader, MAX(other->line, kmin->line), error,
                                     "%s has no entry for %s, which KMIN_MAP has", names[which],
                                     rate);
            g_string_append_printf(map, " %s", other->value[k]);
        }
    }
    if (kmin->n == 0)
        return TRUE;
    reading->key = "KMIN_MAP, KMAX_MAP, PMAX_MAP";
    reading->line = kmin->line;
    if (reading->qcn == 0)
        return TRUE;
    add(reading, "queue", "kind", "red");
    add(reading, "queue", "ecn_map", map->str);
    add(reading, "queue", "mark_at", "dequeue");
    return TRUE;
}

/* Thresholds that fall where rates rise are an oversight, if an honest one. */
static void warn_of_order(struct reading *reading)
{
    static const char *const names[] = {"KMIN_MAP", "KMAX_MAP"};

    for (int which = KMIN; which <= KMAX; which++) {
        const struct ecn *map = &reading->maps[which];

        for (uint32_t i = 0; i < map->n; i++)
            for (uint32_t k = 0; k < map->n; k++) {
                if (map->rate_bps[i] >= map->rate_bps[k] ||
                    g_ascii_strtod(map->value[i], NULL) <= g_ascii_strtod(map->value[k], NULL))
                    continue;
                g_autofree char *slow = units_format(UNITS_RATE, map->rate_bps[i]);
                g_autofree char *fast = units_format(UNITS_RATE, map->rate_bps[k]);

                note(reading,
                     "warning: %s: thresholds are not monotone in speed: %s at %s, %s at "
                     "%s",
                     names[which], map->value[i], slow, map->value[k], fast);
                k = map->n;
            }
    }
}

static void finish_controls(struct reading *reading)
{
    static const char *const modes[] = {
        [3] = "HPCC", [7] = "TIMELY", [8] = "DCTCP", [10] = "HPCC-PINT"};
    int64_t mode = reading->cc_mode;
    const char *name =
        mode >= 0 && mode < (int64_t)G_N_ELEMENTS(modes) && modes[mode] ? modes[mode] : "unnamed";

    reading->key = "CC_MODE";
    add(reading, "transport", "name", "rocev2");
    add(reading, "transport", "dcqcn_set", "hpcc");
    add(reading, "transport", "cc", mode == 1 ? "dcqcn" : "fixed");
    if (mode >= 0 && mode != 1)
        note(reading,
             "warning: CC_MODE %" G_GINT64_FORMAT " (%s) has no model in weft: played with a "
             "window alone (transport.cc = fixed); compare with CC_MODE 1 or --set transport.name",
             mode, name);
    if (reading->qcn == 0)
        add(reading, "queue", "kind", "droptail");
}

static void note_passed(struct reading *reading, const GPtrArray *names, const char *what)
{
    g_autoptr(GString) all = g_string_new(NULL);

    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(all, "%s%s", i ? ", " : "", (char *)g_ptr_array_index(names, i));
    if (names->len)
        note(reading, "passed over, %s: %s", what, all->str);
}

static gboolean take_all(struct reading *reading, GError **error)
{
    reading->key = "PFC, which the family has on unless ENABLE_PFC is 0";
    add(reading, "pfc", "enable", "on");
    add(reading, "pfc", "headroom_check", "warn");
    if (!take_lines(reading, error) || !join_maps(reading, error))
        return FALSE;
    warn_of_order(reading);
    finish_controls(reading);
    note_passed(reading, reading->outside, "for weft has no such control");
    note_passed(reading, reading->outputs, "for weft has results of its own");
    return TRUE;
}

static void setting_free(void *data)
{
    struct setting *setting = data;

    g_free(setting->group);
    g_free(setting->key);
    g_free(setting->value);
    g_free(setting->where);
    g_free(setting);
}

gboolean settings_ns3_read(struct settings *settings, const char *path, GError **error)
{
    struct reading reading = {.settings = settings, .qcn = -1, .cc_mode = -1, .dynamic_pfc = -1};
    gboolean ok;

    *settings = (struct settings){0};
    settings->list = g_ptr_array_new_with_free_func(setting_free);
    settings->notes = g_ptr_array_new_with_free_func(g_free);
    reading.outside = g_ptr_array_new();
    reading.outputs = g_ptr_array_new();
    ok = reader_open_text(&reading.reader, path, "a configuration of the ns-3 family", error) &&
         take_all(&reading, error);
    for (int which = 0; which < N_MAPS; which++)
        for (uint32_t i = 0; i < MAP_MOST; i++)
            g_free(reading.maps[which].value[i]);
    g_ptr_array_unref(reading.outside);
    g_ptr_array_unref(reading.outputs);
    reader_close(&reading.reader);
    return ok;
}

void settings_clear(struct settings *settings)
{
    g_clear_pointer(&settings->list, g_ptr_array_unref);
    g_clear_pointer(&settings->notes, g_ptr_array_unref);
}
