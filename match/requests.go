package match

import (
	"context"
	"sync"
	"time"

	wire "set3d/proto/set3d/v1"
)

// rememberFor is how long a request_id is remembered: longer than any SDK goes on retrying.
const rememberFor = time.Minute

// requests remembers the answers to requests with an id, so that a request that comes twice is done once.
type requests struct {
	mu    sync.Mutex
	byKey map[string]*remembered
	order []*remembered // those that are done, by age
}

// remembered is one request, running or done.
type remembered struct {
	key    string
	what   any
	since  time.Duration
	done   chan struct{} // closed when answer and err are there
	answer any
	err    error
}

func newRequests() *requests { return &requests{byKey: map[string]*remembered{}} }

// once runs do for the first request of a key, and answers the others that want the same with what came of it. A failed
// request is forgotten: it may be tried again. What is wanted is compared with ==.
func (r *requests) once(ctx context.Context, key string, what any, now func() time.Duration, do func() (any, error)) (any, error) {
	first, mine := r.claim(key, what, now())
	switch {
	case first.what != what:
		return nil, reject(wire.Reason_REASON_REQUEST_ID_REUSED, args{"field": "request_id"})
	case !mine:
		select {
		case <-first.done:
			return first.answer, first.err
		case <-ctx.Done():
			return nil, reject(wire.Reason_REASON_INTERNAL, nil)
		}
	}
	first.err = reject(wire.Reason_REASON_INTERNAL, nil) // if do panics
	defer func() {
		r.settle(first)
		close(first.done)
	}()
	first.answer, first.err = do()
	return first.answer, first.err
}

// claim finds the request, or makes it; mine says that the caller has to do it.
func (r *requests) claim(key string, what any, now time.Duration) (found *remembered, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.order) > 0 && now-r.order[0].since >= rememberFor {
		delete(r.byKey, r.order[0].key)
		r.order[0] = nil
		r.order = r.order[1:]
	}
	if found = r.byKey[key]; found != nil {
		return found, false
	}
	found = &remembered{key: key, what: what, since: now, done: make(chan struct{})}
	r.byKey[key] = found
	return found, true
}

// settle keeps a request that is done, and forgets one that has failed.
func (r *requests) settle(f *remembered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.err != nil {
		delete(r.byKey, f.key)
		return
	}
	r.order = append(r.order, f)
}
