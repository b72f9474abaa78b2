/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Priority flow control (IEEE 802.1Qbb) on a link.
 *
 * A node counts, for each port by which packets come in and each lossless priority, the bytes that
 * wait in it. At Xoff it tells the sender to be silent: a pause frame on the reverse wire, ahead of
 * all else but at a frame boundary. At the other end it works after the response time; the frame
 * that is being sent then is finished. A pause lasts for its quanta (512 bit times each), is
 * repeated before that, and is ended by a frame of no quanta when the count is below Xon.
 * Switches and slow hosts send pauses, switches and hosts obey them.
 *
 * Xoff is tested when a packet is admitted: what fits below it is shared memory, what does not is
 * headroom, which belongs to the port and priority alone. Packets beyond headroom are lost. So a
 * link needs, at most,
 *   rate x (2 delay + latency of the receiving switch + response time)    bits on the wire
 *   + a frame that the receiver has begun to send before its pause, + one the sender has begun
 *   + a pause frame of each lossless priority + the packet that crosses Xoff.
 * The latency counts because it lies before the queues. Source: IEEE 802.1Qbb annex O;
 * SOURCES.md 3.4.
 */
#ifndef WEFT_MODELS_PFC_H
#define WEFT_MODELS_PFC_H

#include "models/backend.h"
#include "models/buffer.h"

struct event_queue;
struct fabric;
struct port;

/* Derived once from pfc_config. */
struct pfc_rule {
    uint8_t lossless; /* bit set of priorities; 0: PFC is off */
    int64_t xoff_bytes, alpha_ppt, xon_offset_bytes;
    int64_t response_ps, refresh_ppt;
    uint32_t quanta, frame_bytes;
};

/* What ranges cannot say of [pfc]. */
gboolean pfc_check(const struct model_config *model, GError **error);
void pfc_derive(const struct pfc_config *config, struct pfc_rule *rule);

/* --- before the run --- */

/* Bytes of headroom that the receiving end of directed port `port` needs for one priority. */
int64_t pfc_headroom_needed(const struct graph *graph, const struct pfc_config *config,
                            uint32_t port, int64_t frame_bytes);

/*
 * Looks at every link, switch and slow host: is the headroom enough, and is there memory for it?
 * Says so in `notes` (char *). An error, or a note that begins with "WARNING" where
 * pfc.headroom_check asks for it, names the link and both numbers.
 */
gboolean pfc_headroom_check(const struct backend_run *run, GPtrArray *notes, GError **error);

/* --- on a packet's way; `buffer` is NULL at a host --- */

void pfc_port_init(struct fabric *fabric, struct port *port, int64_t headroom_bytes);

/* Whether `bytes` that came by `in` may wait. */
bool pfc_fits(const struct fabric *fabric, const struct buffer *buffer, const struct port *in,
              uint32_t priority, int64_t bytes);
/* They wait now; they do no more. Both may pause or release the sender. */
void pfc_take(struct fabric *fabric, struct buffer *buffer, struct port *in, uint32_t priority,
              int64_t bytes);
void pfc_give(struct fabric *fabric, struct buffer *buffer, struct port *in, uint32_t priority,
              int64_t bytes);

/* Puts a due pause frame on the idle port's wire. */
void pfc_send(struct fabric *fabric, struct port *port);

/* Pause frames that the port has sent into another part (parallel.h) are on its wire there. */
void pfc_hand_over(struct event_queue *queue, struct port *port);

/* A pause frame behind its Ethernet header (IEEE 802.1Qbb): PFC_WIRE_BYTES, without padding. */
#define PFC_WIRE_BYTES 20
void pfc_encode(const struct packet *frame, uint8_t *bytes);

/* Pause frames on the wires of the port. */
void pfc_count(const struct port *port, int64_t *n_packets, int64_t *n_bytes);

/* Time in which the port was paused until now. */
int64_t pfc_paused_ps(const struct fabric *fabric, const struct port *port);

/*
 * True if ports wait for each other in a circle: each is paused by a node that cannot fall below
 * Xon because what came by that port waits at another such port. One circle goes into `lines`.
 */
bool pfc_deadlock(const struct fabric *fabric, GPtrArray *lines);

#endif
