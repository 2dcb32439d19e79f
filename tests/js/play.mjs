// Plays a match of two with Nakama's official JavaScript client, and checks what it is told.
//
//   node play.mjs URL SERVER_KEY json|protobuf json|protobuf
//
// The two formats are those of the two players' sockets. It exits 0 if all was well, and prints what was wrong otherwise.
import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Client } from "@heroiclabs/nakama-js";
import { WebSocketAdapterPb } from "@heroiclabs/nakama-js-protobuf";
import protobuf from "protobufjs";
import { WebSocket } from "ws";

globalThis.WebSocket ??= WebSocket; // Node 20 has none

const patienceMs = 10_000;
const matchLimitMs = 60_000;

const wire = protobuf.loadSync(fileURLToPath(new URL("../../proto/set3d/v1/wire.proto", import.meta.url)));
const type = (name) => wire.lookupType("set3d.v1." + name);
const values = (name) => wire.lookupEnum("set3d.v1." + name).values;
const op = values("OpCode");
const boardState = values("BoardState");
const refusal = values("Reason");

// What the server sends, by op code.
const bodies = new Map([
  [op.OP_CODE_WELCOME, type("Welcome")],
  [op.OP_CODE_UPDATE, type("Update")],
  [op.OP_CODE_CLAIM_RESULT, type("ClaimResult")],
  [op.OP_CODE_ROSTER, type("Roster")],
  [op.OP_CODE_PONG, type("Pong")],
  [op.OP_CODE_NOTICE, type("Notice")],
  [op.OP_CODE_ERROR, type("Error")],
]);

// In JSON the client sends the whole buffer beneath a view, so the bytes are copied into one of their own. It sends nothing at all
// for empty data, which is what an empty message is.
const encode = (name, message) => new Uint8Array(type(name).encode(type(name).fromObject(message)).finish());

function must(holds, what) {
  if (!holds) throw new Error(what);
}

function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing in ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function setsOn(board) {
  const sets = [];
  const third = (a, b) => [27, 9, 3, 1].reduce((id, place) => {
    const x = Math.floor(a / place) % 3, y = Math.floor(b / place) % 3;
    return id + ((6 - x - y) % 3) * place;
  }, 0);
  for (let i = 0; i < board.length; i++) {
    for (let j = i + 1; j < board.length; j++) {
      if (board[i] === 255 || board[j] === 255) continue;
      const k = board.indexOf(third(board[i], board[j]));
      if (k > j) sets.push([board[i], board[j], board[k]]);
    }
  }
  return sets;
}

class Player {
  constructor(client, format) {
    this.client = client;
    this.format = format;
    this.socket = client.createSocket(false, false, format === "protobuf" ? new WebSocketAdapterPb() : undefined);
    this.socket.onmatchdata = (data) => this.receive(data);
    this.socket.ondisconnect = () => this.fail(new Error("the socket was closed"));
    this.welcomed = new Promise((resolve) => { this.greet = resolve; });
    this.over = new Promise((resolve, reject) => { this.finish = resolve; this.fail = reject; });
    this.over.catch(() => {}); // somebody looks at it later
    this.early = [];
    this.claims = new Map(); // id: {cards, sends, answers}
    this.won = 0;
    this.revision = 0;
  }

  async connect() {
    this.session = await this.client.authenticateDevice(randomBytes(16).toString("hex"), true);
    await within(patienceMs, "connect", this.socket.connect(this.session, false));
  }

  async join(matchID) {
    this.matchID = matchID;
    const match = await within(patienceMs, "join", this.socket.joinMatch(matchID));
    must(match.match_id === matchID && match.authoritative === true, `joined ${JSON.stringify(match)}`);
    await within(patienceMs, "WELCOME", this.welcomed);
  }

  send(code, name, message) {
    return this.socket.sendMatchState(this.matchID, code, encode(name, message));
  }

  receive(data) {
    try {
      must(data.match_id === this.matchID, `data of match ${data.match_id}`);
      const body = bodies.get(Number(data.op_code)); // a number in JSON, a text in protobuf
      must(body, `op code ${data.op_code}`);
      this.take(body.name, body.decode(data.data));
    } catch (error) {
      this.fail(error);
    }
  }

  take(name, message) {
    if (name !== "Welcome" && !this.timing) { // messages may come before the WELCOME
      this.early.push([name, message]);
      return;
    }
    switch (name) {
      case "Welcome":
        must(message.protocolVersion === 1 && message.seat !== undefined, "WELCOME " + JSON.stringify(message));
        this.timing = message.timing;
        this.seat = message.seat;
        this.commitment = message.commitment;
        this.state(message.stamp, message.snapshot);
        this.greet();
        this.early.splice(0).forEach((m) => this.take(...m));
        break;
      case "Update":
        if (Number(message.stamp.revision) > this.revision) this.update(message);
        break;
      case "ClaimResult":
        this.answered(message.claimId, message.refused?.reason);
        break;
      case "Error":
        throw new Error("ERROR " + JSON.stringify(message));
    }
  }

  state(stamp, snapshot) {
    this.revision = Number(stamp.revision);
    if (snapshot) this.snapshot = snapshot;
  }

  update(message) {
    this.state(message.stamp, message.snapshot);
    let ended;
    for (const event of message.events) {
      if (event.matchStarted) this.commitment = event.matchStarted.commitment;
      if (event.setClaimed && event.setClaimed.seat === this.seat) {
        this.won += event.setClaimed.valid ? 1 : 0;
        this.answered(event.setClaimed.claimId);
      }
      ended ??= event.matchEnded;
    }
    if (ended) this.finish(ended);
  }

  answered(id, reason) {
    const claim = this.claims.get(id.toString());
    must(claim, `claim ${id} is answered and was not sent`);
    if (reason === refusal.REASON_BUSY || reason === refusal.REASON_RATE_LIMITED) return; // sent again in its time
    claim.answers++;
    must(claim.answers <= claim.sends, `claim ${id} is answered ${claim.answers} times`);
    this.waiting?.();
  }

  // play claims Sets until the match is over.
  async play() {
    let playing = true;
    const over = this.over.finally(() => { playing = false; });
    over.catch(() => {});
    const pause = (ms) => Promise.race([over.catch(() => {}), new Promise((resolve) => setTimeout(resolve, ms))]);
    while (playing) {
      await pause(60 + Math.random() * 120);
      if (!playing || this.snapshot?.state !== boardState.BOARD_STATE_IDLE) continue;
      const sets = setsOn([...this.snapshot.board]);
      if (sets.length > 0) await this.claim(sets[Math.floor(Math.random() * sets.length)], pause, () => playing);
    }
    return over;
  }

  async claim(cards, pause, playing) {
    const id = new protobuf.util.Long(randomBytes(4).readInt32LE() | 1, randomBytes(4).readInt32LE(), true);
    const claim = { sends: 0, answers: 0 };
    this.claims.set(id.toString(), claim);
    const answered = new Promise((resolve) => { this.waiting = resolve; });
    while (claim.answers === 0 && (playing() || claim.sends === 0)) {
      claim.sends++;
      await this.send(op.OP_CODE_CLAIM_SET, "ClaimSet", { claimId: id, cards: Uint8Array.from(cards) });
      await Promise.race([answered, pause(this.timing.resendAfterMs)]);
    }
  }
}

// refusals are what a client is told that asks for what cannot be.
async function checkRefusals(client, player) {
  const reasonOf = (text) => JSON.parse(text).reason;
  const byHTTP = await client.rpc(player.session, "create_match", { colour: 1 }).then(() => null, (response) => response);
  must(byHTTP?.status === 400 && reasonOf((await byHTTP.json()).message) === "UNKNOWN_FIELD", "an unknown field over HTTP: " + byHTTP?.status);
  const bySocket = await player.socket.rpc("create_match", JSON.stringify({ seats: 9 })).then(() => null, (error) => error);
  must(reasonOf(bySocket.message) === "OUT_OF_RANGE", "nine seats over the socket: " + JSON.stringify(bySocket));
}

async function main([address, key, ...formats]) {
  const url = new URL(address);
  const client = new Client(key, url.hostname, url.port, url.protocol === "https:");
  const players = formats.map((format) => new Player(client, format));
  for (const player of players) await player.connect();

  const hello = JSON.parse((await players[0].socket.rpc("hello", "{}")).payload);
  must(hello.protocol_versions.includes(1) && hello.op_codes.CLAIM_SET === op.OP_CODE_CLAIM_SET, "hello " + JSON.stringify(hello));
  await checkRefusals(client, players[0]);
  const made = (await client.rpc(players[0].session, "create_match", {
    seats: players.length, request_id: randomBytes(8).toString("hex"),
    rules: { valid_anim_ms: 40, refill_anim_ms: 30, expand_anim_ms: 20, drop_hold_ms: 5000 },
  })).payload;
  for (const player of players) await player.join(made.match_id);

  const ends = await within(matchLimitMs, "the end of the match", Promise.all(players.map((player) => player.play())));
  const end = ends[0];
  must(end.reason === values("EndReason").END_REASON_NO_SETS_LEFT, "the end is " + JSON.stringify(end));
  players.forEach((player, i) => {
    must(JSON.stringify(ends[i]) === JSON.stringify(end), "two players are told two ends");
    must(end.table[i].seat === i && end.table[i].score === player.won, `player ${i} has won ${player.won} Sets, the end is ${JSON.stringify(end.table)}`);
    must(Buffer.compare(createHash("sha256").update(end.key).digest(), Buffer.from(player.commitment)) === 0, "the key is not the committed one");
    player.socket.ondisconnect = () => {};
    player.socket.disconnect(false);
  });
  const claims = players.reduce((sum, player) => sum + player.claims.size, 0);
  console.log(`${formats.join(" against ")}: ${end.table.map((line) => line.score).join(":")} by ${claims} claims`);
}

main(process.argv.slice(2)).then(() => process.exit(0), (error) => {
  console.error(error instanceof Error ? error.stack : error);
  process.exit(1);
});
