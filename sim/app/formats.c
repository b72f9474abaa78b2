/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/formats.h"
#include "sim/app/kinds.h"
#include "sim/app/settings_ns3.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLE_BYTES 65536
#define LINES_LOOKED 40

G_DEFINE_QUARK(weft - formats, formats_error)

/* --- looking at a sample ---------------------------------------------------------------------- */

static bool is_text(const struct format_sample *sample)
{
    return strlen(sample->text) == sample->length;
}

/* Past blanks, a byte order mark, and lines that begin with one of `comments`. */
static const char *first_text(const struct format_sample *sample, const char *comments)
{
    const char *text = sample->text;

    if (g_str_has_prefix(text, "\xef\xbb\xbf"))
        text += 3;
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text == '\0' || !strchr(comments, *text))
            return text;
        text += strcspn(text, "\n");
    }
}

static bool begins(const char *text, const char *word)
{
    return g_ascii_strncasecmp(text, word, strlen(word)) == 0;
}

static bool begins_with_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    return begins(text, word) && (text[length] == '\0' || strchr(" \t\r\n", text[length]));
}

/* Words of the line at `text`, and whether all of them begin like numbers. */
static unsigned count_words(const char *text, bool *numbers)
{
    unsigned n = 0;

    *numbers = true;
    for (;; n++) {
        text += strspn(text, " \t\r");
        if (*text == '\0' || *text == '\n')
            return n;
        *numbers &= g_ascii_isdigit(*text) || (*text == '-' && g_ascii_isdigit(text[1])) ||
                    (*text == '.' && g_ascii_isdigit(text[1]));
        text += strcspn(text, " \t\r\n");
    }
}

/* The next line that is not blank; NULL at the end. */
static const char *next_line(const char *text)
{
    text += strcspn(text, "\n");
    text += strspn(text, " \t\r\n");
    return *text ? text : NULL;
}

/* The name of the root element of an XML text. */
static const char *xml_root(const struct format_sample *sample)
{
    const char *text = first_text(sample, "");

    while (*text == '<' && (text[1] == '?' || text[1] == '!')) {
        const char *end = g_str_has_prefix(text, "<!--") ? strstr(text, "-->") : strchr(text, '>');

        if (!end)
            return "";
        text = end + (*end == '-' ? 3 : 1);
        text += strspn(text, " \t\r\n");
    }
    return *text == '<' ? text + 1 : "";
}

static bool has_columns(const struct format_sample *sample, const char *const *names)
{
    const char *text = first_text(sample, "");
    g_autofree char *line = g_strndup(text, strcspn(text, "\r\n"));
    g_auto(GStrv) columns = g_strsplit(line, ",", -1);

    for (int i = 0; columns[i]; i++)
        g_strstrip(columns[i]);
    for (; *names; names++)
        if (!g_strv_contains((const char *const *)columns, *names))
            return false;
    return true;
}

/* --- one function a format -------------------------------------------------------------------- */

static bool fits_goal_binary(const struct format_sample *sample)
{
    static const char magic[8] = {'\x7f', '\x10'}; /* 4223 */

    return sample->length >= sizeof magic && memcmp(sample->text, magic, sizeof magic) == 0;
}

/* A length, then GlobalMetadata, whose first field is a text; or a name that says so. */
static bool fits_chakra(const struct format_sample *sample)
{
    const unsigned char *bytes = (const unsigned char *)sample->text;
    size_t at = 0;
    uint64_t length = 0;

    if (g_str_has_suffix(sample->path, ".et"))
        return true;
    for (; at < 5 && at < sample->length; at++) {
        length |= (uint64_t)(bytes[at] & 0x7f) << (7 * at);
        if (bytes[at] < 0x80)
            break;
    }
    return at + 2 < sample->length && length >= 4 && (bytes[at + 1] == 0x0a) &&
           (uint64_t)bytes[at + 2] + 2 <= length && bytes[at + 2] >= 3 && bytes[at + 2] < 32 &&
           at + 3 < sample->length && g_ascii_isdigit(bytes[at + 3]) && !is_text(sample);
}

static bool fits_nccl_xml(const struct format_sample *sample)
{
    return begins_with_word(xml_root(sample), "system") || begins(xml_root(sample), "system>");
}

static bool fits_simgrid(const struct format_sample *sample)
{
    return begins(xml_root(sample), "platform");
}

static bool fits_msccl(const struct format_sample *sample)
{
    return begins(xml_root(sample), "algo");
}

static bool begins_like_htsim(const struct format_sample *sample)
{
    const char *text = first_text(sample, "#");

    return begins_with_word(text, "nodes") || begins_with_word(text, "connections");
}

static bool fits_htsim_topo(const struct format_sample *sample)
{
    bool tiers = begins_with_word(first_text(sample, "#"), "tiers") ||
                 begins_with_word(first_text(sample, "#"), "podsize");

    for (const char *line = first_text(sample, "#"); begins_like_htsim(sample) && line && !tiers;
         line = next_line(line))
        tiers = begins_with_word(line, "tiers") || begins_with_word(line, "podsize") ||
                begins_with_word(line, "tier");
    return tiers && !strstr(sample->text, "->");
}

static bool fits_htsim_cm(const struct format_sample *sample)
{
    return begins_like_htsim(sample);
}

static bool fits_goal_text(const struct format_sample *sample)
{
    const char *text = first_text(sample, "");

    while (g_str_has_prefix(text, "//") || g_str_has_prefix(text, "/*")) {
        const char *end = text[1] == '/' ? strchr(text, '\n') : strstr(text, "*/");

        if (!end)
            return false;
        text = end + (*end == '*' ? 2 : 1);
        text += strspn(text, " \t\r\n");
    }
    return begins_with_word(text, "num_ranks");
}

static bool fits_simai(const struct format_sample *sample)
{
    const char *text = first_text(sample, "");
    const char *found = strstr(text, "model_parallel_NPU_group:");

    return found && found < text + strcspn(text, "\n");
}

static bool fits_ns3_settings(const struct format_sample *sample)
{
    const char *line = first_text(sample, "");

    for (int i = 0; line && i < LINES_LOOKED; i++, line = next_line(line)) {
        size_t length = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        g_autofree char *word = g_strndup(line, length);

        if (length == 0 || !g_ascii_isupper(*line) || !strchr(" \t", line[length]))
            return false;
        if (settings_ns3_knows(word))
            return true;
    }
    return false;
}

static bool fits_ns3_topology(const struct format_sample *sample)
{
    const char *line = first_text(sample, "");
    bool numbers;
    unsigned n = count_words(line, &numbers);
    const char *links = next_line(line);

    if (!g_ascii_isdigit(*line) || n < 3 || n > 6 || (!numbers && n != 6))
        return false;
    for (int i = 0; links && i < 2; i++, links = next_line(links))
        if (count_words(links, &numbers) == 5)
            return true;
    return !links && n != 3 ? true : n >= 4;
}

static bool fits_ns3_flows(const struct format_sample *sample)
{
    const char *line = first_text(sample, "");
    bool numbers;
    const char *row = next_line(line);

    return g_ascii_isdigit(*line) && count_words(line, &numbers) == 1 && numbers && row &&
           count_words(row, &numbers) == 6 && numbers;
}

static bool fits_ns3_trace(const struct format_sample *sample)
{
    const char *line = first_text(sample, "");
    bool numbers;
    const char *row = next_line(line);

    return g_ascii_isdigit(*line) && count_words(line, &numbers) == 1 && numbers && row &&
           count_words(row, &numbers) > 0 && numbers;
}

/* TIME VALUE: not a distribution, for that one rises to 1 or 100; or with a loop. */
static bool fits_profile(const struct format_sample *sample)
{
    const char *line = first_text(sample, "#");
    double last_value = 0;
    bool falls = false, numbers, beyond = false;

    if (g_str_has_suffix(sample->path, ".profile"))
        return true;
    for (int i = 0; line && i < LINES_LOOKED; i++, line = next_line(line)) {
        char *end;

        if (i > 0 && (begins_with_word(line, "LOOPAFTER") || begins_with_word(line, "PERIODICITY")))
            return true;
        if (count_words(line, &numbers) != 2 || !numbers)
            return false;
        g_ascii_strtod(line, &end);
        double value = g_ascii_strtod(end, NULL);

        falls |= value < last_value;
        beyond |= value > 100;
        last_value = value;
    }
    return falls || beyond;
}

static bool fits_cdf(const struct format_sample *sample)
{
    const char *line = first_text(sample, "#");
    int i = 0;

    for (; line && *line && i < LINES_LOOKED; i++, line = next_line(line)) {
        bool numbers;
        unsigned n = count_words(line, &numbers);

        if (n < 2 || n > 3 || !numbers)
            return false;
    }
    return i > 0;
}

static bool fits_links_csv(const struct format_sample *sample)
{
    return has_columns(sample, (const char *const[]){"a", "b", "rate", "delay", NULL});
}

static bool fits_messages_csv(const struct format_sample *sample)
{
    return has_columns(sample, (const char *const[]){"src", "dst", "bytes", NULL});
}

static bool fits_faults_csv(const struct format_sample *sample)
{
    return has_columns(sample, (const char *const[]){"time", "object", "change", NULL});
}

static bool fits_scenario(const struct format_sample *sample)
{
    return *first_text(sample, "#;") == '[' &&
           !strchr("{[\"0123456789", first_text(sample, "#;")[1]);
}

static bool fits_json(const struct format_sample *sample)
{
    return strchr("{[", *first_text(sample, "")) && *first_text(sample, "");
}

static bool fits_astra_yaml(const struct format_sample *sample)
{
    return begins(first_text(sample, "#"), "topology:");
}

static bool fits_busbw(const struct format_sample *sample)
{
    return strstr(sample->text, "allreduce,:") != NULL;
}

static bool fits_ratio_csv(const struct format_sample *sample)
{
    return begins(first_text(sample, ""), "Size,1 Node");
}

static bool fits_nccl_log(const struct format_sample *sample)
{
    return strstr(sample->text, "busbw") && strstr(sample->text, "algbw");
}

static bool fits_other_log(const struct format_sample *sample)
{
    return strstr(sample->text, "Network Tests v") || strstr(sample->text, "pattern") != NULL;
}

static bool fits_htsim_validate(const struct format_sample *sample)
{
    return strstr(sample->text, "!Experiment") || strstr(sample->text, "binary: ./htsim") ||
           strstr(sample->text, "tailFCT");
}

static bool fits_booksim(const struct format_sample *sample)
{
    return begins_with_word(first_text(sample, "/"), "router") ||
           begins_with_word(first_text(sample, "/"), "topology") ||
           strstr(sample->text, "routing_function") != NULL;
}

static bool fits_proto(const struct format_sample *sample)
{
    return begins(first_text(sample, "/"), "syntax = \"proto");
}

/* --- the table -------------------------------------------------------------------------------- */

const struct format formats[] = {
    {"goal-binary", FORMAT_WORKLOAD, "goal", "file", "a GOAL schedule, binary (LogGOPSim, ATLAHS)",
     NULL, fits_goal_binary},
    {"nccl-topology", FORMAT_TOPOLOGY, "nccl", "file",
     "a server as NCCL sees it (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE)", NULL, fits_nccl_xml},
    {"simgrid-platform", FORMAT_FAULTS, NULL, NULL,
     "a platform of SimGrid; its state and bandwidth profiles are read", NULL, fits_simgrid},
    {"msccl", FORMAT_OTHER, NULL, NULL, "an algorithm of MSCCL",
     "the Chakra traces (.et) that were made of it hold the same messages", fits_msccl},
    {"htsim-topology", FORMAT_TOPOLOGY, "htsim", "file", "a fat tree of htsim (.topo)", NULL,
     fits_htsim_topo},
    {"htsim-matrix", FORMAT_WORKLOAD, "htsim", "file", "a connection matrix of htsim (.cm, .tm)",
     NULL, fits_htsim_cm},
    {"goal-text", FORMAT_WORKLOAD, "goal", "file", "a GOAL schedule, text (LogGOPSim, ATLAHS)",
     NULL, fits_goal_text},
    {"simai-workload", FORMAT_WORKLOAD, "simai", "file", "a workload of SimAI (AICB)", NULL,
     fits_simai},
    {"proto", FORMAT_OTHER, NULL, NULL, "a definition of protobuf messages",
     "weft reads traces (.et) that follow et_def.proto by itself", fits_proto},
    {"links-csv", FORMAT_TOPOLOGY, "graph", "file", "links as weft writes them: a,b,rate,delay",
     NULL, fits_links_csv},
    {"messages-csv", FORMAT_WORKLOAD, "list", "file", "messages as weft writes them: src,dst,bytes",
     NULL, fits_messages_csv},
    {"faults-csv", FORMAT_FAULTS, NULL, NULL, "faults as weft writes them: time,object,change",
     NULL, fits_faults_csv},
    {"ns3-topology", FORMAT_TOPOLOGY, "ns3", "file",
     "a topology of the ns-3 family (HPCC, ConWeave, PowerTCP, ASTRA-sim, SimAI)", NULL,
     fits_ns3_topology},
    {"ns3-flows", FORMAT_WORKLOAD, "ns3", "file", "a flow file of the ns-3 family", NULL,
     fits_ns3_flows},
    {"ns3-trace", FORMAT_OTHER, NULL, NULL,
     "a trace file of the ns-3 family: nodes whose packets are to be recorded",
     "weft records every flow and port; run.series_step and run.series record more",
     fits_ns3_trace},
    {"ns3-config", FORMAT_SETTINGS, NULL, NULL, "a configuration of the ns-3 family", NULL,
     fits_ns3_settings},
    {"simgrid-profile", FORMAT_FAULTS, NULL, NULL, "a state or bandwidth profile of SimGrid", NULL,
     fits_profile},
    {"flow-sizes", FORMAT_WORKLOAD, "poisson", "cdf_file", "a distribution of flow sizes", NULL,
     fits_cdf},
    {"chakra", FORMAT_WORKLOAD, "chakra", "file", "a Chakra execution trace (.et, one a rank)",
     NULL, fits_chakra},
    {"scenario", FORMAT_SCENARIO, NULL, NULL, "a scenario of weft", NULL, fits_scenario},
    {"simai-ratio", FORMAT_OTHER, NULL, NULL, "measured shares of bandwidth, for SimAI's formulas",
     "weft plays packets and needs no such shares", fits_ratio_csv},
    {"simai-busbw", FORMAT_OTHER, NULL, NULL, "bus bandwidths for SimAI's formulas",
     "weft plays packets: its bus bandwidths are results", fits_busbw},
    {"astra-network", FORMAT_OTHER, NULL, NULL, "an analytical network of ASTRA-sim",
     "it has no links to play packets on; --topology star --set topology.hosts=N is its Switch",
     fits_astra_yaml},
    {"json", FORMAT_OTHER, NULL, NULL,
     "JSON, as ASTRA-sim configures systems, memories and logical shapes",
     "groups of ranks for a Chakra trace go to workload.groups_file; the rest of ASTRA-sim's "
     "system layer is the transport's and the node's here",
     fits_json},
    {"nccl-tests", FORMAT_OTHER, NULL, NULL, "a log of nccl-tests",
     "it is a result to compare with: play the collective (--workload allreduce) and see busbw",
     fits_nccl_log},
    {"htsim-validate", FORMAT_OTHER, NULL, NULL, "expected or recorded results of htsim",
     "play the matrices that it names", fits_htsim_validate},
    {"booksim", FORMAT_OTHER, NULL, NULL, "a file of BookSim",
     "it describes routers on a chip; write links as CSV (a,b,rate,delay)", fits_booksim},
    {"log", FORMAT_OTHER, NULL, NULL, "a log of a benchmark", "it is a result, not an input",
     fits_other_log},
    {0}};

/* --- recognising ------------------------------------------------------------------------------ */

const char *format_role_text(enum format_role role)
{
    static const char *const texts[] = {
        [FORMAT_TOPOLOGY] = "a topology", [FORMAT_WORKLOAD] = "a workload",
        [FORMAT_SETTINGS] = "settings",   [FORMAT_FAULTS] = "a list of faults",
        [FORMAT_SCENARIO] = "a scenario", [FORMAT_OTHER] = "nothing that is played"};

    return texts[role];
}

/* Reads the beginning into `text`, which has room for SAMPLE_BYTES and a zero. */
static gboolean read_sample(const char *path, char *text, struct format_sample *sample,
                            GError **error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts;
    ssize_t length = -1;

    if (file >= 0 && fstat(file, &facts) == 0) {
        if (S_ISREG(facts.st_mode))
            length = pread(file, text, SAMPLE_BYTES, 0);
        else
            errno = S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
    }
    if (length < 0)
        g_set_error(error, FORMATS_ERROR, 0, "%s: %s", path, g_strerror(errno));
    if (file >= 0)
        close(file);
    if (length < 0)
        return FALSE;
    text[length] = '\0';
    *sample = (struct format_sample){path, text, (size_t)length, length < SAMPLE_BYTES};
    return TRUE;
}

const struct format *format_recognise(const char *path, GError **error)
{
    g_autofree char *text = g_malloc(SAMPLE_BYTES + 1);
    struct format_sample sample;

    if (!read_sample(path, text, &sample, error))
        return NULL;
    for (const struct format *format = formats; format->name; format++)
        if (format->fits(&sample))
            return format;
    g_set_error(error, FORMATS_ERROR, 0,
                "%s: %s; weft list formats says what is known, and KIND:FILE tells what it is",
                path, sample.length == 0 ? "an empty file" : "no known file begins so");
    return NULL;
}

const char *format_key_of_kind(const char *kind)
{
    for (const struct format *format = formats; format->name; format++)
        if (format->kind && strcmp(format->kind, kind) == 0)
            return format->key;
    return "file";
}

/* Splits "KIND:FILE" where KIND is a kind of the group; NULL if it is none. */
static const char *split_kind(const char *group, const char *what, const char **kind)
{
    const char *colon = strchr(what, ':');
    g_autofree char *name = colon ? g_strndup(what, (gsize)(colon - what)) : NULL;
    struct kind found;

    if (!name || !kinds_find(kinds_seam(group), name, &found) ||
        !param_find(found.params, format_key_of_kind(found.name)))
        return NULL;
    *kind = found.name;
    return colon + 1;
}

gboolean format_choose(const char *group, const char *what, const char **kind, const char **key,
                       char **path, gboolean *no_file, GError **error)
{
    const char *file = split_kind(group, what, kind);
    enum format_role wanted = strcmp(group, "topology") == 0 ? FORMAT_TOPOLOGY : FORMAT_WORKLOAD;
    const struct format *format;

    *no_file = FALSE;
    if (file) {
        *key = format_key_of_kind(*kind);
        *path = g_strdup(file);
        return TRUE;
    }
    if (!g_file_test(what, G_FILE_TEST_IS_REGULAR)) {
        *no_file = TRUE;
        return FALSE;
    }
    format = format_recognise(what, error);
    if (!format)
        return FALSE;
    if (format->role != wanted && format->role != FORMAT_SCENARIO) {
        g_set_error(error, FORMATS_ERROR, 0, "%s: this is %s, %s; %s is expected%s%s", what,
                    format->summary, format_role_text(format->role), format_role_text(wanted),
                    format->instead ? ". " : "", format->instead ? format->instead : "");
        return FALSE;
    }
    *kind = format->kind;
    *key = format->key;
    *path = g_strdup(what);
    return TRUE;
}
