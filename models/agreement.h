/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What two hosts with different settings of one transport do on a connection: the sender behaves as
 * its own settings say, the receiver as its own. The names in receiver_params of the transport say
 * which settings are the receiver's (how often it acknowledges, ...); the size of acknowledgements
 * always is, and the payload of a packet is the smaller of the two. Everything else, what the two
 * ends have to agree on included (recovery), is the sender's, who opens the connection.
 */
#ifndef WEFT_MODELS_AGREEMENT_H
#define WEFT_MODELS_AGREEMENT_H

#include "models/transport.h"

struct agreements {
    GPtrArray *list; /* private: one for each pair of profiles that met */
};

void agreements_init(struct agreements *agreements);
void agreements_clear(struct agreements *agreements);

/*
 * The configuration of connections from hosts with `from` to hosts with `to`, which have the same
 * transport; kept until agreements_clear(). NULL with an error if it cannot be.
 */
const void *agreements_find(struct agreements *agreements, const struct transport_profile *from,
                            const struct transport_profile *to, GError **error);

#endif
