# The game server: Nakama with the plugin in it. One version for both stages: a plugin loads only into a server that was
# built with the same Go, the same nakama-common and the same protobuf (go.mod has those of this version).
ARG NAKAMA_VERSION=3.40.0

FROM heroiclabs/nakama-pluginbuilder:${NAKAMA_VERSION} AS builder
WORKDIR /build
# Never another toolchain than the one that built the server.
ENV GOTOOLCHAIN=local
COPY go.mod go.sum main.go ./
COPY domain ./domain
COPY match ./match
COPY proto ./proto
RUN go build -trimpath -buildmode=plugin -o set3d.so .

FROM heroiclabs/nakama:${NAKAMA_VERSION}
COPY --from=builder /build/set3d.so /nakama/data/modules/set3d.so
COPY local.yml /nakama/data/local.yml
# The server opens the plugin here, so a mismatch fails the build. `check` says yes to an empty folder, hence the test
# before it; it does not run InitModule, so a bad setting is found at the start.
RUN test -s /nakama/data/modules/set3d.so && /nakama/nakama check --runtime.path /nakama/data/modules
