/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is lost on a wire: packets by chance, each by itself; packets in bursts; packets on a list.
 * A lost packet has used the wire: the decision falls when its last bit would arrive.
 *
 * Bursts: a wire is good or bad (Gilbert, Bell System Technical Journal 39, 1960; Elliott 1963). It
 * loses nothing while good and a packet with probability burst_loss while bad. The clock of its
 * states counts packets, those of the class named (geometric lengths of mean burst_length_packets
 * and burst_gap_packets), or is time (exponential ones of mean burst_length_time and
 * burst_gap_time). The mean loss is burst_loss x length / (length + gap); runs begin in
 * equilibrium.
 *
 * A list names data packets: flow (operation of the schedule), sequence (number of the packet in
 * its message, from 0), transmission (from 1, counted where the packet has crossed the link of the
 * NIC that sent it), link. Each row loses one packet; the count is checked at the end.
 */
#ifndef WEFT_MODELS_LOSS_H
#define WEFT_MODELS_LOSS_H

#include "models/backend.h"
#include "sim/core/random.h"

struct fabric;
struct port;
struct wire_slot;
struct drop_list;
struct port_faults;

struct loss_burst {
    struct random_stream states, losses;
    uint64_t loss_threshold; /* of a packet within a burst */
    bool bad;
    uint64_t leave_threshold[2]; /* clock of packets: chance to leave good, bad, at each */
    int64_t mean_ps[2];          /* clock of time: means of good, bad */
    int64_t until_ps;
};

/* Of a port that loses more than by chance. */
struct port_loss {
    uint8_t random_classes; /* bit set: what chance and bursts may take */
    bool (*in_burst)(struct loss_burst *burst, int64_t now_ps); /* advances; NULL: no bursts */
    struct loss_burst burst;
    struct drop_list *list;     /* NULL: none */
    struct port_faults *faults; /* NULL: none touch it (models/faults.h); owned by them */
};

/* The cause by which a packet whose class is among the port's loss_classes is lost, or
 * SINK_N_DROPS. */
typedef enum sink_drop loss_draw(struct fabric *fabric, struct port *port,
                                 const struct wire_slot *slot);

/* Bit set of the packet classes that loss.class names. */
uint8_t loss_classes(const struct loss_config *config);

/* What ranges cannot say of [loss]. */
gboolean loss_check(const struct loss_config *config, GError **error);

/* Sets what a port loses. `list` may be NULL. */
void loss_init(struct port *port, const struct loss_config *config, const struct graph *graph,
               uint64_t seed, struct drop_list *list);

/* --- drop lists --- */

/* Reads loss.drop_file; errors name file and line. */
struct drop_list *drop_list_read(const char *path, const struct graph *graph, GError **error);
void drop_list_free(struct drop_list *list);

/*
 * Whether this data packet is to be lost on `link`, once. On the link of a NIC (from_host) its
 * transmission is counted first.
 */
bool drop_list_hit(struct drop_list *list, struct packet *packet, bool from_host, uint32_t link);

/* Rows, and rows whose packet was lost. */
void drop_list_count(const struct drop_list *list, int64_t *n_rows, int64_t *n_used);

/* A line for each row that was not used, at most `n_most`. */
void drop_list_unused(const struct drop_list *list, GPtrArray *lines, guint n_most);

#endif
