package match

import (
	"errors"
	"strings"
	"testing"

	wire "set3d/proto/set3d/v1"
)

// While the database takes no results they are pending for their players, and what needs one is to be tried again.
func TestPendingResult(t *testing.T) {
	g := newGame(t, `{"seats":2}`, "ann", "bob")
	g.n.waitStored()
	g.n.storage.setFault(func(op string) error {
		if op == "read" {
			return nil
		}
		return errors.New("read only: " + op)
	})
	ann := g.players[0]
	g.players[1].send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
	end := one[*wire.Update](t, ann.news())
	id := end.Events[len(end.Events)-1].GetMatchEnded().GetResultId()
	if answer, err := ann.rpc("get_result", `{"result_id":"`+id+`"}`); err != nil || answer != `{"status":"pending"}` {
		t.Fatalf("get_result: %s, %v", answer, err)
	}
	for rpc, request := range map[string]string{
		"get_record": `{"result_id":"` + id + `"}`, "report_player": `{"result_id":"` + id + `","seat":1,"reason":"idle"}`, "delete_my_data": `{"confirm":true}`,
	} {
		if answer, err := ann.rpc(rpc, request); err == nil || !strings.Contains(err.Error(), "RESULT_PENDING") {
			t.Errorf("%s: %s, %v", rpc, answer, err)
		}
	}
	g.n.storage.setFault(nil)
	g.n.waitStored()
	if answer, err := ann.rpc("get_result", `{"result_id":"`+id+`"}`); err != nil || !strings.Contains(answer, `"final"`) {
		t.Fatalf("get_result: %s, %v", answer, err)
	}
}
