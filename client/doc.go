// Package client is a client of the SET server, over the API that Nakama gives to every client: HTTP for authentication
// and RPCs, one websocket for the rest.
//
//	c, err := client.New(client.Config{URL: "http://127.0.0.1:7350", ServerKey: "defaultkey"})
//	user, err := c.AuthenticateDevice(ctx, "a-device-id-of-my-own", "")
//	made, err := c.CreateMatch(ctx, user, client.CreateMatch{Seats: 1})
//	socket, err := c.OpenSocket(ctx, user, client.FormatProtobuf)
//	match, err := socket.Join(ctx, made.MatchID, client.JoinOptions{})
//	for {
//		message, err := match.Next(ctx) // the first one is a Welcome
//		…
//	}
//
// What a game does with those messages is in Controller, the reference for clients in other languages: a local replica of
// the match, a selection, and a claim that waits for the server. Verifier checks what the server says, Player plays by
// itself, and Link keeps a match joined across sockets.
package client
