/** `barograph kafka` and the doctor, against a real broker. */

import t from 'tap'
import { groupHeaderLength, sealGroup } from '../../ingest/journal/group.ts'
import { topicSettings } from '../../ingest/kafka/client/settings.ts'
import { readingWriter } from '../../ingest/readings-table.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startKafka } from '../support/kafka.ts'

// The broker's defaults apply where a topic has no setting.
const kafka = await startKafka(t, {
  settings: () => ({ 'log.retention.hours': '2', 'log.retention.bytes': '1000000' }),
})
const DATA_DIR = temporaryFolder(t)
const requirements = { replication: 1, retentionMs: 168 * 3_600_000 }

function run(words: string, environment: Record<string, string> = {}) {
  const settings = { DATA_DIR, KAFKA_BROKERS: kafka.addresses.join(','), KAFKA_REPLICATION: '1', PORT: '1' }
  return barograph(words.split(' '), { environment: { ...settings, ...environment } })
}

t.test('topics are created with all required settings, unchanged by a second run', async t => {
  const before = await run('kafka show')
  t.match(before, { status: 0, stdout: /barograph-points-s1 +no such topic: run barograph kafka prepare/ })
  const made = ['topic barograph-readings-s1: made', 'topic barograph-points-s1: made', ''].join('\n')
  t.strictSame(await run('kafka prepare'), { status: 0, stdout: made, stderr: '' })
  const again = made.replaceAll('made', 'nothing to change')
  t.strictSame(await run('kafka prepare'), { status: 0, stdout: again, stderr: '' })
  t.strictSame(await run('kafka prepare --apply'), { status: 0, stdout: again, stderr: '' })

  const { admin } = await kafka.connect()
  t.match(await admin.partitions('barograph-readings-s1'), [{ replicas: [1], inSync: [1] }])
  const settings = await admin.settings('barograph-readings-s1')
  for (const { name, wanted } of topicSettings(requirements)) t.equal(settings.get(name), wanted, name)
})

t.test('show prints offsets, replicas and the retention', async t => {
  const partition = await (await kafka.connect()).partition('barograph-readings-s1')
  await partition.append(Buffer.from('a'))
  const shown = JSON.parse((await run('kafka show --json')).stdout)
  const partitions = [{ leader: kafka.addresses[0], replicas: [1], in_sync: [1] }]
  const offsets = { start_offset: 0, end_offset: 1 }
  t.match(shown, [
    { topic: 'barograph-readings-s1', partitions, ...offsets, retention_seconds: 604_800 },
    { topic: 'barograph-points-s1', end_offset: 0 },
  ])
  t.match((await run('kafka show')).stdout, /barograph-readings-s1 +127\.0\.0\.1:\d+ +1 +1 +0 +1 +7 d 0 h\n/)
})

t.test('cat prints the records of groups as NDJSON and reports damaged ones', async t => {
  const values = { temperature: 21.5, humidity: 40, pressure: Number.NaN, battery_voltage: 3, battery_percentage: 80 }
  const reading = { timestampMs: undefined, ...values, custom: { series: [5, 6], values: [1.25, Number.NaN] } }
  const device = { number: 7, symbol: 'porch' }
  const bodyLength = 2 * readingWriter.length(device, reading)
  const group = new Uint8Array(groupHeaderLength + bodyLength)
  const view = new DataView(group.buffer)
  const timeUs = Date.UTC(2026, 0, 2) * 1000
  const next = readingWriter.write(view, groupHeaderLength, device, timeUs + 7, false, reading)
  readingWriter.write(view, next, device, timeUs, true, reading)
  const header = { bodyLength, recordCount: 2, backfillCount: 1, position: 0, firstOrdinal: 0 }
  sealGroup(group, { ...header, receiptUs: timeUs, lastStampUs: timeUs })
  const partition = await (await kafka.connect()).partition('barograph-readings-s1')
  t.match(await partition.append(group), { outcome: 'stored', offset: 1 })
  const lines = async (words: string) => {
    const { stdout } = await run(`kafka cat ${words}`)
    return stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line)]))
  }
  const { pressure: _, ...given } = values
  const line = { offset: 1, series: 7, device: 'porch', ...given, further: [{ series: 5, value: 1.25 }] }
  const [damaged, first, second, ...rest] = await lines('readings')
  t.match(damaged, { offset: 0, damaged_bytes: 1 })
  t.match(first, { ...line, ts: '2026-01-02T00:00:00.000007Z', backfill: false, appended: /^2\d{3}-/ })
  t.match(second, { ...line, ts: '2026-01-02T00:00:00.000000Z', backfill: true })
  t.strictSame([rest, 'pressure' in first], [[], false])
  t.strictSame(await lines('readings --from 1'), [first, second])
  t.strictSame(await lines('readings --groups 1'), [damaged])
  t.strictSame(await lines('points'), [])
})

t.test('a weaker topic is reported by setting and changed on request', async t => {
  const { admin } = await kafka.connect()
  const settings = { 'cleanup.policy': 'compact', 'unclean.leader.election.enable': 'true', 'compression.type': 'gzip' }
  await admin.create({ name: 'weak-readings-s1', partitions: 2, replication: 1, settings })
  const KAFKA_TOPIC_PREFIX = 'weak-'
  const named = await run('kafka prepare', { KAFKA_TOPIC_PREFIX })
  t.equal(named.status, 1)
  t.match(named.stderr, 'the service does not start with these topics')
  t.match(named.stdout, 'topic weak-points-s1: made')
  for (const text of [
    'partitions is 2, 1 is needed (Kafka cannot take partitions away',
    'cleanup.policy is compact, delete is needed (Kafka would delete records',
    'unclean.leader.election.enable is true, false is needed (--apply changes it)',
    'retention.ms is 7200000, 604800000 is needed (--apply changes it)',
    'compression.type is gzip, producer is needed, for the use of space alone (--apply changes it)',
  ]) {
    t.match(named.stdout, `topic weak-readings-s1: ${text}`)
  }
  t.equal((await admin.settings('weak-readings-s1')).get('retention.bytes'), '1000000', 'nothing was changed')

  const applied = await run('kafka prepare --apply --json', { KAFKA_TOPIC_PREFIX })
  t.equal(applied.status, 1)
  const [readings, points] = JSON.parse(applied.stdout)
  t.strictSame(points, { topic: 'weak-points-s1', isNew: false, changed: [], left: [] })
  const names = (differences: { name: string }[]) => differences.map(({ name }) => name)
  t.strictSame(names(readings.left), ['partitions', 'cleanup.policy'])
  const after = await admin.settings('weak-readings-s1')
  for (const { name, wanted } of topicSettings(requirements)) {
    if (name !== 'cleanup.policy') t.equal(after.get(name), wanted, name)
  }
  t.equal(after.get('cleanup.policy'), 'compact')
})

t.test('a topic on more brokers than there are is not made', async t => {
  const environment = { KAFKA_TOPIC_PREFIX: 'wide-', KAFKA_REPLICATION: '3' }
  const refused = await run('kafka prepare', environment)
  t.match(refused, { status: 1, stdout: '', stderr: /INVALID_REPLICATION_FACTOR: .*replication factor/ })
  t.match((await run('kafka show', environment)).stdout, 'no such topic')
})

t.test('a broker that needs no password causes one sentence without the password', async t => {
  const sasl = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'ada', KAFKA_SASL_PASSWORD: 'correct-horse' }
  const refused = await run('kafka show', sasl)
  t.match(refused, { status: 1, stdout: '', stderr: /^barograph: Kafka at .*: no broker answers: [^\n]+\n$/ })
  t.notMatch(refused.stderr, 'horse')
})

t.test('a longer retention is requested while a shorter one changes nothing', async t => {
  const shorter = await run('kafka prepare --apply', { KAFKA_RETENTION_HOURS: '24' })
  t.match(shorter.stdout, /readings-s1: segment.ms changed from 75600000 to 10800000/)
  const { admin } = await kafka.connect()
  t.equal((await admin.settings('barograph-readings-s1')).get('retention.ms'), '604800000')
  const longer = await run('kafka prepare --apply', { KAFKA_RETENTION_HOURS: '336' })
  t.match(longer.stdout, /readings-s1: retention.ms changed from 604800000 to 1209600000/)
})

t.test('the doctor reports whether Kafka responds with strong enough topics', async t => {
  const check = async (environment: Record<string, string>) => {
    const { checks } = JSON.parse((await run('doctor --json', environment)).stdout)
    return checks.find((each: { name: string }) => each.name === 'Kafka')
  }
  t.match(await check({}), { ok: true, finding: 'topics barograph-readings-s1, barograph-points-s1' })
  t.match(await check({ KAFKA_TOPIC_PREFIX: 'weak-' }), {
    ok: false,
    finding: /partitions is 2.*barograph kafka prepare/,
  })
  t.match(await check({ KAFKA_BROKERS: '127.0.0.1:1' }), { ok: false, finding: /ECONNREFUSED.*KAFKA_BROKERS/ })
  t.equal(await check({ KAFKA_BROKERS: '', KAFKA_REPLICATION: '' }), undefined, 'without Kafka')
})
