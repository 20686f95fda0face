// Routes /invocations by header; nothing of the client's request reaches Triton but the body.

import named_form from 'named_form.js';

const ATTRIBUTES = 'X-Amzn-SageMaker-Custom-Attributes';
const BINARY = 'application/vnd.sagemaker-triton.binary+json';
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$/;
const VERSION = /^(?:0|[1-9][0-9]{0,18})$/;
// How Triton words that it has no such model, or that the model's version is not loaded.
const UNKNOWN_MODEL = '{"error":"Request for unknown model: ';

function refusal(status, message) {
    return {status: status, body: '{"error": ' + JSON.stringify(message) + '}'};
}

function refusalWithModels(status, message) {
    return {status: status, body: '{"error": ' + JSON.stringify(message) + ', "models": ' + routes.models + '}'};
}

// {model, version}, either undefined where the header does not name it; or a refusal.
function attributes(text) {
    const found = {};
    const parts = text.split(';');
    for (let i = 0; i < parts.length; i++) {
        const part = parts[i].trim();
        const equals = part.indexOf('=');
        const key = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase();
        if (key !== 'model' && key !== 'version') {
            continue;
        }
        const value = part.slice(key.length + 1);
        const pattern = key === 'model' ? NAME : VERSION;
        if (!part.startsWith(key + '=') || !pattern.test(value)) {
            return refusal(400, ATTRIBUTES + ': write ' + key + (key === 'model' ? '=NAME' : '=NUMBER'));
        }
        if (found[key] !== undefined) {
            return refusal(400, ATTRIBUTES + ': ' + key + ' is repeated');
        }
        found[key] = value;
    }
    return found;
}

// njs 0.7 gives preloaded lists without the methods of a list.
function contains(list, text) {
    for (let i = 0; i < list.length; i++) {
        if (list[i] === text) {
            return true;
        }
    }
    return false;
}

// {name, version, path}; or a refusal.
function target(name, version) {
    if (name === undefined) {
        if (routes.default === null) {
            return refusalWithModels(400, 'name a model: ' + ATTRIBUTES + ': model=NAME');
        }
        name = routes.default;
    }
    const route = routes.routes['/' + name];
    if (route === undefined) {
        return refusalWithModels(404, 'there is no model ' + name);
    }
    let path = '/v2/models/' + route.model;
    if (version !== undefined) {
        if (!contains(route.versions, version)) {
            return refusalWithModels(404, 'model ' + name + ' has no version ' + version);
        }
        path += '/versions/' + version;
    }
    return {name: name, version: version, path: path + '/infer'};
}

// The length of the JSON before the binary tensors, as text, empty for a body of JSON alone; or a refusal.
function headerLength(type) {
    if (!type.toLowerCase().startsWith(BINARY)) {
        return {text: ''};
    }
    const size = /^;json-header-size=([0-9]{1,9})$/.exec(type.slice(BINARY.length));
    if (size === null) {
        return refusal(400, 'Content-Type: write ' + BINARY + ';json-header-size=NUMBER');
    }
    return {text: size[1]};
}

function send(r, answer) {
    r.headersOut['Content-Type'] = answer.type || 'application/json';
    if (answer.status === 405) {
        r.headersOut['Allow'] = 'POST';
    }
    r.return(answer.status, answer.body);
}

// The request of the form with "modelname" in its body, or undefined; or a refusal.
function namedRequest(r, named, contentType) {
    const type = contentType.split(';')[0].trim().toLowerCase();
    if (named.model !== undefined || named.version !== undefined || type !== 'application/json') {
        return undefined;
    }
    const body = r.requestBuffer;
    if (body === undefined || body.indexOf('"modelname"') < 0) {
        return undefined;
    }
    try {
        return named_form.read(new TextDecoder('utf-8', {fatal: true}).decode(body));
    } catch (e) {
        return refusal(400, e instanceof TypeError ? 'the body is not UTF-8' : e.message);
    }
}

// The answer of the named form; or a refusal, where that has no place for the answer of the model.
function writtenAnswer(request, answer) {
    try {
        return {status: 200, body: named_form.write(request, answer)};
    } catch (e) {
        return refusal(400, 'the answer cannot be written: ' + e.message);
    }
}

function askNamed(r, request) {
    const route = target(request.name, request.version);
    if (route.status !== undefined) {
        send(r, route);
        return;
    }
    ask(r, route, '', request.body, (found) => {
        if (found.status === 200 && found.type !== 'application/json') {
            found = refusal(400, 'binary outputs have no place in JSON: name the model in ' + ATTRIBUTES);
        } else if (found.status === 200) {
            found = writtenAnswer(request, found.body.toString());
        }
        send(r, found);
    });
}

function answerOf(reply, route) {
    const buffer = reply.responseBuffer;
    if (reply.status !== 200) {
        const text = buffer === undefined ? '' : buffer.toString();
        if (text.startsWith(UNKNOWN_MODEL)) {
            const version = route.version === undefined ? '' : ' version ' + route.version;
            return refusal(503, 'model ' + route.name + version + ' is not ready');
        }
        return {status: reply.status, body: buffer, type: text[0] === '{' ? undefined : 'text/plain'};
    }
    const binary = reply.headersOut['Inference-Header-Content-Length'];
    return {
        status: 200,
        body: buffer,
        type: binary === undefined ? 'application/json' : BINARY + ';json-header-size=' + binary,
    };
}

// Calls back with Triton's answer, without a promise.
function ask(r, route, length, body, found) {
    r.variables.route = route.name;
    r.variables.route_version = route.version || '';
    r.variables.triton_path = route.path;
    r.variables.inference_header_length = length;
    const options = {method: 'POST'};
    if (body !== undefined) {
        options.body = body;
    }
    r.subrequest('/-triton', options, (reply) => found(answerOf(reply, route)));
}

// A refusal; or undefined, where Triton is asked.
function refusalOrAsk(r) {
    if (r.method !== 'POST') {
        return refusal(405, 'POST is the only method of /invocations');
    }
    let encoding, text, type;
    try {
        encoding = r.headersIn['Content-Encoding'] || 'identity';
        text = r.headersIn[ATTRIBUTES] || '';
        type = r.headersIn['Content-Type'] || '';
    } catch (e) { // of njs from 0.8 on
        return refusal(400, 'a header is not UTF-8');
    }
    if (encoding.toLowerCase() !== 'identity') {
        return refusal(415, 'Content-Encoding: bodies have to be sent as they are');
    }
    const named = attributes(text);
    if (named.status !== undefined) {
        return named;
    }
    const request = namedRequest(r, named, type);
    if (request !== undefined) {
        return request.status === undefined ? askNamed(r, request) : request;
    }
    const length = headerLength(type);
    if (length.status !== undefined) {
        return length;
    }
    const route = target(named.model, named.version);
    if (route.status !== undefined) {
        return route;
    }
    ask(r, route, length.text, undefined, (found) => send(r, found));
    return undefined;
}

function invoke(r) {
    const refused = refusalOrAsk(r);
    if (refused !== undefined) {
        send(r, refused);
    }
}

export default {invoke};
