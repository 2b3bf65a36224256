// A plain JavaScript reader of turn metrics with the same checks as ours: the peer of benchmarks/bench_turns.py, and
// the second opinion of tests/test_analysis_turn_reference.py. Run on a file it prints what it counted, as JSON.
import fs from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { pathToFileURL } from "node:url";

const VERSIONS = ["omk-turn-metrics-1", "omk-turn-metrics-2"];
const STOPS = ["stop", "length", "toolUse", "error", "aborted"];
const CLASSES = ["timeout", "aborted", "permission", "not_found", "invalid_input", "unknown"];
const SIGNS = [/timed?[ _-]?out/iu, /abort|cancel/iu, /permission|eacces|eperm/iu, /not found|enoent/iu, /invalid|validation/iu];
const CONTROL = /[\u0000-\u001f\u007f]/u;
const MODEL_FIELDS = ["requestedModel", "selectedModel", "responseModel", "requestedThinking", "effectiveThinking"];

class Malformed extends Error {}

function refuse(what) {
  throw new Malformed(what);
}
function object(value, what) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : refuse(what);
}
function quantity(value, what) {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : refuse(what);
}
function count(value, what) {
  return Number.isSafeInteger(value) && value >= 0 ? value : refuse(what);
}
function flag(value, what) {
  return typeof value === "boolean" ? value : refuse(what);
}
function identifier(value, what) {
  const good = typeof value === "string" && value.length <= 512 && value.trim() !== "" && !CONTROL.test(value);
  return good ? value : refuse(what);
}
function classify(error) {
  const seen = error.slice(0, 200);
  const place = SIGNS.findIndex((sign) => sign.test(seen));
  return place < 0 ? "unknown" : CLASSES[place];
}
function errorClass(call, old) {
  if (old) {
    if (call.error !== undefined && typeof call.error !== "string") refuse("error");
    return classify(call.error ?? "");
  }
  if (call.error !== undefined) refuse("raw error");
  if (call.errorClass !== undefined && !CLASSES.includes(call.errorClass)) refuse("errorClass");
  return call.errorClass;
}
function provenance(found) {
  if (typeof found !== "object" || found === null) return undefined;
  const models = MODEL_FIELDS.map((name) => found[name] ?? null);
  return models.every((one) => one === null || typeof one === "string") ? models : undefined;
}

/** Return the turn that a line holds, field by field; throw when it is malformed. */
export function check(line) {
  const found = object(JSON.parse(line), "object");
  const version = VERSIONS.indexOf(found.schemaVersion);
  if (version < 0) refuse("schemaVersion");
  const raw = found.toolCalls === undefined ? [] : found.toolCalls;
  if (!Array.isArray(raw) || raw.length > 10000) refuse("toolCalls");
  const calls = new Array(raw.length);
  let failures = 0;
  for (let place = 0; place < raw.length; place++) {
    const call = object(raw[place], "call");
    const ok = flag(call.ok, "ok");
    const kind = errorClass(call, version === 0);
    if (!ok) failures++;
    calls[place] = {
      name: identifier(call.name, "name"),
      durationMs: quantity(call.durationMs, "call duration"),
      ok,
      errorClass: ok ? undefined : kind,
    };
  }
  const usage = found.usage === undefined ? undefined : object(found.usage, "usage");
  const cache = found.contextCache === undefined ? undefined : object(found.contextCache, "contextCache");
  const started = quantity(found.startedAtEpochMs, "start");
  const ended = quantity(found.endedAtEpochMs, "end");
  if (found.stopReason !== undefined && !STOPS.includes(found.stopReason)) refuse("stopReason");
  const turn = {
    sessionId: identifier(found.sessionId, "sessionId"),
    turnIndex: count(found.turnIndex, "turnIndex"),
    provider: found.provider === undefined ? undefined : identifier(found.provider, "provider"),
    model: found.model === undefined ? undefined : identifier(found.model, "model"),
    startedAtEpochMs: started,
    endedAtEpochMs: ended,
    durationMs: Math.max(0, ended - started),
    timeToFirstChunkMs:
      found.timeToFirstChunkMs === undefined ? undefined : quantity(found.timeToFirstChunkMs, "first chunk"),
    usage:
      usage === undefined
        ? undefined
        : {
            input: count(usage.input, "input"),
            output: count(usage.output, "output"),
            cacheRead: count(usage.cacheRead, "cacheRead"),
            cacheWrite: count(usage.cacheWrite, "cacheWrite"),
            costUsd: quantity(usage.costUsd, "costUsd"),
          },
    stopReason: found.stopReason,
    toolCalls: calls,
    compacted: found.compacted === undefined ? undefined : flag(found.compacted, "compacted"),
    failovers: found.failovers === undefined ? undefined : count(found.failovers, "failovers"),
    contextCache:
      cache === undefined
        ? undefined
        : {
            planHit: flag(cache.planHit, "planHit"),
            hits: count(cache.hits, "hits"),
            misses: count(cache.misses, "misses"),
          },
    runtimeProvenance: found.runtimeProvenance === undefined ? undefined : provenance(found.runtimeProvenance),
  };
  if (quantity(found.durationMs, "duration") !== turn.durationMs) refuse("duration differs");
  if (count(found.toolCallCount, "toolCallCount") !== calls.length) refuse("call count differs");
  if (count(found.toolFailureCount, "toolFailureCount") !== failures) refuse("failure count differs");
  return turn;
}

function run(path) {
  const file = fs.openSync(path, "r");
  const buffer = Buffer.allocUnsafe(1 << 20);
  const decoder = new StringDecoder("utf8");
  const seen = { turns: 0, malformed: 0, output: 0, calls: 0 };
  const started = process.hrtime.bigint();
  let rest = "";
  for (;;) {
    const size = fs.readSync(file, buffer, 0, buffer.length, null);
    const lines = (rest + (size ? decoder.write(buffer.subarray(0, size)) : decoder.end())).split("\n");
    rest = size ? lines.pop() : "";
    for (const line of lines) {
      if (line.trim() === "") continue;
      try {
        const turn = check(line);
        seen.turns++;
        seen.calls += turn.toolCalls.length;
        if (turn.usage !== undefined) seen.output += turn.usage.output;
      } catch (error) {
        if (!(error instanceof Malformed) && !(error instanceof SyntaxError)) throw error;
        seen.malformed++;
      }
    }
    if (!size) break;
  }
  const used = process.resourceUsage();
  const wall = Number(process.hrtime.bigint() - started) / 1e9;
  const cpu = (used.userCPUTime + used.systemCPUTime) / 1e6;
  process.stdout.write(`${JSON.stringify({ ...seen, wall, cpu, rss: used.maxRSS / 1024 })}\n`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) run(process.argv[2]);
