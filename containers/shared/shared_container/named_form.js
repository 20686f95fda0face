// Requests that name the model in their body: {"modelname": NAME, "version": VERSION, "payload": {...}}.

import slices from 'json_slices.js';

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$/;
const VERSION = /^(?:0|[1-9][0-9]{0,18})$/;
const INTEGER = /^-?[0-9]+$/;
const MAX_INPUTS = 1000;
const NUMBER = /^-?[0-9]/;

function byKey(members) {
    const found = {};
    members.forEach((member) => {
        found['"' + member.key] = member.value;
    });
    return (key) => found['"' + key];
}

// The text of a JSON text; undefined for any other value.
function textOf(value) {
    return value !== undefined && value[0] === '"' ? JSON.parse(value) : undefined;
}

// A text is BYTES [1], an integer INT64 [1], any other number FP64 [1].
function tensor(member) {
    const value = member.value;
    let type;
    if (value[0] === '"') {
        type = 'BYTES';
    } else if (NUMBER.test(value)) {
        type = INTEGER.test(value) ? 'INT64' : 'FP64';
    } else {
        throw new Error('payload: ' + JSON.stringify(member.key) + ' is neither a text nor a number; ' +
            'write "inputs" as in a request of Triton');
    }
    return '{"name":' + JSON.stringify(member.key) + ',"shape":[1],"datatype":"' + type + '","data":[' + value + ']}';
}

// {name, version, body, isTriton}; undefined where the text is no object with a modelname.
function read(text) {
    const members = slices.membersOf(text, slices.MAX_STEPS);
    const get = members === undefined ? undefined : byKey(members);
    if (get === undefined || get('modelname') === undefined) {
        return undefined;
    }
    const name = textOf(get('modelname'));
    if (name === undefined || !NAME.test(name)) {
        throw new Error('modelname: write the name of a model');
    }
    let version = get('version');
    if (version !== undefined) {
        version = version[0] === '"' ? textOf(version) : version;
        if (!VERSION.test(version)) {
            throw new Error('version: write a number, or a number as text');
        }
    }
    const payload = get('payload');
    const inputs = payload === undefined ? undefined : slices.membersOf(payload, slices.MAX_STEPS);
    if (inputs === undefined) {
        throw new Error('payload: write an object of inputs');
    }
    if (inputs.length > MAX_INPUTS) {
        throw new Error('payload: at most ' + MAX_INPUTS + ' inputs');
    }
    const isTriton = byKey(inputs)('inputs') !== undefined;
    const body = isTriton ? payload : '{"inputs":[' + inputs.map(tensor).join(',') + ']}';
    return {name: name, version: version, body: body, isTriton: isTriton};
}

function isJson(text) {
    try {
        JSON.parse(text);
    } catch (e) {
        return false;
    }
    return true;
}

// Each within the bound of a request's body: a worker serves nobody else meanwhile.
function membersOf(answer) {
    return slices.membersOf(answer, slices.MAX_STEPS);
}

function listed(answer) {
    return slices.elementsOf(answer, slices.MAX_STEPS);
}

// Of one output with one text: the JSON in it, or the text; of other outputs an object of their values.
function result(answer) {
    const outputs = listed(byKey(membersOf(answer))('outputs')).map((output) => {
        const get = byKey(membersOf(output));
        return {name: get('name'), type: textOf(get('datatype')), data: get('data')};
    });
    if (outputs.length === 1 && outputs[0].type === 'BYTES') {
        const elements = listed(outputs[0].data);
        if (elements.length === 1) {
            const text = textOf(elements[0]);
            return isJson(text) ? text : elements[0];
        }
    }
    return '{' + outputs.map((output) => output.name + ':' + output.data).join(',') + '}';
}

// The answer of this form for an answer of Triton's.
function write(request, answer) {
    const value = request.isTriton ? answer : result(answer);
    return '{"modelname":' + JSON.stringify(request.name) + ',"result":' + value + '}';
}

export default {read, write};
