/** In which form an answer goes out, by Accept and `format`. */

import { test } from 'tap'
import { negotiate } from '../../../api/content-files/negotiation.ts'

const json = (indent = 0) => ({ ok: true, form: { kind: 'json', indent } })
const page = { ok: true, form: { kind: 'api' } }
const notAcceptable = { ok: false, code: 'NOT_ACCEPTABLE' }
const unknown = { ok: false, code: 'FORMAT_UNKNOWN' }

test('the more specific type wins, then JSON before HTML', async t => {
  const gives = (accept: string | undefined, expected: object) => {
    t.strictSame(negotiate(accept, undefined), expected, accept ?? 'no Accept')
  }
  for (const accept of [
    '*/*',
    'application/*',
    'application/json',
    'APPLICATION/JSON',
    ' application/json ',
    '*/json',
  ]) {
    gives(accept, json())
  }
  gives(undefined, json())
  for (const accept of ['text/html', 'text/*', 'Text/HTML', '*/html', 'text/html;q=0', 'text/html; charset=utf-8']) {
    gives(accept, page)
  }
  gives('text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', page)
  gives('text/html, application/json', json())
  gives('text/html;q=1, application/json;q=0.1', json())
  gives('text/html;q=0.1, */*;q=1', page)
  gives('text/html;level=1, application/json', page)
  gives('text/*, application/*', json())
  gives('text/html, application/*', page)
  gives('*/*, text/*', page)
  gives('image/png, */*;q=0.1', json())
  gives('image/png,, application/json', json())
})

test('a type that is not served, or that is none, is not acceptable', async t => {
  const types = [
    '',
    ' ',
    'image/png',
    'application/xml',
    'json',
    '*',
    'application',
    'text/plain',
    '/',
    'html/text',
    ';',
  ]
  for (const accept of [...types, 'application/json/x', 'application json', ',', ';q=1', 'application /json']) {
    t.strictSame(negotiate(accept, undefined), notAcceptable, accept)
  }
})

test('an indent is a whole number from 0 to 8', async t => {
  const indents = (value: string, expected: number) => {
    for (const type of ['application/json', '*/*', 'application/*']) {
      t.strictSame(negotiate(`${type}; indent=${value}`, undefined), json(expected), `${type} ${value}`)
    }
  }
  indents('4', 4)
  indents('"4"', 4)
  indents('8', 8)
  indents('9', 8)
  indents('99999999999999999999999', 8)
  for (const value of ['0', '-1', '', 'x', '4.5', '1e1', '4x', '٤']) indents(value, 0)
  t.strictSame(negotiate('application/json;INDENT=2;q=0.3', undefined), json(2))
  t.strictSame(negotiate('application/json, */*; indent=4', undefined), json(), 'of the type that wins')
})

test('a format is forced where Accept allows it', async t => {
  const gives = (format: string, accept: string | undefined, expected: object) => {
    t.strictSame(negotiate(accept, format), expected, `${format} ${accept}`)
  }
  gives('json', undefined, json())
  gives('json', '*/*; indent=2', json(2))
  gives('json', 'text/html, */*', json())
  gives('json', 'text/html', notAcceptable)
  gives('json', '', notAcceptable)
  gives('api', undefined, page)
  gives('api', 'application/json, text/*', page)
  gives('api', 'application/json', notAcceptable)
  gives('', undefined, json())
  gives('', 'text/html', page)
  for (const format of ['xml', 'JSON', 'json ', 'html', '0']) {
    gives(format, undefined, unknown)
    gives(format, 'image/png', unknown)
  }
})
