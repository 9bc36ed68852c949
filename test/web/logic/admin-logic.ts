/** The admin page without a browser: lists as CSV, generated programs, refusals and the status in words. */

import t from 'tap'
import { sendChange } from '../../../web/client/send-change.ts'
import { readDeviceList } from '../../../web/pages/admin/device-list-csv.ts'
import { historyPanels, historyTable, hoursOf } from '../../../web/pages/admin/service-history.ts'
import { bytesText, statusGroups } from '../../../web/pages/admin/status-facts.ts'
import { passwordsCsv } from '../../../web/parts/selection.ts'
import { auditFacts, auditSentence } from '../../../web/text/audit-words.ts'
import { curlLine, lineProtocolLine, microPythonProgram, mqttLine, pythonProgram } from '../../../web/text/ways-in.ts'
import { goneNode, madeNode, madeStatus } from '../made-status.ts'

t.test('a list of devices is read, whatever its quotes and line ends', async t => {
  const text =
    '\ufeffname,location_short,battery,altitude_m,owner,latitude,longitude\r\n"a ""b"", c","two\nlines",yes,12.5,7,-1.29,36.82\r\n\r\nporch,,no,,ada@example.com'
  const place = { location_short: 'two\nlines', latitude: -1.29, longitude: 36.82, altitude_m: 12.5 }
  t.strictSame(readDeviceList(text), {
    ok: true,
    devices: [
      { name: 'a "b", c', ...place, battery: true, owner: 7 },
      { name: 'porch', battery: false, owner: 'ada@example.com' },
    ],
  })
  t.strictSame(readDeviceList('name,location_short\nporch,'), { ok: true, devices: [{ name: 'porch' }] })
  const porch = { ok: true, devices: [{ name: 'porch', expected_interval_seconds: 60 }] }
  t.strictSame(readDeviceList('device,expected_interval_seconds\nporch,60'), porch)
  t.strictSame(readDeviceList('name,expected_interval_s\nporch,60'), porch, 'columns by their names before')
  const tagged = { ok: true, devices: [{ name: 'porch', tags: ['site:berlin', 'room:Server room'] }] }
  t.strictSame(readDeviceList('device,tags\nporch,site:berlin; room:Server room'), tagged)
  const measuring = {
    ok: true,
    devices: [{ name: 'porch', metrics: ['co2', 'temperature', 'pm25'] }, { name: 'attic' }],
  }
  t.strictSame(readDeviceList('device,metrics\nporch,"co2 temperature, pm25"\nattic,'), measuring)
})

t.test('topics of Kafka are facts of the status only with Kafka', async t => {
  const replicas = { replicas: 3, in_sync: 2, retention_seconds: 604_800, retention_used: 0.129 }
  const offsets = { start: 10, end: 30, committed: 20 }
  const seen = { topic: 'a', offsets, oldest: null, ...replicas, problems: ['one', 'two'] }
  const unseen = { ...seen, topic: 'b', offsets: null, problems: [] }
  const forEver = { ...seen, topic: 'c', offsets: { start: 10, end: 11, committed: 0 }, retention_seconds: null }
  const groups = statusGroups({ ...madeStatus, kafka: { topics: [seen, unseen, forEver] } })
  const factsOf = (topic: string) => groups.find(({ title }) => title === `Topic ${topic}`)?.facts
  t.strictSame(factsOf('a'), [
    { name: 'Not yet in QuestDB', text: '10 records' },
    { name: 'Replicas in sync', text: '2 of 3' },
    { name: 'Retention used', text: '12\u202f% of 7 d' },
    { name: 'Problems', text: 'one; two', isBad: true },
  ])
  t.strictSame(factsOf('b'), [])
  t.match(factsOf('c'), [{ text: '1 record' }, {}, { text: 'kept for ever' }, {}])
  t.equal(groups.length, statusGroups(madeStatus).length + 3, 'without Kafka there are none')
})

t.test('the status says who can read', async t => {
  const facts = statusGroups({ ...madeStatus, reads: 'private' }).find(({ title }) => title === 'Service')?.facts
  const text = 'Viewers and administrators can read all devices, a user those that they own (READS=private).'
  t.match(
    facts?.find(({ name }) => name === 'Who can read'),
    { text },
  )
})

t.test('nodes and forwarders are facts of the status of more than one node', async t => {
  const since = '2026-01-01T00:00:00.000Z'
  const replica = { number: 1, is_read: true, state: 'up', reason: null, behind_seconds: 0, holder: 'h-2 17', since }
  const groups = statusGroups({
    ...madeStatus,
    nodes: [madeNode, goneNode],
    kafka: { topics: [], replicas: [replica] },
  })
  const factsOf = (title: string) => groups.find(group => group.title === title)?.facts
  t.strictSame(factsOf('Node 01234567'), [
    { name: 'Host', text: 'h-1, which answers here' },
    { name: 'Role', text: 'api, leads' },
    { name: 'Barograph', text: '1.2.3' },
    { name: 'Lease', text: 'renewed 1 s ago', isBad: false },
    { name: 'Applied change', text: '1,200' },
    { name: 'Clock', text: '0.25\u202fs behind PostgreSQL' },
  ])
  const alike = statusGroups({ ...madeStatus, nodes: [{ ...madeNode, clock_ahead_s: -0.004 }] })
  t.match(
    alike.flatMap(({ facts }) => facts).find(({ name }) => name === 'Clock'),
    { text: 'agrees with PostgreSQL' },
  )
  t.match(factsOf('Node 89abcdef'), [
    { text: 'h-1' },
    { text: 'api' },
    {},
    { text: 'expired, renewed 1 min ago', isBad: true },
    {},
    { name: 'Problems', text: 'one', isBad: true },
  ])
  t.match(factsOf('Replica 1'), [{ text: 'up, read here', isBad: false }, {}, { text: 'h-2 17', isBad: false }, {}])
  const bad = { ...replica, is_read: false, state: 'lost', reason: 'why', behind_seconds: 90, holder: null }
  const none = statusGroups({ ...madeStatus, kafka: { topics: [], replicas: [bad] } })
  t.match(none.find(({ title }) => title === 'Replica 1')?.facts, [
    { text: 'lost: why', isBad: true },
    { isBad: true },
    { text: 'none', isBad: true },
  ])
  t.equal(groups.length, statusGroups(madeStatus).length + 3)
})

t.test('errors of a list have their place', async t => {
  const sentence = (text: string) => {
    const list = readDeviceList(text)
    return list.ok ? '' : list.sentence
  }
  t.match(sentence(''), 'needs a header')
  t.match(sentence('name\n'), 'needs a header')
  t.match(sentence('place\nporch'), 'with the name “device”')
  t.match(sentence('name,colour\nporch,red'), 'The column “colour” is not known')
  t.match(sentence('name,battery\na,no\nporch,maybe'), 'Device 2 of the list: battery must be yes or no.')
  t.match(sentence('name,altitude_m\nporch,high'), 'altitude_m must be a number')
  t.match(sentence('name,battery\n,yes'), 'it has no name')
  t.match(sentence('name\na,b'), 'more cells than the header')
  t.match(sentence(`name\n${'a\n'.repeat(10_001)}`), '10001 devices')
  t.match(sentence('x'.repeat(9 * 1024 * 1024)), 'longer than')
  t.equal(passwordsCsv([{ device: 'a,"b"', password: 'f0' }]), 'device,password\n"a,""b""",f0\n')
})

t.test('generated programs carry any name, with values of a battery where needed', async t => {
  const sender = { url: 'http://127.0.0.1/', device: `it's "Küche"`, password: 'f0', battery: true }
  t.match(curlLine(sender), '"battery_voltage":3.9')
  t.notMatch(curlLine({ ...sender, battery: false }), 'battery')
  t.match(lineProtocolLine(sender), 'battery_percentage=80')
  t.match(
    mqttLine(sender, 2883),
    `-h 127.0.0.1 -p 2883 -q 1 -u 'it'\\''s "Küche"' -P 'f0' -t 'readings/it'\\''s "Küche"'`,
  )
  t.match(pythonProgram(sender), `credentials = "it's \\"Küche\\":f0".encode()`)
  t.match(microPythonProgram(sender), 'requests.put("http://127.0.0.1/api/log"')
})

t.test('a refusal is in words with each invalid place', async t => {
  const refusing = (status: number, body: unknown) =>
    sendChange('POST', '/x', {}, async () => new Response(JSON.stringify(body), { status }))
  const errors = [{ path: 'name', message: 'is taken by another device' }]
  t.strictSame(await refusing(409, { title: 'name taken', errors }), {
    ok: false,
    sentence: 'The service refused this: name taken. name is taken by another device.',
    errors,
  })
  const many = Array.from({ length: 9 }, (_, at) => ({ path: `[${at}].name`, message: 'must not be empty' }))
  t.match(await refusing(422, { title: 'invalid body', errors: many }), {
    sentence: /\[4\]\.name .*4 more are wrong\.$/,
  })
  t.match(await refusing(403, { title: 'forbidden', detail: 'this needs the role' }), {
    sentence: /: this needs the role\./,
  })
  t.match(await refusing(401, {}), { sentence: 'The service refused this: status 401. Sign in again.' })
  t.strictSame(await sendChange('DELETE', '/x', undefined, async () => new Response(null, { status: 204 })), {
    ok: true,
    value: undefined,
  })
  const away = await sendChange('POST', '/x', {}, () => Promise.reject(new TypeError('fetch failed')))
  t.match(away, { ok: false, sentence: /not known whether the change was made/ })
})

t.test('bytes have thousands as units', async t => {
  t.strictSame(
    [0, 999, 1500, 123_456_789, 2e12].map(bytesText),
    ['0 B', '999 B', '1.5 kB', '123 MB', '2.0 TB'].map(text => text.replace(' ', '\u202f')),
  )
})

t.test('the figures of the service: a late row breaks no line, a missing time does', async t => {
  const startMs = Date.parse('2026-11-23T10:00Z')
  const secondsOf = [0, 10, 30, 40, 100]
  const points = secondsOf.map((seconds, place) => ({
    time: new Date(startMs + seconds * 1000).toISOString(),
    ack_p50_ms: place === 1 ? null : 0.5,
    ack_p99_ms: 2,
    stored: 60,
    rejected: 0,
    lag_readings: 1,
    lag_seconds: 0.25,
    journal_bytes: 1e6,
    rss_bytes: 2e8,
    event_loop_p99_ms: 3,
  }))
  const panels = historyPanels({ hours: 1, step_s: 10, points })
  const titles = panels.map(({ title, unit }) => `${title}, ${unit}`).join('; ')
  t.equal(titles, 'Acknowledgement, ms; Lag, s; Rejected, readings per 10 seconds; Memory, MB')
  const [ack, lag] = panels
  t.equal(lag?.content.columns.timesMs.map(timeMs => (timeMs - startMs) / 1000).join(), '0,10,30,40,70,100')
  t.strictSame(lag?.content.columns.lines, [[0.25, 0.25, 0.25, 0.25, null, 0.25]])
  t.strictSame(ack?.content.columns.lines[0], [0.5, null, 0.5, 0.5, null, 0.5], 'nor is there a line over a null')
  const { columns, rows } = historyTable(panels, { fromMs: startMs + 10_000, toMs: startMs + 40_000 })
  t.match(columns.map(({ name }) => name).join('; '), /^Acknowledgement p50, ms; Acknowledgement p99, ms; Lag, s; /)
  t.strictSame(
    rows.map(({ head, cells }) => `${head}: ${cells.join()}`),
    [40, 30, 10].map(seconds => `23 Nov 2026, 10:00:${seconds} UTC: ${seconds === 10 ? '' : 0.5},2,0.25,0,200`),
  )
  const [hourMs, nowMs] = [3_600_000, startMs]
  const asked = (hours: number) => hoursOf({ fromMs: nowMs - hours * hourMs, toMs: nowMs }, nowMs)
  t.strictSame([0.2, 24, 24.1, 5000].map(asked), [1, 24, 25, 720])
})

t.test('an entry of the audit log is a sentence with its changes in rows', async t => {
  const names = { 'account 5': 'ada', 'device 2': 'garden', 'alert rule 3': 'Too $& warm' }
  const sentence = (actor: string, action: string, subject: string) => auditSentence({ actor, action, subject }, names)
  t.equal(sentence('account 5', 'device.add', 'porch $&'), 'ada added the device porch $&.')
  t.equal(sentence('key 7 of account 5', 'metric.change', 'metric co2'), 'Key 7 of ada changed metric co2.')
  t.equal(
    sentence('local admin token', 'account.role', 'account 6'),
    'Local admin token changed the role of account 6.',
  )
  t.equal(sentence('account 5', 'alert-rule.add', 'alert rule 3'), 'ada added alert rule “Too $& warm”.')
  t.equal(sentence('account 5', 'account.login', 'account 5'), 'ada signed in.')
  t.equal(sentence('device 2', 'metric.add', 'metric co2'), 'Device “garden” added metric co2.')
  t.equal(sentence('account 6', 'constructor', 'x'), 'Account 6: constructor x.', 'an action without words')
  t.strictSame(auditFacts({}), [])
  t.strictSame(
    auditFacts({
      log_switch: false,
      owner: null,
      tags: ['site:berlin', 'room:kitchen'],
      quality_limits: { temperature: { min: -20, steps: [{ by: 2 }, {}] } },
      scopes: [],
    }),
    [
      { name: 'Log switch', text: 'no' },
      { name: 'Owner', text: 'none' },
      { name: 'Tags', text: 'site:berlin, room:kitchen' },
      { name: 'Quality limits, temperature, min', text: '-20' },
      { name: 'Quality limits, temperature, steps', text: 'by 2, none' },
      { name: 'Scopes', text: 'none' },
    ],
  )
})
