/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who looks at the packets of a run: told of each that enters a wire, reaches a node, is lost, or
 * is handled by a transport, of senders that wait, and of operations. It changes nothing: a run
 * that is observed gives the same bytes.
 *
 * A run without an observer pays nothing on a packet's way. Ports have a second set of event
 * functions, made from the same code (port.h); transports are called through ops that tell and call
 * the real ones; what is left are tests where something begins to wait or an operation ends.
 */
#ifndef WEFT_MODELS_OBSERVER_H
#define WEFT_MODELS_OBSERVER_H

#include "models/transport.h"
#include "sim/core/schedule.h"

struct observer;

/* Functions may be NULL: not wanted. All happen at the clock's present time. */
struct observer_ops {
    /* --- ports --- */
    /*
     * The packet's first bit enters the wire of `port` at start_ps, its last at end_ps, and it is
     * taken in at the other end at arrive_ps. Told when that is settled, which for the form `fifo`
     * is when the packet reaches the port; told again, with new times, where a change of the link's
     * rate moves it.
     */
    void (*sent)(struct observer *observer, uint32_t port, const struct packet *packet,
                 int64_t start_ps, int64_t end_ps, int64_t arrive_ps);
    /* It has reached the other end of the wire of `port`, not lost there. */
    void (*arrived)(struct observer *observer, uint32_t port, const struct packet *packet,
                    enum packet_ecn ecn);
    /* Lost at `port`: on its wire (loss, listed, link down), in its queue, or behind it. */
    void (*dropped)(struct observer *observer, uint32_t port, const struct packet *packet,
                    enum sink_drop cause);
    /* `port` may not send packets of these classes (a bit set) from now on. */
    void (*paused)(struct observer *observer, uint32_t port, uint32_t classes);

    /* --- hosts --- */
    /* A transport is given the packet; handled() when it is done with it, and the packet gone. */
    void (*receives)(struct observer *observer, const struct packet *packet);
    void (*handled)(struct observer *observer);
    /* A transport is given the message; accepted() when it has it. */
    void (*posts)(struct observer *observer, const struct message *message);
    void (*accepted)(struct observer *observer);
    /* What the sender answered when its port was idle; NULL: nothing until it is ready again. */
    void (*pulled)(struct observer *observer, const struct sender *sender,
                   const struct packet *packet);
    /* It had nothing to send, and may have something now. */
    void (*ready)(struct observer *observer, const struct sender *sender);
    /* It would send, but waits for its pacing time. */
    void (*paced)(struct observer *observer, const struct sender *sender);
    /* A control packet is made, to leave by `port`. */
    void (*answers)(struct observer *observer, uint32_t port, const struct packet *packet);

    /* --- operations --- */
    /* The last edge that `op` needed has fired, from `by`. Not told of roots. */
    void (*enabled)(struct observer *observer, uint64_t op, uint64_t by, enum schedule_when when);
    void (*begun)(struct observer *observer, uint64_t op); /* its start_ps has come too */
    void (*delivered)(struct observer *observer, const struct message *message);
    void (*acknowledged)(struct observer *observer, const struct message *message);
    void (*completed)(struct observer *observer, uint64_t op);
};

struct observer {
    const struct observer_ops *ops;
    /* kept here: */
    struct engine *engine; /* of the run; set when it begins */
    GPtrArray *transports; /* ops that tell */
    const struct engine_upcalls *up;
};

/* At the start of a run, and after its end. NULL is let pass. */
void observer_begin(struct observer *observer, struct engine *engine);
void observer_end(struct observer *observer);

/* The ops to call in the place of `ops`; the same without an observer. */
const struct transport_ops *observer_transport(struct observer *observer,
                                               const struct transport_ops *ops);

/* The upcalls to make in the place of `up`; the same without an observer. */
const struct engine_upcalls *observer_upcalls(struct observer *observer,
                                              const struct engine_upcalls *up);

/* Calls one of the functions above, if there is an observer that wants it. */
#define OBSERVER_TELL(observer_, function_, ...)                                                   \
    do {                                                                                           \
        struct observer *told_ = (observer_);                                                      \
                                                                                                   \
        if (G_UNLIKELY(told_ != NULL) && told_->ops->function_)                                    \
            told_->ops->function_(told_, ##__VA_ARGS__);                                           \
    } while (0)

#endif
