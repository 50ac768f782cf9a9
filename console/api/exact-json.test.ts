import assert from "node:assert/strict";
import { test } from "node:test";

import { NumberLiteral, parse, parseAnswer, write } from "./exact-json";

const NUMBERS = ["9007199254740993", "1e400", "-0", "-0.0", "0.100000000000000001", "1.0", "0.1000000000000000010", "-1.5E-7", "12"];

test("numbers keep the digits that they were written with, wherever they stand", () => {
  for (const number of NUMBERS) {
    for (const text of [number, `[${number},${number}]`, `{"a":{"b":[${number}]},"c":${number}}`]) {
      assert.equal(write(parse(text)), text);
    }
    assert.deepEqual(parse(number), new NumberLiteral(number));
  }
});

test("of an answer only numbers that JavaScript would change are literals", () => {
  for (const number of ["9007199254740993", "-9007199254740993.0", "1e400", "1e-400", "-0", "-0.0", "0.100000000000000001", "12345678901234567890.123456789", "1e23000"]) {
    assert.deepEqual(parseAnswer(`{"a":[${number}]}`), { a: [new NumberLiteral(number)] });
    assert.equal(String(parseAnswer(number)), number);
  }
  for (const number of ["0", "12", "0.0", "1.0", "-1.5E-7", "1e-05", "1e+22", "1E23", "0.30000000000000004", "5e-324", "1.7976931348623157e+308", "9007199254740992", "100000000000000000000000"]) {
    assert.equal(parseAnswer(number), Number(number));
  }
});

test("what looks like a number in a text or a name is none", () => {
  for (const text of ['{"9007199254740993":"9007199254740993"}', '"a \\" 1e400 \\\\"', '"\\\\",', '["\\"",-0.0,"1"]']) {
    const whole = text.replace(/,$/, "");
    assert.equal(write(parse(whole)), whole);
  }
});

test("all else is as JSON.parse and JSON.stringify have it", () => {
  const value = { text: "ü\u2028\ud800", none: null, list: [true, [], {}, "x"], ["__proto__x"]: { y: "z" } };
  const text = JSON.stringify(value);
  assert.deepEqual(parse(text), value);
  for (const indent of [0, 2]) assert.equal(write(value, indent), JSON.stringify(value, null, indent));
  assert.equal(write({ n: 1.5, gone: undefined, list: [undefined] }), '{"n":1.5,"list":[null]}');
  assert.equal(write(undefined), "null");
});

test("names that objects have of themselves are names like any other", () => {
  const text = '{"__proto__":1e400,"constructor":"x"}';
  assert.equal(write(parse(text)), text);
});

test("what is no JSON is refused in terms of the text itself", () => {
  for (const text of ["", "{", "01", "1.", "+1", '{"a":1,}', "NaN", "1e", "[1 2]"]) assert.throws(() => parse(text), SyntaxError);
});
