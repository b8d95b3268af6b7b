/* The normal form of a packed state under renaming of interchangeable members: the least of its renamings.
 *
 * As in symmetry.py: columns are sorted; outer members are put in order by a look that no renaming changes, and where
 * looks tie every order is tried. A look is a hash, so two different members may tie; that costs time and nothing else.
 */

#define MOST_COLUMNS 64
#define MOST_COLUMN_PIECES 4
#define MOST_MEMBERS 16
#define MOST_RUNS 32

typedef struct { const Outer *outer; uint32_t size; uint32_t at[MOST_MEMBERS]; } Run;

static inline uint64_t piece_of(const State *x, const Piece *p) { return (x->w[p->word] >> p->shift) & p->mask; }

static inline uint64_t mix(uint64_t h) {
  h *= 0x9E3779B97F4A7C15u;
  h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93u;
  return h ^ (h >> 29);
}

static inline int equal(const State *x, const State *y) {
  uint64_t d = 0;
  for (int i = 0; i < WORDS; i++) d |= x->w[i] ^ y->w[i];
  return !d;
}

static inline int less(const State *x, const State *y) {
  for (int i = 0; i < WORDS; i++)
    if (x->w[i] != y->w[i]) return x->w[i] < y->w[i];
  return 0;
}

static inline void put(State *x, const Piece *c, uint64_t value) {
  x->w[c->word] = (x->w[c->word] & ~(c->mask << c->shift)) | (value << c->shift);
}

static inline void compare(uint64_t *a, uint64_t *b) {
  const uint64_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low, *b = high;
}

/* Up to four columns of one piece each, without a branch. */
static inline void sort_few(const Problem *p, State *x) {
  const uint32_t n = p->columns;
  uint64_t v[4] = {~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0};
  for (uint32_t i = 0; i < n; i++) v[i] = piece_of(x, &p->column[i]);
  compare(&v[0], &v[1]);
  if (n > 2) {
    compare(&v[2], &v[3]), compare(&v[0], &v[2]), compare(&v[1], &v[3]), compare(&v[1], &v[2]);
  }
  for (uint32_t i = 0; i < n; i++) put(x, &p->column[i], v[i]);
}

static void sort_many(const Problem *p, State *x) {
  const uint32_t n = p->columns, k = p->column_pieces;
  uint64_t v[MOST_COLUMNS][MOST_COLUMN_PIECES];
  for (uint32_t i = 0; i < n; i++) {
    uint64_t now[MOST_COLUMN_PIECES];
    for (uint32_t q = 0; q < k; q++) now[q] = piece_of(x, &p->column[i * k + q]);
    uint32_t j = i;
    for (; j > 0; j--) {
      uint32_t q = 0;
      while (q < k && v[j - 1][q] == now[q]) q++;
      if (q == k || v[j - 1][q] < now[q]) break;
      for (q = 0; q < k; q++) v[j][q] = v[j - 1][q];
    }
    for (uint32_t q = 0; q < k; q++) v[j][q] = now[q];
  }
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t q = 0; q < k; q++) put(x, &p->column[i * k + q], v[i][q]);
}

static inline void sort_columns(const Problem *p, State *x) {
  if (p->columns < 2) return;
  if (p->columns <= 4 && p->column_pieces == 1)
    sort_few(p, x);
  else
    sort_many(p, x);
}

/* Exchange two members of an outer index. */
static inline void exchange(const Outer *o, uint32_t i, uint32_t j, State *x) {
  const uint32_t pair = i < j ? i * o->members + j : j * o->members + i;
  for (uint32_t n = o->swap_first[pair]; n < o->swap_first[pair + 1]; n++) {
    const Swap *s = &o->swap[n];
    const uint64_t d = (x->w[s->a] ^ (x->w[s->b] >> s->up)) & s->mask;
    x->w[s->a] ^= d;
    x->w[s->b] ^= d << s->up;
  }
}

static inline uint64_t own(const Outer *o, uint32_t member, const State *x) {
  uint64_t h = 0;
  for (uint32_t n = o->own_first[member]; n < o->own_first[member + 1]; n++) h = mix(h) + piece_of(x, &o->own[n]);
  return h;
}

static uint64_t shared(const Outer *o, uint32_t member, const State *x) {
  uint64_t h = 0;
  for (uint32_t n = o->look_first[member]; n < o->look_first[member + 1]; n++) {
    const Look *l = &o->look[n];
    h += mix(piece_of(x, &l->piece) * 0x9E3779B97F4A7C15u + piece_of(x, &l->beside) + l->role);
  }
  return h;
}

/* Whether exchanging any of the run's members changes anything. */
static int differs(const Run *r, const State *x) {
  for (uint32_t i = 0; i + 1 < r->size; i++) {
    State y = *x;
    exchange(r->outer, r->at[i], r->at[i + 1], &y);
    if (!equal(x, &y)) return 1;
  }
  return 0;
}

/* Order the members at these places by their keys, which move with them. */
static inline void order(const Outer *o, const uint32_t *at, uint32_t n, uint64_t *key, State *x) {
  for (uint32_t i = 1; i < n; i++)
    for (uint32_t j = i; j > 0 && key[j] < key[j - 1]; j--) {
      const uint64_t moved = key[j];
      key[j] = key[j - 1], key[j - 1] = moved;
      exchange(o, at[j - 1], at[j], x);
    }
}

/* Members that look alike by themselves, ordered by what they share; the runs that are alike in that too are left. */
static uint32_t rank_alike(const Outer *o, const uint32_t *at, uint32_t n, State *x, Run *runs, uint32_t found) {
  uint64_t key[MOST_MEMBERS];
  for (uint32_t i = 0; i < n; i++) key[i] = shared(o, at[i], x);
  order(o, at, n, key, x);
  for (uint32_t i = 0, end; i < n; i = end) {
    Run *r = &runs[found];
    for (end = i; end < n && key[end] == key[i]; end++) r->at[end - i] = at[end];
    r->outer = o, r->size = end - i;
    if (r->size > 1 && differs(r, x)) found++;
  }
  return found;
}

/* Put the members of each class in the order of their looks; the runs of equal looks are left to be tried. */
static inline uint32_t rank(const Outer *o, State *x, Run *runs, uint32_t found) {
  for (uint32_t c = 0; c < o->classes; c++) {
    const uint32_t *at = o->class_item + o->class_first[c];
    const uint32_t n = o->class_first[c + 1] - o->class_first[c];
    uint64_t key[MOST_MEMBERS];
    if (n < 2) continue;
    for (uint32_t i = 0; i < n; i++) key[i] = own(o, at[i], x);
    order(o, at, n, key, x);
    for (uint32_t i = 0, end; i < n; i = end) {
      for (end = i + 1; end < n && key[end] == key[i]; end++) {}
      if (end - i > 1) found = rank_alike(o, at + i, end - i, x, runs, found);
    }
  }
  return found;
}

typedef struct { State best; int any; } Least;

static void try_orders(const Problem *p, const Run *runs, uint32_t left, uint32_t from, State *x, Least *least) {
  if (!left) {
    State y = *x;
    sort_columns(p, &y);
    if (!least->any || less(&y, &least->best)) least->best = y, least->any = 1;
    return;
  }
  if (from + 1 >= runs->size) {
    try_orders(p, runs + 1, left - 1, 0, x, least);
    return;
  }
  for (uint32_t j = from; j < runs->size; j++) {
    if (j > from) exchange(runs->outer, runs->at[from], runs->at[j], x);
    try_orders(p, runs, left, from + 1, x, least);
    if (j > from) exchange(runs->outer, runs->at[from], runs->at[j], x);
  }
}

static inline void normal(const Problem *p, State *x) {
  if (p->outers) {
    Run runs[MOST_RUNS];
    uint32_t found = 0;
    for (uint32_t n = 0; n < p->outers; n++) found = rank(&p->outer[n], x, runs, found);
    if (found) {
      Least least = {*x, 0};
      try_orders(p, runs, found, 0, x, &least);
      *x = least.best;
      return;
    }
  }
  sort_columns(p, x);
}

/* ------------------------------------------------------------------------------------------- eight states at a time */
#define EIGHT 8

typedef uint64_t Q __attribute__((vector_size(EIGHT * sizeof(uint64_t))));

INLINE Q pieces_of(const Q *x, const Piece *p) { return (x[p->word] >> p->shift) & p->mask; }

INLINE void sort_two(Q *a, Q *b) {
  const Q swap = (Q)(*a > *b), d = (*a ^ *b) & swap;
  *a ^= d, *b ^= d;
}

INLINE int any(Q truths) {
  uint64_t r = 0;
  for (int i = 0; i < EIGHT; i++) r |= truths[i];
  return r != 0;
}

INLINE Q mix_eight(Q h) {
  h *= 0x9E3779B97F4A7C15u, h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93u;
  return h ^ (h >> 29);
}

INLINE Q own_eight(const Outer *o, uint32_t member, const Q *x) {
  Q h = {0};
  for (uint32_t n = o->own_first[member]; n < o->own_first[member + 1]; n++)
    h = (n > o->own_first[member] ? mix_eight(h) : h) + pieces_of(x, &o->own[n]);
  return h;
}

INLINE Q shared_eight(const Outer *o, uint32_t member, const Q *x) {
  Q h = {0};
  for (uint32_t n = o->look_first[member]; n < o->look_first[member + 1]; n++) {
    const Look *l = &o->look[n];
    h += mix_eight(pieces_of(x, &l->piece) * 0x9E3779B97F4A7C15u + pieces_of(x, &l->beside) + l->role);
  }
  return h;
}

/* Exchange two members, i < j, where `swap` is true; returns where that makes or would make a difference. */
INLINE Q exchange_eight(const Outer *o, uint32_t i, uint32_t j, Q *x, Q swap) {
  const uint32_t pair = i * o->members + j;
  Q changed = {0};
  for (uint32_t n = o->swap_first[pair]; n < o->swap_first[pair + 1]; n++) {
    const Swap *s = &o->swap[n];
    const Q d = (x[s->a] ^ (x[s->b] >> s->up)) & s->mask, moved = d & swap;
    x[s->a] ^= moved, x[s->b] ^= moved << s->up;
    changed |= (Q)(d != 0);
  }
  return changed;
}

/* Put members of a class in the order of what is their own and then of what they share, as `rank` does; returns where
 * two look alike in both and are not. */
INLINE Q rank_eight(const Outer *o, const uint32_t *at, uint32_t n, Q *x) {
  Q key[MOST_MEMBERS], look[MOST_MEMBERS], alike = {0}, left = {0};
  for (uint32_t i = 0; i < n; i++) key[i] = own_eight(o, at[i], x);
  for (uint32_t end = n; end > 1; end--)
    for (uint32_t i = 0; i + 1 < end; i++) {
      exchange_eight(o, at[i], at[i + 1], x, (Q)(key[i] > key[i + 1]));
      sort_two(&key[i], &key[i + 1]);
    }
  for (uint32_t i = 0; i + 1 < n; i++) alike |= (Q)(key[i] == key[i + 1]);
  if (!any(alike)) return left;
  for (uint32_t i = 0; i < n; i++) look[i] = shared_eight(o, at[i], x);
  for (uint32_t end = n; end > 1; end--)
    for (uint32_t i = 0; i + 1 < end; i++) {
      const Q swap = (Q)(key[i] == key[i + 1]) & (Q)(look[i] > look[i + 1]), d = (look[i] ^ look[i + 1]) & swap;
      exchange_eight(o, at[i], at[i + 1], x, swap);
      look[i] ^= d, look[i + 1] ^= d;
    }
  for (uint32_t i = 0; i + 1 < n; i++)
    left |= (Q)(key[i] == key[i + 1]) & (Q)(look[i] == look[i + 1]) & exchange_eight(o, at[i], at[i + 1], x, (Q){0});
  return left;
}

INLINE void sort_eight(const Problem *p, Q *x) {
  const uint32_t n = p->columns;
  Q v[EIGHT];
  for (uint32_t i = 0; i < n; i++) v[i] = pieces_of(x, &p->column[i]);
  for (uint32_t end = n; end > 1; end--)
    for (uint32_t i = 0; i + 1 < end; i++) sort_two(&v[i], &v[i + 1]);
  for (uint32_t i = 0; i < n; i++) {
    const Piece *c = &p->column[i];
    x[c->word] = (x[c->word] & ~(c->mask << c->shift)) | (v[i] << c->shift);
  }
}

/* The normal forms of eight states, word by word; returns where they are not found that way, since members look alike. */
INLINE Q normal_eight(const Problem *p, Q *x) {
  Q alike = {0};
  for (uint32_t k = 0; k < p->outers; k++) {
    const Outer *o = &p->outer[k];
    for (uint32_t c = 0; c < o->classes; c++)
      alike |= rank_eight(o, o->class_item + o->class_first[c], o->class_first[c + 1] - o->class_first[c], x);
  }
  if (p->columns > 1) sort_eight(p, x);
  return alike;
}

/* Whether eight at a time are for this problem. */
static inline int by_eight(const Problem *p) { return p->columns <= EIGHT && (p->columns < 2 || p->column_pieces == 1); }
