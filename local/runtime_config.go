package local

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"
)

// configView shows a module the configuration, in the parts that Nakama shows.
type configView struct{ cfg Config }

func (s *Server) runtimeConfig() runtime.Config { return configView{s.cfg} }

func (c configView) GetName() string                         { return c.cfg.Name }
func (c configView) GetShutdownGraceSec() int                { return c.cfg.GraceSeconds }
func (c configView) GetLogger() runtime.LoggerConfig         { return c }
func (c configView) GetSession() runtime.SessionConfig       { return c }
func (c configView) GetSocket() runtime.SocketConfig         { return c }
func (c configView) GetRuntime() runtime.RuntimeConfig       { return c }
func (c configView) GetSocial() runtime.SocialConfig         { return noSocial{} }
func (c configView) GetIAP() runtime.IAPConfig               { return noPurchases{} }
func (c configView) GetGoogleAuth() runtime.GoogleAuthConfig { return noPurchases{} }
func (c configView) GetSatori() runtime.SatoriConfig         { return noPurchases{} }

func (c configView) GetLevel() string                { return strings.ToLower(c.cfg.LogLevel.String()) }
func (c configView) GetEncryptionKey() string        { return c.cfg.EncryptionKey }
func (c configView) GetTokenExpirySec() int64        { return int64(c.cfg.Timing.Token / time.Second) }
func (c configView) GetRefreshEncryptionKey() string { return c.cfg.RefreshKey }
func (c configView) GetRefreshTokenExpirySec() int64 {
	return int64(c.cfg.Timing.RefreshToken / time.Second)
}
func (c configView) GetSingleSocket() bool  { return c.cfg.SingleSocket }
func (c configView) GetSingleMatch() bool   { return false }
func (c configView) GetSingleParty() bool   { return false }
func (c configView) GetSingleSession() bool { return false }
func (c configView) GetServerKey() string   { return c.cfg.ServerKey }
func (c configView) GetHTTPKey() string     { return c.cfg.HTTPKey }
func (c configView) GetProtocol() string    { return "tcp" }

func (c configView) GetAddress() string {
	host, _, _ := net.SplitHostPort(c.cfg.Addr) // a bad address fails in Start
	return host
}

func (c configView) GetPort() int {
	_, port, _ := net.SplitHostPort(c.cfg.Addr)
	n, _ := strconv.Atoi(port)
	return n
}

func (c configView) GetEnv() []string {
	out := make([]string, 0, len(c.cfg.Env))
	for k, v := range c.cfg.Env {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// noSocial and noPurchases are the configuration of what the host does not have: empty.
type noSocial struct{}

func (n noSocial) GetSteam() runtime.SocialConfigSteam                             { return n }
func (n noSocial) GetFacebookInstantGame() runtime.SocialConfigFacebookInstantGame { return n }
func (n noSocial) GetFacebookLimitedLogin() runtime.SocialConfigFacebookLimitedLogin {
	return n
}
func (n noSocial) GetApple() runtime.SocialConfigApple { return n }
func (noSocial) GetPublisherKey() string               { return "" }
func (noSocial) GetAppID() int                         { return 0 }
func (noSocial) GetAppSecret() string                  { return "" }
func (noSocial) GetAppId() string                      { return "" }
func (noSocial) GetBundleId() string                   { return "" }

type noPurchases struct{}

func (n noPurchases) GetApple() runtime.IAPAppleConfig                     { return n }
func (n noPurchases) GetGoogle() runtime.IAPGoogleConfig                   { return n }
func (n noPurchases) GetHuawei() runtime.IAPHuaweiConfig                   { return n }
func (n noPurchases) GetFacebookInstant() runtime.IAPFacebookInstantConfig { return n }
func (n noPurchases) GetSamsung() runtime.IAPSamsungConfig                 { return n }
func (noPurchases) GetSharedPassword() string                              { return "" }
func (noPurchases) GetNotificationsEndpointId() string                     { return "" }
func (noPurchases) GetClientEmail() string                                 { return "" }
func (noPurchases) GetPrivateKey() string                                  { return "" }
func (noPurchases) GetPublicKey() string                                   { return "" }
func (noPurchases) GetClientID() string                                    { return "" }
func (noPurchases) GetClientSecret() string                                { return "" }
func (noPurchases) GetAppSecret() string                                   { return "" }
func (noPurchases) GetPackageName() string                                 { return "" }
func (noPurchases) GetCredentialsJSON() string                             { return "" }
func (noPurchases) GetUrl() string                                         { return "" }
func (noPurchases) GetApiKeyName() string                                  { return "" }
func (noPurchases) GetApiKey() string                                      { return "" }
func (noPurchases) GetSigningKey() string                                  { return "" }
