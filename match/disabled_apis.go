package match

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

// The names by which SET3D_NAKAMA_APIS leaves APIs of Nakama on that the game does not use. Any account
// could fill the database with most of them.
const (
	apiChat          = "chat"
	apiFriendImports = "friend_imports" // from Facebook and Steam, which Nakama asks for them
	apiGroups        = "groups"
	apiPurchases     = "purchases"
	apiStorage       = "storage" // only writes and deletes; its hooks look at collections as well
	apiTournaments   = "tournaments"
)

func apiNames() []string {
	return []string{apiChat, apiFriendImports, apiGroups, apiPurchases, apiStorage, apiTournaments}
}

// apiSet has the bit of each API by its place in apiNames.
type apiSet uint8

func (s apiSet) has(api string) bool { return s&(1<<slices.Index(apiNames(), api)) != 0 }

// nakamaAPIs is the setting of the APIs that stay on.
func nakamaAPIs() Setting {
	return Setting{Name: "SET3D_NAKAMA_APIS", Default: "none", Allowed: "none or all or " + strings.Join(apiNames(), ","),
		Meaning: "which of these APIs of Nakama, none of which the game uses, are on; the others are refused",
		apply: func(c *config, value string) bool {
			switch c.apis = 0; value {
			case "none":
				return true
			case "all":
				value = strings.Join(apiNames(), " ")
			}
			names := strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' })
			for _, name := range names {
				i := slices.Index(apiNames(), name)
				if i < 0 {
					return false
				}
				c.apis |= 1 << i
			}
			return len(names) > 0
		}}
}

// refuseAPI is the error of a call of an API that is switched off, nil if it is on. The session stays open.
func (m *module) refuseAPI(api string) error {
	if m.config.apis.has(api) {
		return nil
	}
	m.count("set3d_apis_refused_total", map[string]string{"api": api})
	return reject(wire.Reason_REASON_API_DISABLED, args{"api": api})
}

// registration registers a hook that refuses every request.
type registration func(refuse func() error) error

func refused[T any](register func(beforeAPI[T]) error) registration {
	return func(refuse func() error) error {
		return register(func(context.Context, runtime.Logger, *sql.DB, runtime.NakamaModule, *T) (*T, error) {
			return nil, refuse()
		})
	}
}

// registerDisabledAPIs registers hooks that refuse the APIs that are switched off. There is none for one that is on,
// since a hook costs time. Those of storage are registered elsewhere.
func (m *module) registerDisabledAPIs(i runtime.Initializer) error {
	realtime := func(id string) registration {
		return func(refuse func() error) error {
			return i.RegisterBeforeRt(id, m.hook(func(context.Context, *rtapi.Envelope) error { return refuse() }))
		}
	}
	for api, registrations := range map[string][]registration{
		apiChat: {
			realtime("ChannelJoin"), realtime("ChannelLeave"), realtime("ChannelMessageSend"), realtime("ChannelMessageUpdate"),
			realtime("ChannelMessageRemove"), refused(i.RegisterBeforeListChannelMessages),
		},
		apiFriendImports: {refused(i.RegisterBeforeImportFacebookFriends), refused(i.RegisterBeforeImportSteamFriends)},
		apiGroups: {
			refused(i.RegisterBeforeCreateGroup), refused(i.RegisterBeforeUpdateGroup), refused(i.RegisterBeforeDeleteGroup),
			refused(i.RegisterBeforeJoinGroup), refused(i.RegisterBeforeLeaveGroup), refused(i.RegisterBeforeAddGroupUsers),
			refused(i.RegisterBeforeBanGroupUsers), refused(i.RegisterBeforeKickGroupUsers), refused(i.RegisterBeforePromoteGroupUsers),
			refused(i.RegisterBeforeDemoteGroupUsers), refused(i.RegisterBeforeListGroupUsers), refused(i.RegisterBeforeListUserGroups),
			refused(i.RegisterBeforeListGroups),
		},
		apiPurchases: {
			refused(i.RegisterBeforeValidatePurchaseApple), refused(i.RegisterBeforeValidatePurchaseGoogle),
			refused(i.RegisterBeforeValidatePurchaseHuawei), refused(i.RegisterBeforeValidatePurchaseFacebookInstant),
			refused(i.RegisterBeforeValidatePurchaseSamsung), refused(i.RegisterBeforeValidateSubscriptionApple),
			refused(i.RegisterBeforeValidateSubscriptionGoogle), refused(i.RegisterBeforeListSubscriptions),
			refused(i.RegisterBeforeGetSubscription),
		},
		apiTournaments: {
			refused(i.RegisterBeforeJoinTournament), refused(i.RegisterBeforeListTournaments), refused(i.RegisterBeforeListTournamentRecords),
			refused(i.RegisterBeforeListTournamentRecordsAroundOwner), refused(i.RegisterBeforeWriteTournamentRecord),
			refused(i.RegisterBeforeDeleteTournamentRecord),
		},
	} {
		if m.config.apis.has(api) {
			continue
		}
		for _, register := range registrations {
			if err := register(func() error { return m.refuseAPI(api) }); err != nil {
				return fmt.Errorf("register the hooks that refuse %s: %w", api, err)
			}
		}
	}
	return nil
}
