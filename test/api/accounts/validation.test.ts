/** What the account service says of requests that it does not take: shapes, order, and nothing secret. */

import t from 'tap'
import { goodPassword, publicUrl, serviceSecret, startAccounts } from '../../support/accounts.ts'

const { ask, person, cookieOf } = await startAccounts(t)
const id = await person('ada@example.com')
const { cookie } = await cookieOf(id)

interface Row {
  what: string
  body?: unknown
  raw?: string
  type?: string
  path?: string
  headers?: Record<string, string>
  method?: string
  detail: unknown
}

const invalidEmail = (reason: string, input: string) => ({
  type: 'value_error',
  loc: ['body', 'email'],
  msg: `value is not a valid email address: ${reason}`,
  input,
  ctx: { reason },
})
const noObject = (input: unknown) => [
  {
    type: 'model_attributes_type',
    loc: ['body'],
    msg: 'Input should be a valid dictionary or object to extract fields from',
    input,
  },
]
const missing = (field: string, input: unknown) => ({
  type: 'missing',
  loc: ['body', field],
  msg: 'Field required',
  input,
})
const noBody = [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]
const email = 'bob@example.com'
const password = goodPassword

const rows: Row[] = [
  { what: 'no body', detail: noBody },
  { what: 'null', raw: 'null', detail: noBody },
  {
    what: 'missing fields',
    body: { name: 'Bob' },
    detail: ['email', 'password'].map(f => missing(f, { name: 'Bob' })),
  },
  {
    what: 'a missing field beside a secret one',
    body: { password, extra: { token: 'geheim' } },
    detail: [missing('email', { extra: {} })],
  },
  { what: 'an array', body: [1, { password, a: 1 }], detail: noObject([1, { a: 1 }]) },
  { what: 'a number', body: 7, detail: noObject(7) },
  { what: 'a text', raw: '"abc"', detail: noObject('abc') },
  { what: 'JSON in a text', raw: JSON.stringify(JSON.stringify({ email, password })), detail: noObject(null) },
  { what: 'a form', raw: `password=${password}`, type: 'application/x-www-form-urlencoded', detail: noObject(null) },
  {
    what: 'JSON that is called text',
    raw: JSON.stringify({ email, password }),
    type: 'text/plain',
    detail: noObject(null),
  },
  { what: 'JSON without a type', raw: JSON.stringify({ email, password }), type: '', detail: noObject(null) },
  { what: 'a type that is none', raw: JSON.stringify({ email, password }), type: 'nonsense', detail: noObject(null) },
  {
    what: 'a text instead of an object, with another JSON type',
    raw: '"abc"',
    type: 'application/problem+json; charset=utf-8',
    detail: noObject('abc'),
  },
  {
    what: 'a field of another type',
    body: { email: 7, password, name: ['x'] },
    detail: [
      { type: 'string_type', loc: ['body', 'email'], msg: 'Input should be a valid string', input: 7 },
      { type: 'string_type', loc: ['body', 'name'], msg: 'Input should be a valid string', input: ['x'] },
    ],
  },
  {
    what: 'null for a text, and a secret of another type',
    body: { email: null, password: { password } },
    detail: [
      { type: 'string_type', loc: ['body', 'email'], msg: 'Input should be a valid string', input: null },
      { type: 'string_type', loc: ['body', 'password'], msg: 'Input should be a valid string', input: null },
    ],
  },
  {
    what: 'lengths in code points',
    body: { email, password: '🔑'.repeat(7), name: '' },
    detail: [
      {
        type: 'string_too_short',
        loc: ['body', 'password'],
        msg: 'String should have at least 8 characters',
        input: null,
        ctx: { min_length: 8 },
      },
      {
        type: 'string_too_short',
        loc: ['body', 'name'],
        msg: 'String should have at least 1 character',
        input: '',
        ctx: { min_length: 1 },
      },
    ],
  },
  {
    what: 'too long',
    body: { email, password: '🔑'.repeat(129), name: 'n'.repeat(101) },
    detail: [
      {
        type: 'string_too_long',
        loc: ['body', 'password'],
        msg: 'String should have at most 128 characters',
        input: null,
        ctx: { max_length: 128 },
      },
      {
        type: 'string_too_long',
        loc: ['body', 'name'],
        msg: 'String should have at most 100 characters',
        input: 'n'.repeat(101),
        ctx: { max_length: 100 },
      },
    ],
  },
  {
    what: 'a common password',
    body: { email, password: 'Password1' },
    detail: [
      {
        type: 'value_error',
        loc: ['body', 'password'],
        msg: 'Value error, the password is one of the most common ones',
        input: null,
        ctx: { error: {} },
      },
    ],
  },
  {
    what: 'half a surrogate pair, and a control character',
    body: { email, password: 'abcdefgh\ud800', name: 'a\0b' },
    detail: [
      {
        type: 'string_unicode',
        loc: ['body', 'password'],
        msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
        input: null,
      },
      {
        type: 'value_error',
        loc: ['body', 'name'],
        msg: 'Value error, control characters are not allowed',
        input: 'a\0b',
        ctx: { error: {} },
      },
    ],
  },
  ...(
    [
      ['', 'An email address must have an @-sign.'],
      ['ada', 'An email address must have an @-sign.'],
      ['@example.com', 'There must be something before the @-sign.'],
      ['ada@', 'There must be something after the @-sign.'],
      ['ada@example', 'The part after the @-sign is not valid. It should have a period.'],
      ['a@b@example.com', "The email address contains invalid characters before the @-sign: '@'."],
      ['Ada <ada@example.com>', "The email address contains invalid characters before the @-sign: SPACE, '<'."],
      ['"a b"@example.com', "The email address contains invalid characters before the @-sign: '\"', SPACE."],
      ['ädä@example.com', 'The email address contains invalid characters before the @-sign: U+00E4.'],
      ['ada@exämple.com', 'The part after the @-sign contains invalid characters: U+00E4.'],
      ['ada@[127.0.0.1]', "The part after the @-sign contains invalid characters: '[', ']'."],
      ['.ada@example.com', 'An email address cannot start with a period.'],
      ['a..b@example.com', 'An email address cannot have two periods in a row.'],
      [`${'a'.repeat(65)}@example.com`, 'The email address is too long before the @-sign (1 character too many).'],
      [
        'ada@host.test',
        'The part after the @-sign is a special-use or reserved name that cannot be used with email: host.test.',
      ],
      [
        'ada@localhost',
        'The part after the @-sign is a special-use or reserved name that cannot be used with email: localhost.',
      ],
      ['ada@10.0.0.1', 'The part after the @-sign is not valid. It is not within a valid top-level domain.'],
      [
        'ada@example.com\r\nBcc: eve@example.com',
        'The email address contains invalid characters before the @-sign: SPACE, U+000D, U+000A.',
      ],
    ] as const
  ).map(([text, reason]) => ({
    what: `the address ${JSON.stringify(text)}`,
    body: { email: text, password },
    // The last one has its "@" further on.
    detail: [reason.includes('U+000D') ? { type: 'value_error', loc: ['body', 'email'] } : invalidEmail(reason, text)],
  })),
  {
    what: 'no integer in the path',
    method: 'GET',
    path: '/users/abc',
    headers: { 'x-service-secret': serviceSecret },
    detail: [
      {
        type: 'int_parsing',
        loc: ['path', 'user_id'],
        input: 'abc',
        msg: 'Input should be a valid integer, unable to parse string as an integer',
      },
    ],
  },
  {
    what: 'an image that is not https',
    method: 'PATCH',
    path: '/me',
    headers: { cookie },
    body: { image: 'http://example.com/a.png' },
    detail: [
      {
        type: 'value_error',
        loc: ['body', 'image'],
        msg: 'Value error, the address has to begin with https://',
        input: 'http://example.com/a.png',
        ctx: { error: {} },
      },
    ],
  },
  {
    what: 'a new address without the password',
    method: 'PATCH',
    path: '/me',
    headers: { cookie },
    body: { email: 'new@example.com' },
    detail: [missing('current_password', { email: 'new@example.com' })],
  },
  {
    what: 'the other name of a field',
    path: '/password/reset',
    body: { token: 'x', password: 'short' },
    detail: [{ type: 'string_too_short', loc: ['body', 'password'], input: null }],
  },
  {
    what: 'neither name of a field',
    path: '/password/reset',
    body: {},
    detail: [missing('token', {}), missing('new_password', {})],
  },
  ...(
    [
      ['x', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
      [7.5, 'int_from_float', 'Input should be a valid integer, got a number with a fractional part'],
      [-1, 'greater_than_equal', 'Input should be greater than or equal to 0'],
      [{}, 'int_type', 'Input should be a valid integer'],
    ] as const
  ).map(([value, type, msg]) => ({
    what: `${JSON.stringify(value)} for an integer`,
    path: '/oauth/callback',
    headers: { 'x-service-secret': serviceSecret },
    body: { email, provider: 'github', provider_account_id: '1', email_verified: 'maybe', expires_at: value },
    detail: [
      { type: 'bool_parsing', loc: ['body', 'email_verified'], input: 'maybe' },
      { type, loc: ['body', 'expires_at'], msg, input: value },
    ],
  })),
]

for (const {
  what,
  method = 'POST',
  path = '/register',
  body,
  raw,
  type = 'application/json',
  headers,
  detail,
} of rows) {
  t.test(`422: ${what}`, async t => {
    const typed = type === '' || (body === undefined && raw === undefined) ? {} : { 'content-type': type }
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const answer = await ask(method, path, { body: sent, headers: { ...typed, ...headers } })
    t.equal(answer.status, 422)
    t.match(answer.body, { detail })
    const errors = answer.body['detail'] as object[]
    t.equal(errors.length, (detail as unknown[]).length, answer.text)
    for (const error of errors) {
      t.match(Object.keys(error).join(), /^type,loc,msg,input(,ctx)?$/, 'the members stand in order')
    }
    t.notMatch(answer.text, goodPassword)
    t.notMatch(answer.text, 'geheim')
  })
}

t.test('422: JSON that is none quotes nothing of it', async t => {
  for (const body of ['{"password":"geheim"', 'geheim', '{"a":NaN}', '   ']) {
    const {
      status,
      body: answer,
      text,
    } = await ask('POST', '/register', {
      body,
      headers: { 'content-type': 'application/json' },
    })
    t.equal(status, 422)
    t.match(answer, { detail: [{ type: 'json_invalid', msg: 'JSON decode error', input: {}, ctx: { error: String } }] })
    const [error] = answer['detail'] as { loc: [string, number] }[]
    t.ok(error !== undefined && error.loc[0] === 'body' && error.loc[1] >= 0 && error.loc[1] <= body.length)
    t.notMatch(text, 'geheim')
  }
})

t.test('deep nesting, odd member names and big bodies do no harm', async t => {
  const json = { 'content-type': 'application/json' }
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  t.match(await ask('POST', '/login', { body: deep, headers: json }), { status: 422 })
  const odd = '{"__proto__":{"email":"a@example.com"},"constructor":1}'
  t.match(await ask('POST', '/login', { body: odd, headers: json }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'email'] }, { loc: ['body', 'password'] }] },
  })
  const big = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(64 * 1024) })
  t.match(await ask('POST', '/login', { body: big, headers: json }), {
    status: 413,
    body: { detail: 'Request Entity Too Large' },
  })
})

t.test('400 for bad UTF-8, 415 for a coding, never for a type', async t => {
  const json = { 'content-type': 'application/json' }
  t.match(await ask('POST', '/login', { body: Buffer.from([0x22, 0xff, 0x22]), headers: json }), {
    status: 400,
    body: { detail: 'There was an error parsing the body' },
  })
  t.match(await ask('POST', '/login', { body: '{}', headers: { ...json, 'content-encoding': 'gzip' } }), {
    status: 415,
    body: { detail: 'Unsupported Media Type' },
  })
})

t.test('paths and methods that are not there', async t => {
  t.match(await ask('GET', '/nothing'), { status: 404, body: { detail: 'Not Found' } })
  t.match(await ask('POST', '/device/nothing', { body: {} }), { status: 404 })
  const allowed = async (method: string, path: string, allow: string) =>
    t.match(await ask(method, path), {
      status: 405,
      headers: { allow, 'cache-control': 'no-store' },
      ...(method === 'HEAD' ? {} : { body: { detail: 'Method Not Allowed' } }),
    })
  await allowed('GET', '/login', 'POST')
  await allowed('OPTIONS', '/login', 'POST')
  await allowed('PUT', '/me', 'GET, PATCH, DELETE')
  await allowed('QUERY', '/me', 'GET, PATCH, DELETE')
  await allowed('DELETE', '/users/1', 'GET')
  await allowed('HEAD', '/me', 'GET, PATCH, DELETE')
})

t.test('a slash at the end is sent to the other form, with its query', async t => {
  t.match(await ask('POST', '/login/?a=b/', { body: {} }), {
    status: 307,
    headers: { location: '/v1/auth/login?a=b/' },
  })
  t.match(await ask('PUT', '/me/'), { status: 307, headers: { location: '/v1/auth/me' } })
})

t.test('401 says how to come in', async t => {
  t.match(await ask('GET', '/me'), {
    status: 401,
    headers: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' },
    body: { detail: 'Not authenticated' },
  })
})

t.test('the order of refusals: syntax, who, cross-site, fields', async t => {
  const json = { 'content-type': 'application/json' }
  t.match(await ask('PATCH', '/me', { body: '{', headers: json }), { status: 422 })
  t.match(await ask('PATCH', '/me', { body: '{"name":7}', headers: json }), { status: 401 })
  const foreign = { ...json, cookie, 'sec-fetch-site': 'cross-site' }
  t.match(await ask('PATCH', '/me', { body: '{"name":7}', headers: foreign }), {
    status: 403,
    body: { detail: 'Cross-site request refused' },
  })
  t.match(await ask('PATCH', '/me', { body: '{"name":7}', headers: { ...json, cookie } }), { status: 422 })
})

t.test('writes with a cookie from pages of other sites are refused', async t => {
  const write = async (headers: Record<string, string>, status: number) =>
    t.equal(
      (await ask('PATCH', '/me', { body: {}, headers: { cookie, ...headers } })).status,
      status,
      JSON.stringify(headers),
    )
  await write({}, 200)
  await write({ 'sec-fetch-site': 'same-origin' }, 200)
  await write({ 'sec-fetch-site': 'none' }, 200)
  await write({ 'sec-fetch-site': 'same-site' }, 403)
  await write({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403)
  await write({ 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }, 200)
  await write({ origin: 'https://evil.example' }, 403)
  await write({ origin: 'null' }, 403)
  await write({ origin: publicUrl }, 200)
  const read = await ask('GET', '/me', { headers: { cookie, 'sec-fetch-site': 'cross-site' } })
  t.equal(read.status, 200, 'reading is not writing')
})

t.test('pages of listed origins may read answers and ask beforehand', async t => {
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'PATCH' }
  t.match(await ask('OPTIONS', '/me', { headers: preflight }), {
    status: 204,
    headers: {
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, PATCH, DELETE',
      vary: 'Origin',
    },
  })
  const foreign = await ask('OPTIONS', '/me', { headers: { ...preflight, origin: 'https://evil.example' } })
  t.match(foreign, { status: 400, body: { detail: 'Disallowed CORS origin' } })
  t.notOk(foreign.headers['access-control-allow-origin'])
  const read = await ask('GET', '/me', { headers: { cookie, origin: 'https://evil.example' } })
  t.notOk(read.headers['access-control-allow-origin'])
})
