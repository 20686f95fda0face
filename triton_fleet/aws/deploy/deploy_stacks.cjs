// Deploys stacks by the CDK's toolkit: `node deploy_stacks.cjs PACKAGE REQUESTS`.
//
// PACKAGE is the folder of @aws-cdk/toolkit-lib. REQUESTS is the number of a descriptor with a JSON object in
// each line: {assembly, stack, changeSet, imports}. Written are JSON objects, too: {stack, text} for each message, and
// {stack, failed} when the deploy has ended. Stacks are deployed as they are asked for, at one time.
"use strict";

const { Console } = require("node:console");
const fs = require("node:fs");
const https = require("node:https");
const net = require("node:net");
const readline = require("node:readline");

globalThis.console = new Console(process.stderr); // standard output is for events

const [folder, descriptor] = process.argv.slice(2);
const { ExpandStackSelection, StackParameters, StackSelectionStrategy, Toolkit } = require(folder);

const SHOWN = new Set(["error", "result", "warn", "info"]);
const REVIEWED = "CDK_TOOLKIT_I5060"; // whether a change is deployed; to any other question the answer is no

function write(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

// A toolkit mixes the messages of its stacks, so that each stack has one of its own, which talks to this host.
class StackHost {
  constructor(stack) {
    this.stack = stack;
  }

  async notify({ level, message }) {
    if (SHOWN.has(level)) write({ stack: this.stack, text: message });
  }

  async requestResponse({ code, message, defaultResponse }) {
    if (typeof defaultResponse !== "boolean") {
      throw new Error(`cannot answer '${message}': use credentials that ask for no code, such as those of \`aws sso login\``);
    }
    return code === REVIEWED;
  }
}

// Whether agents of this Node.js read the proxy of the environment: since 22.21 and 24.5.
function knowsProxies() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major === 22 ? minor >= 21 : major === 24 ? minor >= 5 : major > 24;
}

// What the CDK CLI takes from the environment, and its toolkit does not. The embedded AWS is reached directly.
function agent() {
  if (process.env.AWS_ENDPOINT_URL?.startsWith("http:")) return undefined;
  if ((process.env.HTTPS_PROXY || process.env.https_proxy) && !knowsProxies()) {
    throw new Error(`Node.js ${process.versions.node} passes HTTPS_PROXY by: use 24.5 or newer, which \`make setup\` installs`);
  }
  const bundle = process.env.AWS_CA_BUNDLE;
  const ca = bundle ? fs.readFileSync(bundle) : undefined;
  return new https.Agent({ keepAlive: true, proxyEnv: process.env, ca });
}

let httpOptions;

async function deploy({ assembly, stack, changeSet, imports }) {
  const ioHost = new StackHost(stack);
  httpOptions ??= { agent: agent() };
  const toolkit = new Toolkit({ ioHost, color: false, sdkConfig: { httpOptions } });
  await toolkit.deploy(await toolkit.fromAssemblyDirectory(assembly), {
    stacks: {
      strategy: StackSelectionStrategy.PATTERN_MUST_MATCH_SINGLE,
      patterns: [stack],
      expand: ExpandStackSelection.NONE,
    },
    deploymentMethod: {
      method: "change-set",
      changeSetName: changeSet,
      importExistingResources: imports,
    },
    parameters: StackParameters.onlyExisting(),
  });
}

function reasons(error) {
  const texts = [];
  for (let each = error; each; each = each.cause) {
    if (!texts.some((text) => text.includes(each.message))) texts.push(`${each.name}: ${each.message}`);
  }
  return texts.join("\n");
}

async function answer(request) {
  const { stack } = request;
  try {
    await deploy(request);
    write({ stack, failed: false });
  } catch (error) {
    write({ stack, text: reasons(error) });
    write({ stack, failed: true });
  }
}

// A socket, as a read of a file stream would keep the process from ending.
const requests = new net.Socket({ fd: Number(descriptor), readable: true, writable: false });
readline.createInterface({ input: requests }).on("line", (line) => answer(JSON.parse(line)));
