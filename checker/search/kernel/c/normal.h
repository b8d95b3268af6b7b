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

static void sort_columns(const Problem *p, State *x) {
  const uint32_t n = p->columns, k = p->column_pieces;
  uint64_t v[MOST_COLUMNS][MOST_COLUMN_PIECES];
  if (n < 2) return;
  int sorted = 1;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t now[MOST_COLUMN_PIECES];
    for (uint32_t q = 0; q < k; q++) now[q] = piece_of(x, &p->column[i * k + q]);
    uint32_t j = i;
    for (; j > 0; j--) {
      uint32_t q = 0;
      while (q < k && v[j - 1][q] == now[q]) q++;
      if (q == k || v[j - 1][q] < now[q]) break;
      for (q = 0; q < k; q++) v[j][q] = v[j - 1][q];
      sorted = 0;
    }
    for (uint32_t q = 0; q < k; q++) v[j][q] = now[q];
  }
  if (sorted) return;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t q = 0; q < k; q++) {
      const Piece *c = &p->column[i * k + q];
      x->w[c->word] = (x->w[c->word] & ~(c->mask << c->shift)) | (v[i][q] << c->shift);
    }
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

static inline uint64_t looks(const Outer *o, uint32_t member, const State *x) {
  uint64_t h = 0;
  for (uint32_t n = o->look_first[member]; n < o->look_first[member + 1]; n++) {
    const Look *l = &o->look[n];
    h += mix(piece_of(x, &l->piece) + l->role + mix(piece_of(x, &l->beside) + 1));
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

/* Put the members of each class in the order of their looks; the runs of equal looks are left to be tried. */
static uint32_t rank(const Outer *o, State *x, Run *runs, uint32_t found) {
  for (uint32_t c = 0; c < o->classes; c++) {
    const uint32_t *at = o->class_item + o->class_first[c];
    const uint32_t n = o->class_first[c + 1] - o->class_first[c];
    uint64_t look[MOST_MEMBERS];
    if (n < 2) continue;
    for (uint32_t i = 0; i < n; i++) look[i] = looks(o, at[i], x);
    for (uint32_t i = 1; i < n; i++)
      for (uint32_t j = i; j > 0 && look[j] < look[j - 1]; j--) {
        const uint64_t swapped = look[j];
        look[j] = look[j - 1], look[j - 1] = swapped;
        exchange(o, at[j - 1], at[j], x);
      }
    for (uint32_t i = 0, end; i < n; i = end) {
      Run *r = &runs[found];
      for (end = i; end < n && look[end] == look[i]; end++) r->at[end - i] = at[end];
      r->outer = o, r->size = end - i;
      if (r->size > 1 && differs(r, x)) found++;
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
