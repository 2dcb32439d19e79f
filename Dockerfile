# The game server: Nakama with the plugin in it. One version for both stages: a plugin loads only into a server that was
# built with the same Go, the same nakama-common and the same protobuf (go.mod has those of this version). No platform is
# named: both images exist for amd64 and arm64, and the plugin is built for the machine that builds.
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
# Nakama runs as nobody: a checkout that only its owner may read must not make an image that cannot start.
COPY --chmod=644 local.yml /nakama/data/local.yml
COPY --chmod=755 deploy/entrypoint.sh deploy/healthcheck.sh /nakama/
# The server opens the plugin here, so a mismatch fails the build. `check` says yes to an empty folder, hence the test
# before it; it does not run InitModule, so a bad setting is found at the start.
RUN test -s /nakama/data/modules/set3d.so && /nakama/nakama check --runtime.path /nakama/data/modules
# Nakama writes nothing, and needs no rights: nobody.
USER 65534:65534
# The base image's own healthcheck is content without the plugin. The time-out is above that of the script.
HEALTHCHECK --interval=5s --timeout=6s --start-period=30s --retries=6 CMD ["/nakama/healthcheck.sh"]
# tini reaps what the healthcheck leaves, and hands signals on.
ENTRYPOINT ["tini", "--", "/nakama/entrypoint.sh"]
