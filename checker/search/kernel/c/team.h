/* Threads that work on a round together. Between two phases of it, one thread is alone. */
#include <pthread.h>

#define MOST_THREADS 64
#define SPINS 2000      /* looks at what one waits for, before one sleeps */

static void work(Search *f, Worker *w, int phase);

typedef struct {
  Search *f;
  pthread_mutex_t lock;
  pthread_cond_t begun, ended;
  uint64_t turn;        /* counts the phases */
  int phase;
  uint32_t busy, helpers, next_worker, task;
  pthread_t thread[MOST_THREADS];
} Team;

enum { EXPAND, INSERT, PLACE, LINK, JUDGE, QUIT };

static inline void pause_(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* The next task of the phase. */
static inline uint32_t next_task(Search *f) { return __atomic_fetch_add(&((Team *)f->team)->task, 1, __ATOMIC_RELAXED); }

static void *help(void *given) {
  Team *team = given;
  const uint32_t me = __atomic_add_fetch(&team->next_worker, 1, __ATOMIC_RELAXED);
  for (uint64_t seen = 0;;) {
    for (int n = 0; n < SPINS && __atomic_load_n(&team->turn, __ATOMIC_ACQUIRE) == seen; n++) pause_();
    pthread_mutex_lock(&team->lock);
    while (team->turn == seen) pthread_cond_wait(&team->begun, &team->lock);
    seen = team->turn;
    const int phase = team->phase;
    pthread_mutex_unlock(&team->lock);
    if (phase != QUIT) work(team->f, &team->f->worker[me], phase);
    pthread_mutex_lock(&team->lock);
    if (!__atomic_sub_fetch(&team->busy, 1, __ATOMIC_RELEASE)) pthread_cond_signal(&team->ended);
    pthread_mutex_unlock(&team->lock);
    if (phase == QUIT) return 0;
  }
}

/* Helpers for `advance`; as many as could be started. */
static void gather(Team *team, Search *f, uint32_t helpers) {
  memset(team, 0, sizeof *team);
  team->f = f;
  f->team = team;
  pthread_mutex_init(&team->lock, 0);
  pthread_cond_init(&team->begun, 0);
  pthread_cond_init(&team->ended, 0);
  while (team->helpers < helpers && !pthread_create(&team->thread[team->helpers], 0, help, team)) team->helpers++;
}

/* Do all tasks of a phase; `alone` if they are too few to share. */
static void together(Search *f, int phase, int alone) {
  Team *team = f->team;
  alone |= !team->helpers;
  team->task = 0;
  if (!alone) {
    pthread_mutex_lock(&team->lock);
    team->phase = phase, team->busy = team->helpers;
    __atomic_add_fetch(&team->turn, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&team->begun);
    pthread_mutex_unlock(&team->lock);
  }
  if (phase != QUIT) work(f, &f->worker[0], phase);
  if (!alone) {
    for (int n = 0; n < SPINS && __atomic_load_n(&team->busy, __ATOMIC_ACQUIRE); n++) pause_();
    pthread_mutex_lock(&team->lock);
    while (team->busy) pthread_cond_wait(&team->ended, &team->lock);
    pthread_mutex_unlock(&team->lock);
  }
}

static void dismiss(Team *team) {
  together(team->f, QUIT, 0);
  for (uint32_t n = 0; n < team->helpers; n++) pthread_join(team->thread[n], 0);
  pthread_cond_destroy(&team->begun), pthread_cond_destroy(&team->ended), pthread_mutex_destroy(&team->lock);
  team->f->team = 0;
}
