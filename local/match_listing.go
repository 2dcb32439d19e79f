package local

import (
	"context"
	"fmt"

	"github.com/blugelabs/bluge"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// listing is a request for matches. Nil fields do not filter.
type listing struct {
	limit            int
	authoritative    *bool
	label, query     *string
	minSize, maxSize *int32
}

func (l listing) sizeFits(size int32) bool {
	return (l.minSize == nil || *l.minSize <= size) && (l.maxSize == nil || *l.maxSize >= size)
}

// list returns matches. Which ones are found depends on the late index, their size on the moment; without a size filter
// only the first limit hits are looked at.
func (r *matches) list(ctx context.Context, l listing) ([]*api.Match, error) {
	out := []*api.Match{}
	onlyRelayed := l.authoritative != nil && !*l.authoritative
	if l.limit == 0 || (onlyRelayed && (l.query != nil || l.label != nil)) {
		return out, nil
	}
	if !onlyRelayed {
		hits, err := r.hits(ctx, l)
		if err != nil {
			return nil, err
		}
		if out = r.fill(hits, l); len(out) == l.limit {
			return out, nil
		}
	}
	if onlyRelayed || (l.authoritative == nil && l.query == nil && l.label == nil) {
		out = r.fillRelayed(out, l)
	}
	return out, nil
}

func (r *matches) hits(ctx context.Context, l listing) ([]labelHit, error) {
	count := l.limit
	if l.minSize != nil || l.maxSize != nil {
		count = len(r.all())
	}
	if count == 0 {
		return nil, nil
	}
	switch {
	case l.query != nil && *l.query != "":
		q, err := parseQuery(*l.query)
		if err != nil {
			return nil, fmt.Errorf("error parsing query string: %v", err)
		}
		return r.index.search(ctx, q, count, "-_score", "-create_time")
	case l.query == nil && l.label != nil:
		return r.index.search(ctx, bluge.NewTermQuery(*l.label).SetField("label_string"), count, "-create_time")
	}
	return r.index.search(ctx, bluge.NewMatchAllQuery(), count, "-create_time")
}

func (r *matches) fill(hits []labelHit, l listing) []*api.Match {
	out := []*api.Match{}
	for _, h := range hits {
		id, _ := parseMatchID(h.id)
		m := r.find(id)
		if m == nil || !l.sizeFits(int32(m.members.size())) {
			continue
		}
		out = append(out, &api.Match{
			MatchId: h.id, Authoritative: true, Label: stringValue(h.label), Size: int32(m.members.size()),
			TickRate: int32(h.rate), HandlerName: h.module,
		})
		if len(out) == l.limit {
			break
		}
	}
	return out
}

func (r *matches) fillRelayed(out []*api.Match, l listing) []*api.Match {
	for at, size := range r.srv.tracker.counts(modeMatchRelayed) {
		if len(out) == l.limit {
			break
		}
		if l.sizeFits(int32(size)) {
			out = append(out, &api.Match{MatchId: at.Subject.String() + "." + at.Label, Size: int32(size)})
		}
	}
	return out
}

// get returns a match as it is now, or nil if there is none.
func (r *matches) get(rawID string) (*api.Match, error) {
	id, ok := parseMatchID(rawID)
	if !ok {
		return nil, runtime.ErrMatchIdInvalid
	}
	if id.node == "" {
		size := r.srv.tracker.count(id.stream())
		if size == 0 {
			return nil, nil
		}
		return &api.Match{MatchId: rawID, Size: int32(size)}, nil
	}
	m := r.find(id)
	if m == nil {
		return nil, nil
	}
	return &api.Match{
		MatchId: m.id.String(), Authoritative: true, Label: stringValue(*m.label.Load()),
		Size: int32(m.members.size()), TickRate: int32(m.rate), HandlerName: m.module,
	}, nil
}
