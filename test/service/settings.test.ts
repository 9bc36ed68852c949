/** Settings and arguments of a start: how they are read, and the message for each that is wrong. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { test } from 'tap'
import { ConfigError, readConfig } from '../../service/settings/config.ts'
import { kafkaSettings } from '../../service/settings/kafka.ts'
import { misspeltSettings } from '../../service/settings/misspelt-settings.ts'
import { Settings } from '../../service/settings/settings.ts'
import { readStartArguments, UsageError } from '../../service/settings/start-help.ts'
import { makeCertificate } from '../support/certificate.ts'
import { temporaryFolder } from '../support/databases.ts'

test('who may sign up depends on who may read, unless it is said', async t => {
  t.equal(readConfig({}).SIGN_UP, 'open')
  t.equal(readConfig({ READS: 'private' }).SIGN_UP, 'invited')
  t.equal(readConfig({ READS: 'private', SIGN_UP: '' }).SIGN_UP, 'invited')
  for (const SIGN_UP of ['open', 'invited', 'off']) t.equal(readConfig({ READS: 'private', SIGN_UP }).SIGN_UP, SIGN_UP)
  t.throws(() => readConfig({ SIGN_UP: 'closed' }), /SIGN_UP must be open, invited or off/)
})

test('sizes, ranges and lists are read, with empty ones as unset', async t => {
  t.equal(readConfig({ PORT: '', HOST: '' }).PORT, 8080)
  const config = readConfig({
    JOURNAL_MAX: '2GiB',
    JOURNAL_RESERVE: '1000',
    RANGE_TEMPERATURE: '-5.5..-1',
    TRUST_PROXY: '10.0.0.0/8, 127.0.0.1, ::1, fd00::/8',
  })
  t.equal(config.JOURNAL_MAX, 2 * 1024 ** 3)
  t.equal(config.JOURNAL_RESERVE, 1000)
  t.strictSame(config.RANGE_TEMPERATURE, { min: -5.5, max: -1 })
  t.strictSame(config.TRUST_PROXY, ['10.0.0.0/8', '127.0.0.1', '::1', 'fd00::/8'])
})

test('fields of line protocol are read with their metrics', async t => {
  const read = (text: string) => readConfig({ LINE_PROTOCOL_FIELDS: text }).LINE_PROTOCOL_FIELDS
  t.strictSame(read('temp=temperature, %:value=humidity'), [
    { field: 'temp', metric: 'temperature' },
    { measurement: '%', field: 'value', metric: 'humidity' },
  ])
  for (const text of 'temp|temp=warmth|a:b:c=humidity|=humidity|:x=humidity|a=b=humidity|x=humidity,'.split('|')) {
    t.throws(() => read(text), /LINE_PROTOCOL_FIELDS must be fields with their metrics/, text)
  }
  t.strictSame(readConfig({}).LINE_PROTOCOL_DEVICE_TAGS, ['device', 'host'])
})

test('units of line protocol are those that their metrics can have', async t => {
  const read = (text: string) => readConfig({ LINE_PROTOCOL_UNITS: text }).LINE_PROTOCOL_UNITS
  t.same(read('temperature=degF, wind_speed=mph'), new Map(Object.entries({ temperature: 'degF', wind_speed: 'mph' })))
  for (const text of ['temperature', 'temperature=', 'temperature=hPa', 'warmth=degF', 'temperature=degF=C']) {
    t.throws(() => read(text), /LINE_PROTOCOL_UNITS must be metrics with their units: /, text)
  }
})

test('sites that may show views in a frame are origins, which end no directive of a policy', async t => {
  const read = (EMBED_ORIGINS: string) => readConfig({ EMBED_ORIGINS }).EMBED_ORIGINS
  t.equal(read(''), undefined)
  t.strictSame(read('https://www.example, http://10.0.0.5:8081'), ['https://www.example', 'http://10.0.0.5:8081'])
  t.strictSame(read('https://xn--bcher-kva.example'), ['https://xn--bcher-kva.example'])
  const hosts = "*|*.example|a.example;script-src|a.example'|a.example/|a.example/page|a.example:443|user@a.example"
  const custom = 'A.example|[::1]|a.example https://b.example|a.example\r\nx-evil: 1|a.example,'
  for (const text of [
    ...`${hosts}|${custom}`.split('|').map(host => `https://${host}`),
    ...['*', 'null', 'https:', 'ftp://a.example', 'data:,', "'self'"],
    Array.from({ length: 51 }, (_, place) => `https://a${place}.example`).join(),
  ])
    t.throws(() => read(text), /EMBED_ORIGINS must be at most 50 origins such as/, text.slice(0, 40))
})

const kafka = { KAFKA_BROKERS: 'kafka-1:9092' }
const sasl = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'a', KAFKA_SASL_PASSWORD: 'secret' }
const databases = {
  QUESTDB_HTTP: 'http://questdb:9000',
  QUESTDB_PG: 'postgresql://questdb:8812/qdb',
  DATABASE_URL: 'postgresql://a:secret@postgres/c',
}

const kafkaAndQuestdb = { ...kafka, QUESTDB_HTTP: databases.QUESTDB_HTTP, QUESTDB_PG: databases.QUESTDB_PG }
const second = '2=http://u:a,b@q2:9000,postgresql://u:a,b@q2:8812/qdb'
const third = '3=https://q3,postgres://q3/qdb'

test('settings of Kafka are read only with its brokers', async t => {
  const brokers = ['kafka_1.example:9092', '10.0.0.2:65535', '[::1]:1']
  t.strictSame(readConfig({ KAFKA_BROKERS: brokers.join(', ') }).KAFKA_BROKERS, brokers)
  t.equal(readConfig({ KAFKA_TLS: '', KAFKA_REPLICATION: '' }).KAFKA_BROKERS, undefined, 'what is empty is not set')
  t.match(readConfig(kafka), { KAFKA_TOPIC_PREFIX: 'barograph-', KAFKA_REPLICATION: 3, KAFKA_RETENTION_HOURS: 168 })
})

test('a wrong setting is named with its valid form', async t => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ PORT: '65536' }, /PORT must be from 0 to 65535/],
    [{ PORT: 'http' }, /PORT must be a whole number/],
    [{ TIME_ZONE: 'Mars/Olympus' }, /TIME_ZONE must be an IANA zone such as/],
    [{ PUBLIC_URL: 'ftp://x' }, /PUBLIC_URL must be an address such as/],
    [{ JOURNAL_MAX: '1KiB' }, /JOURNAL_MAX must be at least 1MiB/],
    [{ JOURNAL_MAX: 'much' }, /JOURNAL_MAX must be a size such as/],
    [{ RANGE_HUMIDITY: '5..1' }, /RANGE_HUMIDITY must begin with the smaller number/],
    [{ TLS_CERT: '/x.pem' }, /TLS_CERT and TLS_KEY must be set together/],
    [{ DRIVE_CLIENT_ID: 'x' }, /DRIVE_CLIENT_ID, .*DRIVE_TOKEN_URL and DRIVE_OPENER_ORIGIN must be set together/],
    [{ DRIVE_TOKEN_URL: 'http://provider.example/token' }, /DRIVE_TOKEN_URL must be an https address/],
    [{ DRIVE_NAME: 'device' }, /DRIVE_NAME must not be device/],
    [{ QUESTDB_HTTP: 'http://127.0.0.1:9000' }, /QUESTDB_HTTP and QUESTDB_PG must be set together/],
    [{ QUESTDB_PG_PORT: '0' }, /QUESTDB_PG_PORT must be from 1 to 65535/],
    [{ ...databases, QUESTDB_PG_PORT: '8812' }, /QUESTDB_PG_PORT is for the managed QuestDB/],
    [{ DATABASE_URL: 'nowhere' }, /DATABASE_URL must be an address such as/],
    [{ DATABASE_URL: 'http://user:password@127.0.0.1/x' }, /DATABASE_URL must be an address such as postgresql:/],
    [{ DATABASE_URL: 'postgresql://user:100%@127.0.0.1/x' }, /DATABASE_URL must be an address such as/],
    [{ MQTT_BROKER_URL: 'mqtt://%C3:%A9@127.0.0.1' }, /MQTT_BROKER_URL must be an address such as mqtts:/],
    [{ QUESTDB_HTTP: 'tcp://127.0.0.1:9009' }, /QUESTDB_HTTP must be an address such as http:/],
    [{ TRUST_PROXY: 'nginx' }, /TRUST_PROXY must be comma-separated addresses or networks such as/],
    [{ TRUST_PROXY: '10.0.0.0/0' }, /TRUST_PROXY must be/],
    [{ TRUST_PROXY: '10.0.0.0/33' }, /TRUST_PROXY must be comma-separated addresses or networks such as/],
    [{ CACHE_BYTES_MAX: '0' }, /CACHE_BYTES_MAX must be at least 1MiB/],
    [{ LATEST_BYTES_MAX: '0' }, /LATEST_BYTES_MAX must be at least 1KiB/],
    ...['kafka', 'kafka:0', 'kafka:65536', 'a:1,,b:2', 'a:1,', 'http://a:1', '[1.2.3.4]:9092', 'a b:1'].map(
      (KAFKA_BROKERS): [Record<string, string>, RegExp] => [{ KAFKA_BROKERS }, /KAFKA_BROKERS must be comma-separated/],
    ),
    [{ ...kafka, KAFKA_TLS: 'yes' }, /KAFKA_TLS must be true or the path/],
    [{ ...kafka, KAFKA_TOPIC_PREFIX: 'a/b' }, /KAFKA_TOPIC_PREFIX must be 1 to 100 letters/],
    [{ ...kafka, KAFKA_REPLICATION: '0' }, /KAFKA_REPLICATION must be from 1 to 9/],
    [{ ...kafka, KAFKA_RETENTION_HOURS: '0' }, /KAFKA_RETENTION_HOURS must be from 1/],
    [
      { ...kafka, KAFKA_SASL_MECHANISM: 'GSSAPI' },
      /KAFKA_SASL_MECHANISM must be PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER/,
    ],
    [{ ...kafka, KAFKA_SASL_USERNAME: 'a' }, /KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD must be set together/],
    [{ ...kafka, KAFKA_SASL_USERNAME: 'a', KAFKA_SASL_PASSWORD: 'b' }, /KAFKA_SASL_MECHANISM, .* must be set together/],
    [sasl, /KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD without KAFKA_BROKERS/],
    [{ KAFKA_REPLICATION: '3' }, /KAFKA_REPLICATION without KAFKA_BROKERS/],
    [{ QUESTDB_REPLICAS: second }, /QUESTDB_REPLICAS needs KAFKA_BROKERS, QUESTDB_HTTP and QUESTDB_PG/],
    [
      { ...kafkaAndQuestdb, QUESTDB_REPLICAS: second, QUESTDB_READ: '3' },
      /QUESTDB_READ names a replica that .* does not/,
    ],
    ...[
      `2=${databases.QUESTDB_HTTP},postgres://q2`,
      `2=http://q2,${databases.QUESTDB_PG}`,
      // 8812 is the default.
      '2=http://q2,postgres://questdb',
    ].map((QUESTDB_REPLICAS): [Record<string, string>, RegExp] => [
      { ...kafkaAndQuestdb, QUESTDB_REPLICAS },
      /^Wrong settings: the replicas 1 and 2 have one address/,
    ]),
    [
      { ...kafkaAndQuestdb, QUESTDB_REPLICAS: `${second} ${second.replace('2=', '3=').replace(':8812', ':8813')}` },
      /the replicas 2 and 3 have one address/,
    ],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL must be fatal, error/],
  ]
  for (const [environment, message] of wrong) {
    t.throws(() => readConfig(environment), message)
  }
  const all = { constructor: ConfigError, message: /PORT .*; DEVICE_RATE/ }
  t.throws(() => readConfig({ PORT: 'x', HOST: 'y', DEVICE_RATE: '0' }), all, 'all of them at once')
})

test('a separate role needs Kafka and external databases', async t => {
  t.equal(readConfig({}).role, 'all')
  for (const role of ['api', 'forward'] as const) {
    t.throws(() => readConfig({}, role), /^--role (api|forward) needs KAFKA_BROKERS: /)
    t.throws(() => readConfig({ KAFKA_BROKERS: '' }, role), /needs KAFKA_BROKERS/)
    t.throws(() => readConfig({ KAFKA_BROKERS: 'kafka:9092' }, role), /needs QUESTDB_HTTP, QUESTDB_PG and DATABASE_URL/)
    t.equal(readConfig({ KAFKA_BROKERS: 'kafka:9092', ...databases }, role).role, role)
  }
})

test('child processes do not get our settings', async t => {
  const { environment } = readConfig({ ...databases, ...kafka, ...sasl, JAVA_HOME: '/java', PORT: '1' })
  t.strictSame(environment, { JAVA_HOME: '/java' })
})

const read = (settings: Record<string, string>) => kafkaSettings(readConfig(settings))
const KAFKA_BROKERS = 'a:1,b:2'

test('TLS and SASL reach the client only if they are set', async t => {
  t.equal(read({}), undefined, 'without brokers')
  t.strictSame(read({ KAFKA_BROKERS }), {
    connection: { clientId: 'barograph', brokers: ['a:1', 'b:2'] },
    topicPrefix: 'barograph-',
    requirements: { replication: 3, retentionMs: 604_800_000 },
  })
  const sasl = { KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' }
  t.strictSame(read({ KAFKA_BROKERS, KAFKA_TLS: 'true', ...sasl })?.connection, {
    clientId: 'barograph',
    brokers: ['a:1', 'b:2'],
    tls: {},
    sasl: { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p' },
  })
})

test('a client certificate and a client of OAuth reach the client completely or not at all', async t => {
  const { cert, key } = makeCertificate(temporaryFolder(t))
  const certificate = { KAFKA_TLS: 'true', KAFKA_TLS_CERT: cert, KAFKA_TLS_KEY: key }
  const pems = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  t.strictSame(read({ KAFKA_BROKERS, ...certificate })?.connection.tls, pems)
  const user = { KAFKA_SASL_MECHANISM: 'OAUTHBEARER', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' }
  const tokenUrl = 'https://login.example/token'
  t.strictSame(
    read({ KAFKA_BROKERS, ...user, KAFKA_SASL_TOKEN_URL: tokenUrl, KAFKA_SASL_SCOPE: 's' })?.connection.sasl,
    {
      mechanism: 'OAUTHBEARER',
      oauth: { tokenUrl, clientId: 'u', clientSecret: 'p', scope: 's' },
    },
  )
  const refused = (settings: Record<string, string>, message: RegExp) =>
    t.throws(() => read({ KAFKA_BROKERS, ...settings }), { message })
  refused({ ...certificate, KAFKA_TLS: '' }, /KAFKA_TLS_CERT without KAFKA_TLS/)
  refused({ ...certificate, KAFKA_TLS_KEY: '' }, /KAFKA_TLS_CERT and KAFKA_TLS_KEY must be set together/)
  refused({ ...certificate, KAFKA_TLS_KEY: cert }, /KAFKA_TLS_KEY .*cert.pem cannot be used/)
  refused(user, /OAUTHBEARER, which needs KAFKA_SASL_TOKEN_URL/)
  refused({ ...user, KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_TOKEN_URL: tokenUrl }, /for OAUTHBEARER alone/)
})

test('the CA certificates are read at the start, which refuses a file without any', async t => {
  const folder = temporaryFolder(t)
  const { cert, key } = makeCertificate(folder)
  t.strictSame(read({ KAFKA_BROKERS, KAFKA_TLS: cert })?.connection.tls, { ca: readFileSync(cert, 'utf8') })
  const refused = (KAFKA_TLS: string, message: RegExp) =>
    t.throws(() => read({ KAFKA_BROKERS, KAFKA_TLS }), { name: 'StartError', message })
  refused(key, /KAFKA_TLS .*key.pem cannot be used .*: set it to true, or to a PEM file/)
  refused(join(folder, 'none.pem'), /none.pem cannot be used \(ENOENT\)/)
})

t.test('a letter too many, too few, wrong or swapped is found, without the value', async t => {
  const wrong = ['PROT', 'DATADIR', 'QUESTB_HTTP', 'RETENTION_DAY', 'Port', 'SMTP_URI']
  const meant = ['PORT', 'DATA_DIR', 'QUESTDB_HTTP', 'RETENTION_DAYS', 'PORT', 'SMTP_URL']
  const found = misspeltSettings(Object.fromEntries(wrong.map(name => [name, 'http://a:secret@b'])))
  const expected = wrong.map((name, at) => ({ name, meant: meant[at] }))
  t.strictSame(found, expected)
})

t.test('settings, empty variables and variables of other programs are ignored', async t => {
  const settings = Object.fromEntries(Object.keys(Settings.shape).map(name => [name, 'x']))
  const others = 'HOME PATH USER LANG TERM PWD TZ HOSTNAME SHELL NODE_OPTIONS MAIL SHLVL'.split(' ')
  const foreign = Object.fromEntries(others.map(name => [name, 'x']))
  t.strictSame(misspeltSettings({ ...settings, ...foreign, PROT: '', PROTS: undefined, ['P'.repeat(10_000)]: 'x' }), [])
})

test('the replicas are read in their order', async t => {
  const config = readConfig({ ...kafkaAndQuestdb, QUESTDB_REPLICAS: ` ${second}\n${third} `, QUESTDB_READ: '3' })
  t.strictSame(config.QUESTDB_REPLICAS, [
    { number: 2, http: 'http://u:a,b@q2:9000', pg: 'postgresql://u:a,b@q2:8812/qdb' },
    { number: 3, http: 'https://q3', pg: 'postgres://q3/qdb' },
  ])
  t.equal(config.QUESTDB_READ, 3)
})

test('other lists are refused, without the passwords in them', async t => {
  const many = Array.from({ length: 8 }, (_, at) => `${at + 2}=http://q,postgres://q`).join(' ')
  for (const QUESTDB_REPLICAS of [
    third,
    `${third} ${second}`,
    `${second} ${second}`,
    '2=http://q2:9000',
    'q2',
    '=',
    many,
  ])
    t.throws(() => readConfig({ ...kafkaAndQuestdb, QUESTDB_REPLICAS }), {
      message: /^Wrong settings: QUESTDB_REPLICAS must name the QuestDBs of the replicas from 2 on, such as [^ ]+\.$/,
    })
})

test('the role is read while help works beside any argument', async t => {
  t.strictSame(readStartArguments([]), { isHelp: false, role: 'all' })
  for (const role of ['all', 'api', 'forward']) {
    t.strictSame(readStartArguments(['--role', role]), { isHelp: false, role })
    t.strictSame(readStartArguments([`--role=${role}`]), { isHelp: false, role })
  }
  for (const words of [['--help'], ['-h'], ['--role', 'x', '-h'], ['--port', '--help']])
    t.equal(readStartArguments(words).isHelp, true, words.join(' '))
})

test('unknown arguments are named', async t => {
  const refuses = (words: string[], message: RegExp) => {
    t.throws(() => readStartArguments(words), { constructor: UsageError, message }, words.join(' '))
  }
  refuses(['--port'], /^The service takes no arguments such as "--port"; --help lists its settings\.$/)
  for (const word of ['--port=1', '-v', 'api', '--']) refuses([word], new RegExp(`such as "${word}"`))
  refuses(['--role', 'api', 'forward'], /such as "forward"/)
  for (const words of [['--role'], ['--role='], ['--role', 'reader'], ['--role=API']]) {
    refuses(words, /^--role must be all, api or forward\.$/)
  }
})
