/* What a search is given: functions compiled from the rules, and tables that say which instance uses which.
 *
 * A list of lists is two arrays: the items of k are item[first[k]] up to before item[first[k + 1]].
 * problem.py has the same struct; `problem_size` lets it notice if the two come apart.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* How many 64-bit words a packed state takes, a set of guards and a set of instances: known to the compiler, so that it
 * can write the loops over them out. */
#if !defined(WORDS) || !defined(GUARD_WORDS) || !defined(INSTANCE_WORDS)
#error "compile with -DWORDS=N -DGUARD_WORDS=N -DINSTANCE_WORDS=N"
#endif

typedef struct { uint64_t w[WORDS]; } State;

typedef void (*Unpack)(const uint64_t *w, int *s);
typedef void (*Guards)(const int *s, uint64_t *holds);
typedef int (*Fire)(const int *s, uint64_t *w);            /* writes w; true if it must be looked at more closely */
typedef int (*Effect)(const int *s, int *t, uint64_t *w);  /* writes t and w; true if a value is out of bounds */
typedef int (*Condition)(const int *s, const int *t);

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
  uint32_t cells, guards, instances, properties, fields, unused;
  Unpack unpack;
  Guards holds;
  const Fire *fires;                         /* by instance; 0 if it has none */
  const Effect *effects;
  const Condition *conditions;

  /* of cells */
  const int32_t *low, *high, *initial;
  const uint32_t *word, *shift, *field;      /* a cell without a width is in no list of written cells */

  /* of instances */
  const uint64_t *needs;                     /* GUARD_WORDS each */
  const uint64_t *used;                      /* by guard, INSTANCE_WORDS each: the instances that need it */
  const uint32_t *rule;
  const uint32_t *effect_first, *effect_item;
  const uint32_t *write_first, *write_item;  /* cells */
  const uint32_t *step_first, *step_item;    /* pairs: property, condition */
  const uint32_t *forget_first, *forget_item;
  const uint32_t *after_first, *after_item;  /* conditions */

  /* of what may be forgotten */
  const uint32_t *unless;                    /* conditions */
  const uint32_t *gone_first, *gone_item;    /* cells */

  /* of properties */
  uint32_t judgements, rests;
  const uint32_t *judgement;                 /* pairs: property, condition of one state */
  const uint32_t *rest;                      /* pairs: property, condition */
  const uint64_t *held;                      /* by rest, INSTANCE_WORDS each: instances that are not left out */

  /* of the normal form */
  uint32_t columns, column_pieces, outers;
  const Piece *column;                       /* columns times column_pieces */
  const Outer *outer;
} Problem;
