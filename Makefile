# `make` or `make help` lists the targets. .ci/run runs the same ones.

# The tools, pinned. protoc-gen-go is of the same version as google.golang.org/protobuf in go.mod.
BUF           := v1.75.0
PROTOC_GEN_GO := v1.36.11
STATICCHECK   := v0.8.2
REVIVE        := v1.17.0

BIN   := $(CURDIR)/bin
TOOLS := $(BIN)/.tools-$(BUF)-$(PROTOC_GEN_GO)-$(STATICCHECK)-$(REVIVE)

BENCHTIME ?= 1s
FUZZTIME  ?= 5000x
ROUNDS    ?= 1000

# Where goroutines meet, or where a race would hide in long runs.
RACE_PACKAGES := ./match/... ./local/... ./client/... ./domain/simulation/... ./tests/

.DEFAULT_GOAL := help
.PHONY: help build plugin test race bench ratios crash fuzz format lint lint-go lint-files proto proto-check proto-baseline \
	generated docker-steps versions ci env up down tools clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the program: build/set3d
	go build -trimpath -o build/set3d ./cmd/set3d

plugin: ## build the plugin for a Nakama that was built with this machine's Go: build/set3d.so (needs a C compiler)
	go build -trimpath -buildmode=plugin -o build/set3d.so .

test: ## all tests, as in the README
	go test ./...

race: ## the tests with the race detector where goroutines meet (needs a C compiler)
	go test -race $(RACE_PACKAGES)

bench: ## all benchmarks; BENCHTIME=1x only sees that they run
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

ratios: ## how fast the rules are, against the specification's own loops, in one run
	go test ./domain -run '^$$' -bench Ratios

crash: build ## kill the development host ROUNDS times while matches are played, at both durabilities; stop it a tenth as often
	build/set3d crash --rounds $(ROUNDS) --durability safe
	build/set3d crash --rounds $(ROUNDS) --durability fast
	build/set3d crash --rounds $$((($(ROUNDS) + 9) / 10)) --durability fast --ways host

fuzz: ## every fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) bash .ci/fuzz

format: ## fail on files that gofmt would change
	@files=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
	if [ -n "$$files" ]; then echo "gofmt -w these:"; echo "$$files"; exit 1; fi

lint: format lint-go lint-files ## everything that judges without running

lint-go: $(TOOLS)
	go vet ./...
	$(BIN)/staticcheck ./...
	$(BIN)/revive -config revive.toml ./...

lint-files: .ci/lint/node_modules/.package-lock.json ## shell, YAML, Dockerfile, compose (needs shellcheck, yamllint, npm)
	shellcheck .ci/run .ci/fuzz .ci/docker-steps deploy/*.sh
	yamllint --strict -c .ci/lint/yamllint.yml docker-compose.yml docker-compose.prod.yml local.yml proto deploy/prometheus
	.ci/lint/node_modules/.bin/dockerfile-utils lint Dockerfile
	.ci/lint/node_modules/.bin/dclint --config .ci/lint/dclint.yml docker-compose.yml docker-compose.prod.yml

.ci/lint/node_modules/.package-lock.json: .ci/lint/package.json .ci/lint/package-lock.json
	npm ci --prefix .ci/lint --no-fund --no-audit
	@touch $@

proto: $(TOOLS) ## generate the Go of the .proto
	cd proto && PATH="$(BIN):$$PATH" $(BIN)/buf generate --template buf.gen.yaml

proto-check: $(TOOLS) ## lint the .proto; the generated Go is fresh; nothing breaks against the baseline
	$(BIN)/buf lint proto
	@out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && cd proto && \
	PATH="$(BIN):$$PATH" $(BIN)/buf generate --template buf.gen.yaml -o "$$out" && \
	diff -u set3d/v1/wire.pb.go "$$out/set3d/v1/wire.pb.go" >/dev/null || \
	{ echo "proto/set3d/v1/wire.pb.go is not what wire.proto generates: run make proto"; exit 1; }
	$(BIN)/buf breaking proto --against proto/baseline.binpb

# The baseline is the wire that clients in the field speak. Renew it when a release has added to the wire, so that the
# additions are protected too. It refuses to forget: first the new .proto must be compatible with the old baseline.
# What is not compatible is another version of the protocol, in a package of its own (set3d.v2).
proto-baseline: $(TOOLS) ## renew proto/baseline.binpb, at a release
	if [ -f proto/baseline.binpb ]; then $(BIN)/buf breaking proto --against proto/baseline.binpb; fi
	$(BIN)/buf build proto --exclude-source-info -o proto/baseline.binpb

generated: ## what go generate writes is fresh
	@old=$$(mktemp) && trap 'rm -f "$$old"' EXIT && cp local/unsupported.go "$$old" && go generate ./local && \
	diff -q "$$old" local/unsupported.go >/dev/null || { echo "local/unsupported.go was stale: commit the new one"; exit 1; }

docker-steps: ## the steps of the Dockerfile, without Docker; NAKAMA=path of a server's program, which opens the plugin
	bash .ci/docker-steps

versions: ## what must move together agrees; NAKAMA=path of a server's program: with that, too
	go test -count=1 ./tests/deploy -run 'Version|Options|Nakama' $(if $(NAKAMA),-nakama $(abspath $(NAKAMA)))

ci: ## what CI does
	bash .ci/run

env: ## make .env with secrets of its own, for a server that others reach; one that is there is only checked
	@sh deploy/env.sh

up: ## PostgreSQL and Nakama with the plugin
	docker compose up --build --detach --wait

down: ## stop them; the database stays
	docker compose down

tools: $(TOOLS) ## install the pinned tools into bin/

$(TOOLS):
	@rm -f $(BIN)/.tools-*
	GOBIN=$(BIN) go install github.com/bufbuild/buf/cmd/buf@$(BUF)
	GOBIN=$(BIN) go install google.golang.org/protobuf/cmd/protoc-gen-go@$(PROTOC_GEN_GO)
	GOBIN=$(BIN) go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK)
	GOBIN=$(BIN) go install github.com/mgechev/revive@$(REVIVE)
	@touch $@

clean: ## remove what was built
	rm -rf build bin .ci/lint/node_modules
