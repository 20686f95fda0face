// Where the values of a JSON text lie, so that they can be passed on as they are: a number that is read and written
// again may be another one. Values are found, not validated: whoever gets a slice parses it.

const MAX_DEPTH = 16;
// Of about a microsecond each, in which a worker of nginx serves nobody else.
const MAX_STEPS = 400000;
const STEPS_OF_A_KEY = 10;
const QUOTE = 34, COMMA = 44, COLON = 58, OPEN_LIST = 91, BACKSLASH = 92, CLOSE_LIST = 93, OPEN = 123, CLOSE = 125;
const SCALAR = /^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)$/;

let stepsLeft = 0;

function step(count) {
    stepsLeft -= count;
    if (stepsLeft < 0) {
        throw new SyntaxError('too many values and blanks for a model that the body names: name it in the header');
    }
}

function broken(at) {
    return new SyntaxError('the body is not JSON at character ' + at);
}

// The next character that is not white space.
function next(text, at) {
    for (;; at++) {
        const code = text.charCodeAt(at);
        if (code !== 32 && code !== 10 && code !== 13 && code !== 9) {
            return at;
        }
        step(1);
    }
}

function stringEnd(text, at) {
    let end = at;
    for (;;) {
        end = text.indexOf('"', end + 1);
        if (end < 0) {
            throw broken(at);
        }
        let slashes = 0;
        while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) {
            slashes++;
        }
        step(1 + slashes);
        if (slashes % 2 === 0) {
            return end + 1;
        }
    }
}

function scalarEnd(text, at) {
    let end = at;
    for (;; end++) {
        const code = text.charCodeAt(end);
        if (!(code > 32) || code === COMMA || code === CLOSE_LIST || code === CLOSE) {
            break;
        }
    }
    if (!SCALAR.test(text.slice(at, end))) {
        throw broken(at);
    }
    return end;
}

// A list of numbers may have millions: it is taken in one step, if nothing but numbers is before its end.
function numbersEnd(text, at) {
    const end = text.indexOf(']', at);
    if (end < 0) {
        throw broken(at);
    }
    const numbers = text.slice(at, end);
    return numbers.indexOf('"') < 0 && numbers.indexOf('[') < 0 && numbers.indexOf('{') < 0 ? end : -1;
}

function valueEnd(text, at, depth) {
    step(2);
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
        return stringEnd(text, at);
    }
    if (code === OPEN || code === OPEN_LIST) {
        if (depth >= MAX_DEPTH) {
            throw new SyntaxError('the body is nested too deep');
        }
        return code === OPEN ? object(text, at, depth + 1).end : listEnd(text, at, depth + 1, undefined);
    }
    return scalarEnd(text, at);
}

function listEnd(text, at, depth, found) {
    at = next(text, at + 1);
    if (text.charCodeAt(at) === CLOSE_LIST) {
        return at + 1;
    }
    const code = text.charCodeAt(at);
    if (found === undefined && code !== QUOTE && code !== OPEN && code !== OPEN_LIST) {
        const end = numbersEnd(text, at);
        if (end >= 0) {
            return end + 1;
        }
    }
    for (;;) {
        const end = valueEnd(text, at, depth);
        if (found !== undefined) {
            found.push({start: at, end: end});
        }
        at = next(text, end);
        if (text.charCodeAt(at) === CLOSE_LIST) {
            return at + 1;
        }
        if (text.charCodeAt(at) !== COMMA) {
            throw broken(at);
        }
        at = next(text, at + 1);
    }
}

// {end, members: {key: {start, end}}} of the object that begins there.
function object(text, at, depth) {
    const members = {};
    let isFirst = true;
    at = next(text, at + 1);
    while (!(isFirst && text.charCodeAt(at) === CLOSE)) {
        if (text.charCodeAt(at) !== QUOTE) {
            throw broken(at);
        }
        step(STEPS_OF_A_KEY);
        const keyEnd = stringEnd(text, at);
        const key = '"' + JSON.parse(text.slice(at, keyEnd));
        if (members[key] !== undefined) {
            throw new SyntaxError('the key ' + text.slice(at, keyEnd) + ' is repeated');
        }
        at = next(text, keyEnd);
        if (text.charCodeAt(at) !== COLON) {
            throw broken(at);
        }
        const start = next(text, at + 1);
        const end = valueEnd(text, start, depth);
        members[key] = {start: start, end: end};
        at = next(text, end);
        isFirst = false;
        if (text.charCodeAt(at) === CLOSE) {
            break;
        }
        if (text.charCodeAt(at) !== COMMA) {
            throw broken(at);
        }
        at = next(text, at + 1);
    }
    return {end: at + 1, members: members};
}

// The members of a text that is one object: a list of {key, value}, values as they are written; undefined for
// another value.
function membersOf(text, maxSteps) {
    stepsLeft = maxSteps;
    const start = next(text, 0);
    if (text.charCodeAt(start) !== OPEN) {
        return undefined;
    }
    const found = object(text, start, 0);
    if (next(text, found.end) !== text.length) {
        throw broken(found.end);
    }
    const members = found.members;
    return Object.keys(members).map((key) => (
        {key: key.slice(1), value: text.slice(members[key].start, members[key].end)}
    ));
}

// The elements of a text that is one list, as they are written.
function elementsOf(text, maxSteps) {
    stepsLeft = maxSteps;
    const found = [];
    listEnd(text, 0, 0, found);
    return found.map((each) => text.slice(each.start, each.end));
}

export default {membersOf, elementsOf, MAX_STEPS};
