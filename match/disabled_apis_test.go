package match

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/heroiclabs/nakama-common/runtime"
)

// usedAPIs are the requests that the game, its clients or its players need, so that no setting refuses them; hooks look at some.
var usedAPIs = regexp.MustCompile(`^RegisterBefore(Rt|GetAccount|UpdateAccount|DeleteAccount|Session\w+|Authenticate\w+|Link\w+|Unlink\w+|GetUsers|` +
	`ListFriends|ListFriendsOfFriends|AddFriends|DeleteFriends|BlockFriends|ListMatches|GetMatchmakerStats|ListParties|ListNotifications|` +
	`DeleteNotifications|\w*StorageObjects|\w*LeaderboardRecord\w*)$`)

// TestEveryAPIIsUsedOrRefused: a newer Nakama may have more, which have to be looked at.
func TestEveryAPIIsUsedOrRefused(t *testing.T) {
	source, err := os.ReadFile("disabled_apis.go")
	if err != nil {
		t.Fatal(err)
	}
	hooks := reflect.TypeFor[runtime.Initializer]()
	for i := range hooks.NumMethod() {
		name := hooks.Method(i).Name
		if !strings.HasPrefix(name, "RegisterBefore") {
			continue
		}
		refused := strings.Count(string(source), "refused(i."+name+")")
		if used := usedAPIs.MatchString(name); used == (refused == 1) || refused > 1 {
			t.Errorf("%s: used %t, refused %d times", name, used, refused)
		}
	}
}

func TestAPIsAreSwitchedOnByName(t *testing.T) {
	for value, on := range map[string][]string{
		"none": nil, "all": apiNames(), "chat": {"chat"}, "groups,storage": {"groups", "storage"}, " tournaments, chat ": {"chat", "tournaments"},
	} {
		c, err := parseConfig(map[string]string{"SET3D_NAKAMA_APIS": value})
		var got []string
		for _, api := range apiNames() {
			if c.apis.has(api) {
				got = append(got, api)
			}
		}
		if err != nil || !reflect.DeepEqual(got, on) {
			t.Errorf("%q: %v, %v, want %v", value, got, err, on)
		}
	}
}

// TestAPIsThatAreOnHaveNoHook: one that let requests pass would cost time, and one that returned nothing would refuse them all the same.
func TestAPIsThatAreOnHaveNoHook(t *testing.T) {
	for id := range newFake(t, "SET3D_NAKAMA_APIS=all").hooks {
		if strings.HasPrefix(id, "Channel") {
			t.Errorf("there is a hook for %s", id)
		}
	}
}

// TestRefusedAPI: the code makes HTTP say 403.
func TestRefusedAPI(t *testing.T) {
	n := newFake(t)
	if err := n.module.refuseAPI("groups"); err != nil {
		t.Errorf("groups are on, and it says %v", err)
	}
	n.module.config.apis = 0
	var refusal *runtime.Error
	if err := n.module.refuseAPI("groups"); !errors.As(err, &refusal) || refusal.Code != codePermissionDenied ||
		refusal.Message != `{"reason":"API_DISABLED","args":{"api":"groups"}}` {
		t.Errorf("groups are off, and it says %v", err)
	}
	if got := n.counter("set3d_apis_refused_total"); got != 1 {
		t.Errorf("%d were counted", got)
	}
}
