/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What arithmetic says of one long flow under random loss: goodput as a share of the line rate,
 * against the chance p that a data packet is lost. The curves behind the points of a comparison.
 *
 * They model: independent losses of data packets, a full pipe, no reaction of congestion control.
 * They leave out: lost acknowledgements, the end of a message, several ranks that wait for each
 * other - so a collective may fall well below its curve, and the comparison shows by how much.
 * Source: SOURCES.md 9.2.
 */
#ifndef WEFT_SIM_STATS_CLOSED_FORM_H
#define WEFT_SIM_STATS_CLOSED_FORM_H

struct closed_form_input {
    double window_packets; /* W: packet times in a round trip (or the window, if smaller) */
    double rto_ps;         /* retransmission timeout */
    double packet_ps;      /* to send one packet, headers included */
};

struct closed_form {
    const char *name;                                                 /* as in a scenario */
    const char *formula;                                              /* for people */
    double (*share)(const struct closed_form_input *input, double p); /* p in [0, 1) */
};

/* Ends with name == NULL. */
extern const struct closed_form closed_forms[];

/* The one called `name`, or NULL. */
const struct closed_form *closed_form_find(const char *name);

/* Selective repeat with an unlimited window: each packet is sent 1 / (1 - p) times. */
double closed_form_selective_repeat(const struct closed_form_input *input, double p);

/* Go-back-N whose receiver answers every error: a loss costs the W packets sent behind it. */
double closed_form_go_back_n(const struct closed_form_input *input, double p);

/*
 * Go-back-N whose receiver sends one NAK per error: when the head of the repetition is lost too
 * (p^2), nobody speaks until the timeout.
 */
double closed_form_nak_then_timeout(const struct closed_form_input *input, double p);

#endif
