package local

import (
	"time"

	"github.com/blugelabs/bluge"
	"github.com/blugelabs/bluge/analysis/analyzer"
	"github.com/blugelabs/bluge/search"
	"github.com/blugelabs/bluge/search/similarity"
	segment "github.com/blugelabs/bluge_segment_api"
	querystring "github.com/blugelabs/query_string"
)

// flatSimilarity scores by the query's boosts alone, so that rare terms do not win.
type flatSimilarity struct{}

// ComputeNorm returns no norm.
func (flatSimilarity) ComputeNorm(int) float32 { return 0 }

// Scorer returns a scorer that knows only the boost.
func (flatSimilarity) Scorer(boost float64, _ segment.CollectionStats, _ segment.TermStats) search.Scorer {
	return similarity.ConstantScorer(boost)
}

func indexConfig() bluge.Config {
	cfg := bluge.InMemoryOnlyConfig()
	cfg.DefaultSimilarity = flatSimilarity{}
	cfg.DefaultSearchAnalyzer = analyzer.NewKeywordAnalyzer()
	return cfg
}

// parseQuery parses a query string; "*" finds everything.
func parseQuery(q string) (bluge.Query, error) {
	if q == "*" {
		return bluge.NewMatchAllQuery(), nil
	}
	return querystring.ParseQueryString(q, querystring.DefaultOptions().WithDefaultAnalyzer(analyzer.NewKeywordAnalyzer()))
}

// indexValue adds a JSON value under a dotted path: strings as whole keywords unless they look like a date, numbers as
// floats, booleans as the keywords T and F, each element of an array under the same path. null is not indexed.
func indexValue(doc *bluge.Document, path string, v any) {
	switch v := v.(type) {
	case string:
		if at, ok := parseDate(v); ok {
			doc.AddField(bluge.NewDateTimeField(path, at))
			return
		}
		doc.AddField(bluge.NewKeywordField(path, v))
	case float64:
		doc.AddField(bluge.NewNumericField(path, v))
	case bool:
		term := "F"
		if v {
			term = "T"
		}
		doc.AddField(bluge.NewKeywordField(path, term))
	case []any:
		for _, e := range v {
			indexValue(doc, path, e)
		}
	case map[string]any:
		for k, e := range v {
			indexValue(doc, path+"."+k, e)
		}
	}
}

// dateLayouts are the texts that are indexed as a time and therefore cannot be found as text.
var dateLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"}

func parseDate(s string) (time.Time, bool) {
	for _, l := range dateLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
