/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers that depend on their stream and their index in it, and on nothing else.
 *
 * A stream is keyed by (seed, purpose, object); draw i is a hash of key and i, so streams are
 * independent of each other and of the order in which they are used. The hash is the finaliser of
 * SplitMix64 (Steele, Lea, Flood, OOPSLA 2014; constants of Stafford's mix 13), applied twice.
 * Integers only: no floating point reaches a decision.
 */
#ifndef WEFT_SIM_CORE_RANDOM_H
#define WEFT_SIM_CORE_RANDOM_H

#include <stdint.h>

#define RANDOM_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* What a stream is for; part of its key. A new purpose gets a new number, never a used one. */
enum random_purpose {
    RANDOM_LOSS = 1,     /* object: directed port */
    RANDOM_MARK = 2,     /* object: directed port */
    RANDOM_ECMP = 3,     /* object: switch */
    RANDOM_ENTROPY = 4,  /* object: connection key */
    RANDOM_WORKLOAD = 5, /* object: what the builder numbers */
    RANDOM_DRIFT = 6,    /* object: host port */
    RANDOM_SPRAY = 7,    /* object: switch */
    RANDOM_PATH = 8,     /* object: connection key */
    RANDOM_BURST = 20,   /* states of a lossy wire; object: directed port */
    RANDOM_ELLIOTT = 21, /* losses within a burst; object: directed port */
    RANDOM_FAULT = 22,   /* loss that a fault brings; object: directed port */
};

struct random_stream {
    uint64_t key;
    uint64_t index; /* of the next draw */
};

static inline uint64_t random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t random_key(uint64_t seed, uint64_t purpose, uint64_t object)
{
    uint64_t key = random_mix(seed + RANDOM_GOLDEN);

    key = random_mix(key ^ (purpose * RANDOM_GOLDEN + 1));
    return random_mix(key ^ (object * UINT64_C(0xd1342543de82ef95) + 1));
}

/* Draw number `index` of the stream `key`: 64 uniform bits. */
static inline uint64_t random_draw(uint64_t key, uint64_t index)
{
    return random_mix(random_mix(key + index * RANDOM_GOLDEN) ^ key);
}

static inline struct random_stream random_stream(uint64_t seed, enum random_purpose purpose,
                                                 uint64_t object)
{
    return (struct random_stream){random_key(seed, purpose, object), 0};
}

static inline uint64_t random_next(struct random_stream *stream)
{
    return random_draw(stream->key, stream->index++);
}

/* Uniform in [0, n), n >= 1; the bias is below n / 2^64. */
static inline uint64_t random_below(struct random_stream *stream, uint64_t n)
{
    return (uint64_t)((unsigned __int128)random_next(stream) * n >> 64);
}

/*
 * A probability as a threshold for `random_next() < threshold`; from parts per trillion, 0 to
 * 10^12. Certainty (10^12) gives UINT64_MAX, which misses one value in 2^64.
 */
static inline uint64_t random_threshold(int64_t ppt)
{
    if (ppt >= INT64_C(1000000000000))
        return UINT64_MAX;
    return (uint64_t)(((unsigned __int128)(uint64_t)ppt << 64) / UINT64_C(1000000000000));
}

#define RANDOM_EXPONENTIAL_BITS 48

/*
 * -log2(x / 2^64) in units of 2^-48, for x >= 1; at most 64. Digit by digit: squaring the mantissa
 * doubles its logarithm. The error is below 2^-47.
 */
static inline uint64_t random_minus_log2(uint64_t x)
{
    uint32_t n_zeros = (uint32_t)__builtin_clzll(x);
    uint64_t mantissa = x << n_zeros, log2 = 0; /* of mantissa / 2^63, in [1, 2) */

    for (int bit = 0; bit < RANDOM_EXPONENTIAL_BITS; bit++) {
        unsigned __int128 square = (unsigned __int128)mantissa * mantissa >> 63;

        log2 <<= 1;
        if (square >> 64) {
            log2 |= 1;
            square >>= 1;
        }
        mantissa = (uint64_t)square;
    }
    return ((uint64_t)n_zeros + 1) * (UINT64_C(1) << RANDOM_EXPONENTIAL_BITS) - log2;
}

/*
 * An exponential draw of mean 1 in units of 2^-48, at most 44.4: -ln(u) = -log2(u) ln 2, in whole
 * numbers, so that it is the same on every machine.
 */
static inline uint64_t random_exponential(struct random_stream *stream)
{
    static const uint64_t ln2 = UINT64_C(0xb17217f7d1cf79ac); /* ln 2 x 2^64 */

    return (uint64_t)((unsigned __int128)random_minus_log2(random_next(stream) | 1) * ln2 >> 64);
}

/* Fisher-Yates over `n` numbers. */
static inline void random_shuffle(struct random_stream *stream, uint32_t *values, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)random_below(stream, i);
        uint32_t value = values[i - 1];

        values[i - 1] = values[j];
        values[j] = value;
    }
}

#endif
