package local

import (
	"github.com/heroiclabs/nakama-common/api"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// listingDefault and listingMost bound a client's listing.
const (
	listingDefault = 10
	listingMost    = 100
)

// listing reads the query parameters of GET /v2/match.
func (c *call) listing() (listing, error) {
	l := listing{limit: listingDefault, label: c.text("label"), query: c.text("query")}
	var err error
	if l.authoritative, err = c.flag("authoritative"); err != nil {
		return l, err
	}
	for name, to := range map[string]**int32{"min_size": &l.minSize, "max_size": &l.maxSize} {
		n, ok, err := c.number(name)
		if err != nil {
			return l, err
		}
		if v := int32(n); ok {
			*to = &v
		}
	}
	if n, ok, err := c.number("limit"); err != nil {
		return l, err
	} else if ok {
		l.limit = int(n)
	}
	return l, nil
}

func (l listing) check() error {
	relayed := l.authoritative != nil && !*l.authoritative
	switch {
	case l.limit < 1 || l.limit > listingMost:
		return fail(codeInvalidArgument, "Invalid limit - limit must be between 1 and 100.")
	case l.label != nil && relayed:
		return fail(codeInvalidArgument, "Label filtering is not supported for non-authoritative matches.")
	case l.query != nil && relayed:
		return fail(codeInvalidArgument, "Query filtering is not supported for non-authoritative matches.")
	case l.minSize != nil && *l.minSize < 0:
		return fail(codeInvalidArgument, "Minimum size must be 0 or above.")
	case l.maxSize != nil && *l.maxSize < 0:
		return fail(codeInvalidArgument, "Maximum size must be 0 or above.")
	case l.minSize != nil && l.maxSize != nil && *l.minSize > *l.maxSize:
		return fail(codeInvalidArgument, "Maximum size must be greater than or equal to minimum size when both are specified.")
	}
	return nil
}

// request and listingOf convert to and from what a before hook sees.
func (l listing) request() *api.ListMatchesRequest {
	r := &api.ListMatchesRequest{Limit: wrapperspb.Int32(int32(l.limit))}
	if l.authoritative != nil {
		r.Authoritative = wrapperspb.Bool(*l.authoritative)
	}
	if l.label != nil {
		r.Label = wrapperspb.String(*l.label)
	}
	if l.query != nil {
		r.Query = wrapperspb.String(*l.query)
	}
	if l.minSize != nil {
		r.MinSize = wrapperspb.Int32(*l.minSize)
	}
	if l.maxSize != nil {
		r.MaxSize = wrapperspb.Int32(*l.maxSize)
	}
	return r
}

func listingOf(r *api.ListMatchesRequest) listing {
	l := listing{limit: listingDefault, label: unwrap(r.Label), query: unwrap(r.Query)}
	if r.Limit != nil {
		l.limit = int(r.Limit.Value)
	}
	if r.Authoritative != nil {
		l.authoritative = &r.Authoritative.Value
	}
	if r.MinSize != nil {
		l.minSize = &r.MinSize.Value
	}
	if r.MaxSize != nil {
		l.maxSize = &r.MaxSize.Value
	}
	return l
}
