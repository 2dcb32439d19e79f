package match

import "testing"

// Who asks for a table that is just being resumed waits until Nakama knows the match, although its mailbox is there before.
func TestResumeWaitsForTheMatch(t *testing.T) {
	r := newRegistry()
	o := &opening{setup: tableSetup{TableID: "table"}, done: make(chan struct{})}
	if _, mine, _ := r.beginResume("table", o); !mine {
		t.Fatal("the first one does not make it")
	}
	r.mu.Lock()
	o.box = &mailbox{tableID: "table"}
	r.boxes[o.box.key], r.byTable["table"] = o.box, o.box
	r.mu.Unlock()
	if other, mine, box := r.beginResume("table", &opening{}); other != o || mine || box != nil {
		t.Fatalf("the second one gets %v %v %v", other, mine, box)
	}
	r.mu.Lock()
	r.openings = nil
	r.mu.Unlock()
	if _, _, box := r.beginResume("table", &opening{}); box != o.box {
		t.Fatal("the third one is not led to the table")
	}
}
