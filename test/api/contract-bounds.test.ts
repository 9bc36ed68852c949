/** What the published contract says of a request, and what the check takes, at and beyond each bound. */

import t from 'tap'
import type { z } from 'zod'
import { NewRule } from '../../alerts/core/rule.ts'
import { UserCreate, UserUpdate } from '../../api/accounts/schemas.ts'
import { AccountChange, NewAccount } from '../../api/admin/accounts.ts'
import { NewInvitation } from '../../api/admin/invitations.ts'
import { NewAdminKey } from '../../api/admin/keys.ts'
import { timeTextForm } from '../../api/http/time-forms.ts'
import { DeviceChangeRequest, DeviceRequest, nameFault } from '../../auth/devices/device.ts'
import { namePattern, tagPattern } from '../../auth/devices/name-pattern.ts'
import { tagFault } from '../../auth/devices/tag.ts'
import { StationChangeRequest, StationRequest } from '../../auth/stations/station-details.ts'
import { NewTenant, TenantChange } from '../../auth/tenants/tenant.ts'
import { readTimeText } from '../../ingest/formats/time-text.ts'
import { createContractChecker } from '../support/contract.ts'
import { published } from '../support/published.ts'

const { fault } = createContractChecker(published)

/** Whether the contract has it. */
function isPublished(name: string, value: unknown): boolean {
  const schema = { $ref: `#/components/schemas/${name}` }
  return fault({ 'application/json': { schema } }, 'application/json', value) === undefined
}

const word = (length: number) =>
  'é🌡'
    .repeat(length)
    .slice(0, length * 3)
    .match(/./gu)
    ?.slice(0, length)
    .join('') ?? ''
const texts = (max: number) => ['', 'a', word(max), word(max + 1), 'a\u0000', 'a\nb', 'a\u0085', 'a\u007f', 7, null]
const names = [
  ...texts(64),
  '.',
  '..',
  '...',
  ' a',
  'a ',
  'a b',
  'a  b',
  'a:b',
  'a/b',
  'a+',
  '#',
  'a\u00a0b',
  'a\u200bb',
  '温室 1',
]
const tagLists = [
  ...texts(64).map(value => [`site:${value}`]),
  ...['a', ':b', 'A:b', '9:b', `${'k'.repeat(32)}:b`, `${'k'.repeat(33)}:b`, 'a:*', 'a:b:*', 'a:*b'].map(tag => [tag]),
  ...['a:b,c', 'a:b;c', 'a: b', 'a:b ', 'a:b  c', 'a:b c', 'a:b\u200b', 'a:#+/:'].map(tag => [tag]),
  [],
  Array.from({ length: 16 }, (_, index) => `k${index}:v`),
  Array.from({ length: 17 }, (_, index) => `k${index}:v`),
  'a:b',
  null,
]
const emails = [
  '',
  'a',
  'a@b',
  'a@b.c',
  'a@b.co',
  'a.b@c.de',
  '.a@c.de',
  'a.@c.de',
  'a..b@c.de',
  'a b@c.de',
  'ä@c.de',
  'a@ä.de',
  'a@-b.de',
  'a@b-.de',
  'a@b--c.de',
  'a@b..de',
  'a@.de',
  'a@b.de.',
  'a@b.test',
  'a@b.TEST',
  'a@b.tests',
  'a@b.local',
  'a@b.c1',
  'a@b.1c',
  'a@b.1',
  'a@b.1-c',
  'a@b.1-1',
  'a@b@c.de',
  `${'a'.repeat(64)}@b.de`,
  `a@${'b.'.repeat(127)}de`,
]
const passwords = ['a7Zk_9q', 'a7Zk_9qx', word(8), word(128), word(129)]

type Table = Record<string, { schema: z.ZodType; base: object; fields: Record<string, readonly unknown[]> }>

const table: Table = {
  AdminNewDevice: {
    schema: DeviceRequest,
    base: { name: 'porch', longitude: 13.4, latitude: 52.5 },
    fields: {
      name: names,
      location_short: texts(128),
      location_desc: texts(1024),
      owner: [...texts(254), 0, 1, 2 ** 31, 2 ** 31 - 1],
      altitude_m: [-501, -500, 10_000, 10_001, null, '1'],
      latitude: [-90.1, -90, 90, 90.1, null, '1'],
      longitude: [-180.1, -180, 180, 180.1, null],
      expected_interval_seconds: [0, 1, 1.5, 31_622_400, 31_622_401, null],
      tags: tagLists,
      unknown: [1],
    },
  },
  AdminDeviceChange: {
    schema: DeviceChangeRequest,
    base: {},
    fields: { name: names, log_switch: [true, 0], tags: tagLists, latitude: [1, null], unknown: [1] },
  },
  AdminNewStation: {
    schema: StationRequest,
    base: { sn: 'DEL-01', model: 'M1' },
    fields: {
      sn: ['', 'a', '-a', 'a/b', 'a'.repeat(64), 'a'.repeat(65)],
      model: texts(100),
      city: texts(200),
      location: texts(500),
      country: ['', 'D', 'de', 'DEU', 'D1', null],
      private: [true, 'true'],
      owner: texts(254),
      unknown: [1],
    },
  },
  AdminStationChange: {
    schema: StationChangeRequest,
    base: {},
    fields: { model: texts(100), sn: ['a'], unknown: [1] },
  },
  NewAlertRule: {
    schema: NewRule,
    base: { name: 'warm', selector: { all: true }, condition: { kind: 'above', metric: 'temperature', value: 30 } },
    fields: {
      name: texts(64),
      for_seconds: [-1, 0, 1.5, 604_800, 604_801, '1'],
      severity: ['critical', 'page'],
      channels: [
        [],
        [1],
        [0],
        Array.from({ length: 16 }, (_, at) => at + 1),
        Array.from({ length: 17 }, (_, at) => at + 1),
      ],
      selector: [
        { all: false },
        { devices: [] },
        { devices: ['porch'] },
        { tags: ['site:berlin', 'room:*'] },
        { tags: ['berlin'] },
      ],
      condition: [
        { kind: 'silent' },
        { kind: 'silent', after_seconds: 0 },
        { kind: 'below', metric: 'Temperature', value: 1 },
        { kind: 'change', metric: 'pressure', value: -3, window_seconds: 59 },
        { kind: 'completeness', share: 1.1 },
        { kind: 'hot' },
      ],
      group_by: ['site', 'Site', '', null],
      note: texts(1024),
      unknown: [1],
    },
  },
  AdminNewTenant: {
    schema: NewTenant,
    base: { slug: 'acme', name: 'Acme' },
    fields: {
      slug: ['', 'a', 'A', 'a-b', 'a--b', '-a', 'a'.repeat(40), 'a'.repeat(41)],
      name: texts(100),
      unknown: [1],
    },
  },
  AdminTenantChange: {
    schema: TenantChange,
    base: {},
    fields: { name: texts(100), is_active: [true, 1], unknown: [1] },
  },
  AdminNewAccount: {
    schema: NewAccount,
    base: { email: 'ada@example.com' },
    fields: { email: emails, name: texts(100), password: passwords, role: ['user', 'nobody'], unknown: [1] },
  },
  AdminAccountChange: {
    schema: AccountChange,
    base: {},
    fields: { role: ['user', ''], email_verified: [true, false] },
  },
  AdminNewKey: {
    schema: NewAdminKey,
    base: { account: 1, name: 'logger' },
    fields: {
      name: texts(100),
      account: texts(254),
      expires_in_days: [0, 1, 1.5, null],
      scopes: [[], ['all']],
      tags: tagLists,
      unknown: [1],
    },
  },
  AdminNewInvitation: {
    schema: NewInvitation,
    base: { email: 'ada@example.com' },
    fields: { email: emails, unknown: [1] },
  },
  UserCreate: {
    schema: UserCreate,
    base: { email: 'ada@example.com', password: 'correct horse battery' },
    // A newer control character passes here, as for Pydantic.
    fields: {
      email: emails,
      password: passwords,
      name: texts(100).filter(text => text !== 'a\u0085'),
      token: ['', word(200), word(201)],
    },
  },
  UserUpdate: {
    schema: UserUpdate,
    base: {},
    fields: {
      image: [
        '',
        'https://',
        'http://a.de/',
        'https://a.de',
        'https://a.de/b?c#d',
        'https://a.0',
        'https://a.de/\u0000',
        null,
      ],
    },
  },
}

for (const [name, { schema, base, fields }] of Object.entries(table)) {
  t.test(`${name}: the contract has what the check takes`, async t => {
    t.equal(isPublished(name, base), schema.safeParse(base).success, 'the least')
    for (const [field, values] of Object.entries(fields)) {
      for (const value of values) {
        const body = { ...base, [field]: value }
        t.equal(isPublished(name, body), schema.safeParse(body).success, JSON.stringify({ [field]: value }))
      }
    }
  })
}

t.test('a change names a field', async t => {
  for (const name of ['AdminDeviceChange', 'AdminStationChange', 'AdminTenantChange', 'AdminAccountChange']) {
    t.notOk(isPublished(name, {}), name)
  }
})

t.test('the patterns of names and of tags know each sign as the checks do', async t => {
  const pattern = new RegExp(namePattern, 'u')
  const ofTags = new RegExp(tagPattern, 'u')
  const differing: string[] = []
  for (let codePoint = 0; codePoint <= 0x10_ff_ff; codePoint++) {
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue
    const name = `a${String.fromCodePoint(codePoint)}b`
    const tag = `k:${name}`
    const isSame = pattern.test(name) === (nameFault(name) === undefined)
    const isSameOfTags = ofTags.test(tag) === (tagFault(tag) === undefined)
    if (!isSame || !isSameOfTags) differing.push(codePoint.toString(16))
  }
  t.strictSame(differing, [])
})

t.test('the form of times is what is read', async t => {
  const form = new RegExp(timeTextForm)
  const days = [
    '2024-02-29',
    '2023-02-29',
    '2024-02-30',
    '2024-04-31',
    '2024-13-01',
    '2024-00-10',
    '1900-02-29',
    '2000-02-29',
    '24-01-01',
  ]
  const clocks = [
    '',
    'T00:00',
    ' 23:59:59',
    'T24:00',
    'T10:60',
    'T10:00:60',
    'T10:00:00.123456789',
    'T10:00:00.',
    'T10',
    't10:00z',
  ]
  const zones = ['', 'Z', '+01:00', '-0130', '+05', '+24:00', '+01:60']
  for (const day of days) {
    for (const clock of clocks) {
      for (const zone of zones) {
        const text = `${day}${clock}${zone}`
        t.equal(form.test(text), readTimeText(text) !== undefined, text)
      }
    }
  }
})
