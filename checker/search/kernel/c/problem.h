/* What a search is given: functions compiled from the rules, and tables that say which instance uses which.
 *
 * A list of lists is two arrays: the items of k are item[first[k]] up to before item[first[k + 1]].
 * problem.py has the same struct; `problem_size` lets it notice if the two come apart.
 */
#include <stdlib.h>
#include "lanes.h"

/* Functions of LANES states; what they return is a bit a state. */
typedef void (*Spread)(const State *x, V *s);
typedef void (*Guards)(const V *s, uint64_t *guard);
typedef uint64_t (*Effect)(const V *s, V *t);                 /* writes t; where a value is out of bounds */
typedef uint64_t (*Condition)(const V *s, const V *t);        /* where it is true */
/* Takes the step in the states `on`, each into out[next[lane]++]; where it must be looked at more closely. */
typedef uint64_t (*Fire)(const V *s, const State *x, uint64_t on, Entry *out, uint32_t *next);

/* Bits of a packed state: (w[word] >> shift) & mask. */
typedef struct { uint64_t mask; uint32_t word, shift; } Piece;

/* Exchanges the bits `mask` of w[a] with those `up` higher in w[b]. */
typedef struct { uint64_t mask; uint32_t a, b, up, unused; } Swap;

/* What an outer member looks like to others: a piece of its own, or one it shares, seen with the other's own piece. */
typedef struct { Piece piece, beside; uint64_t role; } Look;

/* One index whose members are put in order by what they look like. */
typedef struct {
  uint32_t members, classes;
  const uint32_t *class_first, *class_item;  /* classes of members that may be exchanged */
  const uint32_t *own_first, *look_first;    /* by member: what is its own alone, and what it shares */
  const Piece *own;
  const Look *look;
  const uint32_t *swap_first;                /* by pair: i * members + j, i < j */
  const Swap *swap;
} Outer;

typedef struct {
  uint32_t cells, guards, instances, rules, properties, fields;
  Spread spread;
  Guards holds;
  const Fire *fires;                         /* by instance; or none at all */
  const Effect *effects;
  const Condition *conditions;

  /* of cells */
  const int32_t *low, *high, *initial;
  const uint32_t *word, *shift, *field;

  /* of instances */
  const uint32_t *need_first, *need_item;    /* guards */
  const uint32_t *rule;
  const uint32_t *effect_first, *effect_item;
  const uint32_t *write_first, *write_item;  /* cells */
  const uint32_t *step_first, *step_item;    /* pairs: property, condition */
  const uint32_t *forget_first, *forget_item;

  /* of what may be forgotten */
  const uint32_t *unless;                    /* conditions */
  const uint32_t *gone_first, *gone_item;    /* cells */

  /* of properties */
  uint32_t judgements, rests;
  const uint32_t *judgement;                 /* pairs: property, condition of one state */
  const uint32_t *rest;                      /* pairs: property, condition */
  const uint8_t *held;                       /* by rest and instance: whether the property does not leave it out */

  /* of the normal form */
  uint32_t columns, column_pieces, outers;
  const Piece *column;                       /* columns times column_pieces */
  const Outer *outer;
} Problem;
