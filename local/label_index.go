package local

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/blugelabs/bluge"
	"github.com/heroiclabs/nakama-common/runtime"
)

// labelEntry is what the index knows of a match.
type labelEntry struct {
	node, module, label string
	rate, created       int64
	fields              map[string]any // the label, if it is a JSON object
}

// labelIndex finds matches by label. Changes wait for the next pass, so it is always a little late.
type labelIndex struct {
	logger   runtime.Logger
	interval time.Duration
	writer   *bluge.Writer
	stopOnce sync.Once
	stopCh   chan struct{}

	mu      sync.Mutex
	pending map[string]*labelEntry // by match id; nil removes
}

func newLabelIndex(cfg Config) (*labelIndex, error) {
	w, err := bluge.OpenWriter(indexConfig())
	if err != nil {
		return nil, fmt.Errorf("creating the match index: %w", err)
	}
	return &labelIndex{
		logger: cfg.Logger, interval: cfg.Timing.LabelInterval, writer: w,
		stopCh: make(chan struct{}), pending: map[string]*labelEntry{},
	}, nil
}

// run makes the passes until stop.
func (x *labelIndex) run() {
	ticker := time.NewTicker(x.interval)
	defer ticker.Stop()
	for {
		select {
		case <-x.stopCh:
			return
		case <-ticker.C:
			x.flush()
		}
	}
}

func (x *labelIndex) stop() { x.stopOnce.Do(func() { close(x.stopCh) }) }

func (x *labelIndex) update(m *match, label string) {
	e := &labelEntry{node: m.id.node, module: m.module, label: label, rate: m.rate, created: m.created}
	_ = json.Unmarshal([]byte(label), &e.fields) // another label is only found as a whole
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pending[m.id.String()] = e
}

func (x *labelIndex) remove(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pending[id] = nil
}

func (x *labelIndex) flush() {
	x.mu.Lock()
	pending := x.pending
	x.pending = map[string]*labelEntry{}
	x.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	batch := bluge.NewBatch()
	for id, e := range pending {
		if e == nil {
			batch.Delete(bluge.Identifier(id))
			continue
		}
		batch.Update(bluge.Identifier(id), e.document(id))
	}
	if err := x.writer.Batch(batch); err != nil {
		x.logger.Error("error processing match label updates: %v", err)
	}
}

func (e *labelEntry) document(id string) *bluge.Document {
	doc := bluge.NewDocument(id)
	doc.AddField(bluge.NewKeywordField("node", e.node).StoreValue())
	doc.AddField(bluge.NewKeywordField("label_string", e.label).StoreValue())
	doc.AddField(bluge.NewNumericField("tick_rate", float64(e.rate)).StoreValue())
	doc.AddField(bluge.NewKeywordField("handler_name", e.module).StoreValue())
	doc.AddField(bluge.NewNumericField("create_time", float64(e.created)).StoreValue())
	if e.fields != nil {
		indexValue(doc, "label", e.fields)
	}
	return doc
}

// labelHit is a match as the index knows it: label and rate may be late.
type labelHit struct {
	id, label, module string
	rate              float64
}

// search returns at most limit matches for a query, the best first, then the newest.
func (x *labelIndex) search(ctx context.Context, q bluge.Query, limit int, order ...string) ([]labelHit, error) {
	reader, err := x.writer.Reader()
	if err != nil {
		return nil, fmt.Errorf("error accessing index reader: %v", err)
	}
	defer func() { _ = reader.Close() }()
	req := bluge.NewTopNSearch(limit, q)
	req.SortBy(order)
	it, err := reader.Search(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("error listing matches by query: %v", err)
	}
	var out []labelHit
	for {
		doc, err := it.Next()
		if err != nil {
			return nil, fmt.Errorf("error iterating document matches: %v", err)
		}
		if doc == nil {
			return out, nil
		}
		var h labelHit
		if err := doc.VisitStoredFields(h.visit); err != nil {
			return nil, fmt.Errorf("error visiting stored field: %v", err)
		}
		out = append(out, h)
	}
}

func (h *labelHit) visit(field string, value []byte) bool {
	switch field {
	case "_id":
		h.id = string(value)
	case "label_string":
		h.label = string(value)
	case "handler_name":
		h.module = string(value)
	case "tick_rate":
		h.rate, _ = bluge.DecodeNumericFloat64(value) // the index wrote it itself
	}
	return true
}
