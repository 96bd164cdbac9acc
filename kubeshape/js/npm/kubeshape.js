#!/usr/bin/env node
// `npx kubeshape`: some commands of kubeshape, where nothing can be installed. Exit codes: 0, 1 for errors found, 2 for none.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { NEWEST, Session } from "./index.js";

const USAGE = `Usage: kubeshape COMMAND …

  check FILE… [--kubernetes RELEASES]            which releases install the definitions
  validate --schemas FILE… OBJECTS… [--kubernetes RELEASE]
                                                 what a server says about objects
  explain FILE… --kind KIND                      the fields of a kind, one per line
  convert FILE… --kind KIND --to SHAPE           v3, v2, smd, json-schema, kustomize or structural
  sample FILE… --kind KIND [--all]               an object that a server accepts
  diff OLD NEW                                   how a change affects users
  graph FILE…                                    references as SVG
  explain-code CODE                              the page of a code

--format json prints the results as JSON. The complete command: https://github.com/kubeshape/kubeshape
`;

class Usage extends Error {}

/** Strings of inputs, without what a terminal obeys. */
const clean = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

const read = (name) => {
  try {
    return readFileSync(name === "-" ? 0 : name);
  } catch (error) {
    throw new Usage(`${name}: ${error.message}`);
  }
};

function main() {
  const { values, positionals: [command, ...files] } = parseArgs({
    allowPositionals: true,
    options: {
      kubernetes: { type: "string" }, schemas: { type: "string", multiple: true }, kind: { type: "string" },
      to: { type: "string" }, format: { type: "string" }, all: { type: "boolean" }, help: { type: "boolean", short: "h" },
    },
  });
  const out = [];
  let isGood = true;
  const say = (value, lines) => {
    if (values.format === "json") out.push(JSON.stringify(value));
    else out.push(...lines(value));
  };
  const session = new Session();
  const show = (name, findings) => findings.map((finding) => {
    isGood &&= finding.kind !== "error";
    const place = finding.line === null ? name : `${name}:${finding.line}:${finding.column}`;
    return `${place}: ${finding.kind}[${finding.code}]: ${finding.text}`;
  });
  const add = (names) => names.forEach((name) => {
    const findings = session.set(name, read(name));
    if (values.format === "json") show(name, findings);
    else out.push(...show(name, findings));
  });
  const wanted = () => {
    if (!values.kind) throw new Usage("--kind is missing");
    add(files);
    const all = session.kinds();
    const found = all.find(({ kind, plural, apiVersion }) => [kind, plural, `${apiVersion}/${kind}`].includes(values.kind));
    if (!found) throw new Usage(`there is no kind ${values.kind}; the inputs define ${all.map(({ kind }) => kind).join(", ") || "none"}`);
    return [found.apiVersion, found.kind];
  };
  const result = (value) => {
    if (value.error) throw new Usage(value.error);
    return value;
  };
  const need = (count, what) => { if (files.length < count) throw new Usage(`${command} needs ${what}`); };
  const commands = {
    check() {
      need(1, "a file");
      add(files);
      for (const name of files) {
        const checked = result(session.check(name, values.kubernetes ?? NEWEST));
        checked.definitions.forEach(({ accepted }) => { isGood &&= accepted; });
        say(checked, ({ definitions }) => definitions.flatMap((one) => [...show(name, one.findings), `${one.name}: ${one.verdict}`]));
      }
    },
    validate() {
      need(1, "a file with objects");
      add(values.schemas ?? []);
      for (const name of files) {
        const judged = result(session.judge(name, read(name).toString(), values.kubernetes ?? NEWEST));
        judged.objects.forEach(({ accepted }) => { isGood &&= accepted === true; });
        const word = (one) => (!one.judged ? "not judged" : one.accepted ? "accepted" : "refused");
        say(judged, () => [...show(name, judged.findings), ...judged.objects.map((one) => `${one.name}: ${word(one)}`)]);
      }
    },
    explain() {
      const [apiVersion, kind] = wanted();
      const { paths } = result(session.tree(apiVersion, kind));
      const line = ({ path, type, required, facts, description }) =>
        [path, type, [...(required ? ["required"] : []), ...facts.map((fact) => fact.join(": "))].join("; "), description]
          .map((part) => part.replace(/\s+/g, " ")).join("\t");
      paths.forEach((_, index) => say(session.field(apiVersion, kind, index), (field) => [line(field)]));
    },
    convert() {
      say(result(session.shape(...wanted(), values.to ?? "v3")), ({ text }) => [text.trimEnd()]);
    },
    sample() {
      say(result(session.sample(...wanted(), values.all)), ({ text }) => [text.trimEnd()]);
    },
    diff() {
      need(2, "an old and a new file");
      const compared = session.compare(read(files[0]).toString(), read(files[1]).toString());
      isGood = compared.definitions.every((one) => one.class !== "breaking" && !one.error);
      say(compared, ({ definitions }) => definitions.flatMap((one) => [
        ...one.changes.map(({ class: name, code, title, path, detail }) => `${name}[${code}]: ${path}: ${title}: ${detail}`),
        `${one.name}: ${one.error ?? (one.gone ? "gone" : one.new ? "new" : one.class === "same" ? "nothing changed" : one.class)}`,
      ]));
    },
    graph() {
      need(1, "a file");
      add(files);
      say(result(session.graph()), ({ svg }) => [svg.trimEnd()]);
    },
    "explain-code"() {
      const page = session.page(files[0] ?? "");
      if (page === null) throw new Usage(`there is no code ${files[0] ?? ""}`);
      say(page, () => [page.trimEnd()]);
    },
  };
  if (values.help || !command) return [command || values.help ? 0 : 2, USAGE];
  if (!Object.hasOwn(commands, command)) throw new Usage(`there is no command ${command}\n\n${USAGE}`);
  commands[command]();
  return [isGood ? 0 : 1, out.map((line) => `${clean(line)}\n`).join("")];
}

try {
  const [code, text] = main();
  process.exitCode = code;
  process.stdout.write(text);
} catch (error) {
  if (!(error instanceof Usage) && !String(error.code).startsWith("ERR_PARSE_ARGS")) throw error;
  process.stderr.write(`error: ${clean(error.message)}\n`);
  process.exitCode = 2;
}
