/* Many states at once: a cell of LANES states is one vector, a truth value is a bit of a word.
 *
 * What is generated and what searches are compiled with the same header, so that they agree on it. Vectors are those of
 * GCC and clang, as long as this processor's are: GCC takes minutes to write several operations for one.
 */
#ifndef LANES_H
#define LANES_H
#include <stdint.h>
#include <string.h>

/* LANE: the type of a cell, which the numbers of a world fit; WORDS: how many 64-bit words a packed state takes. */
#if !defined(WORDS) || !defined(LANE) || !defined(UNSIGNED_LANE)
#error "compile with -DWORDS=N -DLANE=int8_t -DUNSIGNED_LANE=uint8_t, or of 16 or 32 bits"
#endif

#if defined(__AVX512BW__)
#define VECTOR 64 /* bytes */
#elif defined(__AVX2__)
#define VECTOR 32
#else
#define VECTOR 16
#endif

#define LANES ((int)(VECTOR / sizeof(LANE)))
#define ALL_LANES (~(uint64_t)0 >> (64 - LANES))

typedef LANE V __attribute__((vector_size(VECTOR)));
typedef UNSIGNED_LANE U __attribute__((vector_size(VECTOR)));

typedef struct { uint64_t w[WORDS]; } State;

/* A step of one of the states: the state behind it, and what becomes of that on its way into the table. */
typedef struct {
  State x;
  uint64_t hash;    /* and once the state is in the table, its slot */
  uint32_t number;
  uint16_t instance;
  uint8_t lane, is; /* IS_... */
} Entry;

enum { IS_KNOWN, IS_NEW, IS_OUT };

/* A vector of which single lanes are read. */
typedef union { U all; UNSIGNED_LANE each[LANES]; } Array;

/* A number in every lane; a truth value is -1 or 0 there. */
#define K(number) ((V){0} + (LANE)(number))

#define INLINE static inline __attribute__((always_inline))

INLINE V pick(V condition, V yes, V no) { return (condition & yes) | (~condition & no); }

/* A truth value in every lane as bits. */
INLINE uint64_t bits(V m) {
#if defined(__SSE2__)
  typedef char Bytes __attribute__((vector_size(VECTOR)));
  if (sizeof(LANE) == 1) {
#if defined(__AVX512BW__)
    return (uint64_t)__builtin_ia32_cvtb2mask512((Bytes)m);
#elif defined(__AVX2__)
    return (uint32_t)__builtin_ia32_pmovmskb256((Bytes)m);
#else
    return (uint16_t)__builtin_ia32_pmovmskb128((Bytes)m);
#endif
  }
#endif
  uint64_t r = 0;
  for (int i = 0; i < LANES; i++) r |= (uint64_t)(m[i] & 1) << i;
  return r;
}

/* Eight bytes of each of eight states, turned: r[j] has byte j of each. */
INLINE void turn(uint64_t r[8]) {
  for (int i = 0; i < 8; i += 2) {
    const uint64_t d = ((r[i] >> 8) ^ r[i + 1]) & 0x00FF00FF00FF00FFu;
    r[i] ^= d << 8, r[i + 1] ^= d;
  }
  for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) {
    const uint64_t d = ((r[i] >> 16) ^ r[i + 2]) & 0x0000FFFF0000FFFFu;
    r[i] ^= d << 16, r[i + 2] ^= d;
  }
  for (int i = 0; i < 4; i++) {
    const uint64_t d = ((r[i] >> 32) ^ r[i + 4]) & 0x00000000FFFFFFFFu;
    r[i] ^= d << 32, r[i + 4] ^= d;
  }
}

/* Byte j of word n of each state, as plane[8 * n + j]; where a lane is a byte. */
static void planes(const State *x, U *plane) {
  for (int n = 0; n < WORDS; n++)
    for (int i = 0; i < LANES; i += 8) {
      uint64_t r[8];
      for (int j = 0; j < 8; j++) r[j] = x[i + j].w[n];
      turn(r);
      for (int j = 0; j < 8; j++) memcpy((char *)&plane[8 * n + j] + i, &r[j], 8);
    }
}

#endif
